//! The framebuffer that a boot loader leaves: which nodes are read, and which are refused.

use dtoolkit::Property;
use dtoolkit::model::{DeviceTree as Model, DeviceTreeNode, DeviceTreeProperty};
use eitri_boards::device_tree::{DeviceTree, FramebufferError};
use eitri_boards::{Board, Region, rk3588};

const BOARD: Board = rk3588::BOARD;
/// A place that the board has for nothing else.
const FREE: u32 = 0xED00_0000;

fn words(name: &str, words: &[u32]) -> DeviceTreeProperty {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    DeviceTreeProperty::new(name, bytes.as_slice()).unwrap()
}

fn text(name: &str, text: &str) -> DeviceTreeProperty {
    let bytes = [text.as_bytes(), &[0]].concat();
    DeviceTreeProperty::new(name, bytes.as_slice()).unwrap()
}

/// A display of 1920 x 1080 with lines of 2048 pixels.
fn properties() -> Vec<DeviceTreeProperty> {
    vec![
        text("compatible", "simple-framebuffer"),
        words("reg", &[0, FREE, 0, 2048 * 4 * 1080]),
        words("width", &[1920]),
        words("height", &[1080]),
        words("stride", &[2048 * 4]),
        text("format", "a8r8g8b8"),
        text("status", "okay"),
    ]
}

/// A tree with such a node below `/chosen`; one of the properties is replaced by another, or left out.
fn tree(without: &str, instead: Option<DeviceTreeProperty>) -> Vec<u8> {
    let mut framebuffer = DeviceTreeNode::new("framebuffer@ed000000").unwrap();
    let kept = properties().into_iter().filter(|it| it.name() != without);
    for property in kept.chain(instead) {
        framebuffer.add_property(property);
    }
    let mut chosen = DeviceTreeNode::new("chosen").unwrap();
    for cells in ["#address-cells", "#size-cells"] {
        chosen.add_property(words(cells, &[2]));
    }
    // 64 KiB of firmware for the GPU.
    chosen.add_property(words("linux,initrd-start", &[0x0A00_0000]));
    chosen.add_property(words("linux,initrd-end", &[0x0A01_0000]));
    chosen.add_child(framebuffer);
    let mut tree = Model::new();
    tree.root.add_child(chosen);
    tree.to_dtb()
}

#[track_caller]
fn refused(without: &str, instead: Option<DeviceTreeProperty>, expected: FramebufferError) {
    let bytes = tree(without, instead);
    let tree = DeviceTree::parse(&bytes).unwrap();
    assert_eq!(tree.framebuffer(&BOARD), Err(expected));
}

#[test]
fn the_loaders_framebuffer_is_found() {
    // The one as it is, and one that is no whole pages.
    for (base, pages) in [
        (FREE, Region::new(FREE as usize, 0x87_0000)),
        (FREE + 0x800, Region::new(FREE as usize, 0x87_1000)),
    ] {
        let reg = words("reg", &[0, base, 0, 2048 * 4 * 1080]);
        let bytes = tree("reg", Some(reg));
        let tree = DeviceTree::parse(&bytes).unwrap();
        let found = tree.framebuffer(&BOARD).unwrap();
        let (base, bytes) = (base as usize, 2048 * 4 * 1080);
        assert_eq!(found.memory, Region { base, bytes });
        assert_eq!(found.pages(), pages);
        assert_eq!((found.width, found.height), (1920, 1080));
        assert_eq!((found.stride, found.format), (8192, "a8r8g8b8"));
    }
}

#[test]
fn a_node_behind_a_bus_has_the_machines_address() {
    let mut framebuffer = DeviceTreeNode::new("framebuffer@0").unwrap();
    for property in properties().into_iter().filter(|it| it.name() != "reg") {
        framebuffer.add_property(property);
    }
    framebuffer.add_property(words("reg", &[0x1000, 0x87_0000]));
    let mut bus = DeviceTreeNode::new("bus").unwrap();
    for cells in ["#address-cells", "#size-cells"] {
        bus.add_property(words(cells, &[1]));
    }
    bus.add_property(words("ranges", &[0, 0, FREE, 0x100_0000]));
    bus.add_child(framebuffer);
    let mut tree = Model::new();
    for cells in ["#address-cells", "#size-cells"] {
        tree.root.add_property(words(cells, &[2]));
    }
    tree.root.add_child(bus);
    let bytes = tree.to_dtb();
    let tree = DeviceTree::parse(&bytes).unwrap();
    let found = tree.framebuffer(&BOARD).unwrap();
    assert_eq!(found.memory.base, FREE as usize + 0x1000);
}

#[test]
fn a_node_that_is_switched_off_is_none() {
    let off = text("status", "disabled");
    refused("status", Some(off), FramebufferError::None);
    refused("compatible", None, FramebufferError::None);
}

#[test]
fn a_node_has_to_say_everything() {
    for what in ["reg", "width", "height", "stride", "format"] {
        refused(what, None, FramebufferError::Silent { what });
    }
    // A property of three bytes is not a 32-bit cell.
    let short = DeviceTreeProperty::new("width", [0_u8, 1, 2].as_slice()).unwrap();
    let what = "width";
    refused(what, Some(short), FramebufferError::Silent { what });
    let what = "reg";
    let empty = words(what, &[0, FREE, 0, 0]);
    refused(what, Some(empty), FramebufferError::Silent { what });
}

#[test]
fn memory_of_somebody_else_is_refused() {
    let memory = BOARD.memory;
    for (what, region) in [
        ("the memory for the image", memory.image),
        ("the memory for the heap", memory.heap),
        ("the memory that the GPU shares", memory.shared),
        ("the GPU's registers", BOARD.gpu.window),
        ("a device's registers", memory.devices[0]),
        ("memory that firmware keeps", memory.never[1]),
        (
            "the file beside the image",
            Region::new(0x0A00_0000, 0x1_0000),
        ),
    ] {
        // The framebuffer's last page is the first page of the other region.
        let base = region.base - 0x3000;
        let reg = words("reg", &[0, u32::try_from(base).unwrap(), 0, 0x3001]);
        let pages = Region::new(base, 0x4000);
        let expected = FramebufferError::InTheWay {
            what,
            region,
            pages,
        };
        refused("reg", Some(reg), expected);
    }
}

#[test]
fn memory_that_can_not_be_mapped_is_refused() {
    for (high, bytes) in [
        (0x80, 0x1000),
        (0x7F, 0xFFFF_FFFF),
        (0xFFFF_FFFF, 0xFFFF_FFFF),
    ] {
        let base = u64::from(high) << 32 | u64::from(FREE);
        let reg = words("reg", &[high, FREE, 0, bytes]);
        refused("reg", Some(reg), FramebufferError::TooHigh { base });
    }
}

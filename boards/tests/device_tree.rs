//! Device trees: which ones an image goes on with, and what it says about the others.

use dtoolkit::fdt::Fdt;
use dtoolkit::memreserve::MemoryReservation;
use dtoolkit::model::{DeviceTree as Model, DeviceTreeNode, DeviceTreeProperty};
use eitri_boards::device_tree::{DeviceTree, is_apart, total_bytes};
use eitri_boards::{Board, Conduit, rk3588};

const BOARD: Board = rk3588::BOARD;

/// A node with properties.
fn node(name: &str, properties: Vec<DeviceTreeProperty>) -> DeviceTreeNode {
    let mut node = DeviceTreeNode::new(name).unwrap();
    for property in properties {
        node.add_property(property);
    }
    node
}

fn words(name: &str, words: &[u32]) -> DeviceTreeProperty {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    DeviceTreeProperty::new(name, bytes.as_slice()).unwrap()
}

fn text(name: &str, text: &str) -> DeviceTreeProperty {
    let bytes = [text.as_bytes(), &[0]].concat();
    DeviceTreeProperty::new(name, bytes.as_slice()).unwrap()
}

/// A ROCK 5B's tree as U-Boot hands it over, as far as it matters here: 4 GiB in two nodes that touch.
fn rock5b() -> Model {
    let mut tree = Model::new();
    let cells = [("#address-cells", 2), ("#size-cells", 2)];
    for (name, count) in cells {
        tree.root.add_property(words(name, &[count]));
    }
    tree.root
        .add_property(text("compatible", "radxa,rock-5b\0rockchip,rk3588"));
    for (name, base, bytes) in [
        ("memory@200000", 0x20_0000, 0x3FE0_0000),
        ("memory@40000000", 0x4000_0000, 0xB000_0000),
    ] {
        let reg = words("reg", &[0, base, 0, bytes]);
        tree.root.add_child(node(name, vec![reg]));
    }
    tree.root
        .add_child(node("chosen", vec![text("bootargs", "quiet inferred")]));
    tree.root
        .add_child(node("psci", vec![text("method", "smc")]));
    tree
}

#[test]
fn a_machine_and_its_loader_say_who_they_are() {
    let bytes = rock5b().to_dtb();
    assert_eq!(
        DeviceTree::parse(&bytes).unwrap().identity().to_string(),
        ""
    );
    let mut tree = rock5b();
    tree.root.add_property(text("model", "Radxa ROCK 5B"));
    tree.root.add_property(text("serial-number", "1a2b;3c\n"));
    let bytes = tree.to_dtb();
    let identity = DeviceTree::parse(&bytes).unwrap().identity().to_string();
    assert_eq!(identity, "model Radxa ROCK 5B; serial 1a2b?3c?");
    tree.root.remove_child("chosen");
    let version = text("u-boot,version", "2024.07");
    tree.root.add_child(node("chosen", vec![version]));
    let bytes = tree.to_dtb();
    let identity = DeviceTree::parse(&bytes).unwrap().identity().to_string();
    assert!(identity.ends_with("; loader U-Boot 2024.07"), "{identity}");
}

fn checked(tree: &Model) -> Result<(), String> {
    let bytes = tree.to_dtb();
    let tree = DeviceTree::parse(&bytes).map_err(|error| error.to_string())?;
    tree.check(&BOARD).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(tree: &Model, text: &str) {
    assert_eq!(checked(tree), Err(text.to_owned()));
}

#[test]
fn the_boards_own_tree_is_good() {
    assert_eq!(checked(&rock5b()), Ok(()));
    let bytes = rock5b().to_dtb();
    let tree = DeviceTree::parse(&bytes).unwrap();
    assert_eq!(tree.arguments(), "quiet inferred");
    assert_eq!(tree.conduit(), Some(Conduit::Smc));
    let begin = bytes[..8].try_into().unwrap();
    assert_eq!(total_bytes(begin), Ok(bytes.len()));
}

#[test]
fn a_tree_that_says_little_is_good_too() {
    let mut tree = rock5b();
    tree.root.remove_child("chosen");
    tree.root.remove_child("psci");
    assert_eq!(checked(&tree), Ok(()));
    let bytes = tree.to_dtb();
    let tree = DeviceTree::parse(&bytes).unwrap();
    assert_eq!((tree.arguments(), tree.conduit()), ("", None));
}

/// A tree with two UARTs behind a bus, of which the loader has chosen one.
fn with_uarts(other: &str, stdout: &str) -> Option<usize> {
    let mut tree = rock5b();
    let uart = |name: &str, base, kind: &str| {
        let reg = words("reg", &[0, base, 0, 0x100]);
        node(name, vec![text("compatible", kind), reg])
    };
    let mut soc = node("soc", Vec::new());
    for cells in ["#address-cells", "#size-cells"] {
        soc.add_property(words(cells, &[2]));
    }
    soc.add_child(uart(
        "serial@feb50000",
        0xFEB5_0000,
        "vendor,uart\0kind,uart",
    ));
    soc.add_child(uart("serial@feb60000", 0xFEB6_0000, other));
    tree.root.add_child(soc);
    let alias = text("serial3", "/soc/serial@feb60000");
    tree.root.add_child(node("aliases", vec![alias]));
    tree.root.remove_child("chosen");
    let chosen = node("chosen", vec![text("stdout-path", stdout)]);
    tree.root.add_child(chosen);
    let bytes = tree.to_dtb();
    let console = DeviceTree::parse(&bytes).unwrap().console(&BOARD);
    console.map(|console| console.base().address())
}

#[test]
fn the_console_is_the_one_that_the_tree_names() {
    let other = Some(0xFEB6_0000);
    assert_eq!(with_uarts("kind,uart", "serial3:1500000n8"), other);
    assert_eq!(with_uarts("kind,uart", "/soc/serial@feb60000"), other);
    // The board's own, one of another kind, and none.
    assert_eq!(with_uarts("kind,uart", "/soc/serial@feb50000"), None);
    assert_eq!(with_uarts("other,uart", "serial3"), None);
    assert_eq!(with_uarts("kind,uart", "serial7"), None);
    assert_eq!(with_uarts("kind,uart", "/soc/serial@1000"), None);
}

#[test]
fn a_console_that_lies_in_memory_is_none() {
    let mut tree = rock5b();
    let kind = text("compatible", "kind,uart");
    for (name, base) in [
        ("serial@feb50000", 0xFEB5_0000),
        ("serial@300000", 0x30_0000),
    ] {
        let reg = words("reg", &[0, base, 0, 0x100]);
        tree.root.add_child(node(name, vec![kind.clone(), reg]));
    }
    tree.root.remove_child("chosen");
    let stdout = text("stdout-path", "/serial@300000");
    tree.root.add_child(node("chosen", vec![stdout]));
    let bytes = tree.to_dtb();
    assert!(DeviceTree::parse(&bytes).unwrap().console(&BOARD).is_none());
}

#[test]
fn another_machines_tree_is_refused() {
    let mut tree = rock5b();
    tree.root
        .add_property(text("compatible", "friendlyarm,nanopi-m4\0rockchip,rk3399"));
    refused(
        &tree,
        "the device tree is another machine's: this image is for RK3588: Radxa ROCK 5B, Orange Pi 5",
    );
}

#[test]
fn memory_that_is_not_there_is_told() {
    let mut tree = rock5b();
    tree.root.remove_child("memory@40000000");
    refused(
        &tree,
        "the machine has not all of the memory for what the GPU shares, 0x40000000 to 0x60000000",
    );
}

#[test]
fn memory_across_two_nodes_is_there() {
    let mut tree = rock5b();
    tree.root.remove_child("memory@40000000");
    for (name, base, bytes) in [
        ("memory@40000000", 0x4000_0000, 0x1000_0000),
        ("memory@50000000", 0x5000_0000, 0x1000_0000),
    ] {
        let reg = words("reg", &[0, base, 0, bytes]);
        tree.root.add_child(node(name, vec![reg]));
    }
    assert_eq!(checked(&tree), Ok(()));
}

#[test]
fn reserved_memory_is_left_alone() {
    let mut tree = rock5b();
    let mut reserved = node("reserved-memory", vec![]);
    for (name, count) in [("#address-cells", 2), ("#size-cells", 2)] {
        reserved.add_property(words(name, &[count]));
    }
    // Without a place yet: whoever wants it finds one.
    reserved.add_child(node("pool", vec![words("size", &[0, 0x10_0000])]));
    let reg = words("reg", &[0, 0x2F00_0000, 0, 0x10_0000]);
    reserved.add_child(node("display@2f000000", vec![reg]));
    tree.root.add_child(reserved);
    refused(
        &tree,
        "the memory for the heap, 0x20000000 to 0x30000000, is reserved for somebody else from 0x2f000000 on",
    );
}

#[test]
fn a_reservation_in_the_trees_head_counts() {
    let mut tree = rock5b();
    tree.memory_reservations
        .push(MemoryReservation::new(0x300_0000, 0x1000));
    refused(
        &tree,
        "the memory for the image, 0x2000000 to 0x8000000, is reserved for somebody else from 0x3000000 on",
    );
}

#[test]
fn a_tree_in_the_way_is_told_before_it_is_overwritten() {
    assert_eq!(is_apart(0x1200_0000, &BOARD), Ok(()));
    let error = is_apart(0x2FF0_0000, &BOARD).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the device tree at 0x2ff00000 lies in the memory for the heap, 0x20000000 to 0x30000000; \
         U-Boot leaves it where it was loaded after `setenv fdt_high 0xffffffffffffffff`"
    );
    // It may be 2 MiB long.
    assert!(is_apart(0x1FF0_0000, &BOARD).is_err());
}

#[test]
fn an_argument_count_is_no_tree() {
    let error = is_apart(1, &BOARD).unwrap_err();
    assert_eq!(
        error.to_string(),
        "x0 is 0x1, which is no device tree's address: the image is for `booti`, and not for `go`"
    );
}

#[test]
fn what_is_no_tree_is_refused() {
    let text = total_bytes(*b"MZ\0\0\0\0\x01\0").unwrap_err().to_string();
    assert_eq!(
        text,
        "no device tree: it begins with [4d, 5a, 00, 00] and has 256 bytes"
    );
    assert!(total_bytes([0xD0, 0x0D, 0xFE, 0xED, 0xFF, 0, 0, 0]).is_err());
}

#[test]
fn a_damaged_tree_is_an_error_wherever_the_damage_is() {
    let bytes = rock5b().to_dtb();
    for length in 0..bytes.len() {
        let cut = &bytes[..length];
        assert!(DeviceTree::parse(cut).is_err(), "cut to {length} bytes");
    }
    for place in 0..bytes.len() {
        for value in [0, 0x7F, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[place] = value;
            // Some damage can't be seen; none may be a panic.
            if let Ok(tree) = DeviceTree::parse(&damaged) {
                let _ = (tree.check(&BOARD), tree.arguments(), tree.conduit());
            }
        }
    }
    assert!(Fdt::new(&bytes).is_ok());
}

#[test]
fn a_file_beside_the_image_is_found() {
    let with_file = |start: &[u32], end: &[u32]| {
        let mut tree = rock5b();
        let mut chosen = node("chosen", vec![]);
        chosen.add_property(words("linux,initrd-start", start));
        chosen.add_property(words("linux,initrd-end", end));
        tree.root.add_child(chosen);
        let bytes = tree.to_dtb();
        let tree = DeviceTree::parse(&bytes).unwrap();
        let file = tree.file(&BOARD).map_err(|error| error.to_string());
        file.map(|file| file.map(|file| (file.base, file.bytes)))
    };
    let wanted = Ok(Some((0x1218_0000, 0x1234)));
    assert_eq!(with_file(&[0x1218_0000], &[0x1218_1234]), wanted);
    assert_eq!(with_file(&[0, 0x1218_0000], &[0, 0x1218_1234]), wanted);
    assert_eq!(with_file(&[0x1218_0000], &[0x1218_0000]), Ok(None));
    assert_eq!(with_file(&[0x1218_0000], &[0x1217_0000]), Ok(None));
    assert_eq!(
        with_file(&[0x2FFF_F000], &[0x3000_1000]).unwrap_err(),
        "the file at 0x2ffff000 lies in the memory for the heap, 0x20000000 to 0x30000000; U-Boot leaves it where it was \
         loaded after `setenv initrd_high 0xffffffffffffffff`"
    );
    let tree = rock5b().to_dtb();
    let tree = DeviceTree::parse(&tree).unwrap();
    assert_eq!(tree.file(&BOARD), Ok(None));
}

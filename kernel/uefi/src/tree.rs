//! Tree: the firmware's memory map, its screen and the command line as the device tree that an image expects.

use crate::screen::Screen;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use dtoolkit::error::ModelError;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use eitri_boards::Board;
use eitri_boards::device_tree::MOST_BYTES;
use uefi::boot::{self, AllocateType, MemoryType, PAGE_SIZE};
use uefi::mem::memory_map::MemoryMap;

/// Memory that is nobody's once the firmware has ended its boot services.
const USABLE: [MemoryType; 5] = [
    MemoryType::CONVENTIONAL,
    MemoryType::LOADER_CODE,
    MemoryType::LOADER_DATA,
    MemoryType::BOOT_SERVICES_CODE,
    MemoryType::BOOT_SERVICES_DATA,
];

/// Makes the tree; gives its address. So much memory is its own as a tree may have, apart from what the image uses.
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn build(
    board: &Board,
    arguments: &str,
    screen: Option<Screen>,
) -> Result<usize, String> {
    let pages = MOST_BYTES / PAGE_SIZE;
    let place = boot::allocate_pages(AllocateType::AnyPages, MemoryType::LOADER_DATA, pages);
    let place =
        place.map_err(|error| format!("no memory for a device tree: {}", error.status()))?;
    let ranges = usable().map_err(|error| format!("no memory map: {}", error.status()))?;
    let tree = model(board, arguments, &ranges, screen);
    let tree = tree.map_err(|error| format!("the device tree can't be made: {error}"))?;
    let bytes = tree.to_dtb();
    if bytes.len() > MOST_BYTES {
        return Err(format!("the device tree has {} bytes", bytes.len()));
    }
    // SAFETY: the firmware has just given these pages to this application, and the tree fits.
    unsafe {
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), place.as_ptr(), bytes.len());
    }
    Ok(place.addr().get())
}

/// The usable memory: base and bytes of each range.
fn usable() -> uefi::Result<Vec<(u64, u64)>> {
    let mut map = boot::memory_map(MemoryType::LOADER_DATA)?;
    uefi::mem::memory_map::MemoryMapMut::sort(&mut map);
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for entry in map.entries().filter(|entry| USABLE.contains(&entry.ty)) {
        let bytes = entry.page_count * PAGE_SIZE as u64;
        match ranges.last_mut() {
            Some((base, before)) if *base + *before == entry.phys_start => *before += bytes,
            _ => ranges.push((entry.phys_start, bytes)),
        }
    }
    Ok(ranges)
}

fn model(
    board: &Board,
    arguments: &str,
    ranges: &[(u64, u64)],
    screen: Option<Screen>,
) -> Result<DeviceTree, ModelError> {
    let text = |name: &str, text: &str| {
        let bytes: Vec<u8> = text.bytes().chain([0]).collect();
        DeviceTreeProperty::new(name.to_string(), bytes.as_slice())
    };
    let words = |name: &str, words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        DeviceTreeProperty::new(name.to_string(), bytes.as_slice())
    };
    let mut tree = DeviceTree::new();
    tree.root.add_property(words("#address-cells", &[2])?);
    tree.root.add_property(words("#size-cells", &[2])?);
    if let Some(name) = board.compatible.first() {
        tree.root.add_property(text("compatible", name)?);
    }
    let halves = |base: u64, bytes: u64| [base, bytes].map(|it| [(it >> 32) as u32, it as u32]);
    for (base, bytes) in ranges {
        let mut node = DeviceTreeNode::new(format!("memory@{base:x}"))?;
        node.add_property(text("device_type", "memory")?);
        node.add_property(words("reg", halves(*base, *bytes).as_flattened())?);
        tree.root.add_child(node);
    }
    let mut chosen = DeviceTreeNode::new("chosen")?;
    chosen.add_property(text("bootargs", arguments)?);
    if let Some(screen) = screen {
        let base = screen.base;
        let mut node = DeviceTreeNode::new(format!("framebuffer@{base:x}"))?;
        node.add_property(text("compatible", "simple-framebuffer")?);
        let place = halves(base, screen.bytes);
        node.add_property(words("reg", place.as_flattened())?);
        node.add_property(words("width", &[screen.width])?);
        node.add_property(words("height", &[screen.height])?);
        node.add_property(words("stride", &[screen.stride])?);
        node.add_property(text("format", screen.format)?);
        chosen.add_property(words("#address-cells", &[2])?);
        chosen.add_property(words("#size-cells", &[2])?);
        chosen.add_child(node);
    }
    tree.root.add_child(chosen);
    Ok(tree)
}

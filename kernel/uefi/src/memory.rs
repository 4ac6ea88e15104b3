//! Memory: the board's regions, asked of the firmware, with the image in the first.

use alloc::format;
use alloc::string::String;
use eitri_boards::{Board, Region};
use uefi::boot::{self, AllocateType, MemoryType, PAGE_SIZE};
use uefi::mem::memory_map::MemoryMap;

/// Where the arm64 Image header has how many bytes of memory the image needs: hardware/boards.md 2.1.
const IMAGE_BYTES: core::ops::Range<usize> = 16..24;

/// Asks for the memory that the image uses, and copies the image. Gives its address.
///
/// # Errors
/// What is in the way.
pub(crate) fn place(board: &Board, image: &[u8]) -> Result<usize, String> {
    let bytes = image
        .get(IMAGE_BYTES)
        .and_then(|bytes| bytes.try_into().ok());
    let bytes = usize::try_from(bytes.map_or(0, u64::from_le_bytes)).unwrap_or(usize::MAX);
    if image.is_empty() || bytes < image.len() || bytes > board.memory.image.bytes {
        return Err("no image is inside of this application".into());
    }
    let own = Region {
        base: board.memory.image.base,
        bytes: bytes.next_multiple_of(PAGE_SIZE),
    };
    for (what, region) in [
        ("the image", own),
        ("its heap", board.memory.heap),
        ("what the GPU shares", board.memory.shared),
    ] {
        ask(what, region)?;
    }
    // SAFETY: the firmware has just given these pages to this application, as many as the image has bytes.
    unsafe {
        core::ptr::copy_nonoverlapping(image.as_ptr(), own.base as *mut u8, image.len());
    }
    Ok(own.base)
}

/// Asks for a region.
fn ask(what: &str, region: Region) -> Result<(), String> {
    let at = AllocateType::Address(region.base as u64);
    let pages = region.bytes / PAGE_SIZE;
    let given = boot::allocate_pages(at, MemoryType::LOADER_DATA, pages);
    given.map(drop).map_err(|error| {
        let (base, end) = (region.base, region.end());
        let status = error.status();
        format!(
            "{base:#x} to {end:#x}, for {what}, can't be had ({status}): {}",
            owner(region)
        )
    })
}

/// Who has memory of a region, in words.
fn owner(region: Region) -> String {
    let Ok(map) = boot::memory_map(MemoryType::LOADER_DATA) else {
        return "the firmware does not say why".into();
    };
    let overlaps = |base: u64, pages: u64| {
        base < region.end() as u64 && (region.base as u64) < base + pages * PAGE_SIZE as u64
    };
    let mut taken = map.entries().filter(|entry| {
        entry.ty != MemoryType::CONVENTIONAL && overlaps(entry.phys_start, entry.page_count)
    });
    match taken.next() {
        Some(entry) => format!(
            "{:#x} has {} pages of {:?}",
            entry.phys_start, entry.page_count, entry.ty
        ),
        None => "not all of it is memory".into(),
    }
}

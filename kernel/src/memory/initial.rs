//! The map that the MMU is turned on with: the image's memory, the heap, and the console.
//!
//! It serves until [`super::map`] has made the map proper, in the heap. Blocks of 2 MiB hold code and variables alike, so
//! the image is all of it executable for that short time; nothing else is, and nothing else is mapped: the entry takes out
//! what the board would let an image have and this one has not ([`Spare`]), since only the linker knows where it ends.
//! Facts: hardware/boards.md 3.1 items 1 and 4.

use super::Kind;
use aarch64_paging::descriptor::El1Attributes;
use core::cell::UnsafeCell;
use core::ptr;
use eitri_aarch64::{BLOCK, InitialMap, LEVEL2_TABLES};
use eitri_boards::Board;

/// What an image for this board is entered with.
///
/// # Panics
/// While it is compiled, when two kinds of memory lie in one block of 2 MiB.
pub const fn initial_map(board: &Board) -> InitialMap {
    let board = board.description();
    let (image, heap) = (board.memory.image, board.memory.heap);
    let console = board.console.base().address() / BLOCK * BLOCK;
    InitialMap::EMPTY
        .with(image.base, image.bytes, Kind::AnyOfImage.attributes())
        .with(heap.base, heap.bytes, Kind::Data.attributes())
        .with(console, BLOCK, Kind::Device.attributes())
}

/// Where the entry finds the blocks of the image's memory, to take out those behind its end.
#[derive(Clone, Copy, Debug)]
pub struct Spare {
    /// The end of the memory that an image for the board may have.
    pub end: usize,
    /// Bytes from the root to the table of the gibibyte that this memory is in.
    pub table: usize,
}

impl Spare {
    /// For an image of this board.
    ///
    /// # Panics
    /// While it is compiled, when that memory lies in two gibibytes.
    pub const fn of(board: &Board) -> Spare {
        const GIB: usize = 1 << 30;
        let image = board.description().memory.image;
        assert!(
            image.base / GIB == (image.end() - 1) / GIB,
            "the image's memory is in two gibibytes"
        );
        let Some(table) = initial_map(board).level2_of(image.base / GIB) else {
            panic!("the image is mapped");
        };
        Spare {
            end: image.end(),
            table: size_of::<[*const u8; 512]>() + table * size_of::<[usize; 512]>(),
        }
    }
}

/// The tables in memory, the root first.
#[repr(C, align(4096))]
pub struct InitialTables {
    /// Addresses of tables with the descriptor's low bits set, or nothing.
    root: [*const u8; 512],
    /// The entry writes here before the MMU reads.
    level2: UnsafeCell<[[usize; 512]; LEVEL2_TABLES]>,
}

// SAFETY: they are for the MMU, which only reads; the entry has written by then, and nothing else uses them.
unsafe impl Sync for InitialTables {}

impl InitialTables {
    /// The tables of `map`, to stand at `place`.
    pub const fn new(map: &InitialMap, place: *const InitialTables) -> InitialTables {
        let table = El1Attributes::VALID
            .union(El1Attributes::TABLE_OR_PAGE)
            .bits();
        let mut root = [ptr::null(); 512];
        let mut gibibyte = 0;
        while gibibyte < root.len() {
            if let Some(index) = map.level2_of(gibibyte) {
                let offset = size_of::<[*const u8; 512]>() + index * size_of::<[usize; 512]>();
                root[gibibyte] = place.cast::<u8>().wrapping_add(offset + table);
            }
            gibibyte += 1;
        }
        InitialTables {
            root,
            level2: UnsafeCell::new(*map.level2()),
        }
    }
}

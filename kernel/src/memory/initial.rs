//! The map that the MMU is turned on with: the image, the heap, and the console.
//!
//! It serves until [`super::map`] has made the map proper, in the heap. Blocks of 2 MiB hold code and variables alike, so
//! the image is all of it executable for that short time; nothing else is, and nothing else is mapped. The entry makes it, in
//! memory that the image's file does not have: only the linker knows where the image ends. Of an outline nothing else is known
//! before its tree was read: there the entry maps the image and the tree, and [`add`] the rest.
//! Facts: hardware/boards.md 3.1 items 1 and 4.

use super::Kind;
use aarch64_paging::descriptor::El1Attributes;
use core::cell::UnsafeCell;
use core::ptr;
use cortex_a::asm::barrier::{ISHST, SY, dsb, isb};
use eitri_aarch64::{BLOCK, block_tables};
use eitri_boards::uart::Width;
use eitri_boards::{Board, Region, Target};

const GIB: usize = 1 << 30;
/// Tables of blocks where the addresses are not known beforehand: for image, tree and heap, each of which may lie across a
/// gibibyte's end, and for the console.
const TABLES_ANYWHERE: usize = 7;
const TABLE: usize = El1Attributes::VALID
    .union(El1Attributes::TABLE_OR_PAGE)
    .bits();

/// One table.
type TablePage = UnsafeCell<[usize; 512]>;

/// Bytes of a table.
pub const TABLE_BYTES: usize = size_of::<TablePage>();

/// What an image is entered with.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Initial {
    /// Tables: the root, and tables of blocks.
    pub tables: usize,
    /// It may lie anywhere, and nothing is known besides.
    pub anywhere: bool,
    /// The heap.
    pub heap: Region,
    /// The block that the console is in.
    pub console: usize,
    /// The register that takes a character; 0 where that is not known.
    pub uart: usize,
    /// It takes a byte alone, not a word.
    pub uart_of_a_byte: bool,
}

impl Initial {
    /// Attributes of a block of the image.
    pub const AS_IMAGE: usize = Kind::AnyOfImage.attributes().bits();
    /// Attributes of a block of the tree.
    pub const AS_TREE: usize = Kind::Constants.attributes().bits();
    /// Attributes of a block of the heap.
    pub const AS_HEAP: usize = Kind::Data.attributes().bits();
    /// Attributes of the console's block.
    pub const AS_CONSOLE: usize = Kind::Device.attributes().bits();

    /// For an image of this board, or of this outline of one.
    ///
    /// # Panics
    /// While it is compiled, when two kinds of memory lie in one block of 2 MiB.
    pub const fn of(target: Target) -> Initial {
        match target {
            Target::Board(board) => Initial::of_board(board),
            Target::Outline(_) => Initial {
                tables: 1 + TABLES_ANYWHERE,
                anywhere: true,
                heap: Region::new(0, 0),
                console: 0,
                uart: 0,
                uart_of_a_byte: false,
            },
        }
    }

    const fn of_board(board: &Board) -> Initial {
        let board = board.description();
        let (image, heap) = (board.memory.image, board.memory.heap);
        let console = board.console.base().address() / BLOCK * BLOCK;
        let mapped = [
            image.base..image.end(),
            heap.base..heap.end(),
            console..console + BLOCK,
        ];
        let (uart, width) = board.console.data_register();
        match block_tables(&mapped) {
            Ok(tables) => Initial {
                tables: 1 + tables,
                anywhere: false,
                heap,
                console,
                uart,
                uart_of_a_byte: matches!(width, Width::Byte),
            },
            Err(problem) => panic!("{}", problem),
        }
    }
}

/// The tables in memory, the root first. Nothing is in them before the entry has run.
#[repr(C, align(4096))]
pub struct InitialTables<const N: usize>([TablePage; N]);

// SAFETY: they are for the MMU, which only reads. The entry has written by then; who writes later is `add`, whose callers say that
// they are the only ones.
unsafe impl<const N: usize> Sync for InitialTables<N> {}

impl<const N: usize> InitialTables<N> {
    /// Tables without anything.
    pub const fn empty() -> InitialTables<N> {
        InitialTables([const { UnsafeCell::new([0; 512]) }; N])
    }

    /// The same as pages, the root first.
    pub const fn pages(&'static self) -> Pages {
        Pages {
            first: self.0.as_ptr(),
            count: N,
        }
    }
}

/// The tables, whatever their number.
#[derive(Clone, Copy, Debug)]
pub struct Pages {
    first: *const TablePage,
    count: usize,
}

/// Maps the blocks that a region lies in, while the initial map is in use. Gives `false` where the tables do not suffice, or the
/// region has no such address. A block that is mapped stays as it is.
///
/// # Safety
/// The tables are those of the map in use, nobody else writes them, and the region is what `kind` says.
pub(crate) unsafe fn add(tables: Pages, region: Region, kind: Kind) -> bool {
    let table = |index: usize| tables.first.wrapping_add(index).cast::<usize>().cast_mut();
    let mut address = region.base / BLOCK * BLOCK;
    while address < region.end() {
        let gibibyte = address / GIB;
        if gibibyte >= 512 {
            return false;
        }
        // SAFETY: the root is the first page, and has 512 entries; it is a variable of the image, which is mapped.
        let used = (0..512).filter(|index| unsafe { table(0).add(*index).read_volatile() } != 0);
        let next = 1 + used.count();
        // SAFETY: the same.
        let entry = unsafe { table(0).add(gibibyte) };
        // SAFETY: the same.
        let mut below = unsafe { entry.read_volatile() };
        if below == 0 {
            if next >= tables.count {
                return false;
            }
            below = table(next).addr() | TABLE;
            // SAFETY: the same.
            unsafe { entry.write_volatile(below) };
        }
        let below = ptr::with_exposed_provenance_mut::<usize>(below & !(TABLE_BYTES - 1));
        // SAFETY: the root's entries are tables among these pages, of 512 entries each.
        unsafe {
            let block = below.add(address % GIB / BLOCK);
            if block.read_volatile() == 0 {
                block.write_volatile(address | kind.attributes().bits());
            }
        }
        address += BLOCK;
    }
    dsb(ISHST);
    isb(SY);
    true
}

//! The map that the MMU is turned on with: the image's memory, the heap, and the console.
//!
//! It serves until [`super::map`] has made the map proper, in the heap. Blocks of 2 MiB hold code and variables alike, so
//! the image is all of it executable for that short time; nothing else is, and nothing else is mapped: the entry takes out
//! what the board would let an image have and this one has not ([`Spare`]), since only the linker knows where it ends.
//! Of an outline nothing is known before its tree was read: there the entry maps the image and the tree, and [`add`] the rest.
//! Facts: hardware/boards.md 3.1 items 1 and 4.

use super::Kind;
use aarch64_paging::descriptor::El1Attributes;
use core::cell::UnsafeCell;
use core::ptr;
use cortex_a::asm::barrier::{ISHST, SY, dsb, isb};
use eitri_aarch64::{BLOCK, InitialMap, LEVEL2_TABLES};
use eitri_boards::{Board, Region, Target};

const GIB: usize = 1 << 30;
/// Tables of blocks where the addresses are not known beforehand: for image, tree and heap, each of which may lie across a
/// gibibyte's end, and for the console.
const TABLES_ANYWHERE: usize = 7;
const TABLE: usize = El1Attributes::VALID
    .union(El1Attributes::TABLE_OR_PAGE)
    .bits();

/// One table.
pub type TablePage = UnsafeCell<[usize; 512]>;

/// What an image is entered with.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Initial {
    /// What is mapped.
    pub map: InitialMap,
    /// Tables of blocks.
    pub tables: usize,
    /// It may lie anywhere.
    pub anywhere: bool,
    /// Attributes of a block of the image, and of one of the tree.
    pub as_image: usize,
    /// Attributes of a block of the tree.
    pub as_tree: usize,
    /// The register that takes a character; 0 where that is not known.
    pub uart: usize,
    /// The end of the memory that an image for the board may have: blocks of it that this one does not have are taken out.
    pub spare_end: usize,
    /// Bytes from the root to the table of the gibibyte that this memory is in.
    pub spare_table: usize,
}

impl Initial {
    /// For an image of this board, or of this outline of one.
    ///
    /// # Panics
    /// While it is compiled, when two kinds of memory lie in one block of 2 MiB, or the image's memory in two gibibytes.
    pub const fn of(target: Target) -> Initial {
        match target {
            Target::Board(board) => Initial::of_board(board),
            Target::Outline(_) => Initial {
                map: InitialMap::EMPTY,
                tables: TABLES_ANYWHERE,
                anywhere: true,
                as_image: Kind::AnyOfImage.attributes().bits(),
                as_tree: Kind::Constants.attributes().bits(),
                uart: 0,
                spare_end: 0,
                spare_table: 0,
            },
        }
    }

    const fn of_board(board: &Board) -> Initial {
        let board = board.description();
        let (image, heap) = (board.memory.image, board.memory.heap);
        let console = board.console.base().address() / BLOCK * BLOCK;
        let map = InitialMap::EMPTY
            .with(image.base, image.bytes, Kind::AnyOfImage.attributes())
            .with(heap.base, heap.bytes, Kind::Data.attributes())
            .with(console, BLOCK, Kind::Device.attributes());
        assert!(
            image.base / GIB == (image.end() - 1) / GIB,
            "the image's memory is in two gibibytes"
        );
        let Some(table) = map.level2_of(image.base / GIB) else {
            panic!("the image is mapped");
        };
        Initial {
            map,
            tables: LEVEL2_TABLES,
            anywhere: false,
            as_image: 0,
            as_tree: 0,
            uart: board.console.data_register(),
            spare_end: image.end(),
            spare_table: (1 + table) * size_of::<TablePage>(),
        }
    }
}

/// The tables in memory, the root first.
#[repr(C, align(4096))]
pub struct InitialTables<const N: usize> {
    /// Addresses of tables with the descriptor's low bits set, or nothing.
    root: UnsafeCell<[*const u8; 512]>,
    /// The entry writes here before the MMU reads.
    level2: [TablePage; N],
}

// SAFETY: they are for the MMU, which only reads. The entry has written by then; who writes later is `add`, whose callers say that
// they are the only ones.
unsafe impl<const N: usize> Sync for InitialTables<N> {}

impl<const N: usize> InitialTables<N> {
    /// The tables of `map`, to stand at `place`.
    pub const fn new(map: &InitialMap, place: *const InitialTables<N>) -> InitialTables<N> {
        let mut root = [ptr::null(); 512];
        let mut level2 = [const { UnsafeCell::new([0; 512]) }; N];
        let mut gibibyte = 0;
        while gibibyte < root.len() {
            if let Some(index) = map.level2_of(gibibyte) {
                let offset = (1 + index) * size_of::<TablePage>();
                root[gibibyte] = place.cast::<u8>().wrapping_add(offset + TABLE);
                level2[index] = UnsafeCell::new(map.level2()[index]);
            }
            gibibyte += 1;
        }
        let root = UnsafeCell::new(root);
        InitialTables { root, level2 }
    }

    /// The same as pages, the root first.
    pub fn pages(&'static self) -> Pages {
        let first: *const InitialTables<N> = self;
        Pages {
            first: first.cast(),
            count: 1 + N,
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
        let below =
            ptr::with_exposed_provenance_mut::<usize>(below & !(size_of::<TablePage>() - 1));
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

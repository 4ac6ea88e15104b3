//! Device tree: what the boot loader says about the machine, compared with what the board states.
//!
//! The board's own statement is what an image is linked and mapped by; where only an outline of it is known, the tree says the
//! rest ([`Machine`]). The tree is asked whether it is that machine, and
//! whether the memory that the image uses is there and nobody else's; and for what only the loader knows: the command
//! line, and how the firmware is called.
//!
//! Facts: hardware/boards.md 2.2, 2.3, 3.1 item 4 and 5 (step 5); boards-rk3588.md 15 item 10 (the GPU's node is not asked,
//! since trees differ there).

mod framebuffer;
mod identity;
mod machine;
mod place;

pub use framebuffer::{Framebuffer, FramebufferError};
pub use identity::Identity;
pub use machine::{INFERRED, Machine, NamedConsole};

use crate::board::{Conduit, Console, Description};
use crate::region::{Region, RegisterBase};
use core::fmt;
use dtoolkit::error::FdtParseError;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::standard::Reg;
use dtoolkit::{Node, Property};
use place::Place;

/// Most bytes of a tree, by the arm64 boot protocol.
pub const MOST_BYTES: usize = 2 << 20;
/// The first word of a tree, as its bytes are.
const MAGIC: [u8; 4] = [0xD0, 0x0D, 0xFE, 0xED];

/// A tree.
#[derive(Clone, Copy, Debug)]
pub struct DeviceTree<'a>(Fdt<'a>);

/// Why an image does not go on with a tree.
#[derive(Debug, PartialEq, Eq)]
pub enum TreeError {
    /// What the loader has handed over can't be a tree's address.
    NotAligned {
        /// What it is.
        tree: usize,
    },
    /// There is something else, or one that is too long.
    NoTree {
        /// Its first word.
        magic: [u8; 4],
        /// Bytes that it says it has.
        bytes: u32,
    },
    /// It is damaged.
    Damaged(FdtParseError),
    /// It is another machine's.
    OtherMachine {
        /// What the image is for.
        wanted: &'static str,
    },
    /// The machine does not have the memory that the image uses.
    NoMemory {
        /// What for.
        what: &'static str,
        /// Which.
        region: Region,
    },
    /// The memory that the image uses is somebody else's.
    Reserved {
        /// What for.
        what: &'static str,
        /// Which.
        region: Region,
        /// Where somebody else's begins.
        by: u64,
    },
    /// It does not say what an image for a machine that only its tree describes has to know.
    Silent {
        /// What.
        what: &'static str,
    },
    /// There is no room for what the image needs.
    TooLittleMemory {
        /// What for.
        what: &'static str,
        /// How many bytes at least.
        bytes: usize,
    },
    /// It has memory where the machine that the image is for has registers.
    MemoryForDevices {
        /// What the image is for.
        wanted: &'static str,
        /// Where the memory begins.
        base: u64,
    },
    /// Its parts contradict one another, or what is known of the machine.
    Contradiction {
        /// In what.
        what: &'static str,
    },
    /// A file that the loader has put into memory lies in it, or can't be where the tree says.
    FileInTheWay {
        /// What for.
        what: &'static str,
        /// Which.
        region: Region,
        /// Where the file begins.
        file: u64,
    },
    /// The tree itself lies in it.
    InTheWay {
        /// What for.
        what: &'static str,
        /// Which.
        region: Region,
        /// Where the tree is.
        tree: usize,
    },
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |region: &Region| (region.base, region.end());
        match self {
            TreeError::NotAligned { tree } => write!(
                f,
                "x0 is {tree:#x}, which is no device tree's address: the image is for `booti`, and not for `go`"
            ),
            TreeError::NoTree { magic, bytes } => write!(
                f,
                "no device tree: it begins with {magic:02x?} and has {bytes} bytes"
            ),
            TreeError::Damaged(error) => write!(f, "a damaged device tree: {error}"),
            TreeError::OtherMachine { wanted } => {
                write!(
                    f,
                    "the device tree is another machine's: this image is for {wanted}"
                )
            }
            TreeError::NoMemory { what, region } => {
                let (base, end) = range(region);
                write!(
                    f,
                    "the machine has not all of the memory for {what}, {base:#x} to {end:#x}"
                )
            }
            TreeError::Reserved { what, region, by } => {
                let (base, end) = range(region);
                write!(
                    f,
                    "the memory for {what}, {base:#x} to {end:#x}, is reserved for somebody else from {by:#x} on"
                )
            }
            TreeError::Silent { what } => {
                write!(
                    f,
                    "the device tree does not say what the machine's is: {what}"
                )
            }
            TreeError::TooLittleMemory { what, bytes } => write!(
                f,
                "the device tree has no {bytes:#x} bytes of memory in one piece for {what}"
            ),
            TreeError::MemoryForDevices { wanted, base } => write!(
                f,
                "the device tree is another machine's: its memory at {base:#x} lies where {wanted} has registers"
            ),
            TreeError::Contradiction { what } => {
                write!(
                    f,
                    "the device tree contradicts itself or this image: {what}"
                )
            }
            TreeError::FileInTheWay { what, region, file } => {
                let (base, end) = range(region);
                write!(
                    f,
                    "the file at {file:#x} lies in the memory for {what}, {base:#x} to {end:#x}; \
                     U-Boot leaves it where it was loaded after `setenv initrd_high 0xffffffffffffffff`"
                )
            }
            TreeError::InTheWay { what, region, tree } => {
                let (base, end) = range(region);
                write!(
                    f,
                    "the device tree at {tree:#x} lies in the memory for {what}, {base:#x} to {end:#x}; \
                     U-Boot leaves it where it was loaded after `setenv fdt_high 0xffffffffffffffff`"
                )
            }
        }
    }
}

impl core::error::Error for TreeError {}

/// The memory that an image for a board uses, and what for.
fn used(board: &Description) -> [(&'static str, Region); 3] {
    let memory = board.memory;
    [
        ("the image", memory.image),
        ("the heap", memory.heap),
        ("what the GPU shares", memory.shared),
    ]
}

/// Whether a tree at an address, however long it may be, is apart from the memory that the image uses: before any of that
/// is written.
///
/// # Errors
/// When it is not, or the address is none of a tree.
pub fn is_apart(tree: usize, board: &Description) -> Result<(), TreeError> {
    if !tree.is_multiple_of(8) {
        return Err(TreeError::NotAligned { tree });
    }
    let end = tree.saturating_add(MOST_BYTES);
    for (what, region) in used(board) {
        if tree < region.end() && region.base < end {
            return Err(TreeError::InTheWay { what, region, tree });
        }
    }
    Ok(())
}

/// How many bytes the tree has that begins so.
///
/// # Errors
/// When it is none, or longer than one may be.
pub fn total_bytes(begin: [u8; 8]) -> Result<usize, TreeError> {
    let [m0, m1, m2, m3, b0, b1, b2, b3] = begin;
    let (magic, bytes) = ([m0, m1, m2, m3], u32::from_be_bytes([b0, b1, b2, b3]));
    if magic != MAGIC || bytes as usize > MOST_BYTES {
        return Err(TreeError::NoTree { magic, bytes });
    }
    Ok(bytes as usize)
}

impl<'a> DeviceTree<'a> {
    /// Reads a tree, whole.
    ///
    /// # Errors
    /// [`TreeError::Damaged`].
    pub fn parse(bytes: &'a [u8]) -> Result<DeviceTree<'a>, TreeError> {
        Fdt::new(bytes).map(DeviceTree).map_err(TreeError::Damaged)
    }

    /// Compares it with a board.
    ///
    /// # Errors
    /// When it is another machine's, or the memory that the image uses is not there, or not ours.
    pub fn check(&self, board: &Description) -> Result<(), TreeError> {
        let root = self.0.root();
        let mut names = root.compatible().into_iter().flatten();
        let known = !board.compatible.is_empty();
        if known && !names.any(|name| board.compatible.contains(&name)) {
            let wanted = board.title;
            return Err(TreeError::OtherMachine { wanted });
        }
        for (what, region) in used(board) {
            if !self.has_memory(region) {
                return Err(TreeError::NoMemory { what, region });
            }
            let overlaps = |(base, bytes): &(u64, u64)| {
                *base < region.end() as u64 && (region.base as u64) < base.saturating_add(*bytes)
            };
            if let Some((by, _)) = self.reserved().find(overlaps) {
                return Err(TreeError::Reserved { what, region, by });
            }
        }
        Ok(())
    }

    /// Every range of memory: base and bytes.
    fn memory(&self) -> impl Iterator<Item = (u64, u64)> + 'a {
        let root = self.0.root();
        let nodes = root.children();
        nodes
            .filter(|node| node.name_without_address() == "memory")
            .flat_map(ranges)
    }

    /// Every range that is somebody else's.
    fn reserved(&self) -> impl Iterator<Item = (u64, u64)> + 'a {
        let listed = self.0.memory_reservations();
        let nodes = self.0.find_node("/reserved-memory");
        let nodes = nodes.into_iter().flat_map(|node| node.children());
        listed
            .map(|range| (range.address(), range.size()))
            .chain(nodes.flat_map(ranges))
    }

    fn has_memory(&self, region: Region) -> bool {
        let mut next = region.base as u64;
        while next < region.end() as u64 {
            let inside =
                |(base, bytes): &(u64, u64)| *base <= next && next < base.saturating_add(*bytes);
            let Some((base, bytes)) = self.memory().find(inside) else {
                return false;
            };
            next = base.saturating_add(bytes);
        }
        true
    }

    /// The command line for the image; empty when there is none.
    pub fn arguments(&self) -> &'a str {
        let chosen = self.0.find_node("/chosen");
        chosen
            .and_then(|node| text(node, "bootargs"))
            .unwrap_or_default()
    }

    /// The file that the loader has put beside the image, as it does with a first file system for Linux (`linux,initrd-start`
    /// and `linux,initrd-end`): here it is the GPU's firmware.
    ///
    /// # Errors
    /// When it lies in the memory that the image uses.
    pub fn file(&self, board: &Description) -> Result<Option<Region>, TreeError> {
        let Some((start, end)) = self.file_bounds() else {
            return Ok(None);
        };
        for (what, region) in used(board) {
            if start < region.end() as u64 && (region.base as u64) < end {
                let file = start;
                return Err(TreeError::FileInTheWay { what, region, file });
            }
        }
        let place = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        Ok(place.and_then(|(base, end)| {
            let bytes = end.checked_sub(base)?;
            (bytes > 0).then_some(Region { base, bytes })
        }))
    }

    /// Where that file begins and ends.
    fn file_bounds(&self) -> Option<(u64, u64)> {
        let number = |name: &str| number(self.0.find_node("/chosen")?, name);
        Some((number("linux,initrd-start")?, number("linux,initrd-end")?))
    }

    /// The same as base and bytes.
    fn loaded(&self) -> impl Iterator<Item = (u64, u64)> {
        let bounds = self.file_bounds().into_iter();
        bounds.map(|(start, end)| (start, end.saturating_sub(start)))
    }

    /// The node of the UART that the boot loader has chosen.
    fn stdout(&self) -> Option<Place<'a>> {
        let named = text(self.0.find_node("/chosen")?, "stdout-path")?;
        let named = named.split(':').next()?;
        let path = match named.starts_with('/') {
            true => named,
            false => text(self.0.find_node("/aliases")?, named)?,
        };
        Place::named(self.0, path)
    }

    /// The console, where the tree names another than the board's (`stdout-path`): one of the same kind, by what both nodes
    /// say that they are compatible with, at registers that are no memory.
    pub fn console(&self, board: &Description) -> Option<Console> {
        let node = self.stdout()?.node;
        let (base, _) = ranges(node).next()?;
        let base = usize::try_from(base).ok()?;
        let own = board.console.base().address();
        let memory = self
            .memory()
            .any(|(from, bytes)| from <= base as u64 && (base as u64) - from < bytes);
        if base == own || memory || board.is_taken(base) {
            return None;
        }
        let own = node_of(self.0.root(), own, DEEPEST)?;
        let mut kinds = own.compatible().into_iter().flatten();
        let same = |kind: &str| node.compatible().into_iter().flatten().any(|it| it == kind);
        let base = RegisterBase::checked(base).filter(|_| kinds.any(same))?;
        Some(board.console.at(base))
    }

    /// How the firmware is called, where the tree names one.
    pub fn conduit(&self) -> Option<Conduit> {
        match text(self.0.find_node("/psci")?, "method")? {
            "smc" => Some(Conduit::Smc),
            "hvc" => Some(Conduit::Hvc),
            _ => None,
        }
    }
}

/// How deep the node of a UART may lie: below the root, a bus, and a bus behind it.
const DEEPEST: u32 = 3;

/// The node below this one whose registers begin there.
fn node_of(below: FdtNode<'_>, base: usize, deeper: u32) -> Option<FdtNode<'_>> {
    below.children().find_map(|node| {
        let begins = ranges(node).next().is_some_and(|(at, _)| at == base as u64);
        match deeper.checked_sub(1) {
            _ if begins => Some(node),
            Some(deeper) => node_of(node, base, deeper),
            None => None,
        }
    })
}

/// What a node's `reg` lists: base and bytes. None where there is no such list, or one of other numbers.
fn ranges<'a>(node: FdtNode<'a>) -> impl Iterator<Item = (u64, u64)> + use<'a> {
    let listed = node.reg().ok().flatten();
    let numbers = |range: Reg<'a>| Some((range.address().ok()?, range.size().ok()?));
    listed.into_iter().flatten().filter_map(numbers)
}

/// A number of one or two words.
fn number(node: FdtNode<'_>, name: &str) -> Option<u64> {
    let mut properties = node.properties();
    let property = properties.find(|property| property.name() == name)?;
    let bytes = property.value();
    match bytes.len() {
        4 => Some(u64::from(u32::from_be_bytes(bytes.try_into().ok()?))),
        8 => Some(u64::from_be_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

fn text<'a>(node: FdtNode<'a>, name: &str) -> Option<&'a str> {
    let mut properties = node.properties();
    let property = properties.find(|property| property.name() == name)?;
    property.value_as::<&'a str>().ok()
}

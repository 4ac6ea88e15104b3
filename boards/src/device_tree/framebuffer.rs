//! Framebuffer: the memory that a boot loader left a display reading, as a `simple-framebuffer` node says.
//!
//! Guarantees: the memory is apart from everything that the image uses, and whole pages of it can be mapped. Never: judges the size
//! and the format; who draws does.
//! Facts: those marked below; `reg` and `status` are the device tree's own specification's, by way of `dtoolkit`.

use super::place::Place;
use super::{DeviceTree, number, ranges, text};
use crate::board::Description;
use crate::region::Region;
use core::fmt;
use dtoolkit::Node;

// FACT: no sheet has the binding of `simple-framebuffer`. Names of properties, and that they are 32-bit numbers and a text, are from the
// device tree project's own schema. Settled by a board whose U-Boot leaves its logo on the screen: `fdt print /chosen` shows the node.
const KIND: &str = "simple-framebuffer";

const PAGE: usize = 4096;
/// Where addresses end that an image maps.
const MAPPED: u64 = 1 << 39;

/// Memory that a display reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framebuffer<'a> {
    /// The memory.
    pub memory: Region,
    /// Pixels of a line.
    pub width: usize,
    /// Lines.
    pub height: usize,
    /// Bytes from one line to the next.
    pub stride: usize,
    /// The name of the pixel format.
    pub format: &'a str,
}

impl Framebuffer<'_> {
    /// The pages that the memory lies in.
    pub fn pages(&self) -> Region {
        let base = self.memory.base / PAGE * PAGE;
        Region {
            base,
            bytes: self.memory.end().next_multiple_of(PAGE) - base,
        }
    }
}

/// Why a tree gives no framebuffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramebufferError {
    /// The boot loader has left none, or it is switched off.
    None,
    /// A property that the `simple-framebuffer` node lacks.
    Silent {
        /// The property.
        what: &'static str,
    },
    /// The framebuffer ends above the addresses that an image can map.
    TooHigh {
        /// First address.
        base: u64,
    },
    /// The framebuffer overlaps memory that has another use.
    InTheWay {
        /// What.
        what: &'static str,
        /// Where that is.
        region: Region,
        /// The framebuffer's pages.
        pages: Region,
    },
}

impl fmt::Display for FramebufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FramebufferError::None => write!(
                f,
                "the boot loader has left no display: its device tree has no {KIND} that is in use"
            ),
            FramebufferError::Silent { what } => {
                write!(f, "the {KIND} of the device tree has no `{what}`")
            }
            FramebufferError::TooHigh { base } => write!(
                f,
                "the {KIND} at {base:#x} lies where an image can't map it"
            ),
            FramebufferError::InTheWay {
                what,
                region,
                pages,
            } => write!(
                f,
                "the {KIND}, {:#x} to {:#x}, lies in {what}, {:#x} to {:#x}",
                pages.base,
                pages.end(),
                region.base,
                region.end()
            ),
        }
    }
}

impl core::error::Error for FramebufferError {}

impl<'a> DeviceTree<'a> {
    /// The framebuffer that the boot loader has left.
    ///
    /// # Errors
    /// When there is none, its node does not say what it has to, or its memory is not its own.
    pub fn framebuffer(&self, board: &Description) -> Result<Framebuffer<'a>, FramebufferError> {
        let place = Place::compatible(self.0, KIND).ok_or(FramebufferError::None)?;
        let silent = |what| FramebufferError::Silent { what };
        let size = |what| {
            let number = number(place.node, what).and_then(|number| usize::try_from(number).ok());
            number.ok_or(silent(what))
        };
        let framebuffer = Framebuffer {
            memory: self.memory_of(place)?,
            width: size("width")?,
            height: size("height")?,
            stride: size("stride")?,
            format: text(place.node, "format").ok_or(silent("format"))?,
        };
        self.is_its_own(framebuffer.pages(), board)?;
        Ok(framebuffer)
    }

    /// The node's `reg`. Below `/chosen`, which is no bus, an address is the machine's own, whatever `ranges` says.
    fn memory_of(&self, place: Place<'a>) -> Result<Region, FramebufferError> {
        let chosen = self.0.find_node("/chosen");
        let mut chosen = chosen.into_iter().flat_map(|node| node.children());
        let found = match chosen.any(|node| node.name() == place.node.name()) {
            true => ranges(place.node).next(),
            false => place
                .registers()
                .next()
                .map(|region| (region.base as u64, region.bytes as u64)),
        };
        let (base, bytes) = found
            .filter(|(base, bytes)| *base != 0 && *bytes != 0)
            .ok_or(FramebufferError::Silent { what: "reg" })?;
        let too_high = FramebufferError::TooHigh { base };
        match base.checked_add(bytes) {
            Some(end) if end <= MAPPED => {}
            _ => return Err(too_high),
        }
        match (usize::try_from(base), usize::try_from(bytes)) {
            (Ok(base), Ok(bytes)) => Ok(Region { base, bytes }),
            _ => Err(too_high),
        }
    }

    /// Checks that pages are apart from what the image uses and from what is kept by others.
    fn is_its_own(&self, pages: Region, board: &Description) -> Result<(), FramebufferError> {
        let memory = &board.memory;
        let used = [
            ("the memory for the image", memory.image),
            ("the memory for the heap", memory.heap),
            ("the memory that the GPU shares", memory.shared),
            ("the GPU's registers", board.gpu.window),
        ];
        let controller = memory.controller.iter();
        let controller = controller.map(|region| ("the power controller's memory", *region));
        let devices = memory.devices.iter();
        let devices = devices.map(|region| ("a device's registers", *region));
        let never = memory.never.iter();
        let never = never.map(|region| ("memory that firmware keeps", *region));
        let all = used.into_iter().chain(controller).chain(devices);
        let mut all = all.chain(never).chain(self.file_beside());
        match all.find(|(_, region)| region.overlaps(pages)) {
            None => Ok(()),
            Some((what, region)) => Err(FramebufferError::InTheWay {
                what,
                region,
                pages,
            }),
        }
    }

    /// The file that the loader has put beside the image.
    fn file_beside(&self) -> impl Iterator<Item = (&'static str, Region)> {
        self.loaded().filter_map(|(base, bytes)| {
            let base = usize::try_from(base).ok()?;
            let bytes = usize::try_from(bytes).ok()?;
            Some(("the file beside the image", Region { base, bytes }))
        })
    }
}

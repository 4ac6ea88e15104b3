//! Outline: a machine of which the GPU and what is around it are known, and the rest is its device tree's to say.
//!
//! The image for one runs wherever its loader puts it, and becomes an image for a [`Board`] when it has read the tree
//! ([`crate::device_tree::DeviceTree::machine`]).

use crate::Text;
use crate::agreement::steps_problem;
use crate::board::Gpu;
#[cfg(feature = "drivers")]
use crate::board::{Board, Description, Firmware, Memory};
#[cfg(feature = "drivers")]
use crate::device_tree::Machine;
#[cfg(feature = "drivers")]
use crate::display::Display;
use crate::host::Ending;
use crate::lab::Lab;
use crate::loader::Loader;
use crate::region::Region;

/// A machine whose memory, console, interrupt controller, timer and firmware only its device tree says.
#[derive(Clone, Copy)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Outline {
    /// As people write it.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    pub name: Text,
    /// The machines, in words.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    pub title: Text,
    /// As of a [`Description`].
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::texts"
        )
    )]
    pub compatible: &'static [&'static str],
    /// Registers that the GPU's power needs, the GPU's window apart.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::list"
        )
    )]
    pub devices: &'static [Region],
    /// The GPU.
    pub gpu: Gpu,
    /// Bytes of memory that the GPU's power controller is given; whole pages, 0 if none.
    #[cfg_attr(feature = "files", serde(default))]
    pub controller_bytes: usize,
    /// What loads the image.
    pub loader: Loader,
    /// How an image ends.
    #[cfg_attr(feature = "files", serde(default))]
    pub ending: Ending,
    /// Where it is in labs.
    #[cfg_attr(feature = "files", serde(default))]
    pub lab: Option<Lab>,
}

/// Where an image is linked that runs wherever it is put: an address like another, of no machine.
pub const ANYWHERE: Region = Region::new(0x1000_0000, 0x0600_0000);

impl Outline {
    /// What of it does not agree with the rest.
    pub(crate) const fn problem(&self) -> Option<&'static str> {
        if !self.gpu.window.is_whole(4096) {
            return Some("window: no whole pages");
        }
        if !self.controller_bytes.is_multiple_of(4096) {
            return Some("memory of the controller: no whole pages");
        }
        let mut index = 0;
        while index < self.devices.len() {
            if self.devices[index].overlaps(self.gpu.window) {
                return Some("a device overlaps the GPU");
            }
            index += 1;
        }
        steps_problem(&self.gpu, self.devices, &[])
    }

    /// Looks whether its own addresses agree with one another.
    ///
    /// # Panics
    /// While it is compiled, when they do not.
    pub(crate) const fn checked(self) -> Outline {
        if let Some(problem) = self.problem() {
            panic!("{}", problem);
        }
        self
    }

    /// Whether a register of the GPU's or of what is around it lies in a range of memory.
    #[cfg(feature = "drivers")]
    pub(crate) fn is_in(&self, base: u64, bytes: u64) -> bool {
        let mut regions = self.devices.iter().chain([&self.gpu.window]);
        regions.any(|region| {
            base < region.end() as u64 && (region.base as u64) < base.saturating_add(bytes)
        })
    }

    /// The board that it is on the machine that a tree has described. `devices` are its own and the machine's.
    ///
    /// # Errors
    /// What of the machine contradicts the outline.
    ///
    /// # Safety
    /// The machine is the one that the outline is of, and is as the tree says: see [`Board::new`].
    #[cfg(feature = "drivers")]
    pub unsafe fn on(
        &self,
        machine: &Machine,
        devices: &'static [Region],
    ) -> Result<Board, &'static str> {
        let description = Description {
            name: self.name,
            title: self.title,
            compatible: self.compatible,
            memory: Memory {
                image: machine.image,
                heap: machine.heap,
                shared: machine.shared,
                controller: machine.controller,
                devices,
                never: &[],
            },
            console: machine.console,
            gic: machine.gic,
            virtual_timer_ppi: machine.virtual_timer_ppi,
            physical_timer_ppi: machine.physical_timer_ppi,
            gpu: self.gpu,
            power_controllers: &[],
            display: Display::OfLoader,
            firmware: Firmware::AsTreeSays,
            loader: self.loader,
            watchdog: None,
            ending: self.ending,
            lab: self.lab,
        };
        // SAFETY: the caller's promise.
        unsafe { Board::checked(description) }
    }
}

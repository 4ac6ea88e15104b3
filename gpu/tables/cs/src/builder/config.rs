//! What the builder builds for, and what it lets its caller do.

use crate::arch::Arch;
use crate::layout::Layout;
use crate::register::RegSet;
use crate::scoreboard::{Slot, SlotMask};

/// What to build for, and what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The architecture.
    pub arch: Arch,
    /// The registers that there are.
    pub layout: Layout,
    /// The scoreboard slots that there are.
    pub slots: u8,
    /// The registers that instructions may write. Links between chunks write the kernel's all the same.
    pub writable: RegSet,
    /// The selected other slot, when the builder is to put `WAIT` before an instruction that uses a register with a load
    /// in flight. `None`: waits are the caller's.
    pub load_store_slot: Option<Slot>,
}

impl Config {
    /// All that `arch` is known to have; everything but the kernel's registers is writable; no automatic waits.
    pub const fn new(arch: Arch) -> Config {
        let layout = Layout::of(arch);
        Config {
            arch,
            layout,
            slots: if arch as u8 >= Arch::V11 as u8 { 16 } else { 8 },
            writable: layout.all().without(layout.kernel()),
            load_store_slot: None,
        }
    }

    /// The mask of every slot that there is.
    pub const fn all_slots(&self) -> SlotMask {
        SlotMask::first(self.slots)
    }
}

//! CPU interface: that of a GIC of version 2, which the image of a board sees that has one.
//!
//! QEMU's GIC is of version 3, whose virtual CPU interface has system registers. So the image's accesses come here, and take interrupts
//! out of the list registers as system registers would.
//!
//! Facts: hardware/ has nothing of this version; the layout is `arm-gic`'s. See `kernel/src/interrupts/v2.rs`.

use crate::interrupts::{self, Interrupts};
use crate::machine;
use arm_gic::gicv2::registers::Gicc;
use core::mem::offset_of;
use eitri_aarch64::{Access, Direction};
use eitri_boards::{Gic, Region};

const BYTES: usize = 0x2000;
/// GICC_IAR: there is none.
const SPURIOUS: u64 = 1023;
/// GICC_CTLR: interrupts come.
const ENABLE: u32 = 1;

/// What the image has written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuInterface {
    control: u32,
    priorities: u8,
}

/// Whether the image sees it at an address.
pub(crate) fn has(address: u64) -> bool {
    region().is_some_and(|region| region.contains(address as usize))
}

fn region() -> Option<Region> {
    match machine::board().gic {
        Gic::V2 { cpu_interface, .. } => Some(Region::new(cpu_interface.address(), BYTES)),
        Gic::V3 { .. } => None,
    }
}

impl CpuInterface {
    /// Does what the image wanted to. Gives what a load loads.
    pub(crate) fn access(
        &mut self,
        access: Access,
        value: u64,
        interrupts: &mut Interrupts,
    ) -> u64 {
        const CTLR: usize = offset_of!(Gicc, ctlr);
        const PMR: usize = offset_of!(Gicc, pmr);
        const IAR: usize = offset_of!(Gicc, iar);
        const EOIR: usize = offset_of!(Gicc, eoir);
        let base = region().map_or(0, |region| region.base);
        match (access.address as usize - base, access.direction) {
            (CTLR, Direction::Read) => self.control.into(),
            (CTLR, Direction::Write) => {
                self.control = value as u32;
                self.let_through()
            }
            (PMR, Direction::Read) => self.priorities.into(),
            (PMR, Direction::Write) => {
                self.priorities = value as u8;
                self.let_through()
            }
            (IAR, Direction::Read) => interrupts.acknowledge().map_or(SPURIOUS, u64::from),
            (EOIR, Direction::Write) => {
                interrupts.end(value as u32);
                0
            }
            _ => 0,
        }
    }

    /// Lets interrupts come that the image lets come.
    fn let_through(self) -> u64 {
        interrupts::let_through(self.control & ENABLE != 0, self.priorities);
        0
    }
}

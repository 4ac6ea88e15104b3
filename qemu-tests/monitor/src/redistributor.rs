//! Redistributor: the page of each CPU where the image could switch the monitor's own interrupts off.
//!
//! Everything in it is passed on as it is but one thing: private interrupts of the monitor's stay enabled. Without them
//! an image that hangs would never be stopped. A GIC of version 2 has the same registers of private interrupts in its distributor, at
//! the same distances.
//! Facts: hardware/boards.md section 4; the layout is the architecture's (GICv3, 12.11).

use crate::guest::Guest;
use crate::interrupts::OWN;
use crate::machine;
use eitri_aarch64::{Access, Direction, Width};
use eitri_boards::qemu_virt::BOARD;
use eitri_boards::{Gic, Region};

/// The second frame of a redistributor begins here; 4 KiB of it have registers.
const SGI_FRAME: usize = 0x1_0000;
/// From one CPU's to the next.
const STRIDE: usize = 0x2_0000;
/// GICR_ICENABLER0: a bit that is written as 1 disables an interrupt.
const CLEAR_ENABLE: usize = 0x180;

/// Registers of private interrupts that a distributor of version 2 has, but for their groups: which are enabled, pending and active;
/// priorities; kinds.
const OF_VERSION_2: [(usize, usize); 8] = [
    (0x100, 4),
    (CLEAR_ENABLE, 4),
    (0x200, 4),
    (0x280, 4),
    (0x300, 4),
    (0x380, 4),
    (0x400, 32),
    (0xC00, 8),
];

/// The pages, as the image sees them: of a board that is not QEMU's it has one CPU.
pub(crate) fn pages() -> impl Iterator<Item = Region> {
    let board = machine::board();
    let first = board.gic.of_cpus().address() + SGI_FRAME;
    let cpus = match board.gic {
        Gic::V3 { cpus, .. } if machine::is_qemu(board) => cpus,
        Gic::V3 { .. } => 1,
        Gic::V2 { .. } => 0,
    };
    (0..cpus).map(move |cpu| Region::new(first + cpu * STRIDE, 0x1000))
}

/// How far an address is behind the first redistributor, if it is one of these registers.
fn inside(address: u64) -> Option<usize> {
    let address = address as usize;
    let gic = machine::board().gic;
    match gic {
        Gic::V3 { redistributors, .. } => pages()
            .any(|page| page.contains(address))
            .then(|| address - redistributors.address()),
        Gic::V2 { distributor, .. } => {
            let offset = address.checked_sub(distributor.address())?;
            let mut all = OF_VERSION_2.iter();
            all.any(|(first, bytes)| (*first..first + bytes).contains(&offset))
                .then_some(SGI_FRAME + offset)
        }
    }
}

/// Whether one of them has an address.
pub(crate) fn has(address: u64) -> bool {
    inside(address).is_some()
}

/// Does in the image's place what it wanted to.
pub(crate) fn pass_on(guest: &mut Guest, access: Access) {
    let Some(inside) = inside(access.address) else {
        return;
    };
    let address = BOARD.gic.of_cpus().address() + inside;
    let offset = inside % STRIDE - SGI_FRAME;
    match access.direction {
        Direction::Read => {
            // SAFETY: a register of the redistributor, mapped as a device; the access is the image's own.
            let value = unsafe {
                match access.width {
                    Width::Byte => u64::from((address as *const u8).read_volatile()),
                    Width::Half => u64::from((address as *const u16).read_volatile()),
                    Width::Word => u64::from((address as *const u32).read_volatile()),
                    Width::Double => (address as *const u64).read_volatile(),
                }
            };
            guest.set_register(access.register, access.loaded(value));
        }
        Direction::Write => {
            let mut value = guest.register(access.register);
            if offset == CLEAR_ENABLE {
                let own = OWN.map(|id| 1u64 << id.raw_value());
                value &= !own.into_iter().fold(0, |all, bit| all | bit);
            }
            // SAFETY: as above.
            unsafe {
                match access.width {
                    Width::Byte => (address as *mut u8).write_volatile(value as u8),
                    Width::Half => (address as *mut u16).write_volatile(value as u16),
                    Width::Word => (address as *mut u32).write_volatile(value as u32),
                    Width::Double => (address as *mut u64).write_volatile(value),
                }
            }
        }
    }
}

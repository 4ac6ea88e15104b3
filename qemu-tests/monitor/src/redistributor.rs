//! Redistributor: the page of each CPU where the image could switch the monitor's own interrupts off.
//!
//! Everything in it is passed on as it is but one thing: private interrupts of the monitor's stay enabled. Without them
//! an image that hangs would never be stopped.
//! Facts: hardware/boards.md section 4; the layout is the architecture's (GICv3, 12.11).

use crate::guest::Guest;
use crate::interrupts::OWN;
use crate::machine;
use eitri_aarch64::{Access, Direction, Width};
use eitri_boards::Region;
use eitri_boards::qemu_virt::BOARD;

/// The second frame of a redistributor begins here; 4 KiB of it have registers.
const SGI_FRAME: usize = 0x1_0000;
/// From one CPU's to the next.
const STRIDE: usize = 0x2_0000;
/// GICR_ICENABLER0: a bit that is written as 1 disables an interrupt.
const CLEAR_ENABLE: usize = 0x180;

/// The pages, as the image sees them: of a board that is not QEMU's it has one CPU.
pub(crate) fn pages() -> impl Iterator<Item = Region> {
    let board = machine::board();
    let first = board.gic.redistributors.address() + SGI_FRAME;
    let cpus = match machine::is_qemu(board) {
        true => BOARD.gic.cpus,
        false => 1,
    };
    (0..cpus).map(move |cpu| Region::new(first + cpu * STRIDE, 0x1000))
}

/// Whether one of them has an address.
pub(crate) fn has(address: u64) -> bool {
    pages().any(|page| page.contains(address as usize))
}

/// Does in the image's place what it wanted to.
pub(crate) fn pass_on(guest: &mut Guest, access: Access) {
    let inside = access.address as usize - machine::board().gic.redistributors.address();
    let address = BOARD.gic.redistributors.address() + inside;
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

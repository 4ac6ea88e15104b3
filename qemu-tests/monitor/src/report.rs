//! Report: what the monitor says, line by line, on the semihosting console; and how it ends.

use crate::guest::Guest;
use crate::physical_memory::GuestMemory;
use alloc::format;
use core::fmt;
use core::panic::PanicInfo;
use eitri_aarch64::{Syndrome, frames};
use eitri_boards::Exit;
use eitri_boards::qemu_virt::BOARD;
use eitri_model::PhysicalMemory;

/// Says a line.
macro_rules! say {
    ($($text:tt)*) => { $crate::report::line(format_args!($($text)*)) };
}
pub(crate) use say;

pub(crate) fn line(text: fmt::Arguments<'_>) {
    if let Some(host) = BOARD.host() {
        host.say(&format!("monitor: {text}\n"));
    }
}

/// Says what the image was doing.
pub(crate) fn registers(guest: &Guest) {
    say!("  image at {:#018x}, SPSR {:#x}", guest.elr, guest.spsr);
    for (row, values) in guest.x.chunks(4).enumerate() {
        let mut text = alloc::string::String::new();
        for (column, value) in values.iter().enumerate() {
            text += &format!("  x{:<2} {value:016x}", 4 * row + column);
        }
        say!("{text}");
    }
    for address in callers(guest) {
        say!("  returns to {address:#018x}");
    }
}

/// Where the image's code returns to, innermost first. Its addresses are physical ones.
fn callers(guest: &Guest) -> impl Iterator<Item = u64> {
    let word = |address| GuestMemory.read64(address).ok();
    let record = move |address: u64| Some([word(address)?, word(address.checked_add(8)?)?]);
    let [.., frame, _] = guest.x;
    frames(frame, record)
}

/// Code of the image: where it is, and who called it; by default, code that is not known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Code {
    at: u64,
    callers: [u64; 5],
}

impl Code {
    /// What the image is doing.
    pub(crate) fn of(guest: &Guest) -> Code {
        let mut code = Code {
            at: guest.elr,
            callers: [0; 5],
        };
        for (place, address) in code.callers.iter_mut().zip(callers(guest)) {
            *place = address;
        }
        code
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at == 0 {
            return f.write_str("some code");
        }
        write!(f, "the code at {:#x}", self.at)?;
        for address in self.callers.iter().take_while(|address| **address != 0) {
            write!(f, " < {address:#x}")?;
        }
        Ok(())
    }
}

/// Ends QEMU.
pub(crate) fn end(exit: Exit) -> ! {
    if let Some(host) = BOARD.host() {
        host.end(exit)
    }
    loop {
        cortex_a::asm::wfe();
    }
}

/// The image can't go on.
pub(crate) fn stop(guest: &Guest, why: fmt::Arguments<'_>, exit: Exit) -> ! {
    say!("stopped: {why}");
    registers(guest);
    end(exit)
}

/// The monitor itself did something wrong.
pub(crate) extern "C" fn own_fault(esr: u64, elr: u64, far: u64) -> ! {
    // Without the heap, which may be what is broken.
    if let Some(host) = BOARD.host() {
        host.say("monitor: fault of the monitor's own\n");
    }
    say!("  {} at {elr:#x} for {far:#x}", Syndrome(esr));
    end(Exit::Monitor)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    say!("{info}");
    end(Exit::Monitor)
}

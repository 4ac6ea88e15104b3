//! Stand-ins: what is around a board's GPU (clocks, resets, power, firmware, watchdog), for where there is no board.
//!
//! A stand-in answers as the facts say that the chip does, and tells what is wrong with an access: an order that hangs the
//! machine, a value that no source has, a bit that is somebody else's. Host tests run a board's steps on it, and the EL2
//! monitor of `qemu-tests` lets a board's image run on it.
//!
//! Never, but for [`Willing`]: knows what the board's module does; it is written from the facts' sections, which each file names.

mod cix_p1;
mod imx95;
mod mt8196;
mod rk3588;
mod rk806;
mod scmi;
mod uart;
mod willing;

pub use cix_p1::CixP1;
pub use imx95::Imx95;
pub use mt8196::Mt8196;
pub use rk806::Rk806;
pub use rk3588::Rk3588;
pub use uart::Uart;
pub use willing::Willing;

use crate::board::Board;
use crate::outside::OUTSIDE;
use crate::steps::SmcCall;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// What is around a board's GPU.
pub trait StandIn {
    /// A register is read.
    fn read(&mut self, at: usize) -> u32;

    /// A register is written.
    fn write(&mut self, at: usize, value: u32);

    /// The secure firmware is called; `None` where the call is not the board's own.
    fn smc(&mut self, call: SmcCall) -> Option<u64>;

    /// Does what it has to in the machine's memory; called after each access to its registers.
    fn work(&mut self, _: &mut dyn SharedMemory) {}

    /// Whether the GPU's registers answer; where they do not, an access hangs the machine, which is told.
    fn gpu_answers(&mut self) -> bool;

    /// So much time has passed since the machine began.
    fn now(&mut self, time: Duration);

    /// What was wrong since the last call.
    fn take_news(&mut self) -> Vec<String>;
}

/// The machine's memory, by words.
pub trait SharedMemory {
    /// A word; `None` where there is no memory.
    fn read(&mut self, at: u64) -> Option<u32>;

    /// Sets a word; `false` where there is no memory.
    fn write(&mut self, at: u64, value: u32) -> bool;
}

/// What was wrong, in words.
#[derive(Default)]
struct News(Vec<String>);

impl News {
    fn tell(&mut self, what: String) {
        // An image that loops says the same for ever.
        if !self.0.contains(&what) {
            self.0.push(what);
        }
    }

    fn take(&mut self) -> Vec<String> {
        core::mem::take(&mut self.0)
    }
}

/// Makes a stand-in.
type Make = fn() -> Box<dyn StandIn>;

/// The boards that have one, a row a board.
#[rustfmt::skip]
const MADE: &[(&str, Make)] = &[
    (crate::rk3588::BOARD.description().name,       || Box::new(Rk3588::default())),
    (crate::rk3588::ORANGE_PI_5.description().name, || Box::new(Rk3588::default())),
    (crate::imx95::BOARD.description().name,        || Box::new(Imx95::default())),
    (crate::cix_p1::BOARD.description().name,       || Box::new(CixP1::default())),
    (crate::mt8196::OUTLINE.name,                   || Box::new(Mt8196::default())),
];

/// The stand-in for a board; `None` where there is nothing around its GPU.
pub fn of(board: &Board) -> Option<Box<dyn StandIn>> {
    let mut rows = MADE.iter();
    if let Some((_, make)) = rows.find(|(made, _)| *made == board.name) {
        return Some(make());
    }
    // Of a board from outside nothing is known but its steps.
    let mut outside = OUTSIDE.iter();
    let target = outside.find(|target| target.name() == board.name)?;
    Some(Box::new(Willing::around(*target)))
}

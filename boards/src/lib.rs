//! Boards: what is particular to one, as data; one module a board.
//!
//! A [`Board`] says where things are, how its GPU gets power, and how an image ends there. The kernel is told one and
//! knows nothing else about the machine; `linker/` makes the memory of an image's linker script of it.
//!
//! Guarantees: regions are multiples of 4 KiB and do not overlap, registers are aligned and not at address 0 (checked when
//! a board is compiled).
//! Facts: hardware/boards.md section 9.
//!
//! ```
//! let board = eitri_boards::qemu_virt::BOARD;
//! assert_eq!(board.gpu.window.end() - board.gpu.window.base, 0x20_0000);
//! ```
#![no_std]
#![warn(missing_docs)]

#[cfg(any(feature = "files", feature = "stand-ins"))]
extern crate alloc;

mod agreement;
mod board;
#[cfg(feature = "drivers")]
pub mod device_tree;
mod display;
mod expected;
#[cfg(feature = "files")]
pub mod file;
mod host;
mod lab;
mod loader;
mod outline;
mod outside;
mod region;
#[cfg(feature = "stand-ins")]
pub mod stand_in;
pub mod steps;
mod target;
pub mod uart;
mod watchdog;

pub mod cix_p1;
pub mod imx95;
pub mod mt8196;
pub mod qemu_virt;
pub mod rk3588;

pub use board::{
    Board, Coherency, Conduit, Console, Description, Firmware, Gic, Gpu, LineSpeed, Memory, Spi,
};
pub use display::Display;
pub use expected::{Difference, Expected};
pub use host::{Ending, Exit, Host, HostError, HostFile, HostFiles};
pub use lab::{DeviceType, Lab};
pub use loader::{Depthcharge, Loader, Prompt};
pub use outline::{ANYWHERE, Outline};
pub use region::{Region, RegisterBase};
pub use target::Target;
pub use watchdog::Watchdog;

/// A text that stays. (By this name `serde` does not take it for one that is part of what is read.)
pub type Text = &'static str;

/// Every machine that is known in part, and that an image can be built for all the same.
pub const OUTLINES: &[&Outline] = &[&mt8196::OUTLINE];

/// Every board that an image can be built for.
pub const ALL: &[&Board] = &[
    &qemu_virt::BOARD,
    &rk3588::BOARD,
    &rk3588::ORANGE_PI_5,
    &imx95::BOARD,
    &cix_p1::BOARD,
];

/// The board of that name, as [`Description::name`] has it.
pub const fn named(name: &str) -> Option<&'static Board> {
    match Target::named(name) {
        Some(target) => target.board(),
        None => None,
    }
}

/// `==` of texts, for constants.
const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut index = 0;
    while index < one.len() {
        if one[index] != other[index] {
            return false;
        }
        index += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_board_has_a_name_of_its_own() {
        for target in Target::all() {
            let name = target.name();
            let same = Target::all().filter(|other| other.name() == name);
            assert_eq!(same.count(), 1, "boards named {name}");
            assert_eq!(Target::named(name).unwrap().name(), name);
            assert_eq!(named(name).is_some(), target.board().is_some());
        }
        assert!(Target::named("qemu").is_none() && Target::named("").is_none());
    }
}

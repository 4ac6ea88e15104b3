//! The bare-metal kernel: from the first instruction to an image's own `main`.
//!
//! An image states its board and its main function with [`image!`]; everything else is here. The kernel runs at EL1, with the
//! MMU and caches on; entered at EL2 it drops to EL1 first. It runs on one CPU; an image may let others do something ([`cpus`]).
//!
//! Guarantees: the console says within the first millisecond that the image lives; whatever goes wrong afterwards (an
//! exception, a panic, a stack that overflows) ends in a report there and in an exit status of its own.
//! Never: names a board; that is a value of `eitri_boards`.  Facts: hardware/boards.md sections 2 and 3.
//!
//! ```ignore
//! #![no_std]
//! #![no_main]
//!
//! eitri_kernel::image! {
//!     board: *eitri_boards::ALL[0],
//!     main: main,
//! }
//!
//! fn main(kernel: eitri_kernel::Kernel) -> eitri_boards::Exit {
//!     eitri_kernel::println!("running on {}", kernel.board.name);
//!     eitri_boards::Exit::Success
//! }
//! ```
#![no_std]
#![warn(missing_docs)]

extern crate alloc;

// From the first instruction on.
pub mod entry;
mod found;
mod loader_tree;
mod machine;
mod start;
pub mod vectors;

// What an image uses.
pub mod cache;
pub mod console;
pub mod cpus;
pub mod display;
pub mod firmware;
pub mod heap;
pub mod interrupts;
mod irq_mutex;
pub mod logger;
pub mod memory;
pub mod power;
pub mod tick;
pub mod time;
mod watchdog;

// When something goes wrong.
pub mod crash;

// What the linker knows.
mod attached;
mod build_id;
pub mod linked;

pub use attached::attached;
pub use build_id::BuildId;
pub use irq_mutex::IrqMutex;
pub use start::{Image, Kernel, Origin, start};

#[doc(hidden)]
pub use aarch64_rt;
#[doc(hidden)]
pub use eitri_aarch64;
#[doc(hidden)]
pub use eitri_boards;

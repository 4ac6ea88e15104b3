//! The model in a process of the host, as the GPU of a machine in QEMU: shaders run at the host's speed, on a core of their own.
//!
//! The machine's memory is a file without a name that QEMU and this process map both. The monitor in the machine forwards
//! register accesses through a page of that memory, [`eitri_mailbox::Mailbox`], and looks there for the levels of the lines.
//!
//! There are two ways to keep time. [`serve`] lets the model's clock follow the host's: for a machine whose counter does. With
//! [`serve_steps`] the monitor asks for each step that the model makes, and the machine stands still meanwhile: for a machine that
//! counts instructions. Nothing then depends on how fast or how busy the host is.
//!
//! Needs: Linux, where such files are.  Guarantees: an access of the monitor is answered within about a millisecond, however busy
//! the model is. `unsafe` is in `memory` alone.
//!
//! ```no_run
//! use eitri_host_gpu::{MachineMemory, Part, Watcher, serve};
//! use eitri_model::{Config, Gpu};
//! use eitri_model::diagnosis::News;
//! use std::sync::atomic::AtomicBool;
//!
//! struct Printer;
//!
//! impl Watcher for Printer {
//!     fn report(&mut self, _: &Gpu, _: &MachineMemory, news: News<'_>) {
//!         println!("{news}");
//!     }
//! }
//!
//! // 2 GiB, of which the first are the guest's, and a mailbox in the last page.
//! let seen = Part { address: 0x4000_0000, offset: 0, bytes: 1 << 30 };
//! let memory = MachineMemory::new(2 << 30, &[seen])?;
//! println!("-object memory-backend-file,id=ram,share=on,mem-path={}", memory.path().display());
//! let mailbox = memory.mailbox((2 << 30) - 4096).expect("it is inside");
//! serve(Config::default(), &memory, mailbox, &AtomicBool::new(false), &mut Printer);
//! # Ok::<(), std::io::Error>(())
//! ```
#![warn(missing_docs)]

mod bell;
mod memory;
mod serve;
mod step;

pub use bell::Bell;
pub use memory::{MachineMemory, Part};
pub use serve::{Watcher, serve};
pub use step::serve_steps;

//! The runtime's platform for bare metal: registers behind a pointer, memory, a clock, interrupt lines.
//!
//! A port says where the register window and the GPU's memory are; what differs from kernel to kernel are two small traits,
//! [`Clock`] and [`Interrupts`], and there is one of each that needs nothing: `GenericTimer` and [`NoInterrupts`].
//!
//! Needs: the window is mapped as device memory, and memory at its physical addresses.  Guarantees: a register access is one
//! plain load or store, and so is an access to a word of memory: whoever traps it can decode it; memory outside of what was
//! given is never touched.
//! Facts: hardware/boards.md 3.1 (barriers, attributes), csf-mmio.md section 1.
//!
//! ```
//! use eitri_mmio::{Clock, Mmio, NoInterrupts};
//! use eitri_runtime::{BringUpError, Device, Instant, Options, PageAllocator, Storage};
//! use std::time::Duration;
//!
//! /// A clock; on a board it is `GenericTimer`.
//! struct Counter(u64);
//!
//! impl Clock for Counter {
//!     fn now(&mut self) -> Instant {
//!         self.0 += 1;
//!         Instant(Duration::from_micros(self.0))
//!     }
//!
//!     fn hertz(&self) -> u64 {
//!         1_000_000
//!     }
//! }
//!
//! /// A page that is aligned as one.
//! #[repr(align(4096))]
//! struct Page([u32; 1024]);
//!
//! let addresses = |page: &'static mut Page| {
//!     let range = page.0.as_mut_ptr_range();
//!     range.start as usize..range.end as usize
//! };
//! let window = addresses(Box::leak(Box::new(Page([0; 1024]))));
//! let memory = addresses(Box::leak(Box::new(Page([0; 1024]))));
//! let map = [0; PageAllocator::words(4096)];
//! // SAFETY: both are memory that nothing else refers to any more, and no GPU knows of them.
//! let platform = unsafe { Mmio::new(window, memory, map, Counter(0), NoInterrupts) }?;
//!
//! // Where registers would be, there are zeros: the driver sees that there is no GPU.
//! let mut storage = Storage::<1, 1, 1>::new();
//! let failed = Device::bring_up(platform, &[], &mut storage, Options::default(), &mut ()).err();
//! assert!(failed.is_some_and(|failed| matches!(failed.error, BringUpError::Probe(_))));
//! # Ok::<(), eitri_mmio::Misplaced>(())
//! ```
#![no_std]
#![warn(missing_docs)]

mod clock;
mod interrupts;
mod platform;
mod upkeep;
mod words;

pub use clock::Clock;
#[cfg(target_arch = "aarch64")]
pub use clock::GenericTimer;
pub use interrupts::{Interrupts, NoInterrupts, Raised};
pub use platform::{Misplaced, Mmio, Soc};
pub use upkeep::{Caching, Upkeep};

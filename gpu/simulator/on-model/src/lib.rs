//! The runtime's platform for an ordinary process: the model is the GPU, a vector the memory.
//!
//! Needs: nothing of the machine it runs on.  Guarantees: time is the model's own, so that a limit means the same on a slow
//! machine.  [`NonCoherent`] puts CPU caches and a store buffer in front of it, so that missing cache upkeep and missing
//! barriers are found where there are none.
//!
//! ```
//! use eitri_model::{Config, stub_firmware};
//! use eitri_on_model::Machine;
//! use eitri_runtime::{Device, Options, Storage};
//!
//! let machine = Machine::new(Config::default());
//! let firmware = stub_firmware();
//! let mut storage: Storage = Storage::new();
//! let options = Options::default();
//! let device = Device::bring_up(machine.clone(), &firmware, &mut storage, options, &mut ())?;
//! assert_eq!(device.properties().name(), Some("Mali-G610"));
//! device.shutdown(&mut ())?;
//! assert_eq!(machine.memory_in_use(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]
#![warn(missing_docs)]

mod code;
mod dump;
mod machine;
mod memory;
mod non_coherent;
mod patience;
mod recording;
mod threads;

pub use machine::{Captured, Machine};
pub use non_coherent::{MissingUpkeep, NonCoherent};
pub use recording::{Recording, StartedProgram};
pub use threads::Threads;

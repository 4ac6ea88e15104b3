//! The GPU in software: registers, firmware interface, streams, shader cores.
//!
//! A device, not a mock: a driver programs it as it programs hardware, and whatever the driver does wrong becomes a typed
//! diagnosis. It runs in an ordinary process and under a monitor on bare metal alike: the host gives it physical memory,
//! forwards register accesses, and lets it run; time is virtual. See `README.md` for what it does about hostile drivers.
//!
//! Needs: `alloc`.  Guarantees: no panic, bounded memory and bounded time a call, whatever driver and shaders do.
//! Never: names the runtime, or relies on what it happens to do.  Facts: hardware/csf-host-interface.md 6 lists the duties.
//!
//! ```
//! use eitri_model::{Config, Gpu, SparseMemory};
//! use eitri_csf::registers::identity::GPU_ID;
//!
//! let mut memory = SparseMemory::new(1 << 30);
//! let mut gpu = Gpu::new(Config::default());
//! assert_eq!(gpu.read32(&mut memory, GPU_ID.offset), 0xA867_0005);
//! assert_eq!(gpu.diagnoses(), &[]);
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

// What a host deals with.
mod config;
mod defect;
mod gpu;
mod host_steps;
mod injection;
mod inspection;
mod irq;
mod memory;
mod trace;
mod workers;

pub mod diagnosis;

// What every unit builds on.
mod activity;
mod clock;
mod fabric;
mod fidelity;
mod first_level;
mod l2;
mod l2_tags;
mod mmu;
mod undefined;

// The device from outside in.
mod control;
mod pace;
mod power;
mod random;
mod window;

mod firmware;

mod stream;

mod work;

mod blocks;
mod shader;

// Graphics, from stored positions on.
mod raster;
mod tiler;

// Pixels: the tile buffer and what reaches memory from it, the order of a fragment's tests.
mod fragment;
mod tile;

pub use activity::Drawn;
pub use clock::Nanoseconds;
pub use config::{Config, Latencies, Product};
pub use defect::{
    Broken, Damage, Defect, DrawDefect, Family, Line, SEEDED, Seeded, ShaderDefect, Slow, State,
};
pub use fidelity::{
    Fidelity, Inexact, InexactSet, Kind as InexactKind, Met, Reached, Row as InexactRow,
    WITHOUT_VALUE,
};
pub use firmware::stub::{stub_firmware, stub_firmware_like};
pub use gpu::{Budget, Gpu, Progress};
pub use host_steps::HostStep;
pub use injection::{Aim, GraphicsUnit, Injection, MemoryUnit};
pub use inspection::{
    Attachments, DispatchView, DrawLanes, DrawWarpView, Shading, TileView, TurnView, WarpView,
    WorkgroupView,
};
pub use irq::Lines;
pub use memory::{Accessor, BusError, PAGE, PageAccess, PhysicalMemory, Snapshot, SparseMemory};
pub use mmu::{AccessKind, PageFault, Source};
pub use pace::{CYCLE as CYCLE_PARTS, UnitParts, UnitTimes};
pub use shader::engine::Engine;
pub use shader::host_code;
pub use trace::{
    Decides, Event, FragmentWarp, JobKind, LaneAccess, MemoryAct, MemorySort, OwnMemory, PixelStep,
    PixelStepKind, RECORD_BYTES, Sink, StartedFragment, StartedVertex, TileColor, TileContents,
    TileRead, UndefinedLoad, UndefinedUse, VertexWarp, WarpAccess, WorkgroupPlace, WorkgroupStep,
};
pub use workers::{Task, Workers};

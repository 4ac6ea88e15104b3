//! The GPU: the model in here, or in a process of the host, whose clock is the host's or the machine's.

use crate::caches::Caches;
use crate::host_gpu::HostGpu;
use crate::model_gpu::ModelGpu;
use crate::settings::{Clock, ModelPlace, Settings};
use crate::stepped_gpu::SteppedGpu;
use core::time::Duration;
use eitri_model::Lines;

/// What a CPU that has nothing to do does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Look again.
    Look,
    /// Sleep until an interrupt, and not for long: the GPU works elsewhere.
    Nap,
    /// Sleep until an interrupt, but not longer than so: the GPU's time is ahead.
    For(Duration),
    /// Sleep until an interrupt.
    Sleep,
}

/// Whichever it is.
#[expect(clippy::large_enum_variant, reason = "there is one of it")]
pub(crate) enum Gpu {
    Here(ModelGpu),
    Host(HostGpu),
    Stepped(SteppedGpu),
}

impl Gpu {
    /// A GPU without power.
    pub(crate) fn new(settings: &Settings) -> Gpu {
        match &settings.model {
            ModelPlace::Monitor => Gpu::Here(ModelGpu::new(settings)),
            ModelPlace::Host(Clock::Host) => Gpu::Host(HostGpu::new(None)),
            ModelPlace::Host(Clock::Machine { ask, answer }) => {
                Gpu::Stepped(SteppedGpu::new(ask, answer))
            }
        }
    }

    /// A load by the code at `pc`.
    pub(crate) fn read(&mut self, offset: u32, pc: u64) -> u32 {
        match self {
            Gpu::Here(gpu) => gpu.read(offset, pc),
            Gpu::Host(gpu) => gpu.read(offset, pc),
            Gpu::Stepped(gpu) => gpu.host.read(offset, pc),
        }
    }

    /// A store by the code at `pc`.
    pub(crate) fn write(&mut self, offset: u32, value: u32, pc: u64) {
        match self {
            Gpu::Here(gpu) => gpu.write(offset, value, pc),
            Gpu::Host(gpu) => gpu.write(offset, value, pc),
            Gpu::Stepped(gpu) => gpu.host.write(offset, value, pc),
        }
    }

    /// Something goes wrong from now on, or does no longer: as `control::FAULT` has it.
    pub(crate) fn fault(&mut self, word: u32, strikes: bool) {
        match self {
            Gpu::Here(gpu) => gpu.fault(word, strikes),
            Gpu::Host(gpu) => gpu.fault(word, strikes),
            Gpu::Stepped(gpu) => gpu.host.fault(word, strikes),
        }
    }

    /// The model in here, which a test may change.
    pub(crate) fn model(&mut self) -> Option<&mut ModelGpu> {
        match self {
            Gpu::Here(gpu) => Some(gpu),
            Gpu::Host(_) | Gpu::Stepped(_) => None,
        }
    }

    /// Lets it work for the time that has passed.
    pub(crate) fn catch_up(&mut self) {
        match self {
            Gpu::Here(gpu) => {
                gpu.catch_up();
            }
            Gpu::Stepped(gpu) => gpu.catch_up(),
            // It has a clock of its own.
            Gpu::Host(_) => {}
        }
    }

    /// The machine's tick: a model in here shows its registers to whoever dumps them.
    pub(crate) fn show_registers(&mut self) {
        if let Gpu::Here(gpu) = self {
            gpu.show_registers();
        }
    }

    /// A CPU of the image's sleeps: lets the GPU work, and tells what the CPU may do.
    pub(crate) fn rest(&mut self) -> Rest {
        match self {
            Gpu::Here(gpu) => gpu.rest(),
            Gpu::Host(gpu) => gpu.rest(),
            Gpu::Stepped(gpu) => gpu.rest(),
        }
    }

    /// The levels of its lines.
    pub(crate) fn lines(&self) -> Lines {
        match self {
            Gpu::Here(gpu) => gpu.lines(),
            Gpu::Host(gpu) => gpu.lines(),
            Gpu::Stepped(gpu) => gpu.host.lines(),
        }
    }

    /// Whether it works elsewhere and its time is behind: any other model works while the image does not.
    pub(crate) fn is_behind(&self) -> bool {
        match self {
            Gpu::Here(_) | Gpu::Stepped(_) => false,
            Gpu::Host(gpu) => gpu.is_behind(),
        }
    }

    /// The image's clock stands still from now on.
    pub(crate) fn hold(&self) {
        if let Gpu::Host(gpu) = self {
            gpu.hold();
        }
    }

    /// The image's clock goes on; it has stood still for so many nanoseconds in all.
    pub(crate) fn go_on(&self, held: u64) {
        if let Gpu::Host(gpu) = self {
            gpu.go_on(held);
        }
    }

    /// The caches before the memory that it shares with the image, where the model is in here.
    pub(crate) fn caches(&mut self) -> Option<&mut Caches> {
        match self {
            Gpu::Here(gpu) => Some(&mut gpu.memory),
            Gpu::Host(_) | Gpu::Stepped(_) => None,
        }
    }

    /// Says what the driver did wrong since the last call; a model in the host's process says it there.
    pub(crate) fn say_news(&mut self) {
        if let Gpu::Here(gpu) = self {
            gpu.say_news();
        }
    }
}

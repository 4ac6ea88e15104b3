//! The model in the monitor: its time, and what it has to say about the driver.
//!
//! The model's time follows the machine's counter. While the image sleeps it may run ahead: nobody is looking.

use crate::caches::Caches;
use crate::gpu::Rest;
use crate::report::say;
use crate::settings::Settings;
use crate::trace::TraceFile;
use core::time::Duration;
use eitri_kernel::time;
use eitri_model::{Budget, Config, Gpu, Injection, Lines, Nanoseconds, Progress};

/// What the model is given at least when its time is not behind.
const SHORTEST_SLICE: Nanoseconds = 20_000;
/// What it is given at most at once: more would delay the image's interrupts.
const LONGEST_SLICE: Nanoseconds = 2_000_000;

/// The model and what belongs to it.
pub(crate) struct ModelGpu {
    model: Gpu,
    pub(crate) memory: Caches,
    /// The machine's time when the model's was zero.
    start: Duration,
    /// Diagnoses that were said.
    said: usize,
}

impl ModelGpu {
    /// A GPU without power.
    pub(crate) fn new(settings: &Settings) -> ModelGpu {
        let config = Config {
            timestamp_hz: time::counter_hertz(),
            product: settings.product,
            ..Config::default()
        };
        let mut model = Gpu::new(config);
        model.trace_to(settings.trace.as_deref().and_then(TraceFile::create));
        ModelGpu {
            model,
            memory: Caches::new(settings.coherent),
            start: time::now(),
            said: 0,
        }
    }

    /// A load by the code at `pc`.
    pub(crate) fn read(&mut self, offset: u32, pc: u64) -> u32 {
        self.model.read32_at(&mut self.memory, offset, Some(pc))
    }

    /// A store by the code at `pc`.
    pub(crate) fn write(&mut self, offset: u32, value: u32, pc: u64) {
        self.memory.announce();
        self.model
            .write32_at(&mut self.memory, offset, value, Some(pc));
    }

    /// Something goes wrong from now on, or does no longer.
    pub(crate) fn fault(&mut self, number: u32, strikes: bool) {
        match Injection::ALL.get(number as usize) {
            Some(injection) if strikes => self.model.inject(*injection),
            Some(injection) => self.model.withdraw(*injection),
            None => {}
        }
    }

    /// Lets it work for the time that has passed.
    pub(crate) fn catch_up(&mut self) -> Progress {
        let passed = time::now().saturating_sub(self.start).as_nanos();
        let passed = Nanoseconds::try_from(passed).unwrap_or(Nanoseconds::MAX);
        let behind = passed.saturating_sub(self.model.now());
        let slice = behind.clamp(SHORTEST_SLICE, LONGEST_SLICE);
        self.model.run(&mut self.memory, Budget::of(slice))
    }

    /// Nobody is looking: lets it work, or its time go on to where something happens next.
    pub(crate) fn rest(&mut self) -> Rest {
        match self.catch_up() {
            Progress::Busy | Progress::Interrupt => Rest::Look,
            Progress::Waiting(moment) => {
                let ahead = moment.saturating_sub(self.model.now()).max(SHORTEST_SLICE);
                self.model.run(&mut self.memory, Budget::of(ahead));
                Rest::Look
            }
            Progress::Idle => Rest::Sleep,
        }
    }

    /// The levels of its lines.
    pub(crate) fn lines(&self) -> Lines {
        self.model.lines()
    }

    /// Says what the driver did wrong since the last call.
    pub(crate) fn say_news(&mut self) {
        let diagnoses = self.model.diagnoses();
        for diagnosis in diagnoses.get(self.said..).unwrap_or(&[]) {
            say!("diagnosis: {diagnosis}");
        }
        self.said = diagnoses.len();
    }
}

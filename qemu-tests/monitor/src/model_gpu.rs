//! The model in the monitor: its time, and what it has to say about the driver.
//!
//! The model's time follows the machine's counter. While the image sleeps it may run ahead: nobody is looking.

use crate::caches::Caches;
use crate::dump::Dump;
use crate::gpu::Rest;
use crate::report::say;
use crate::settings::Settings;
use crate::trace::TraceFile;
use alloc::string::ToString;
use alloc::vec::{self, Vec};
use core::time::Duration;
use eitri_boards::qemu_virt::NewGpu;
use eitri_csf::interface::control::Version;
use eitri_kernel::time;
use eitri_model::diagnosis::Teller;
use eitri_model::{Budget, Config, Gpu, Injection, Lines, Nanoseconds, Product, Progress};

/// What the model is given at least when its time is not behind.
const SHORTEST_SLICE: Nanoseconds = 20_000;
/// What it is given at most at once: more would delay the image's interrupts.
const LONGEST_SLICE: Nanoseconds = 2_000_000;

/// What an image asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// What the driver did wrong.
    Gpu,
    /// What was not cleaned, or not invalidated.
    Upkeep,
}

/// Instructions that it executes at most at once, for the same reason: the time of a shader that keeps the cores busy takes many
/// times as long to compute.
const MOST_INSTRUCTIONS: u64 = 2_000;

/// The model and what belongs to it.
pub(crate) struct ModelGpu {
    model: Gpu,
    pub(crate) memory: Caches,
    /// The machine's time when the model's was zero.
    start: Duration,
    /// Says what it finds.
    teller: Teller,
    /// What the image has not read yet of the diagnosis that it asked for.
    asked: vec::IntoIter<u8>,
    /// Who is told what a core dump needs.
    dump: Option<Dump>,
}

impl ModelGpu {
    /// A GPU without power.
    pub(crate) fn new(settings: &Settings) -> ModelGpu {
        let config = Config {
            timestamp_hz: time::counter_hertz(),
            instruction_floor: Config::FLOOR_BESIDE_EMULATED_CPU,
            product: settings.product,
            wide_varyings_drift: settings.wide_varyings_drift,
            ..Config::default()
        };
        let mut model = Gpu::new(config);
        model.trace_to(settings.trace.as_deref().and_then(TraceFile::create));
        ModelGpu {
            model,
            memory: Caches::new(settings.coherence),
            start: time::now(),
            teller: Teller::default(),
            asked: Vec::new().into_iter(),
            dump: settings.dump.as_deref().and_then(Dump::by),
        }
    }

    /// Another GPU without power is in its place.
    pub(crate) fn renew(&mut self, asked: NewGpu) {
        let product = Product::all().nth(asked.product.into());
        self.model = Gpu::new(Config {
            timestamp_hz: time::counter_hertz(),
            instruction_floor: Config::FLOOR_BESIDE_EMULATED_CPU,
            product: product.unwrap_or_else(Product::g610),
            l2: asked.l2,
            interface: asked
                .interface
                .map(|(major, minor)| Version::new(major, minor)),
            ..Config::default()
        });
        self.memory.renew();
        self.start = time::now();
        self.teller = Teller::default();
    }

    /// Its supply goes.
    pub(crate) fn cut_power(&mut self) {
        self.model.cut_power();
    }

    /// The image asks for a diagnosis, of the GPU or of the upkeep of caches.
    pub(crate) fn ask(&mut self, about: About, number: u32) {
        let number = number as usize;
        let text = match about {
            About::Gpu => self.model.diagnoses().get(number).map(ToString::to_string),
            About::Upkeep => self.memory.told().get(number).cloned(),
        };
        self.asked = text.unwrap_or_default().into_bytes().into_iter();
    }

    /// Its next four bytes; zeros behind the last.
    pub(crate) fn answer(&mut self) -> u32 {
        let bytes = [(); 4].map(|()| self.asked.next().unwrap_or(0));
        u32::from_le_bytes(bytes)
    }

    /// A load by the code at `pc`.
    pub(crate) fn read(&mut self, offset: u32, pc: u64) -> u32 {
        self.model.read32_at(&mut self.memory, offset, Some(pc))
    }

    /// A store by the code at `pc`.
    pub(crate) fn write(&mut self, offset: u32, value: u32, pc: u64) {
        self.memory.announce();
        if let Some(dump) = &mut self.dump {
            dump.before_store(&mut self.model);
        }
        self.model
            .write32_at(&mut self.memory, offset, value, Some(pc));
        if let Some(dump) = &self.dump {
            dump.registers(&mut self.model);
        }
    }

    /// Something goes wrong from now on, or does no longer: as `control::FAULT` has it.
    pub(crate) fn fault(&mut self, word: u32, strikes: bool) {
        let [number, subject, is_about, _] = word.to_le_bytes();
        let Some(injection) = Injection::ALL.get(usize::from(number)) else {
            return;
        };
        let injection = match is_about {
            0 => *injection,
            _ => injection.about(subject),
        };
        match strikes {
            true => self.model.inject(injection),
            false => self.model.withdraw(injection),
        }
    }

    /// Lets it work for the time that has passed.
    pub(crate) fn catch_up(&mut self) -> Progress {
        let passed = time::now().saturating_sub(self.start).as_nanos();
        let passed = Nanoseconds::try_from(passed).unwrap_or(Nanoseconds::MAX);
        let behind = passed.saturating_sub(self.model.now());
        let slice = behind.clamp(SHORTEST_SLICE, LONGEST_SLICE);
        let budget = Budget {
            time: slice,
            instructions: MOST_INSTRUCTIONS,
        };
        let progress = self.model.run(&mut self.memory, budget);
        if let Some(dump) = &mut self.dump {
            dump.worked(&mut self.model);
        }
        progress
    }

    /// A moment at which the image does nothing: its driver may end QEMU before the next.
    pub(crate) fn show_registers(&mut self) {
        if let Some(dump) = &self.dump {
            dump.registers(&mut self.model);
        }
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
        self.teller.tell(&self.model, |news| say!("{news}"));
    }
}

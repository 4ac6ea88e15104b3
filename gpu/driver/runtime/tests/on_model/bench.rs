//! The bench of this process: machines with the model in them, and shaders that are compiled when they are asked for.

use eitri_driver_tests::{Bench, Parts, Shader};
use eitri_model::{Config, Injection};
use eitri_on_model::{Machine, MissingUpkeep, NonCoherent};
use eitri_runtime::{Lines, Platform};
use eitri_shaderc::{Options, Robust};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

/// Names the file for the table of all faults.
const TABLE_VARIABLE: &str = "EITRI_FAULT_TABLE";
/// With `1` all machines have caches that the GPU does not see; with `code` it is told, too, which functions have stored what was not
/// cleaned, which takes many times as long.
const CACHES_VARIABLE: &str = "EITRI_NON_COHERENT";
/// A seed: jobs that nothing orders overlap, in an order that is drawn from it.
const OVERLAP_VARIABLE: &str = "EITRI_OVERLAP";
/// A seed: accesses of shaders to memory come late, in an order that is drawn from it.
const REORDER_VARIABLE: &str = "EITRI_REORDER";
/// What those caches do unasked.
const SEED: u64 = 29;

thread_local! {
    /// Whether the tests of this thread want to be told which functions have stored.
    pub static NAMES_CODE: Cell<bool> = const { Cell::new(false) };
}

pub struct OnModel;

static FIRMWARE: LazyLock<Vec<u8>> = LazyLock::new(eitri_model::stub_firmware);

/// What was compiled, by name. Programs live as long as the process.
static PROGRAMS: LazyLock<Mutex<HashMap<&str, &[u8]>>> = LazyLock::new(Mutex::default);

impl Bench for OnModel {
    fn machine(&self, config: Config, memory: Option<u64>) -> Rc<dyn Parts> {
        let seed = |variable: &str| std::env::var(variable).ok()?.parse().ok();
        let config = Config {
            overlap: seed(OVERLAP_VARIABLE).or(config.overlap),
            reorder: seed(REORDER_VARIABLE).or(config.reorder),
            ..config
        };
        // Caches before gibibytes take all the memory of this process.
        let wanted = std::env::var_os(CACHES_VARIABLE);
        let is = |value: &str| wanted.as_deref().is_some_and(|it| it == value);
        let caches = memory.is_none() && (is("1") || is("code"));
        let machine = match memory {
            Some(bytes) => Machine::with_memory(config, bytes),
            None => Machine::new(config),
        };
        Rc::new(MachineOfModel {
            machine,
            caches,
            names_code: is("code") || NAMES_CODE.get(),
            missing: RefCell::default(),
        })
    }

    fn program(&self, shader: &'static Shader) -> &'static [u8] {
        let mut programs = PROGRAMS.lock().unwrap_or_else(|it| it.into_inner());
        programs
            .entry(shader.name)
            .or_insert_with(|| compile(shader).leak())
    }

    fn firmware(&self) -> &'static [u8] {
        &FIRMWARE
    }

    fn long(&self) -> bool {
        eitri_testdata::long()
    }

    fn brief(&self) -> bool {
        false
    }

    fn wants_table(&self) -> bool {
        std::env::var_os(TABLE_VARIABLE).is_some()
    }

    fn keep_table(&self, table: &str) {
        if let Some(path) = std::env::var_os(TABLE_VARIABLE) {
            std::fs::write(path, table).expect("a place for the table");
        }
    }

    fn say(&self, text: fmt::Arguments<'_>) {
        eprintln!("{text}");
    }
}

fn compile(shader: &Shader) -> Vec<u8> {
    use naga::back::spv;
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(shader.source).expect("WGSL");
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator.validate(&module).expect("valid");
    let options = spv::Options {
        lang_version: (1, 3),
        force_loop_bounding: false,
        ..spv::Options::default()
    };
    let words = spv::write_vec(&module, &info, &options, None).expect("SPIR-V");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut options = Options::default();
    if !shader.robust {
        options.robust = Robust::Off;
    }
    let compiled = eitri_shaderc::compile(&bytes, &options);
    compiled
        .unwrap_or_else(|error| panic!("{}: {error}", shader.name))
        .program
}

struct MachineOfModel {
    machine: Machine,
    /// Whether all its platforms have caches that the GPU does not see.
    caches: bool,
    /// Whether these tell which functions have stored.
    names_code: bool,
    /// What is missing in their upkeep, of each platform that was given out.
    missing: RefCell<Vec<MissingUpkeep>>,
}

impl MachineOfModel {
    fn machine(&self) -> Machine {
        self.machine.clone()
    }
}

impl Parts for MachineOfModel {
    fn platform(&self) -> Box<dyn Platform> {
        match self.caches {
            true => self.behind_caches(SEED),
            false => Box::new(self.machine()),
        }
    }

    fn behind_caches(&self, seed: u64) -> Box<dyn Platform> {
        let platform = NonCoherent::new(self.machine(), seed);
        let platform = match self.names_code {
            true => platform.naming_code(),
            false => platform,
        };
        self.missing.borrow_mut().push(platform.missing_upkeep());
        Box::new(platform)
    }

    fn inject(&self, injection: Injection) {
        self.machine().gpu(|gpu| gpu.inject(injection));
    }

    fn withdraw(&self, injection: Injection) {
        self.machine().gpu(|gpu| gpu.withdraw(injection));
    }

    fn diagnoses(&self) -> Vec<String> {
        let of_gpu =
            |gpu: &mut eitri_model::Gpu| gpu.diagnoses().iter().map(ToString::to_string).collect();
        let mut all: Vec<String> = self.machine().gpu(of_gpu);
        let missing = self.missing.borrow();
        all.extend(missing.iter().flat_map(MissingUpkeep::texts));
        all
    }

    fn lines(&self) -> Lines {
        let lines = self.machine().gpu(|gpu| gpu.lines());
        Lines {
            job: lines.job,
            mmu: lines.mmu,
            gpu: lines.gpu,
        }
    }

    fn cut_power(&self) {
        self.machine().gpu(|gpu| gpu.cut_power());
    }

    fn time(&self) -> Duration {
        self.machine.time()
    }

    fn pass(&self, time: Duration) {
        self.machine().pass(time);
    }

    fn memory_in_use(&self) -> u64 {
        self.machine().memory_in_use()
    }
}

//! Fixed costs of the model: real time that it takes however little a job computes.
//!
//! Each is measured on a device that is in use already, many times; the shortest time counts, since others interrupt the longer ones.

use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::output::streams::outln;
use crate::runs::job_clock::JobClock;
use eitri_model::stub_firmware;
use eitri_on_model::Machine;
use eitri_program::Program;
use eitri_runtime::{Device, Options, QueueConfig, Status, Storage};
use eitri_shaderc::build::shader_text::{Language, Names, to_spirv_with};
use miette::Diagnostic;
use serde_json::json;
use std::error::Error;
use std::time::{Duration, Instant};

/// A workgroup of one invocation that does nothing.
pub(super) const NOTHING: &str = "@compute @workgroup_size(1) fn main() {}";
/// Submissions of each program before the first that is measured, and then measured ones.
const WARM_UP: usize = 20;
const TIMES: usize = 200;
/// Polls that are measured together: one is shorter than the clock tells.
const POLLS: u32 = 1000;
/// Longest that a job may take.
const LIMIT: Duration = Duration::from_secs(10);
/// Rounds of the program that decoding is measured with.
const ROUNDS: u32 = 100;

/// Real time that the model takes where hardly anything is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedCosts {
    /// Letting a microsecond pass on a GPU that has nothing to do.
    idle_poll: Duration,
    /// A job of one workgroup that does nothing, from its start to its end.
    pub(super) job: Duration,
    /// The same from its submission until the driver has seen its end.
    submission: Duration,
    /// A job of one warp that executes each of `instructions` once, beyond what an empty one takes: all are decoded.
    straight_code: Duration,
    instructions: usize,
}

/// Something went wrong on the way.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("fixed costs can't be measured: {0}")]
struct NotMeasured(String);

impl FixedCosts {
    /// Measures them, on the GPU that is the default one.
    pub(crate) fn measure() -> Result<FixedCosts, Failure> {
        measure().map_err(|error| Failure::refused(NotMeasured(error.to_string())))
    }

    /// Nanoseconds of an instruction that is executed for the first time.
    fn first_execution(&self) -> f64 {
        self.straight_code.as_secs_f64() * 1e9 / self.instructions.max(1) as f64
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        json!({
            "idle_poll_seconds": self.idle_poll.as_secs_f64(),
            "job_seconds": self.job.as_secs_f64(),
            "submission_seconds": self.submission.as_secs_f64(),
            "first_execution_seconds": self.first_execution() / 1e9,
        })
    }

    pub(crate) fn print(&self) -> Result<(), Failure> {
        let micro = |time: Duration| time.as_secs_f64() * 1e6;
        outln!(
            "idle poll {:.2} us; empty job {:.1} us, from submission to its end {:.1} us; first execution of an instruction {:.0} ns",
            micro(self.idle_poll),
            micro(self.job),
            micro(self.submission),
            self.first_execution()
        )
    }
}

/// Straight code: no instruction is executed twice.
fn straight() -> String {
    let rounds = (0..ROUNDS).map(|round| format!("x = (x ^ (x >> 3u)) * (x + {round}u);\n"));
    format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {{
    var x = o[i];
    {}
    o[i] = x;
}}",
        rounds.collect::<String>()
    )
}

/// A job's shortest time, and that from its submission on; the number of its instructions.
struct Shortest {
    job: Duration,
    submission: Duration,
    instructions: usize,
}

fn measure() -> Result<FixedCosts, Box<dyn Error>> {
    let empty = submissions(NOTHING)?;
    let straight = submissions(&straight())?;
    Ok(FixedCosts {
        idle_poll: idle_poll()?,
        job: empty.job,
        submission: empty.submission,
        straight_code: straight.job.saturating_sub(empty.job),
        instructions: straight.instructions,
    })
}

fn idle_poll() -> Result<Duration, Box<dyn Error>> {
    let machine = Machine::new(GpuChoice::default().config());
    let firmware = stub_firmware();
    let mut storage = Storage::<1, 4, 16>::new();
    let options = Options::default();
    let mut device = Device::bring_up(machine.clone(), &firmware, &mut storage, options, &mut ())?;
    device.create_queue(QueueConfig::default())?;
    // Long enough for the last steps of the bring-up, which are not to be measured.
    machine.pass(Duration::from_millis(100));
    let polls = (0..TIMES).map(|_| {
        let begin = Instant::now();
        for _ in 0..POLLS {
            machine.pass(Duration::from_micros(1));
        }
        begin.elapsed() / POLLS
    });
    Ok(polls.min().unwrap_or_default())
}

/// Runs a shader of one workgroup on a machine of its own, again and again.
#[expect(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen"
)]
fn submissions(shader: &str) -> Result<Shortest, Box<dyn Error>> {
    let gpu = GpuChoice::default();
    let spirv = to_spirv_with(Language::Wgsl, "fixed.wgsl", shader, Names::All)
        .map_err(|error| error.to_string())?;
    let options = eitri_shaderc::Options {
        target: gpu.target(),
        ..eitri_shaderc::Options::default()
    };
    let compiled = eitri_shaderc::compile(&spirv, &options)?;
    let program = Program::parse(&compiled.program)?;
    let machine = Machine::new(gpu.config());
    let clock = JobClock::default();
    machine.gpu(|gpu| gpu.trace_to(Some(clock.sink())));
    let firmware = stub_firmware();
    let mut storage = Storage::<1, 4, 16>::new();
    let options = Options::default();
    let mut device = Device::bring_up(machine, &firmware, &mut storage, options, &mut ())?;
    let queue = device.create_queue(QueueConfig::default())?;
    let space = device.space(queue)?;
    let pipeline = device.create_pipeline(space, &program)?;
    let set = match program.bindings().next() {
        None => None,
        Some(_) => {
            let set = device.create_descriptor_set(pipeline, 0)?;
            let buffer = device.create_buffer(space, 64)?;
            device.bind_buffer(set, 0, buffer)?;
            Some(set)
        }
    };
    let commands = device.create_command_buffer(space)?;
    device.record(commands, |recorder| {
        recorder.bind_pipeline(pipeline)?;
        if let Some(set) = set {
            recorder.bind_descriptor_set(set)?;
        }
        recorder.dispatch([1, 1, 1])?;
        Ok(())
    })?;
    let mut shortest = Shortest {
        job: Duration::MAX,
        submission: Duration::MAX,
        instructions: compiled.code.len(),
    };
    for time in 0..WARM_UP + TIMES {
        let (before, begin) = (clock.total(), Instant::now());
        let fence = device.submit(queue, commands)?;
        let status = device.wait(fence, LIMIT);
        if status != Status::Done {
            return Err(format!("{status:?}").into());
        }
        if time >= WARM_UP {
            shortest.submission = shortest.submission.min(begin.elapsed());
            shortest.job = shortest.job.min(clock.total() - before);
        }
    }
    Ok(shortest)
}

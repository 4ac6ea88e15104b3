//! `eitri bench checkpoint`: what the debugger takes to keep a state of the whole machine, from which it goes on later.
//!
//! The aim is a millisecond for a dispatch with 16 MiB of memory of which 1 % has changed since the checkpoint before.

use crate::input::buffer_source::BindingName;
use crate::input::given::Given;
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::runs::debugged::{self, DebugLevel, NotDebugged, Prepared};
use eitri_debugger::execution::Execution;
use eitri_debugger::machine::{MachineLevel, SharedPages};
use eitri_debugger::session::Session;
use eitri_job::Content;
use eitri_model::{PAGE, PhysicalMemory};
use eitri_shaderc::build::shader_text::{Language, Names, to_spirv_with};
use serde_json::json;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes of the dispatch's buffer.
const BYTES: u64 = 16 << 20;
/// Pages of it that the dispatch changes, one a workgroup: 1 %.
const CHANGED: u32 = (BYTES / PAGE / 100) as u32;
/// The longest time that a checkpoint may take.
const AIM: Duration = Duration::from_millis(1);
/// Measurements, of which the middle one counts.
const TIMES: usize = 101;
/// Version of the JSON's shape.
const SCHEMA: u32 = 1;
/// Most steps of the dispatch.
const MOST_STEPS: u64 = 1 << 20;

/// Each workgroup stores a line of a page of its own.
const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3<u32>) {
    o[g.x * 1024u + i] = 0xffffffffu;
}";

/// The measured times of one checkpoint.
struct Measured {
    /// Pages that were written before and those that the dispatch has changed.
    pages: usize,
    changed: usize,
    /// Copying the state.
    copy: Duration,
    /// Writing to the pages that a copy shares.
    pages_again: Duration,
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let prepared = prepare().map_err(|why| Failure::refused(NotDebugged::of("bench", why)))?;
    let measured = debugged::with_machine(&prepared, measure)?;
    let whole = measured.copy + measured.pages_again;
    if args.json {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        outln!(
            "{}",
            json!({
                "schema": SCHEMA, "pages": measured.pages, "changed": measured.changed, "copy_ms": ms(measured.copy),
                "pages_ms": ms(measured.pages_again), "whole_ms": ms(whole), "aim_ms": ms(AIM),
            })
        )?;
        return Ok(Status::Good);
    }
    let show =
        |name: &str, time: Duration| outln!("  {name:<32} {:8.3} ms", time.as_secs_f64() * 1e3);
    outln!(
        "checkpoint between two instructions of a dispatch: {} pages of memory, {} of them changed",
        measured.pages,
        measured.changed
    )?;
    show("copy of the machine", measured.copy)?;
    show("first stores to shared pages", measured.pages_again)?;
    show("whole", whole)?;
    show("aim", AIM)?;
    Ok(Status::Good)
}

fn prepare() -> Result<Prepared, String> {
    let spirv = to_spirv_with(Language::Wgsl, "checkpoint.wgsl", SHADER, Names::All);
    let name = BindingName {
        set: 0,
        binding: 0,
        element: 0,
    };
    let words = 1..=(BYTES / 4) as u32;
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    let gpu = GpuChoice::default();
    Ok(Prepared {
        path: "checkpoint.wgsl".to_owned(),
        spirv: spirv.map_err(|error| error.to_string())?,
        options: eitri_shaderc::Options {
            target: gpu.target(),
            ..eitri_shaderc::Options::default()
        },
        groups: [CHANGED, 1, 1],
        push_constants: vec![],
        resources: vec![Given::new(name, Content::Buffer, bytes)],
        addresses: vec![],
        gpu,
        firmware: None,
        limit: Duration::from_secs(60),
        level: DebugLevel::Machine,
    })
}

fn measure(session: Session<MachineLevel>) -> Measured {
    let mut state = session.now().clone();
    let before = state.clone();
    for _ in 0..MOST_STEPS {
        if state.ahead().is_none() {
            break;
        }
        state.step();
    }
    let copy = middle(|| {
        let start = Instant::now();
        let copy = black_box(state.clone());
        let took = start.elapsed();
        drop(copy);
        took
    });
    Measured {
        pages: state.written_pages(),
        changed: state.changed_pages(&before),
        copy,
        pages_again: pages_again(),
    }
}

/// Writing to each of the changed pages for the first time behind a checkpoint, which copies it.
fn pages_again() -> Duration {
    let mut memory = SharedPages::new(0, BYTES);
    for page in 0..BYTES / PAGE {
        // The memory is as large as that.
        let _ = memory.write(page * PAGE, &[1]);
    }
    middle(|| {
        let kept = memory.clone();
        let start = Instant::now();
        for page in 0..u64::from(CHANGED) {
            let _ = memory.write(page * PAGE, &[2]);
        }
        let took = start.elapsed();
        drop(kept);
        took
    })
}

/// The middle one of several measurements.
fn middle(mut measure: impl FnMut() -> Duration) -> Duration {
    let mut all: Vec<Duration> = (0..TIMES).map(|_| measure()).collect();
    all.sort();
    all[TIMES / 2]
}

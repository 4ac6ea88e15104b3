//! Counts what the CPU does to record, to submit, to poll and to wait: instructions, by the CPU's own counter, and bytes that it
//! stores for the GPU.
//!
//! `eitri bench record` builds it, boots it under the monitor, and reads lines of the form
//! `bench NAME INSTRUCTIONS BYTES [POLLS]`. With `only=PART` on the command line it counts one part alone. Instructions of the monitor are not counted: it runs at EL2, the image at EL1.
#![no_std]
#![no_main]
#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen"
)]

extern crate alloc;

mod cost;
mod counted;
mod draw_kinds;
mod draws;
mod growth;
mod instructions;
mod recording;
mod secondaries;
mod submission;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::error::Error;
use counted::Counted;
use eitri_boards::Exit;
use eitri_kernel::{Kernel, println};
use eitri_mmio::Soc;
use eitri_on_board::{Caching, LINE_BYTES, MmioPlatform, take_gpu};
use eitri_program::Program;
use eitri_runtime::{
    Buffer, CommandBuffer, DescriptorSet, Device, Options, Pipeline, Queue, QueueConfig, Recorder,
    Space, Storage,
};

eitri_kernel::image! {
    main: main,
}

const FIRMWARE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/firmware"));
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/program"));
const OTHER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/other"));

/// Different things that a recording uses at random.
const THINGS: usize = 65;

type Gpu = Device<'static, 'static, Counted<MmioPlatform>>;
type Recording<'r, 's> = Recorder<'r, 's, 'static, Counted<MmioPlatform>>;
type Failure = Box<dyn Error>;

/// Room for the largest of each kind, for all rows: what a row costs must not depend on it.
static mut STORAGE: Storage<'static, 1010, 1100, 16_000> = Storage::new();

fn main(kernel: Kernel) -> Exit {
    match run(kernel) {
        Ok(()) => Exit::Success,
        Err(error) => {
            println!("{error}");
            Exit::Failed
        }
    }
}

/// What recordings are made of: two programs, and many pipelines and sets of each.
struct Parts {
    queue: Queue,
    space: Space,
    commands: CommandBuffer,
    buffers: [Buffer; 2],
    /// Of the first program and the second in turn.
    pipelines: Vec<Pipeline>,
    /// A set for each pipeline.
    sets: Vec<DescriptorSet>,
    /// Sets of the first pipeline.
    own: Vec<DescriptorSet>,
}

impl Parts {
    fn new(device: &mut Gpu, things: usize) -> Result<Parts, Failure> {
        let queue = device.create_queue(QueueConfig::default())?;
        let space = device.space(queue)?;
        let programs = [Program::parse(PROGRAM)?, Program::parse(OTHER)?];
        let buffers = [
            device.create_buffer(space, 4096)?,
            device.create_buffer(space, 4096)?,
        ];
        let commands = device.create_command_buffer(space)?;
        let mut parts = Parts {
            queue,
            space,
            commands,
            buffers,
            pipelines: Vec::new(),
            sets: Vec::new(),
            own: Vec::new(),
        };
        for program in programs.iter().cycle().take(things) {
            let pipeline = device.create_pipeline(space, program)?;
            parts.pipelines.push(pipeline);
            parts.sets.push(set(device, pipeline, buffers)?);
        }
        let first = parts.pipelines.first().ok_or("no pipelines")?;
        for _ in 0..things {
            parts.own.push(set(device, *first, buffers)?);
        }
        Ok(parts)
    }
}

/// A set of a pipeline with its buffers.
fn set(
    device: &mut Gpu,
    pipeline: Pipeline,
    buffers: [Buffer; 2],
) -> Result<DescriptorSet, eitri_runtime::Error> {
    let set = device.create_descriptor_set(pipeline, 0)?;
    for (binding, buffer) in (0..).zip(buffers) {
        device.bind_buffer(set, binding, buffer)?;
    }
    Ok(set)
}

fn run(kernel: Kernel) -> Result<(), Failure> {
    let mut buffer = [0; LINE_BYTES];
    let mut words = kernel.command_line(&mut buffer).split_ascii_whitespace();
    let only = words.find_map(|word| word.strip_prefix("only="));
    let wanted = |part| only.is_none_or(|only| only == part);
    let platform = take_gpu(kernel.board, Caching::None);
    let platform = platform.map_err(|error| alloc::format!("no GPU: {error:?}"))?;
    // SAFETY: this is the only reference to it: `main` runs once.
    let storage = unsafe { &mut *core::ptr::addr_of_mut!(STORAGE) };
    let platform = Counted::new(platform);
    let options = Options::default();
    let mut device = Device::bring_up(platform, FIRMWARE, storage, options, &mut ())?;
    instructions::start();
    let parts = Parts::new(&mut device, THINGS)?;
    if wanted("dispatches") {
        recording::rows(&mut device, &parts)?;
    }
    // Queues that have a heap are polled as those that draw.
    let things = draws::Things::new(&mut device, &parts)?;
    if wanted("draws") {
        draws::rows(&mut device, &parts, &things)?;
        draw_kinds::rows(&mut device, &parts, &things)?;
        secondaries::rows(&mut device, &parts, &things)?;
    }
    if wanted("submissions") {
        submission::rows(&mut device, &parts)?;
    }
    if wanted("growth") {
        growth::rows(&mut device, &parts)?;
    }
    if !wanted("submissions") {
        return Ok(());
    }

    // The same machine with memory that is cached, as boards run it: upkeep costs instructions whether a line is cached or not.
    let platform = device.shutdown(&mut ()).map_err(|failed| failed.error)?;
    let soc = Soc {
        caching: Caching::WriteBack,
        ..Soc::default()
    };
    let platform = Counted::new(platform.into_inner().with_soc(soc));
    let storage = Box::leak(Box::new(Storage::<1, 8, 64>::new()));
    let mut device = Device::bring_up(platform, FIRMWARE, storage, options, &mut ())?;
    let parts = Parts::new(&mut device, 2)?;
    submission::cached_rows(&mut device, &parts)
}

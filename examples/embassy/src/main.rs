//! Two tasks that share a GPU, on embassy: each submits its own work and awaits it, a third drives the device.
#![no_std]
#![no_main]
#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen"
)]

extern crate alloc;

mod critical;
mod time;

use alloc::boxed::Box;
use core::error::Error;
use core::pin::pin;
use eitri_boards::{Board, Exit};
use eitri_embassy::{EmbassyClock, Gpu, LineSignal};
use eitri_kernel::{Kernel, println};
use eitri_mmio::{Mmio, NoInterrupts};
use eitri_program::Program;
use eitri_runtime::{
    CommandBuffer, Device, Lines, Options, PageAllocator, Platform, Queue, QueueConfig, Status,
    Storage,
};
use embassy_futures::join::join;
use embassy_futures::select::{Either, select};

eitri_kernel::image! {
    main: main,
}

const FIRMWARE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/firmware"));
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/program"));
/// Memory for the GPU.
const MEMORY: usize = 16 << 20;

/// What handlers of the three interrupts would tell. This example has none: the executor looks again and again.
static LINES: LineSignal = LineSignal::new();

fn main(kernel: Kernel) -> Exit {
    match run(kernel.board) {
        Ok(()) => Exit::Success,
        Err(error) => {
            println!("{error}");
            Exit::Failed
        }
    }
}

fn run(board: &Board) -> Result<(), Box<dyn Error>> {
    let (window, memory) = (board.gpu.window, board.memory.shared.base);
    let (window, memory) = (window.base..window.end(), memory..memory + MEMORY);
    let map = [0; PageAllocator::words(MEMORY as u64)];
    let clock = EmbassyClock { counter_hertz: 0 };
    // SAFETY: a board says the truth about its addresses, and this is called once.
    let platform = unsafe { Mmio::new(window, memory, map, clock, NoInterrupts) }?;
    let mut storage = Storage::<2, 8, 16>::new();
    let options = Options::default();
    let mut device = Device::bring_up(platform, FIRMWARE, &mut storage, options, &mut ())?;
    let program = Program::parse(PROGRAM)?;
    let [first, second] = [
        commands(&mut device, &program)?,
        commands(&mut device, &program)?,
    ];

    let gpu = Gpu::new(device);
    let work = join(submit(&gpu, first), submit(&gpu, second));
    let drive = gpu.run(&LINES, |_: Lines| ());
    let (drive, work) = (pin!(drive), pin!(work));
    let both = select(drive, work);
    // On a board an executor of embassy's runs these as tasks.
    let Either::Second((first, second)) = embassy_futures::block_on(both);
    println!("{:?}, {:?}", first?, second?);
    Ok(())
}

/// A queue with commands that double 64 numbers.
fn commands<'d, P: Platform>(
    device: &mut Device<'_, 'd, P>,
    program: &Program<'d>,
) -> Result<(Queue, CommandBuffer), eitri_runtime::Error> {
    let queue = device.create_queue(QueueConfig::default())?;
    let space = device.space(queue)?;
    let pipeline = device.create_pipeline(space, program)?;
    let buffer = device.create_buffer(space, 256)?;
    let set = device.create_descriptor_set(pipeline, 0)?;
    device.bind_buffer(set, 0, buffer)?;
    let commands = device.create_command_buffer(space)?;
    device.record(commands, |recorder| {
        recorder.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        recorder.dispatch([1, 1, 1])?;
        Ok(())
    })?;
    Ok((queue, commands))
}

/// Submits twice, and awaits both.
async fn submit<P: Platform>(
    gpu: &Gpu<'_, '_, P>,
    (queue, commands): (Queue, CommandBuffer),
) -> Result<Status, eitri_runtime::Error> {
    let first = gpu.with(|device| device.submit(queue, commands))?;
    let second = gpu.with(|device| device.submit(queue, commands))?;
    gpu.over(first).await;
    Ok(gpu.over(second).await)
}

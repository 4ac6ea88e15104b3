//! Counts what the CPU does to record and to submit: instructions, by the CPU's own counter, and bytes that it stores for the GPU.
//!
//! `eitri bench record` builds it, boots it under the monitor, and reads lines of the form `bench NAME INSTRUCTIONS BYTES`.
//! Instructions of the monitor are not counted: it runs at EL2, the image at EL1.
#![no_std]
#![no_main]
#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen"
)]

extern crate alloc;

mod counted;
mod instructions;

use alloc::boxed::Box;
use core::error::Error;
use core::time::Duration;
use counted::Counted;
use eitri_boards::Exit;
use eitri_kernel::{Kernel, println};
use eitri_on_board::{Caching, MmioPlatform, take_gpu};
use eitri_program::Program;
use eitri_runtime::{
    Accesses, CommandBuffer, DescriptorSet, Device, Options, Pipeline, QueueConfig, Recorder,
    Status, Storage,
};

eitri_kernel::image! {
    main: main,
}

const FIRMWARE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/firmware"));
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/program"));

/// Dispatches of the longer of two recordings: their difference is what one costs.
const MANY: u32 = 9;

type Gpu = Device<'static, 'static, Counted<MmioPlatform>>;
type Recording<'r, 's> = Recorder<'r, 's, 'static, Counted<MmioPlatform>>;

fn main(kernel: Kernel) -> Exit {
    match run(kernel) {
        Ok(()) => Exit::Success,
        Err(error) => {
            println!("{error}");
            Exit::Failed
        }
    }
}

/// What is bound.
#[derive(Clone, Copy)]
struct Bound {
    commands: CommandBuffer,
    pipeline: Pipeline,
    set: DescriptorSet,
}

fn run(kernel: Kernel) -> Result<(), Box<dyn Error>> {
    let platform = take_gpu(kernel.board, Caching::None);
    let platform = platform.map_err(|error| alloc::format!("no GPU: {error:?}"))?;
    let storage = Box::leak(Box::new(Storage::<1, 8, 32>::new()));
    let options = Options::default();
    let platform = Counted::new(platform);
    let mut device = Device::bring_up(platform, FIRMWARE, storage, options, &mut ())?;
    let queue = device.create_queue(QueueConfig::default())?;
    let space = device.space(queue)?;
    let program = Program::parse(PROGRAM)?;
    let pipeline = device.create_pipeline(space, &program)?;
    let set = device.create_descriptor_set(pipeline, 0)?;
    for binding in 0..2 {
        let buffer = device.create_buffer(space, 4096)?;
        device.bind_buffer(set, binding, buffer)?;
    }
    let commands = device.create_command_buffer(space)?;
    let bound = Bound {
        commands,
        pipeline,
        set,
    };
    instructions::start();

    let empty = record(&mut device, bound, |_| Ok(()))?;
    empty.say("empty");
    let one = record(&mut device, bound, |it| dispatches(it, bound, 1, false))?;
    one.less(empty, 1).say("first");
    let many = record(&mut device, bound, |it| dispatches(it, bound, MANY, false))?;
    many.less(one, MANY - 1).say("dispatch");
    let barriers = record(&mut device, bound, |it| dispatches(it, bound, MANY, true))?;
    barriers.less(many, MANY).say("barrier");

    record(&mut device, bound, |it| dispatches(it, bound, 1, false))?;
    // Once around the ring: its slots hold the words of wrappers then.
    const ROUNDS: u32 = 140;
    for round in 0..ROUNDS {
        let before = Cost::now(&device);
        let fence = device.submit(queue, commands);
        let submitted = Cost::now(&device).less(before, 1);
        let fence = fence?;
        let status = device.wait(fence, Duration::from_secs(1));
        if status != Status::Done {
            return Err(alloc::format!("{status:?}").into());
        }
        // The first one puts the queue on its slot.
        match round {
            2 => submitted.say("filling"),
            _ if round + 1 == ROUNDS => submitted.say("submit"),
            _ => {}
        }
    }
    Ok(())
}

/// Each with its own push constants, as a program that draws a list has them.
fn dispatches(
    recorder: &mut Recording<'_, '_>,
    bound: Bound,
    count: u32,
    barriers: bool,
) -> Result<(), eitri_runtime::Error> {
    recorder.bind_pipeline(bound.pipeline)?;
    for number in 0..count {
        let push = u64::from(number).to_le_bytes();
        recorder.bind_descriptor_set(bound.set)?;
        recorder.push_constants(&push)?.dispatch([1, 1, 1])?;
        if barriers {
            recorder.barrier(Accesses::SHADER_WRITE, Accesses::SHADER_READ)?;
        }
    }
    Ok(())
}

fn record(
    device: &mut Gpu,
    bound: Bound,
    commands: impl FnOnce(&mut Recording<'_, '_>) -> Result<(), eitri_runtime::Error>,
) -> Result<Cost, Box<dyn Error>> {
    let before = Cost::now(device);
    device.record(bound.commands, commands)?;
    Ok(Cost::now(device).less(before, 1))
}

/// What was done.
#[derive(Clone, Copy)]
struct Cost {
    instructions: u32,
    /// Bytes that were stored to memory of the GPU.
    stored: u64,
}

impl Cost {
    fn now(device: &Gpu) -> Cost {
        Cost {
            instructions: instructions::executed(),
            stored: device.platform().stored(),
        }
    }

    /// What was done since `before`, for each of `count` things.
    fn less(self, before: Cost, count: u32) -> Cost {
        let instructions = self.instructions.wrapping_sub(before.instructions);
        Cost {
            instructions: instructions / count,
            stored: self.stored.saturating_sub(before.stored) / u64::from(count),
        }
    }

    fn say(self, what: &str) {
        println!("bench {what} {} {}", self.instructions, self.stored);
    }
}

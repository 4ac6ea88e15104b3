//! Rows about growth: what each of n things costs, for n from 1 on.

use crate::cost::Cost;
use crate::recording::{push, record};
use crate::submission::{finish, idle};
use crate::{Failure, Gpu, PROGRAM, Parts, set};
use alloc::format;
use alloc::vec::Vec;
use eitri_program::Program;
use eitri_runtime::{CommandBuffer, Queue, QueueConfig};

pub(crate) fn rows(device: &mut Gpu, parts: &Parts) -> Result<(), Failure> {
    for count in [10, 100, 1000, 10_000] {
        sets(device, parts, count)?;
    }
    for count in [10, 100, 1000] {
        pipelines(device, parts, count)?;
    }
    for count in [1, 10, 100, 1000] {
        queues(device, count)?;
    }
    Ok(())
}

/// A dispatch with each of n sets.
fn sets(device: &mut Gpu, parts: &Parts, count: u32) -> Result<(), Failure> {
    let pipeline = parts.pipelines[0];
    let (cost, sets) = Cost::of(device, |device| {
        let sets = (0..count).map(|_| set(device, pipeline, parts.buffers));
        sets.collect::<Result<Vec<_>, _>>()
    });
    let sets = sets?;
    cost.each(count).print(&format!("create-sets-{count}"));
    let mut cost = None;
    // Twice: the second takes no memory.
    for _ in 0..2 {
        cost = Some(record(device, parts, |it| {
            it.bind_pipeline(pipeline)?;
            for (number, set) in (0..).zip(&sets) {
                it.bind_descriptor_set(*set)?;
                push(it, number)?.dispatch([1, 1, 1])?;
            }
            Ok(())
        })?);
    }
    if let Some(cost) = cost {
        cost.each(count).print(&format!("sets-{count}"));
    }
    record(device, parts, |_| Ok(()))?;
    for set in sets {
        device.destroy_descriptor_set(set)?;
    }
    Ok(())
}

/// A dispatch with each of n pipelines, and a set of each.
fn pipelines(device: &mut Gpu, parts: &Parts, count: u32) -> Result<(), Failure> {
    let program = Program::parse(PROGRAM)?;
    let mut all = Vec::new();
    for _ in 0..count {
        let pipeline = device.create_pipeline(parts.space, &program)?;
        all.push((pipeline, set(device, pipeline, parts.buffers)?));
    }
    let mut cost = None;
    for _ in 0..2 {
        cost = Some(record(device, parts, |it| {
            for (number, (pipeline, set)) in (0..).zip(&all) {
                it.bind_pipeline(*pipeline)?.bind_descriptor_set(*set)?;
                push(it, number)?.dispatch([1, 1, 1])?;
            }
            Ok(())
        })?);
    }
    if let Some(cost) = cost {
        cost.each(count).print(&format!("pipelines-{count}"));
    }
    record(device, parts, |_| Ok(()))?;
    for (pipeline, set) in all {
        device.destroy_descriptor_set(set)?;
        device.destroy_pipeline(pipeline)?;
    }
    Ok(())
}

/// A job on each of n queues, each with a space of its own, polled until all are done.
fn queues(device: &mut Gpu, count: u32) -> Result<(), Failure> {
    let program = Program::parse(PROGRAM)?;
    let (cost, all) = Cost::of(device, |device| {
        let all = (0..count).map(|_| queue(device, &program));
        all.collect::<Result<Vec<_>, _>>()
    });
    let all = all?;
    cost.each(count).print(&format!("create-queues-{count}"));
    // The first job of each: the model keeps 256 groups that were saved, and a second job takes one that was.
    let cost = run_each(device, &all, count)?;
    cost.print(&format!("queues-{count}"));
    idle(device, &format!("poll-idle-{count}"));
    let (cost, destroyed) = Cost::of(device, |device| {
        all.iter()
            .try_for_each(|(queue, _)| device.destroy_queue(*queue))
    });
    destroyed?;
    cost.each(count).print(&format!("destroy-queues-{count}"));
    device.settle();
    Ok(())
}

/// What a job on each queue costs: submission, and polls and sleeps until it is over.
fn run_each(
    device: &mut Gpu,
    all: &[(Queue, CommandBuffer)],
    count: u32,
) -> Result<Total, Failure> {
    let mut total = Total {
        instructions: 0,
        polls: 0,
        count,
    };
    let mut fences = Vec::new();
    for (queue, commands) in all {
        let (cost, fence) = Cost::of(device, |device| device.submit(*queue, *commands));
        fences.push(fence?);
        total.instructions += u64::from(cost.instructions);
    }
    for fence in fences {
        let cost = finish(device, fence)?;
        total.instructions += u64::from(cost.instructions);
        total.polls += cost.polls();
    }
    Ok(total)
}

/// Instructions and polls of n jobs.
struct Total {
    instructions: u64,
    polls: u32,
    count: u32,
}

impl Total {
    fn print(&self, what: &str) {
        let each = self.instructions / u64::from(self.count);
        eitri_kernel::println!("bench {what} {each} 0 {}", self.polls);
    }
}

/// A queue with commands that run the program once.
fn queue(
    device: &mut Gpu,
    program: &Program<'static>,
) -> Result<(Queue, CommandBuffer), eitri_runtime::Error> {
    let queue = device.create_queue(QueueConfig::default())?;
    let space = device.space(queue)?;
    let pipeline = device.create_pipeline(space, program)?;
    let buffers = [
        device.create_buffer(space, 4096)?,
        device.create_buffer(space, 4096)?,
    ];
    let set = set(device, pipeline, buffers)?;
    let commands = device.create_command_buffer(space)?;
    device.record(commands, |it| {
        it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        it.dispatch([1, 1, 1])?;
        Ok(())
    })?;
    Ok((queue, commands))
}

//! The bench: a running device, its queues a core, and how tests run shaders on them.
//!
//! Guarantees: what a test has made is gone after it; a queue that a test has lost is made again for the next.

use crate::programs::{IMAGE_BINDING, PUSHED, Programs};
use crate::result::{Measurement, Trouble, Unit, failed, skipped};
use crate::setup::{JOB, Setup};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_program::Program;
use eitri_runtime::{
    BindingElement, Buffer, CommandBuffer, DescriptorSet, Device, Fence, Image, JobFault, Pipeline,
    Platform, QueryPool, Queue, QueueConfig, Space, Status,
};

/// A device with what tests need to know.
pub(crate) struct Bench<'a, 's, 'd, P> {
    pub(crate) device: Device<'s, 'd, P>,
    pub(crate) programs: &'d Programs,
    pub(crate) setup: &'a Setup<'a>,
    pub(crate) measured: Vec<Measurement>,
    /// The name of the running test.
    pub(crate) test: String,
    /// The space that tests share, unless they have their own.
    space: Option<Space>,
    /// A queue for each core that was used.
    queues: Vec<(u8, Queue)>,
}

/// What a core's job wrote, or why it did not end well.
pub(crate) type OnCore = (u8, Result<Vec<u32>, String>);

/// A shader with a buffer of its own, ready to run.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    pub(crate) pipeline: Pipeline,
    pub(crate) set: DescriptorSet,
    pub(crate) buffer: Buffer,
    pub(crate) commands: CommandBuffer,
    words: usize,
}

/// How often, and with what.
#[derive(Clone, Copy)]
pub(crate) struct Grid<'g> {
    pub(crate) groups: u32,
    pub(crate) push: &'g [u32],
}

pub(crate) fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// All push constants, of which these are the first.
fn pushed(words: &[u32]) -> Vec<u8> {
    let mut push = [0; PUSHED];
    for (word, given) in push.iter_mut().zip(words) {
        *word = *given;
    }
    bytes_of(&push)
}

pub(crate) fn words_of(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

impl<'a, 's, 'd, P: Platform> Bench<'a, 's, 'd, P> {
    pub(crate) fn new(
        device: Device<'s, 'd, P>,
        programs: &'d Programs,
        setup: &'a Setup<'a>,
    ) -> Bench<'a, 's, 'd, P> {
        Bench {
            device,
            programs,
            setup,
            measured: Vec::new(),
            test: String::new(),
            space: None,
            queues: Vec::new(),
        }
    }

    /// Notes a number of the running test.
    pub(crate) fn measure(&mut self, name: &str, value: u64, unit: Unit) {
        self.measured.push(Measurement {
            name: format!("{}.{name}", self.test),
            value,
            unit,
        });
    }

    /// The numbers of the usable cores.
    pub(crate) fn cores(&self) -> Vec<u8> {
        let cores = self.device.properties().cores;
        (0..64).filter(|core| cores >> core & 1 != 0).collect()
    }

    /// The address space that tests share.
    pub(crate) fn space(&mut self) -> Result<Space, Trouble> {
        if let Some(space) = self.space {
            return Ok(space);
        }
        let space = self.device.create_space()?;
        self.space = Some(space);
        Ok(space)
    }

    /// A queue in the shared space that has all cores.
    pub(crate) fn queue(&mut self) -> Result<Queue, Trouble> {
        let space = Some(self.space()?);
        Ok(self.device.create_queue(QueueConfig {
            space,
            ..QueueConfig::default()
        })?)
    }

    /// The queue of one core.
    pub(crate) fn queue_of(&mut self, core: u8) -> Result<Queue, Trouble> {
        if let Some((_, queue)) = self.queues.iter().find(|(of, _)| *of == core) {
            return Ok(*queue);
        }
        let space = Some(self.space()?);
        let queue = self.device.create_queue(QueueConfig {
            space,
            cores: Some(1 << core),
            ..QueueConfig::default()
        })?;
        self.queues.push((core, queue));
        Ok(queue)
    }

    /// The program of a case or a tool.
    pub(crate) fn program(&self, name: &str) -> Result<&'d [u8], Trouble> {
        let found = self.programs.case(name);
        found.ok_or_else(|| skipped!("{} has no program {name}", self.programs.arch))
    }

    /// A shader with a buffer of these words, in a space.
    pub(crate) fn work(
        &mut self,
        space: Space,
        program: &'d [u8],
        words: &[u32],
        grid: Grid<'_>,
    ) -> Result<Work, Trouble> {
        let pipeline = self
            .device
            .create_pipeline(space, &Program::parse(program)?)?;
        self.work_of(space, pipeline, words, grid)
    }

    /// A shader with a buffer of these words and an image, in the image's space.
    pub(crate) fn work_on_image(
        &mut self,
        (space, image): (Space, Image),
        program: &'d [u8],
        words: &[u32],
        grid: Grid<'_>,
    ) -> Result<Work, Trouble> {
        let pipeline = self
            .device
            .create_pipeline(space, &Program::parse(program)?)?;
        let work = self.unrecorded(space, pipeline, words)?;
        self.device
            .bind_image(work.set, BindingElement::first(IMAGE_BINDING), image)?;
        self.record(&work, grid)?;
        Ok(work)
    }

    /// A shader whose pipeline others use too.
    fn work_of(
        &mut self,
        space: Space,
        pipeline: Pipeline,
        words: &[u32],
        grid: Grid<'_>,
    ) -> Result<Work, Trouble> {
        let work = self.unrecorded(space, pipeline, words)?;
        self.record(&work, grid)?;
        Ok(work)
    }

    /// The same, whose commands are not recorded.
    fn unrecorded(
        &mut self,
        space: Space,
        pipeline: Pipeline,
        words: &[u32],
    ) -> Result<Work, Trouble> {
        let device = &mut self.device;
        let buffer = device.create_buffer(space, 4 * words.len().max(1) as u64)?;
        device.write_buffer(buffer, 0, &bytes_of(words))?;
        let set = device.create_descriptor_set(pipeline, 0)?;
        device.bind_buffer(set, 0, buffer)?;
        let commands = device.create_command_buffer(space)?;
        Ok(Work {
            pipeline,
            set,
            buffer,
            commands,
            words: words.len(),
        })
    }

    /// Runs a shader on every core at once, on each with a buffer of its own: what each wrote, or why it did not.
    pub(crate) fn run_on_each_core(
        &mut self,
        program: &'d [u8],
        words: &[u32],
        grid: Grid<'_>,
    ) -> Result<Vec<OnCore>, Trouble> {
        let space = self.space()?;
        let pipeline = self
            .device
            .create_pipeline(space, &Program::parse(program)?)?;
        let mut jobs = Vec::new();
        for core in self.cores() {
            let queue = self.queue_of(core)?;
            let work = self.work_of(space, pipeline, words, grid)?;
            let fence = self.device.submit(queue, work.commands)?;
            jobs.push((core, work, fence));
        }
        let mut found = Vec::new();
        for (core, work, fence) in &jobs {
            let ended = self.finish(*fence);
            let words = ended.and_then(|()| self.words(work));
            found.push(match words {
                Ok(words) => (*core, Ok(words)),
                Err(Trouble::Failed(why)) => (*core, Err(why)),
                Err(skipped) => return Err(skipped),
            });
        }
        for (_, work, _) in &jobs {
            self.drop_but_pipeline(work)?;
        }
        self.device.destroy_pipeline(pipeline)?;
        Ok(found)
    }

    /// Records its commands anew.
    pub(crate) fn record(&mut self, work: &Work, grid: Grid<'_>) -> Result<(), Trouble> {
        let push = pushed(grid.push);
        self.device.record(work.commands, |recorder| {
            recorder
                .bind_pipeline(work.pipeline)?
                .bind_descriptor_set(work.set)?;
            recorder
                .push_constants(&push)?
                .dispatch([grid.groups, 1, 1])?;
            Ok(())
        })?;
        Ok(())
    }

    /// The words of its buffer.
    pub(crate) fn words(&mut self, work: &Work) -> Result<Vec<u32>, Trouble> {
        let mut bytes = vec![0; 4 * work.words];
        self.device.read_buffer(work.buffer, 0, &mut bytes)?;
        Ok(words_of(&bytes))
    }

    /// Takes it apart.
    pub(crate) fn drop(&mut self, work: &Work) -> Result<(), Trouble> {
        self.drop_but_pipeline(work)?;
        self.device.destroy_pipeline(work.pipeline)?;
        Ok(())
    }

    fn drop_but_pipeline(&mut self, work: &Work) -> Result<(), Trouble> {
        self.device.destroy_command_buffer(work.commands)?;
        self.device.destroy_descriptor_set(work.set)?;
        self.device.destroy_buffer(work.buffer)?;
        Ok(())
    }

    /// How long a job may take.
    pub(crate) fn limit(&self) -> Duration {
        JOB * self.device.platform().slowdown().max(1)
    }

    /// Waits for a job that must end well.
    pub(crate) fn finish(&mut self, fence: Fence) -> Result<(), Trouble> {
        self.finish_within(fence, self.limit())
    }

    /// The same for one that may take so long.
    pub(crate) fn finish_within(&mut self, fence: Fence, limit: Duration) -> Result<(), Trouble> {
        match self.device.wait(fence, limit) {
            Status::Done => Ok(()),
            Status::Failed(fault) => {
                self.device.discard(fence);
                self.forget(fence.queue);
                Err(failed!("{fault}"))
            }
            _ => {
                let doing = self.device.explain(fence);
                let doing = doing.map_or(String::new(), |status| format!(": {status}"));
                let _ = self.device.cancel(fence.queue);
                self.device.settle();
                self.forget(fence.queue);
                Err(failed!("the job has not ended after {limit:?}{doing}"))
            }
        }
    }

    /// Waits for a job that must fail, and says how it did.
    pub(crate) fn fault(&mut self, fence: Fence) -> Result<JobFault, Trouble> {
        let limit = self.limit();
        let status = self.device.wait(fence, limit);
        match status {
            Status::Failed(fault) => {
                self.device.discard(fence);
                self.forget(fence.queue);
                Ok(fault)
            }
            _ => {
                let _ = self.device.cancel(fence.queue);
                self.device.settle();
                self.forget(fence.queue);
                Err(failed!(
                    "the job should have failed, but it is {}",
                    match status {
                        Status::Done => "done",
                        _ => "not over",
                    }
                ))
            }
        }
    }

    /// How long the work's dispatch takes, by the GPU's own timestamps; without what starting a job costs the CPU.
    pub(crate) fn timed(
        &mut self,
        queue: Queue,
        work: &Work,
        grid: Grid<'_>,
    ) -> Result<Duration, Trouble> {
        let space = self.device.space(queue)?;
        let pool = self.device.create_query_pool(space, 2)?;
        let timed = self.timed_by(queue, work, grid, pool);
        self.device.destroy_query_pool(pool)?;
        timed
    }

    fn timed_by(
        &mut self,
        queue: Queue,
        work: &Work,
        grid: Grid<'_>,
        pool: QueryPool,
    ) -> Result<Duration, Trouble> {
        let push = pushed(grid.push);
        let commands = self
            .device
            .create_command_buffer(self.device.space(queue)?)?;
        self.device.record(commands, |recorder| {
            recorder.reset_queries(pool, 0, 2)?;
            recorder
                .bind_pipeline(work.pipeline)?
                .bind_descriptor_set(work.set)?;
            recorder
                .push_constants(&push)?
                .write_timestamp(pool, 0)?
                .dispatch([grid.groups, 1, 1])?;
            recorder.write_timestamp(pool, 1)?;
            Ok(())
        })?;
        let fence = self.device.submit(queue, commands)?;
        let ended = self.finish(fence);
        let mut ticks = [None; 2];
        let read = self.device.query_results(pool, 0, &mut ticks);
        self.device.destroy_command_buffer(commands)?;
        ended?;
        read?;
        match (ticks, self.device.platform().counter_hertz()) {
            ([Some(start), Some(end)], hertz @ 1..) if end >= start => {
                let nanoseconds = u128::from(end - start) * 1_000_000_000 / u128::from(hertz);
                Ok(Duration::from_nanos(nanoseconds as u64))
            }
            ([Some(start), Some(end)], hertz) => Err(failed!(
                "timestamps of one job are {start:#x} and {end:#x}, at {hertz} Hz"
            )),
            _ => Err(failed!("a job wrote no timestamps: {ticks:?}")),
        }
    }

    /// A queue whose job did not end well is given up.
    pub(crate) fn forget(&mut self, queue: Queue) {
        let held = self.queues.len();
        self.queues.retain(|(_, kept)| *kept != queue);
        if self.queues.len() != held {
            let _ = self.device.cancel(queue);
            self.device.settle();
            let _ = self.device.destroy_queue(queue);
        }
    }

    /// Runs a shader on a queue in the shared space; what is in its buffer afterwards.
    pub(crate) fn run(
        &mut self,
        queue: Queue,
        program: &'d [u8],
        words: &[u32],
        grid: Grid<'_>,
    ) -> Result<Vec<u32>, Trouble> {
        let space = self.device.space(queue)?;
        let work = self.work(space, program, words, grid)?;
        let ran = self.device.submit(queue, work.commands);
        let ran = ran.map_err(Trouble::from);
        let ran = ran.and_then(|fence| self.finish(fence));
        let found = ran.and_then(|()| self.words(&work));
        self.drop(&work)?;
        found
    }

    /// After a test: nothing is left of what it made.
    pub(crate) fn clear(&mut self) {
        for (_, queue) in core::mem::take(&mut self.queues) {
            let _ = self.device.cancel(queue);
            self.device.settle();
            let _ = self.device.destroy_queue(queue);
        }
        if let Some(space) = self.space.take() {
            self.device.settle();
            let _ = self.device.destroy_space(space);
        }
    }
}

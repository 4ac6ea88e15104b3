//! Repetition: dispatches that differ from the last one in their uniforms, their sets or their pipeline, but not in their grid.
//!
//! What such a dispatch needs is known before a word of it is written: so room is made once, and all its instructions are emitted in
//! one go. A pipeline keeps a dispatch, once it follows another pipeline's: of as many workgroups its job is not found out again.
//! Whatever is not of this kind is left to [`super::dispatch`].
//! Facts: hardware/command-stream.md sections 4.1 and 6.10.

use super::dispatch::{COUNT_SHIFT, MOST_WORDS};
use super::emitter::Emitter;
use super::recorder::Recorder;
use super::storage::Used;
use super::words::{Narrow, Wide};
use super::writer::ALIGNMENT;
use crate::error::Error;
use crate::platform::Platform;
use crate::vm::GpuAddress;
use eitri_cs::builder::Checked;

/// Last dispatch recorded, for what the next one can use again.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastDispatch {
    /// The resource table's register.
    pub(super) resources: Option<u64>,
    /// The uniforms' register, and the workgroups that they hold if they hold them.
    pub(super) uniforms: Option<(u64, [u32; 3])>,
    /// Local storage of its own.
    pub(super) storage: Option<(Used, GpuAddress)>,
    /// The sets are known to have everything that the pipeline needs.
    pub(super) complete: bool,
    /// The registers hold all state of the pipeline and the sets, uniforms and grid aside.
    pub(super) state: bool,
    /// The last dispatch, if the registers hold its grid too; without `state` they hold all but the resource table and what another
    /// pipeline changes.
    pub(super) last: Option<Last>,
    /// Another pipeline than the last dispatch's is bound.
    pub(super) other_pipeline: bool,
}

/// A dispatch that another of as many workgroups repeats with other uniforms, if it has any: its limits were checked. It has 32 bytes:
/// more would be copied by a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    workgroups: [u32; 3],
    /// Bytes that its uniforms take in a block; 0: it can't be repeated.
    bytes: u32,
    /// Its invocations.
    threads: u64,
    /// Its job.
    run: Checked,
}

impl LastDispatch {
    /// Nothing yet.
    pub(super) const NOTHING: LastDispatch = LastDispatch {
        resources: None,
        uniforms: None,
        storage: None,
        complete: false,
        state: false,
        last: None,
        other_pipeline: false,
    };

    /// Other push constants are in use.
    pub(super) const fn forget_uniforms(&mut self) {
        self.uniforms = None;
    }

    /// Other sets are in use; uniforms may hold addresses of their buffers. The last dispatch stays: see
    /// [`Recorder::dispatch_changed`].
    pub(super) const fn forget_sets(&mut self) {
        self.resources = None;
        self.complete = false;
        self.uniforms = None;
        self.state = false;
    }

    /// Another pipeline is in use.
    pub(super) const fn forget_pipeline(&mut self) {
        self.forget_sets();
        self.storage = None;
        self.other_pipeline = true;
    }

    /// What the registers hold is not known.
    pub(super) const fn forget_state(&mut self) {
        self.state = false;
        self.last = None;
    }
}

impl Last {
    /// No dispatch: none that can be repeated has no workgroups.
    pub(super) const NONE: Last = Last {
        workgroups: [0; 3],
        bytes: 0,
        threads: 0,
        run: Checked::NOP,
    };

    /// Its workgroups.
    #[cfg(test)]
    pub(super) const fn workgroups(&self) -> [u32; 3] {
        self.workgroups
    }

    /// A dispatch of so many workgroups, with so many pairs of uniforms; of one that can't be repeated none.
    #[inline(always)]
    pub(super) const fn new(workgroups: [u32; 3], pairs: u32, threads: u64, run: Checked) -> Last {
        let bytes = pairs.saturating_mul(8).next_multiple_of(ALIGNMENT);
        Last {
            workgroups,
            bytes,
            threads,
            run,
        }
    }
}

/// What differs between a dispatch and the last one, which had the same grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Differs {
    /// Sets at most.
    Sets,
    /// The pipeline, which keeps a dispatch of this grid.
    Pipeline,
    /// The pipeline, which keeps none.
    NewPipeline,
}

/// What differs from the last dispatch, its uniforms aside.
#[derive(Clone, Copy, Debug)]
pub(super) enum Changed {
    Nothing,
    /// The resource table's register.
    Sets(u64),
    /// The same, and the pipeline: it keeps a dispatch of as many workgroups.
    Pipeline(u64),
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Whether the last dispatch had so many workgroups, and the registers hold them.
    #[inline(always)]
    pub(super) fn has_grid(&self, workgroups: [u32; 3]) -> bool {
        let last = self.made.last.as_ref();
        last.is_some_and(|last| last.workgroups == workgroups)
    }

    /// Runs the last dispatch again, with what has changed and the uniforms that it has now. False if it can't be repeated, or there is
    /// no room in the block: then nothing was done.
    #[inline]
    pub(super) fn repeat(&mut self, changed: &Changed) -> bool {
        let last = match changed {
            Changed::Pipeline(_) => self.pipeline.as_ref().map(|shape| &shape.last),
            Changed::Nothing | Changed::Sets(_) => self.made.last.as_ref(),
        };
        let (Some(last), Ok(words)) = (last, &self.device.words) else {
            return false;
        };
        if last.bytes == 0 || !self.writer.has_room_for(MOST_WORDS, last.bytes) {
            return false;
        }
        let (workgroups, run, threads) = (last.workgroups, last.run, last.threads);
        let (platform, uniforms) = (&mut self.device.hw.platform, &mut self.device.uniforms);
        let uniforms = match self.made.uniforms {
            Some((made, _)) => made,
            None => {
                let (at, address) = self.writer.take(last.bytes);
                if let Changed::Pipeline(_) = changed {
                    // The last dispatch may have had no uniforms, and left no numbers of workgroups there.
                    uniforms.set_counts(workgroups);
                }
                let words = uniforms.again();
                platform.write_words(at, words);
                let uniforms = address.0 | (words.len() as u64) << COUNT_SHIFT;
                self.made.uniforms = Some((uniforms, workgroups));
                uniforms
            }
        };
        let mut emitter = Emitter::new(platform, words, &mut self.known, self.writer.end());
        match changed {
            Changed::Nothing => {}
            Changed::Sets(resources) => {
                emitter.wide(Wide::Resources, *resources);
                self.made.state = true;
            }
            Changed::Pipeline(resources) => {
                emitter.wide(Wide::Resources, *resources);
                if let Some(shape) = &self.pipeline {
                    // A pipeline whose dispatches can be repeated needs no local storage. What pipelines have alike is loaded.
                    emitter.code(shape.shader, shape.no_storage());
                    emitter.narrow(Narrow::WorkgroupSize, shape.workgroup);
                    self.made.last = Some(shape.last);
                    self.made.other_pipeline = false;
                }
                self.made.state = true;
            }
        }
        emitter.wide_and(Wide::Uniforms, uniforms, run);
        self.writer.end_at(emitter.end());
        self.invocations = self.invocations.map(|sum| sum.saturating_add(threads));
        self.running.jobs = true;
        self.unflushed = true;
        true
    }

    /// The same as [`Recorder::dispatch`] where more than the uniforms differs from the last dispatch.
    #[inline(never)]
    pub(super) fn dispatch_changed(&mut self, workgroups: [u32; 3]) -> Result<&mut Self, Error> {
        let differs = if self.made.state {
            None
        } else {
            self.differs(workgroups)
        };
        if let Some(differs @ (Differs::Sets | Differs::Pipeline)) = differs
            && self.knows_state()?
        {
            let resources = self.made.resources.unwrap_or(0);
            let changed = if differs == Differs::Pipeline {
                Changed::Pipeline(resources)
            } else {
                Changed::Sets(resources)
            };
            if self.repeat(&changed) {
                return Ok(self);
            }
        }
        if differs == Some(Differs::NewPipeline) {
            return self.dispatch_kept(workgroups);
        }
        self.dispatch_base([0; 3], workgroups)
    }

    /// What differs from the last dispatch; `None` if the registers hold another grid.
    #[inline]
    fn differs(&self, workgroups: [u32; 3]) -> Option<Differs> {
        if !self.has_grid(workgroups) {
            return None;
        }
        if !self.made.other_pipeline {
            return Some(Differs::Sets);
        }
        // No dispatch is without workgroups, as [`Last::NONE`] is.
        let kept = self.pipeline.as_ref()?.last.workgroups == workgroups;
        Some(if kept {
            Differs::Pipeline
        } else {
            Differs::NewPipeline
        })
    }

    /// Runs the bound pipeline, which keeps the dispatch if it can be repeated.
    #[inline(never)]
    fn dispatch_kept(&mut self, workgroups: [u32; 3]) -> Result<&mut Self, Error> {
        self.dispatch_base([0; 3], workgroups)?;
        if let (Some(shape), Some(pipeline)) = (&mut self.pipeline, self.pipeline_of)
            && let Some(last) = self.made.last
            && last.bytes != 0
        {
            shape.last = last;
            self.device.keep_last(pipeline, last);
        }
        Ok(self)
    }

    /// Whether the state of what is bound is known: its resource table, and its uniforms.
    #[inline]
    fn knows_state(&mut self) -> Result<bool, Error> {
        if !self.knows_uniforms()? {
            return Ok(false);
        }
        let shape = self.shape()?;
        let (samples, writes_texels) = (shape.samples, shape.writes_texels);
        self.note_texels(samples, writes_texels)?;
        if self.made.resources.is_none() {
            self.made.resources = Some(self.resources()?);
        }
        Ok(true)
    }

    /// Whether the uniforms of what is bound were found out: a set may keep them.
    #[inline]
    pub(super) fn knows_uniforms(&mut self) -> Result<bool, Error> {
        Ok(self.device.uniforms.found || self.recall_uniforms()?)
    }
}

#[cfg(test)]
mod tests {
    use crate::command::tests::{Bound, bound, program_with, recorded, words};
    use crate::device::{Device, Kind};
    use crate::handle::{CommandBuffer, DescriptorSet, Pipeline, Space};
    use crate::testing::Fake;
    use crate::testing::firmware::{control_blocks, image};
    use eitri_program::{AddressHalf, DescriptorSlot, FauWord};

    /// Jobs of four dispatches of two pipelines in turn, and their invocations.
    fn jobs(
        device: &mut Device<'_, '_, Fake>,
        (commands, pipelines, set): (CommandBuffer, [Pipeline; 2], DescriptorSet),
        grid: [u32; 3],
    ) -> (std::vec::Vec<u64>, Option<u64>) {
        let recording = device.record(commands, |it| {
            for pipeline in pipelines.into_iter().chain(pipelines) {
                it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
                it.dispatch(grid)?;
            }
            Ok(())
        });
        recording.expect("complete");
        let run = device.words.as_ref().expect("encoded").run;
        let job =
            |word: &u64| *word >> 56 == run.with(eitri_cs::enums::TaskAxis::X, 1).word() >> 56;
        let jobs = recorded(device, commands).into_iter().filter(job);
        let it = device.commands_mut(commands.0).and_then(|it| it.recorded);
        (jobs.collect(), it.and_then(|it| it.invocations))
    }

    /// Another grid than that of the dispatch which the pipelines keep, and the same again.
    #[test]
    fn a_kept_dispatch_is_what_would_be_found() {
        let image = image(&control_blocks());
        let program = program_with(&[FauWord::Constant(7)], |_| ());
        let grids = [[3, 1, 1], [5, 2, 1], [3, 1, 1], [3, 1, 1]];
        let all = |grids: &[[u32; 3]]| {
            let Bound {
                mut device,
                pipeline,
                set,
                commands,
                ..
            } = bound(&image, &program);
            let space = device.object(pipeline.0, crate::error::Thing::Pipeline);
            let space = Space(space.expect("there").space);
            let parsed = eitri_program::Program::parse(&program).expect("legal");
            let other = device.create_pipeline(space, &parsed).expect("memory");
            let parts = (commands, [pipeline, other], set);
            let jobs = grids.iter().map(|grid| jobs(&mut device, parts, *grid));
            let jobs: std::vec::Vec<_> = jobs.collect();
            let kept = [pipeline, other].map(|it| match &device.objects.get(it.0)?.kind {
                Kind::Pipeline(it) => Some(it.kept_workgroups()),
                _ => None,
            });
            (jobs, kept)
        };
        let (jobs, kept) = all(&grids);
        assert_eq!(kept, [Some([3, 1, 1]); 2], "the last one that was found");
        for (grid, jobs) in grids.iter().zip(jobs) {
            // A device on which nothing is kept.
            let (fresh, _) = all(&[*grid]);
            assert_eq!(fresh.as_slice(), core::slice::from_ref(&jobs), "{grid:?}");
            assert_eq!(jobs.0.len(), 4, "{grid:?}");
        }
    }

    /// A dispatch with another set, of which the set keeps the uniforms, and the same again.
    #[test]
    fn a_dispatch_with_another_set_has_its_uniforms() {
        let image = image(&control_blocks());
        let slot = DescriptorSlot { table: 1, index: 0 };
        let address = |half| FauWord::BufferAddress { slot, half };
        let uniforms = [address(AddressHalf::Low), address(AddressHalf::High)];
        let program = program_with(&uniforms, |_| ());
        let Bound {
            mut device,
            pipeline,
            set,
            commands,
            ..
        } = bound(&image, &program);
        let space = device.object(pipeline.0, crate::error::Thing::Pipeline);
        let space = Space(space.expect("there").space);
        let buffer = device.create_buffer(space, 4096).expect("memory");
        let other = device.create_descriptor_set(pipeline, 0).expect("memory");
        device.bind_buffer(other, 2, buffer).expect("fits");
        // From the second recording on both sets keep their uniforms.
        for round in 0..3 {
            let recording = device.record(commands, |it| {
                it.bind_pipeline(pipeline)?;
                for set in [set, other] {
                    it.bind_descriptor_set(set)?.dispatch([3, 1, 1])?;
                }
                it.dispatch([3, 1, 1])?;
                Ok(())
            });
            recording.expect("complete");
            let stream = recorded(&mut device, commands);
            let [.., load, first, again, _] = &stream[..] else {
                panic!("{stream:x?} in round {round}");
            };
            assert_eq!(first, again, "the last one is a job and no more");
            let at = device.buffer_address(buffer).expect("there").0;
            let found = words(&mut device, load & 0xFFFF_FFFF, 2);
            assert_eq!(found, [at as u32, (at >> 32) as u32], "in round {round}");
        }
    }
}

//! Names what failed in a frame: the pass, the draws, the pipeline, the place in its code, the pixels.
//!
//! Recording does nothing for it. When the GPU reports a failure, and before that is answered, the device looks at how far the
//! streams of the queue have counted, at the instruction where a stream stands, at the address that the fault names, and walks through
//! the recorded commands. What it finds is kept beside the jobs until their faults are there.
//! Needs: the slot of the group, where a stream's words are those of the failure.  Never: waits, or writes to the GPU's memory.
//! Facts: hardware/command-stream.md 1.13 and 1.14, csf-scheduling.md 6, gpu-mmu.md 8.1.

mod draws;
mod memory;
mod news;
mod passes;
mod pixels;
mod reports;
mod walk;
mod words;

pub(crate) use news::{FailedAccess, News};
pub(crate) use words::read as read_failed_pass;

use super::encoded::ITERATORS;
use crate::device::{Device, Kind};
use crate::fault::Cause;
use crate::graphics::failed_pass::{DrawsKnownBy, FailedCode, FailedPass, PassPart};
use crate::graphics::tiler_page::{MARKS, count_of};
use crate::group::STREAMS;
use crate::handle::{CommandBuffer, GraphicsPipeline};
use crate::platform::Platform;
use crate::queue::{Code, SubQueue};
use crate::slab::Key;
use core::ops::Range;
use draws::{Clue, Suspects, find_draws};
use eitri_cs::Arch;
use eitri_csf::fault::Unit;
use eitri_csf::interface::sync_object::{SYNC64_STATUS, SYNC64_VALUE};
use heapless::Vec;
use memory::SpaceReader;
use passes::{Count, Counted, LaneState, pass_at_pointer, pass_of_tiling, passes_in_flight};
use pixels::pixels_at;
use reports::Report;
use words::failed_in;

/// Jobs whose failed passes are kept until their faults are there: those that the streams of two groups are at.
const KEPT: usize = 2 * STREAMS;

/// Failed passes of jobs whose faults are not there yet.
pub(crate) type FailedPasses = Vec<(Key, FailedPass), KEPT>;

/// Commands of a job, and how far their streams have come.
#[derive(Clone, Copy, Debug)]
struct Frame {
    arch: Arch,
    space: Key,
    tiling: Option<Code>,
    fragments: Code,
    counted: Counted,
    /// Draws that run in turn and have ended.
    marks: u32,
}

/// What failed, as far as somebody reports it.
#[derive(Clone, Debug)]
struct Failure {
    /// The stream that reports it, and what.
    report: Option<(SubQueue, Report)>,
    access: Option<FailedAccess>,
    /// The code of a stage, and the instruction in it.
    code: Option<(Key, FailedCode)>,
    /// The object in which the address is, or that is nearest.
    object: Option<(Key, u64, Range<u64>)>,
}

impl<P: Platform> Device<'_, '_, P> {
    /// Finds out where the jobs that streams are at have failed; or adds what was found to their faults.
    pub(crate) fn name_failed_passes(&mut self, news: News) {
        match news {
            News::Faults(key) => self.attach_failed_passes(key),
            News::FaultsIn(space) => self.each_group_in(space, Self::attach_failed_passes),
            News::Reports(key) => {
                let (reports, stuck) = self.failures_reported(key);
                if stuck || reports.iter().any(Option::is_some) {
                    let access = self.access_failed(key);
                    self.name_of_streams(key, &reports, access);
                }
            }
            News::Access(space, access) => self.each_group_in(space, |it, key| {
                let (reports, _) = it.failures_reported(key);
                it.name_of_streams(key, &reports, Some(access));
            }),
        }
    }

    /// Calls a function for each group of a space that has a tiler heap.
    fn each_group_in(&mut self, space: Key, mut call: impl FnMut(&mut Self, Key)) {
        for index in 0..self.groups.capacity() {
            let Some(key) = self.groups.key_at(index) else {
                continue;
            };
            let group = self.groups.get(key).filter(|group| group.tiler.is_some());
            if group.is_some_and(|group| group.space == space) {
                call(self, key);
            }
        }
    }

    /// Finds out where the job that each stream of a group is at may have failed, and keeps that.
    fn name_of_streams(
        &mut self,
        key: Key,
        reports: &[Option<Report>; STREAMS],
        access: Option<FailedAccess>,
    ) {
        let any = reports.iter().any(Option::is_some);
        for (stream, report) in SubQueue::ALL.into_iter().zip(reports) {
            if any && report.is_none() && access.is_none() {
                continue;
            }
            let report = report.map(|report| (stream, report));
            let Some((job, frame)) = self.frame_of(key, stream) else {
                continue;
            };
            let failure = self.failure(&frame, report, access);
            let Some(pass) = self.failed_pass(&frame, stream, &failure) else {
                continue;
            };
            if let Some(drawing) = &mut self.drawing {
                let all = &mut drawing.failed;
                all.retain(|(known, _)| *known != job);
                if all.is_full() {
                    all.remove(0);
                }
                let _ = all.push((job, pass));
            }
        }
    }

    /// Finds the job that a stream is at, if it has render passes and no fault yet.
    fn frame_of(&mut self, key: Key, stream: SubQueue) -> Option<(Key, Frame)> {
        let group = self.groups.get(key)?;
        let (tiler, space) = (group.tiler?, group.space);
        let arch = self.hw.properties.arch;
        let stream = group.stream(stream)?;
        let job_key = stream.current_job(&mut self.hw.platform, &self.jobs)?;
        let job = self.jobs.get(job_key).filter(|job| job.fault.is_none())?;
        let base = stream.base_of_part(&mut self.hw.platform, job, arch)?;
        let recorded = self.recorded(CommandBuffer(job.commands?)).ok()?;
        let passes = recorded.passes?;
        let vm = self.spaces.get(space)?;
        let mut memory = SpaceReader::new(&mut self.hw.platform, &vm.space);
        let mut counted = [None; STREAMS];
        for (counted, stream) in counted.iter_mut().zip(SubQueue::ALL) {
            let at = tiler.page.0.saturating_add(count_of(stream).into());
            let count = memory.load_shared(at.saturating_add(SYNC64_VALUE.offset.into()))?;
            let status = memory.load_shared(at.saturating_add(SYNC64_STATUS.offset.into()))?;
            let done = count.checked_sub(base).and_then(|it| it.try_into().ok());
            *counted = done.map(|done| Count {
                done,
                failed: status as u32 != 0,
            });
        }
        let marks = memory.load_shared(tiler.page.0.saturating_add(MARKS.into()))?;
        let frame = Frame {
            arch,
            space,
            tiling: passes.tiling.map(|part| part.code),
            fragments: passes.fragments.code,
            counted,
            marks: marks.saturating_sub(base).try_into().unwrap_or(0),
        };
        Some((job_key, frame))
    }

    /// Finds the code and the memory that a failure names.
    fn failure(
        &self,
        frame: &Frame,
        report: Option<(SubQueue, Report)>,
        access: Option<FailedAccess>,
    ) -> Failure {
        let info = report.map(|(_, report)| report.info);
        let address = access.and_then(|access| access.address);
        // The information of a job's exception is the address of the instruction or of the access.
        let code = info.and_then(|info| self.code_at(frame.space, info));
        let address = address.or(info.filter(|info| *info != 0 && code.is_none()));
        Failure {
            report,
            access,
            code,
            object: address.and_then(|address| self.object_at(frame.space, address)),
        }
    }

    /// Finds the stage that has its code at an address.
    fn code_at(&self, space: Key, address: u64) -> Option<(Key, FailedCode)> {
        let mut stages = self
            .objects
            .iter()
            .filter(|(_, object)| object.space == space);
        stages.find_map(|(key, object)| {
            let Kind::Stage(program) = &object.kind else {
                return None;
            };
            let offset = address.checked_sub(object.mapping.address().0)?;
            let bytes = program.common().code_bytes().len() as u64;
            let stage = if program.common().stage() == eitri_program::Stage::Fragment {
                PassPart::Fragments
            } else {
                PassPart::Vertices
            };
            let code = FailedCode {
                stage,
                offset: offset.try_into().ok()?,
            };
            (offset < bytes).then_some((key, code))
        })
    }

    /// Finds the object in which an address is, or that is nearest to it, with its memory.
    fn object_at(&self, space: Key, address: u64) -> Option<(Key, u64, Range<u64>)> {
        let near = self.nearest(space, address)?;
        let mut objects = self.objects.iter();
        let (key, object) = objects.find(|(_, object)| {
            object.space == space && object.mapping.address() == near.address
        })?;
        let start = near.address.0;
        Some((
            key,
            address,
            start..start.saturating_add(object.mapping.bytes()),
        ))
    }

    /// Finds the pass that failed; `None` if no stream was at one.
    fn failed_pass(
        &mut self,
        frame: &Frame,
        stream: SubQueue,
        failure: &Failure,
    ) -> Option<FailedPass> {
        match (failure.report, stream) {
            (Some(_), SubQueue::VertexTiler) => {
                self.failed_part(frame, failure, PassPart::Vertices)
            }
            (Some(_), SubQueue::Fragment) => self.failed_part(frame, failure, PassPart::Fragments),
            (Some(_), SubQueue::Compute) => None,
            (None, _) => {
                // Nobody says which stream it was: those that wait for another have done nothing.
                let vertices = self.failed_part(frame, failure, PassPart::Vertices);
                let fragments = match failure.access.and_then(|access| access.unit.unit()) {
                    Some(Unit::Tiler(_)) => None,
                    _ => self.failed_part(frame, failure, PassPart::Fragments),
                };
                either(vertices, fragments, stream)
            }
        }
    }

    /// Finds what failed of vertices, or of fragments.
    fn failed_part(
        &mut self,
        frame: &Frame,
        failure: &Failure,
        part: PassPart,
    ) -> Option<FailedPass> {
        let report = failure.report.map(|(_, report)| report);
        let instruction = report.is_some_and(|report| report.is_of_instruction(failure.access));
        let pointer = report.map(|report| report.pointer);
        let lane = |code, stream| LaneState {
            arch: frame.arch,
            code,
            stream,
            counted: &frame.counted,
            pointer,
        };
        let fragments = lane(frame.fragments, SubQueue::Fragment);
        let own = match part {
            PassPart::Vertices => lane(frame.tiling?, SubQueue::VertexTiler),
            PassPart::Fragments => fragments,
        };
        let pipeline = failure.code.and_then(|(stage, _)| self.pipeline_of(stage));
        let clue = match (pointer, pipeline, &failure.object) {
            (Some(pointer), ..) if instruction => Clue::Instruction(pointer),
            (_, Some((_, program)), _) => Clue::Program(program),
            (.., Some((_, _, range))) => Clue::Memory(range.clone()),
            _ => Clue::None,
        };
        let vm = self.spaces.get(frame.space)?;
        let mut memory = SpaceReader::new(&mut self.hw.platform, &vm.space);
        let passes = if instruction {
            pass_at_pointer(&mut memory, &own)
        } else {
            passes_in_flight(&mut memory, &own)
        };
        let mut all = Vec::<(u32, Option<Suspects>), ITERATORS>::new();
        for pass in &passes {
            let (number, tiling) = match part {
                PassPart::Vertices => {
                    let tilings = pass.number.saturating_add(1);
                    (
                        pass_of_tiling(&mut memory, &fragments, tilings)?,
                        Some(pass.number),
                    )
                }
                PassPart::Fragments => (pass.number, pass.tilings.and_then(|it| it.checked_sub(1))),
            };
            // Draws of a pass whose fragments have begun have all begun.
            let pointer = pointer.filter(|_| part == PassPart::Vertices);
            let suspects = frame.tiling.zip(tiling).and_then(|(lane, tiling)| {
                let section = (tiling, part);
                let known = (pointer, frame.marks);
                find_draws(&mut memory, (frame.arch, lane), section, known, &clue)
            });
            // There is room: there are no more candidates.
            let _ = all.push((number, suspects));
        }
        let is_named = |(_, suspects): &(u32, Option<Suspects>)| {
            suspects.is_some_and(|it| it.draws.by != DrawsKnownBy::Order)
        };
        if all.iter().any(is_named) {
            all.retain(is_named);
        }
        let (first, suspects) = all.first()?;
        let mut it = failed_in(*first, all.len() as u32, part);
        let program = |suspects: &Option<Suspects>| suspects.and_then(|it| it.vertex_program);
        let alike = all
            .iter()
            .all(|(_, other)| program(other) == program(suspects));
        let program = program(suspects).filter(|_| alike);
        if all.len() == 1 {
            it.draws = suspects.map(|it| it.draws);
        }
        it.code = failure.code.map(|(_, code)| code);
        it.pipeline = pipeline.map(|(pipeline, _)| pipeline);
        if let (None, Some(program)) = (it.pipeline, program) {
            it.pipeline = self.pipeline_with(frame.space, program);
        }
        if let Some((key, address, _)) = &failure.object
            && let Some(object) = self.objects.get(*key)
        {
            it.pixels = pixels_at(*key, object, *address);
        }
        Some(it)
    }

    /// Finds the pipeline that has a stage, and the descriptor of its program of positions.
    fn pipeline_of(&self, stage: Key) -> Option<(GraphicsPipeline, u64)> {
        self.objects
            .iter()
            .find_map(|(key, object)| match &object.kind {
                Kind::GraphicsPipeline(made, _)
                    if made.vertex == stage || made.fragment == Some(stage) =>
                {
                    Some((GraphicsPipeline(key), made.programs[0]))
                }
                _ => None,
            })
    }

    /// Finds the pipeline whose program of positions has its descriptor at an address.
    fn pipeline_with(&self, space: Key, program: u64) -> Option<GraphicsPipeline> {
        let mut objects = self
            .objects
            .iter()
            .filter(|(_, object)| object.space == space);
        objects.find_map(|(key, object)| match &object.kind {
            Kind::GraphicsPipeline(made, _) if made.programs[0] == program => {
                Some(GraphicsPipeline(key))
            }
            _ => None,
        })
    }

    /// Adds to faults of jobs of a group what is known of their passes.
    fn attach_failed_passes(&mut self, key: Key) {
        let Some(drawing) = &mut self.drawing else {
            return;
        };
        let (jobs, mut group) = (&mut self.jobs, self.groups.get_mut(key));
        drawing.failed.retain(|(job, pass)| {
            let Some(job) = jobs.get_mut(*job).filter(|job| !job.over) else {
                return false;
            };
            if job.fence.queue.0 != key {
                return true;
            }
            let Some(fault) = &mut job.fault else {
                return true;
            };
            if !names_culprit(fault.cause) || fault.pass.is_some() {
                return false;
            }
            fault.pass = Some(*pass);
            // The queue keeps a copy of the fault that stopped it.
            let ending = group.as_mut().and_then(|group| group.ending.as_mut());
            if let Some(stopped) = ending.and_then(|ending| ending.fault.as_mut())
                && (stopped.job, stopped.sub_queue) == (fault.job, fault.sub_queue)
            {
                stopped.pass = Some(*pass);
            }
            false
        });
    }
}

/// Whether a job failed for what it did itself.
const fn names_culprit(cause: Cause) -> bool {
    match cause {
        Cause::Exception(_) | Cause::Mmu(_) | Cause::Gpu(_) | Cause::NoProgress => true,
        Cause::Cancelled
        | Cause::NotSuspended
        | Cause::TilerMemory
        | Cause::ProtectedMode
        | Cause::Lost
        | Cause::LostWithGpu
        | Cause::Unreported { .. } => false,
    }
}

/// Chooses between two parts that may both have failed, for the job of a stream.
fn either(
    vertices: Option<FailedPass>,
    fragments: Option<FailedPass>,
    stream: SubQueue,
) -> Option<FailedPass> {
    let (Some(vertices), Some(fragments)) = (vertices, fragments) else {
        return vertices.or(fragments);
    };
    let named = |pass: &FailedPass| {
        let by = pass.draws.map_or(DrawsKnownBy::Order, |draws| draws.by);
        by != DrawsKnownBy::Order
    };
    match (named(&vertices), named(&fragments)) {
        (true, false) => Some(vertices),
        (false, true) => Some(fragments),
        _ => {
            let it = if stream == SubQueue::Fragment {
                fragments
            } else {
                vertices
            };
            Some(FailedPass {
                pass: vertices.pass.min(fragments.pass),
                passes: vertices.passes.saturating_add(fragments.passes),
                draws: None,
                ..it
            })
        }
    }
}

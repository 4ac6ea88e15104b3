//! The run of a script: host bytes, commands in order, the first failure ends it. Language reference, section 12.
//!
//! The bytes of buffers are the only thing that commands share. What a dispatch needs of the GPU is behind [`Gpu`].

mod expect;
mod memory;

pub use expect::Mismatch;
pub use memory::{HostBuffer, Memory};

use crate::error::Problem;
use crate::plan::Plan;
use crate::script::{
    Action, BufferId, Command, DescriptorKind, PipelineId, Resource, Run, SamplerId, Slot,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use thiserror::Error;

/// A buffer of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Place in an array of descriptors; 0 where there is none.
    pub index: usize,
    /// What the shader sees.
    pub kind: DescriptorKind,
    /// Which buffer.
    pub buffer: BufferId,
    /// The bytes of it.
    pub range: Range<usize>,
    /// First level that an image's view has.
    pub base_mip_level: u32,
}

/// A sampler of a dispatch, alone or beside its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerBinding {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Place in an array of descriptors; 0 where there is none.
    pub index: usize,
    /// Which sampler.
    pub sampler: SamplerId,
}

/// A dispatch, with everything that it reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Which pipeline.
    pub pipeline: PipelineId,
    /// Workgroups along x, y and z.
    pub groups: [u32; 3],
    /// Its buffers and images.
    pub bindings: Vec<Binding>,
    /// Its samplers.
    pub samplers: Vec<SamplerBinding>,
    /// The buffer of its push constants.
    pub push_constants: Option<BufferId>,
}

/// Something that runs shaders.
pub trait Gpu {
    /// Why it did not.
    type Error: core::error::Error;

    /// Runs a dispatch: reads the bound buffers from `memory`, and writes what the shader has written to them back.
    ///
    /// # Errors
    /// When the GPU can't, or fails.
    fn dispatch(&mut self, dispatch: &Dispatch, memory: &mut Memory) -> Result<(), Self::Error>;
}

/// Why a script did not pass.
#[derive(Debug, Error)]
pub enum RunError<E: core::error::Error> {
    /// A command can't be carried out with the buffers as they are.
    #[error("line {line}: {problem}")]
    Command {
        /// The command's line.
        line: usize,
        /// What is wrong.
        problem: Problem,
    },
    /// A command draws or traces rays.
    #[error("line {line}: only dispatches can be run")]
    NotADispatch {
        /// The command's line.
        line: usize,
    },
    /// The GPU said no.
    #[error("line {line}: {cause}")]
    Gpu {
        /// The command's line.
        line: usize,
        /// What it said.
        cause: E,
    },
    /// An expectation does not hold.
    #[error("line {line}: {mismatch}")]
    Expectation {
        /// The command's line.
        line: usize,
        /// What differs.
        mismatch: Box<Mismatch>,
    },
}

/// Carries the commands of a plan out, on buffers that [`Memory::new`] has filled.
///
/// # Errors
/// The first [`RunError`]; `memory` is then as the command has left it.
pub fn run<G: Gpu>(
    plan: &Plan,
    gpu: &mut G,
    memory: &mut Memory,
) -> Result<(), RunError<G::Error>> {
    commands(plan, &plan.commands, gpu, memory)
}

fn commands<G: Gpu>(
    plan: &Plan,
    list: &[Command],
    gpu: &mut G,
    memory: &mut Memory,
) -> Result<(), RunError<G::Error>> {
    for command in list {
        let line = command.line;
        let wrong = |problem| RunError::Command { line, problem };
        match &command.action {
            Action::Repeat {
                count,
                commands: inner,
            } => {
                for _ in 0..*count {
                    commands(plan, inner, gpu, memory)?;
                }
            }
            Action::Run(Run::Dispatch {
                pipeline, groups, ..
            }) => {
                let dispatch = resources(plan, *pipeline, *groups, memory).map_err(wrong)?;
                gpu.dispatch(&dispatch, memory)
                    .map_err(|cause| RunError::Gpu { line, cause })?;
            }
            Action::Copy { from, to } => memory.copy(*from, *to),
            Action::Resize { buffer, elements } => memory.resize(plan, *buffer, *elements),
            Action::Write {
                buffer,
                offset,
                values,
            } => memory.write(plan, *buffer, *offset, values),
            Action::Expect(expectation) => {
                let mismatch = expect::check(plan, expectation, memory).map_err(wrong)?;
                if let Some(mismatch) = mismatch {
                    let mismatch = Box::new(mismatch);
                    return Err(RunError::Expectation { line, mismatch });
                }
            }
            Action::ClearColor(..)
            | Action::ClearDepth(..)
            | Action::ClearStencil(..)
            | Action::Clear(_)
            | Action::Run(Run::Draw { .. } | Run::Rays { .. }) => {
                return Err(RunError::NotADispatch { line });
            }
        }
    }
    Ok(())
}

/// The resources of a dispatch, at the sizes that buffers have now.
fn resources(
    plan: &Plan,
    id: PipelineId,
    groups: [u32; 3],
    memory: &Memory,
) -> Result<Dispatch, Problem> {
    let mut dispatch = Dispatch {
        pipeline: id,
        groups,
        bindings: Vec::new(),
        samplers: Vec::new(),
        push_constants: None,
    };
    let Some(pipeline) = plan.pipeline(id) else {
        return Ok(dispatch);
    };
    dispatch.push_constants = pipeline.push_constants;
    for descriptor in &pipeline.descriptors {
        let Slot::Binding { set, binding } = &descriptor.slot else {
            continue;
        };
        let samplers: Vec<SamplerId> = match &descriptor.resource {
            Resource::Samplers(samplers) => samplers.clone(),
            Resource::Buffers {
                sampler: Some(sampler),
                buffers,
                ..
            } => buffers.iter().map(|_| *sampler).collect(),
            _ => Vec::new(),
        };
        let placed = samplers.into_iter().enumerate();
        dispatch
            .samplers
            .extend(placed.map(|(index, sampler)| SamplerBinding {
                set: *set,
                binding: *binding,
                index,
                sampler,
            }));
        let Resource::Buffers {
            kind: Some(kind),
            buffers,
            base_mip_level,
            ..
        } = &descriptor.resource
        else {
            continue;
        };
        for (index, bound) in buffers.iter().enumerate() {
            let length = memory
                .get(bound.buffer)
                .map_or(0, |buffer| buffer.bytes.len());
            let end = length as u64;
            let start = bound.offset.saturating_add(bound.dynamic_offset);
            let stop = bound
                .range
                .map_or(Some(end), |range| start.checked_add(range));
            let range = stop
                .filter(|stop| start < *stop && *stop <= end)
                .map(|stop| start as usize..stop as usize);
            let empty = (start == 0 && end == 0).then_some(0..0);
            let range = range.or(empty).ok_or_else(|| Problem::OutOfBounds {
                what: format!("the descriptor at {set}:{binding}, from byte {start} on,"),
                buffer: plan
                    .buffer(bound.buffer)
                    .map_or(String::new(), |buffer| buffer.name.clone()),
                length: format!("{length} bytes"),
            })?;
            dispatch.bindings.push(Binding {
                set: *set,
                binding: *binding,
                index,
                kind: *kind,
                buffer: bound.buffer,
                range,
                base_mip_level: *base_mip_level,
            });
        }
    }
    Ok(dispatch)
}

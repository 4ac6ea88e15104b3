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
    Action, BufferId, Command, DescriptorKind, Draw, PipelineId, Resource, Run, SamplerId, Slot,
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

impl Dispatch {
    /// Without anything that is read or written.
    fn of_nothing(pipeline: PipelineId) -> Dispatch {
        Dispatch {
            pipeline,
            groups: [1; 3],
            bindings: Vec::new(),
            samplers: Vec::new(),
            push_constants: None,
        }
    }
}

/// What is done to the attachments of a graphics pipeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drawn {
    /// They are cleared to these values.
    Clear(ClearValues),
    /// Something is drawn on them.
    Draw(Draw),
}

/// What the attachments of a pipeline are cleared to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClearValues {
    /// Each channel from 0 to 1.
    pub color: [f32; 4],
    /// Depth.
    pub depth: f64,
    /// Stencil.
    pub stencil: u8,
}

impl Default for ClearValues {
    fn default() -> ClearValues {
        ClearValues {
            color: [0.0; 4],
            depth: 1.0,
            stencil: 0,
        }
    }
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

    /// Draws on the attachments of a graphics pipeline, or clears them: reads attachments and resources from `memory`, and writes
    /// what was written back. The workgroups of `resources` mean nothing.
    ///
    /// # Errors
    /// When the GPU can't, or fails.
    fn draw(
        &mut self,
        drawn: &Drawn,
        resources: &Dispatch,
        memory: &mut Memory,
    ) -> Result<(), Self::Error>;
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
    /// A command traces rays.
    #[error("line {line}: rays can't be run")]
    Rays {
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
    let mut clears = Clears::default();
    commands(plan, &plan.commands, (gpu, &mut clears), memory)
}

/// The clear values of pipelines that have been given others than the usual.
#[derive(Default)]
struct Clears(Vec<(PipelineId, ClearValues)>);

impl Clears {
    fn of(&mut self, id: PipelineId) -> &mut ClearValues {
        let known = self.0.iter().position(|(known, _)| *known == id);
        let place = known.unwrap_or_else(|| {
            self.0.push((id, ClearValues::default()));
            self.0.len().saturating_sub(1)
        });
        // It was found, or is the last.
        &mut self.0[place].1
    }
}

fn commands<G: Gpu>(
    plan: &Plan,
    list: &[Command],
    (gpu, clears): (&mut G, &mut Clears),
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
                    commands(plan, inner, (&mut *gpu, &mut *clears), memory)?;
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
            Action::ClearColor(id, color) => clears.of(*id).color = *color,
            Action::ClearDepth(id, depth) => clears.of(*id).depth = *depth,
            Action::ClearStencil(id, stencil) => clears.of(*id).stencil = *stencil,
            Action::Clear(pipeline) => {
                let drawn = Drawn::Clear(*clears.of(*pipeline));
                let resources = Dispatch::of_nothing(*pipeline);
                gpu.draw(&drawn, &resources, memory)
                    .map_err(|cause| RunError::Gpu { line, cause })?;
            }
            Action::Run(Run::Draw { pipeline, draw, .. }) => {
                let bound = resources(plan, *pipeline, [1; 3], memory).map_err(wrong)?;
                gpu.draw(&Drawn::Draw(*draw), &bound, memory)
                    .map_err(|cause| RunError::Gpu { line, cause })?;
            }
            Action::Run(Run::Rays { .. }) => return Err(RunError::Rays { line }),
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
        groups,
        ..Dispatch::of_nothing(id)
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

//! The run of a script: host bytes, commands in order, the first failure ends it. Language reference, section 12.
//!
//! The bytes of buffers are the only thing that commands share. What a dispatch needs of the GPU is behind [`Gpu`].

mod expect;
mod memory;

pub use crate::contents::ContentsError;
pub use expect::Mismatch;
pub use memory::{HostBuffer, Memory};

use crate::error::Problem;
use crate::script::{
    Action, BufferId, Command, DescriptorKind, PipelineId, Resource, Run, Script, Slot,
};
use std::ops::Range;
use thiserror::Error;

/// Where files that a script names are read.
pub trait Files {
    /// The contents of a file, by its path in the script.
    ///
    /// # Errors
    /// Those of the system.
    fn read(&mut self, path: &str) -> std::io::Result<Vec<u8>>;
}

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
}

/// A dispatch, with everything that it reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Which pipeline.
    pub pipeline: PipelineId,
    /// Workgroups along x, y and z.
    pub groups: [u32; 3],
    /// Its resources.
    pub bindings: Vec<Binding>,
    /// The buffer of its push constants.
    pub push_constants: Option<BufferId>,
}

/// Something that runs shaders.
pub trait Gpu {
    /// Why it did not.
    type Error: std::error::Error;

    /// Runs a dispatch: reads the bound buffers from `memory`, and writes what the shader has written to them back.
    ///
    /// # Errors
    /// When the GPU can't, or fails.
    fn dispatch(&mut self, dispatch: &Dispatch, memory: &mut Memory) -> Result<(), Self::Error>;
}

/// Why a script did not pass.
#[derive(Debug, Error)]
pub enum RunError<E: std::error::Error> {
    /// A buffer has no contents.
    #[error("buffer {name}: {cause}")]
    Contents {
        /// The buffer.
        name: String,
        /// Why not.
        cause: ContentsError,
    },
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

/// Fills the buffers of a script.
///
/// # Errors
/// [`RunError::Contents`] for the first buffer that has none.
pub fn fill<E: std::error::Error>(
    script: &Script,
    files: &mut dyn Files,
) -> Result<Memory, RunError<E>> {
    Memory::fill(script, files)
}

/// Carries the commands of a script out, on buffers that [`fill`] has filled.
///
/// # Errors
/// The first [`RunError`]; `memory` is then as the command has left it.
pub fn run<G: Gpu>(
    script: &Script,
    gpu: &mut G,
    memory: &mut Memory,
) -> Result<(), RunError<G::Error>> {
    commands(script, &script.commands, gpu, memory)
}

fn commands<G: Gpu>(
    script: &Script,
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
                    commands(script, inner, gpu, memory)?;
                }
            }
            Action::Run(Run::Dispatch {
                pipeline, groups, ..
            }) => {
                let dispatch = resources(script, *pipeline, *groups, memory).map_err(wrong)?;
                gpu.dispatch(&dispatch, memory)
                    .map_err(|cause| RunError::Gpu { line, cause })?;
            }
            Action::Copy { from, to } => memory.copy(*from, *to),
            Action::Resize { buffer, elements } => memory.resize(script, *buffer, *elements),
            Action::Write {
                buffer,
                offset,
                values,
            } => memory.write(script, *buffer, *offset, values),
            Action::Expect(expectation) => {
                let mismatch = expect::check(script, expectation, memory).map_err(wrong)?;
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
    script: &Script,
    id: PipelineId,
    groups: [u32; 3],
    memory: &Memory,
) -> Result<Dispatch, Problem> {
    let mut dispatch = Dispatch {
        pipeline: id,
        groups,
        bindings: Vec::new(),
        push_constants: None,
    };
    let Some(pipeline) = script.pipeline(id) else {
        return Ok(dispatch);
    };
    dispatch.push_constants = pipeline.push_constants;
    for descriptor in &pipeline.descriptors {
        let (
            Slot::Binding { set, binding },
            Resource::Buffers {
                kind: Some(kind),
                buffers,
                ..
            },
        ) = (&descriptor.slot, &descriptor.resource)
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
                buffer: script
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
            });
        }
    }
    Ok(dispatch)
}

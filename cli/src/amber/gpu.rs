//! The device behind a script: pipelines compiled once, each dispatch a job of its own.
//!
//! Host bytes are all that commands share, so a job can start from power-off every time.

use super::case::Manner;
use super::keep::Kept;
use super::shader::{ShaderError, ShaderTools};
use crate::buffer_source::BindingName;
use crate::dispatch::{self, Place, Request, Talk};
use crate::given::Given;
use crate::gpu_choice::GpuChoice;
use crate::timeline::{Timeline, Timelines};
use eitri_amber::run::{Binding, Dispatch, Files, Gpu, Memory};
use eitri_amber::script::{PipelineId, Script};
use eitri_job::Wants;
use eitri_program::{Access, Program};
use eitri_shaderc::Compiled;
use std::time::Duration;
use thiserror::Error;

/// Why something did not run.
#[derive(Debug, Error)]
pub(super) enum DeviceError {
    /// Eitri can't do this yet: no fault of the script's.
    #[error("{0}")]
    Lacks(String),
    /// It went wrong.
    #[error("{0}")]
    Failed(String),
}

impl From<ShaderError> for DeviceError {
    fn from(error: ShaderError) -> DeviceError {
        DeviceError::Failed(error.to_string())
    }
}

/// A pipeline, ready to run.
struct Ready {
    pipeline: PipelineId,
    compiled: Compiled,
}

/// How jobs are run.
pub(super) struct Device<'k> {
    path: String,
    limit: Duration,
    kept: &'k Kept,
    place: Place,
    gpu: GpuChoice,
    /// Where the timelines of dispatches go.
    timelines: Option<&'k Timelines>,
    pipelines: Vec<Ready>,
    /// Dispatches so far.
    dispatches: usize,
}

impl<'k> Device<'k> {
    /// Compiles every pipeline of a script, whether it is run or not.
    pub(super) fn new(
        script: &Script,
        tools: &ShaderTools<'_>,
        files: &mut dyn Files,
        limit: Duration,
        manner: &Manner,
        (kept, timelines): (&'k Kept, Option<&'k Timelines>),
    ) -> Result<Device<'k>, DeviceError> {
        let mut device = Device {
            path: tools.path.display().to_string(),
            limit,
            kept,
            place: manner.place,
            gpu: manner.gpu,
            timelines,
            pipelines: Vec::new(),
            dispatches: 0,
        };
        for (index, pipeline) in script.pipelines.iter().enumerate() {
            let Some(attached) = pipeline.shaders.first() else {
                continue;
            };
            let spirv = tools.module(attached, files)?;
            let known = spec_ids(&spirv);
            let constants = attached.specialization.iter();
            let options = eitri_shaderc::Options {
                entry: Some(attached.entry.clone()),
                // Vulkan ignores values for constants that a module has not.
                spec_constants: constants
                    .filter(|constant| known.contains(&constant.id))
                    .map(|constant| (constant.id, constant.bits()))
                    .collect(),
                target: manner.gpu.target(),
                ..eitri_shaderc::Options::default()
            };
            kept.write(&format!("{}.spv", pipeline.name), &spirv);
            let compiled = eitri_shaderc::compile(&spirv, &options)
                .map_err(|errors| refusal(&pipeline.name, &errors))?;
            kept.write(&format!("{}.program", pipeline.name), &compiled.program);
            kept.write(
                &format!("{}.asm", pipeline.name),
                compiled.listing.as_bytes(),
            );
            device.pipelines.push(Ready {
                pipeline: PipelineId(index),
                compiled,
            });
        }
        Ok(device)
    }
}

/// What the compiler does not support is lacking; anything else that it says is a failure.
fn refusal(pipeline: &str, errors: &eitri_shaderc::Errors) -> DeviceError {
    use eitri_shaderc::{Error, spirv::error::Error as Spirv, valhall::Error as Valhall};
    let lacking = errors.0.iter().map(|error| match error {
        Error::Spirv(Spirv::Unsupported { feature, name, .. }) => Some(format!("{feature} {name}")),
        Error::Valhall(Valhall::Unsupported(unsupported)) => {
            Some(format!("no code for {}", unsupported.what))
        }
        _ => None,
    });
    match lacking.collect::<Option<Vec<String>>>() {
        Some(mut reasons) => {
            reasons.sort();
            reasons.dedup();
            DeviceError::Lacks(format!("compiler: {}", reasons.join(", ")))
        }
        None => DeviceError::Failed(format!("pipeline {pipeline}: {errors}")),
    }
}

/// The SpecIds of a module: the literals of OpDecorate with SpecId.
fn spec_ids(spirv: &[u8]) -> Vec<u32> {
    const HEADER_WORDS: usize = 5;
    const OP_DECORATE: u32 = 71;
    const SPEC_ID: u32 = 1;
    let words: Vec<u32> = spirv
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect();
    let mut rest = words.get(HEADER_WORDS..).unwrap_or(&[]);
    let mut ids = Vec::new();
    while let Some(first) = rest.first() {
        let length = (first >> 16).max(1) as usize;
        if let (OP_DECORATE, Some([_, _, SPEC_ID, id])) = (first & 0xFFFF, rest.get(..4)) {
            ids.push(*id);
        }
        rest = rest.get(length..).unwrap_or(&[]);
    }
    ids
}

/// A binding that the program uses, and the bytes that it starts with.
struct Used<'d> {
    name: BindingName,
    bound: &'d Binding,
    bytes: Vec<u8>,
    is_written: bool,
}

impl Gpu for Device<'_> {
    type Error = DeviceError;

    fn dispatch(&mut self, dispatch: &Dispatch, memory: &mut Memory) -> Result<(), DeviceError> {
        let Some(ready) = self
            .pipelines
            .iter()
            .find(|ready| ready.pipeline == dispatch.pipeline)
        else {
            return Err(DeviceError::Failed("the pipeline has no shader".to_owned()));
        };
        if dispatch.groups.contains(&0) {
            // As on any Vulkan device, nothing happens.
            return Ok(());
        }
        let program = Program::parse(&ready.compiled.program)
            .map_err(|error| DeviceError::Failed(error.to_string()))?;
        let used = used(&program, dispatch, memory)?;
        let wanted = program.push_constant_bytes() as usize;
        let mut push_constants = dispatch
            .push_constants
            .and_then(|id| memory.get(id))
            .map_or(Vec::new(), |buffer| buffer.bytes.clone());
        push_constants.resize(wanted, 0);
        for part in &used {
            self.kept.write(
                &format!(
                    "{}-{}-{}-in.bin",
                    self.dispatches, part.name.set, part.name.binding
                ),
                &part.bytes,
            );
        }
        let request = Request {
            saves: used
                .iter()
                .filter(|part| part.is_written)
                .map(|part| part.name)
                .collect(),
            resources: used
                .iter()
                .map(|part| Given::buffer(part.name, part.bytes.clone()))
                .collect(),
            push_constants,
            groups: dispatch.groups,
            gpu: self.gpu,
            coherent: true,
            firmware: None,
            limit: self.limit,
            wants: Wants {
                dump: self.kept.is_on(),
                ..Wants::default()
            },
            talk: Talk::Quiet,
        };
        let timeline = Timeline::default();
        let trace = self.timelines.map(|_| timeline.sink());
        let done = dispatch::execute(&self.path, &ready.compiled, &request, self.place, trace);
        if let Some(timelines) = self.timelines {
            let number = self.dispatches;
            timelines.add(&format!("{} dispatch {number}", self.path), &timeline);
        }
        if let Ok(done) = &done
            && !done.result.dump.is_empty()
        {
            let name = format!("{}.core", self.dispatches);
            self.kept.write(&name, &done.result.dump);
        }
        let ran = done.and_then(dispatch::finished);
        let ran = ran.map_err(|failure| DeviceError::Failed(failure.to_string()))?;
        for (name, bytes) in &ran.saved {
            self.kept.write(
                &format!("{}-{}-{}-out.bin", self.dispatches, name.set, name.binding),
                bytes,
            );
            let Some(part) = used.iter().find(|part| part.name == *name) else {
                continue;
            };
            let target = memory
                .get_mut(part.bound.buffer)
                .and_then(|buffer| buffer.bytes.get_mut(part.bound.range.clone()));
            for (to, from) in target.into_iter().flatten().zip(bytes) {
                *to = *from;
            }
        }
        self.dispatches += 1;
        Ok(())
    }
}

/// The bindings of a program with what the script has put there.
fn used<'d>(
    program: &Program<'_>,
    dispatch: &'d Dispatch,
    memory: &Memory,
) -> Result<Vec<Used<'d>>, DeviceError> {
    let mut used: Vec<Used<'d>> = Vec::new();
    for binding in program.bindings() {
        let name = BindingName::new(binding.set, binding.binding);
        if binding.count != 1 {
            return Err(DeviceError::Lacks("descriptor arrays".to_owned()));
        }
        let here = |bound: &&Binding| (bound.set, bound.binding) == (name.set, name.binding);
        let Some(bound) = dispatch.bindings.iter().find(here) else {
            return Err(DeviceError::Failed(format!(
                "the shader uses {name}, to which the script binds nothing"
            )));
        };
        let host = memory
            .get(bound.buffer)
            .and_then(|buffer| buffer.bytes.get(bound.range.clone()));
        let mut bytes = host.unwrap_or(&[]).to_vec();
        // What a buffer lacks to the whole of the block is memory that the shader must not rely on.
        let least = binding.min_bytes.max(4) as usize;
        bytes.resize(bytes.len().max(least), 0);
        used.push(Used {
            name,
            bound,
            bytes,
            is_written: binding.access == Access::ReadWrite,
        });
    }
    let shares = |a: &Used<'_>, b: &Used<'_>| {
        let ranges = (&a.bound.range, &b.bound.range);
        let overlap = ranges.0.start < ranges.1.end && ranges.1.start < ranges.0.end;
        a.bound.buffer == b.bound.buffer && overlap && (a.is_written || b.is_written)
    };
    let pairs = used
        .iter()
        .enumerate()
        .flat_map(|(index, a)| used.iter().skip(index + 1).map(move |b| (a, b)));
    match pairs.into_iter().any(|(a, b)| shares(a, b)) {
        true => Err(DeviceError::Lacks(
            "one buffer in several descriptors".to_owned(),
        )),
        false => Ok(used),
    }
}

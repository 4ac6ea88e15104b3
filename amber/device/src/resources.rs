//! Resources: everything that a program uses, with what the script has bound there.

use crate::memory::{self, Seen};
use crate::{DeviceError, images, sampler};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use eitri_amber::plan::Plan;
use eitri_amber::run::{Binding as Bound, Dispatch, Memory, SamplerBinding};
use eitri_amber::script::{BufferId, PipelineId};
use eitri_job::{Content, Part};
use eitri_program::{Access, Arch, Binding, BindingKind};

/// One resource of a job, with its memory.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Set, binding, element.
    pub place: (u32, u32, u32),
    /// What it is.
    pub content: Content,
    /// What its memory starts with; empty for a sampler, and for what sees the memory of another.
    pub bytes: Vec<u8>,
    /// Whether its memory is wanted afterwards.
    pub save: bool,
    /// What the shader sees.
    pub part: Part,
    /// Where what was written goes.
    pub(crate) target: Target,
}

/// Where the memory of a resource goes after a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Nowhere: nothing has written it, or another resource stands for it.
    Nowhere,
    /// To bytes of a buffer.
    Bytes {
        buffer: BufferId,
        start: usize,
        length: usize,
    },
    /// It stays with the pipeline: samples have no host bytes.
    Samples(BufferId),
}

/// What multisampled images hold between the dispatches of a pipeline.
pub(crate) type Samples = BTreeMap<(PipelineId, BufferId), Vec<u8>>;

/// What programs have bound to them.
pub(crate) struct Rows<'r> {
    pub(crate) bindings: &'r [Binding],
    pub(crate) arch: Arch,
}

/// The resources of a dispatch or a draw.
pub(crate) fn of(
    plan: &Plan,
    rows: &Rows<'_>,
    dispatch: &Dispatch,
    memory: &Memory,
    samples: &Samples,
) -> Result<Vec<Resource>, DeviceError> {
    let mut seen = Vec::new();
    let mut samplers = Vec::new();
    for binding in rows.bindings {
        for element in 0..binding.count {
            let place = (binding.set, binding.binding, element);
            if binding.kind != BindingKind::Sampler {
                seen.push(see(plan, rows.arch, binding, place, dispatch, memory)?);
            }
            if matches!(
                binding.kind,
                BindingKind::Sampler | BindingKind::CombinedImageSampler(_)
            ) {
                samplers.push(sampler_at(plan, place, &dispatch.samplers)?);
            }
        }
    }
    let mut resources = memory::resources(plan, &seen, memory)?;
    for resource in &mut resources {
        if let Target::Samples(buffer) = resource.target
            && let Some(bytes) = samples.get(&(dispatch.pipeline, buffer))
        {
            resource.bytes.clone_from(bytes);
        }
    }
    resources.extend(samplers);
    Ok(resources)
}

/// A place as scripts write it.
pub(crate) fn named((set, binding, element): (u32, u32, u32)) -> alloc::string::String {
    match element {
        0 => format!("{set}:{binding}"),
        element => format!("{set}:{binding}[{element}]"),
    }
}

/// What the script has bound at a place of the program.
fn see<'d>(
    plan: &Plan,
    arch: Arch,
    binding: &Binding,
    place: (u32, u32, u32),
    dispatch: &'d Dispatch,
    memory: &Memory,
) -> Result<Seen<'d>, DeviceError> {
    let here = |bound: &&Bound| (bound.set, bound.binding, bound.index as u32) == place;
    let Some(bound) = dispatch.bindings.iter().find(here) else {
        return Err(DeviceError::Failed(format!(
            "the shader uses {}, to which the script binds nothing",
            named(place)
        )));
    };
    let unknown = || DeviceError::Failed(format!("nothing is known of {}", named(place)));
    let buffer = plan.buffer(bound.buffer).ok_or_else(unknown)?;
    let host = memory.get(bound.buffer).ok_or_else(unknown)?;
    let content = match binding.kind {
        BindingKind::StorageBuffer | BindingKind::UniformBuffer | BindingKind::Sampler => {
            Content::Buffer
        }
        BindingKind::UniformTexelBuffer | BindingKind::StorageTexelBuffer => {
            Content::Texels(images::format_of(buffer)?)
        }
        BindingKind::StorageImage(_)
        | BindingKind::SampledImage(_)
        | BindingKind::CombinedImageSampler(_) => {
            Content::Image(images::image_of(buffer, host, bound.base_mip_level, arch)?)
        }
    };
    Ok(Seen {
        place,
        content,
        bound,
        least: binding.min_bytes.max(4) as usize,
        is_written: binding.access == Access::ReadWrite,
    })
}

/// The sampler that the script has bound at a place.
fn sampler_at(
    plan: &Plan,
    place: (u32, u32, u32),
    bound: &[SamplerBinding],
) -> Result<Resource, DeviceError> {
    let here = |bound: &&SamplerBinding| (bound.set, bound.binding, bound.index as u32) == place;
    let found = bound.iter().find(here);
    let Some(sampler) = found.and_then(|bound| plan.sampler(bound.sampler)) else {
        return Err(DeviceError::Failed(format!(
            "the shader uses {}, to which the script binds no sampler",
            named(place)
        )));
    };
    Ok(Resource {
        place,
        content: Content::Sampler(sampler::info(sampler)),
        bytes: Vec::new(),
        save: false,
        part: Part::Whole,
        target: Target::Nowhere,
    })
}

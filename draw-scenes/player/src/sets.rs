//! Descriptor sets: one for each set that a pipeline is used with.
//!
//! The driver's sets are of a program, and hold what the program uses; a drawing's set may have more.

use crate::formats::{format, sampler_info, view_info};
use crate::missing;
use crate::resources::{Made, MadePipeline};
use alloc::vec::Vec;
use eitri_drawing::{
    Binding, Bound, Drawing, PassCommand, Pipeline, PipelineId, Range, SetId, Step, Using,
};
use eitri_job::WorkError;
use eitri_program::Binding as Row;
use eitri_runtime::{
    BindingElement, BufferRange, DescriptorSet, Device, Error, GraphicsSet, Platform,
};

/// A set for one of a pipeline's places.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    pipeline: PipelineId,
    /// The set's number in the shaders.
    number: u32,
    set: SetId,
}

/// A set of either kind of pipelines.
#[derive(Clone, Copy)]
pub(crate) enum MadeSet {
    Compute(DescriptorSet),
    Graphics(GraphicsSet),
}

/// The driver's sets.
#[derive(Default)]
pub(crate) struct Sets(Vec<(Place, MadeSet)>);

impl Sets {
    /// The driver's sets for what a draw or a dispatch uses.
    pub(crate) fn of<'s>(&'s self, using: &'s Using<'_>) -> impl Iterator<Item = MadeSet> + 's {
        let wanted = places(using);
        wanted.filter_map(|wanted| {
            let mut all = self.0.iter();
            let found = all.find(|(place, _)| *place == wanted);
            found.map(|(_, set)| *set)
        })
    }
}

fn places<'u>(using: &'u Using<'_>) -> impl Iterator<Item = Place> + 'u {
    let pipeline = using.pipeline;
    let numbered = (0..).zip(&using.sets);
    numbered.map(move |(number, set)| Place {
        pipeline,
        number,
        set: *set,
    })
}

/// Makes the sets that the steps of a drawing use.
pub(crate) fn make<P: Platform>(
    device: &mut Device<'_, '_, P>,
    drawing: &Drawing<'_>,
    made: &Made<'_>,
) -> Result<Sets, WorkError> {
    let mut sets = Sets::default();
    for using in used(drawing) {
        for place in places(using) {
            if sets.0.iter().any(|(known, _)| *known == place) {
                continue;
            }
            if let Some(set) = create(device, drawing, made, place)? {
                sets.0.push((place, set));
            }
        }
    }
    Ok(sets)
}

/// What draws and dispatches use.
fn used<'u, 'd>(drawing: &'u Drawing<'d>) -> impl Iterator<Item = &'u Using<'d>> {
    drawing.steps.iter().flat_map(|step| {
        let (one, pass) = match step {
            Step::Dispatch { using, .. } => (Some(using), None),
            Step::Pass(pass) => (None, Some(&pass.commands)),
            _ => (None, None),
        };
        let commands = pass.into_iter().flatten();
        let draws = commands.filter_map(|command| match command {
            PassCommand::Draw(draw) => Some(&draw.using),
            PassCommand::Clear(..) | PassCommand::BeginQuery(_) | PassCommand::EndQuery(_) => None,
        });
        one.into_iter().chain(draws)
    })
}

/// What the programs of a pipeline have bound to them.
fn bindings(
    drawing: &Drawing<'_>,
    made: &Made<'_>,
    pipeline: PipelineId,
) -> Result<Vec<Row>, WorkError> {
    let found = drawing.pipelines.get(pipeline.index());
    Ok(match found.ok_or_else(|| missing("pipeline"))? {
        Pipeline::Compute(program) => made.compute(*program)?.bindings().collect(),
        Pipeline::Graphics(graphics) => {
            let vertex = made.graphics(graphics.vertex)?;
            let mut rows: Vec<Row> = vertex.common().bindings().collect();
            if let Some(fragment) = graphics.fragment {
                rows.extend(made.graphics(fragment)?.common().bindings());
            }
            rows
        }
    })
}

/// Makes a set with what the pipeline's programs use of it; none if they use nothing.
fn create<P: Platform>(
    device: &mut Device<'_, '_, P>,
    drawing: &Drawing<'_>,
    made: &Made<'_>,
    place: Place,
) -> Result<Option<MadeSet>, WorkError> {
    let rows = bindings(drawing, made, place.pipeline)?;
    let uses = |binding: &Binding| {
        rows.iter().any(|row| {
            let here = row.set == place.number && row.binding == binding.binding;
            here && binding.element < row.count
        })
    };
    let set = drawing.sets.get(place.set.index());
    let set = set.ok_or_else(|| missing("set"))?;
    let used: Vec<&Binding> = set.bindings.iter().filter(|it| uses(it)).collect();
    if used.is_empty() {
        return Ok(None);
    }
    Ok(Some(match made.pipeline(place.pipeline)? {
        MadePipeline::Compute(pipeline) => {
            let new = device.create_descriptor_set(pipeline, place.number)?;
            for binding in used {
                bind(device, drawing, made, new, binding)?;
            }
            MadeSet::Compute(new)
        }
        MadePipeline::Graphics(pipeline) => {
            let new = device.create_graphics_set(pipeline, place.number)?;
            for binding in used {
                bind_in_stages(device, drawing, made, new, binding)?;
            }
            MadeSet::Graphics(new)
        }
    }))
}

/// Binds something in the stages that have the binding.
fn bind_in_stages<P: Platform>(
    device: &mut Device<'_, '_, P>,
    drawing: &Drawing<'_>,
    made: &Made<'_>,
    set: GraphicsSet,
    binding: &Binding,
) -> Result<(), WorkError> {
    let mut refused = None;
    let bound = device.bind_in_stages(set, |device, set| {
        bind(device, drawing, made, set, binding).map_err(|error| match error {
            WorkError::Runtime(error) => error,
            error => {
                refused = Some(error);
                Error::NotRecorded
            }
        })
    });
    match refused {
        Some(error) => Err(error),
        None => Ok(bound?),
    }
}

fn bind<P: Platform>(
    device: &mut Device<'_, '_, P>,
    drawing: &Drawing<'_>,
    made: &Made<'_>,
    set: DescriptorSet,
    binding: &Binding,
) -> Result<(), WorkError> {
    let at = BindingElement {
        binding: binding.binding,
        element: binding.element,
    };
    let (view, sampler) = match &binding.bound {
        Bound::Buffer(range) => {
            let Range { offset, bytes, .. } = *range;
            let buffer = made.buffer(range.buffer)?;
            device.bind_range(set, at, buffer, BufferRange { offset, bytes })?;
            return Ok(());
        }
        Bound::Texels {
            range,
            format: name,
        } => {
            let buffer = made.buffer(range.buffer)?;
            let format = format(device.properties().arch, name);
            let format = format.ok_or_else(|| missing("format"))?;
            let bytes = BufferRange {
                offset: range.offset,
                bytes: range.bytes,
            };
            device.bind_texel_buffer(set, at, buffer, bytes, format)?;
            return Ok(());
        }
        Bound::View(view) => (Some(*view), None),
        Bound::Sampler(sampler) => (None, Some(*sampler)),
        Bound::Both(view, sampler) => (Some(*view), Some(*sampler)),
    };
    if let Some(view) = view {
        let view = drawing.views.get(view.index());
        let view = view.ok_or_else(|| missing("view"))?;
        let (image, info) = made.image(view.image)?;
        let view = view_info(device.properties().arch, view, &info);
        let view = view.ok_or_else(|| missing("format"))?;
        device.bind_view(set, at, image, &view)?;
    }
    if let Some(sampler) = sampler {
        let sampler = drawing.samplers.get(sampler.index());
        let sampler = sampler.ok_or_else(|| missing("sampler"))?;
        device.bind_sampler(set, at, &sampler_info(sampler))?;
    }
    Ok(())
}

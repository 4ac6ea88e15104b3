//! Steps of a scene: dispatches, copies, fills, clears, and passes.

use super::super::lack::Lack;
use super::{Pipelines, buffer_id, image_steps, passes, place, query_id, subpasses};
use eitri_draw_scenes::{self as scenes, SceneFile};
use eitri_drawing::{Pipeline, PipelineId, Range, SetId, Step, Using};
use eitri_shaderc::color_state::ColorState;

/// Adds a step to those of a drawing.
pub(super) fn add<'s>(
    steps: &mut Vec<Step<'s>>,
    pipelines: &mut Pipelines<'s>,
    step: &'s scenes::Step,
) -> Result<(), Lack> {
    let scene = pipelines.scene;
    let range = |name: &str, offset, bytes| {
        let buffer = buffer_id(scene, name)?;
        Ok(Range {
            buffer,
            offset,
            bytes,
        })
    };
    if let Some(step) = image_steps::image_step(scene, step)? {
        steps.push(Step::Image(step));
        return Ok(());
    }
    steps.push(match step {
        scenes::Step::Pass(pass) => passes::pass(pipelines, pass)?,
        scenes::Step::Dispatch(dispatch) => Step::Dispatch {
            using: Using {
                pipeline: pipelines.compute(&dispatch.pipeline)?,
                sets: sets(scene, &dispatch.pipeline, dispatch.sets.as_deref())?,
                push: &dispatch.push,
            },
            groups: dispatch.groups,
        },
        scenes::Step::CopyBuffer(copy) => Step::CopyBuffer {
            from: range(&copy.src, copy.src_offset, copy.bytes)?,
            to: buffer_id(scene, &copy.dst)?,
            offset: copy.dst_offset,
        },
        scenes::Step::FillBuffer(fill) => Step::FillBuffer {
            range: range(&fill.buffer, fill.offset, fill.bytes)?,
            value: fill.value,
        },
        scenes::Step::UpdateBuffer(update) => Step::UpdateBuffer {
            buffer: buffer_id(scene, &update.buffer)?,
            offset: update.offset,
            data: &update.hex,
        },
        scenes::Step::Subpasses(pass) => subpasses::pass(pipelines, pass)?,
        scenes::Step::BeginQuery(it) => Step::BeginQuery(query_id(scene, &it.query)?),
        scenes::Step::EndQuery(it) => Step::EndQuery(query_id(scene, &it.query)?),
        scenes::Step::CopyQuery(copy) => Step::CopyQuery {
            query: query_id(scene, &copy.query)?,
            to: buffer_id(scene, &copy.buffer)?,
            offset: copy.offset,
        },
        // `image_steps` has taken the steps on images already; any other step is not implemented.
        other => return Err(Lack::not_yet(other.name())),
    });
    Ok(())
}

/// The sets that a draw or a dispatch names, or else its pipeline.
pub(super) fn sets(
    scene: &SceneFile,
    pipeline: &str,
    named: Option<&[String]>,
) -> Result<Vec<SetId>, Lack> {
    let of_pipeline = scene.pipeline(pipeline);
    let of_pipeline = of_pipeline.map_or(&[][..], |pipeline| &pipeline.sets);
    let names = named.unwrap_or(of_pipeline).iter();
    let sets = names.map(|name| place(&scene.sets, |it| it.name == *name, "set", name));
    sets.map(|set| set.map(SetId)).collect()
}

impl Pipelines<'_> {
    /// The pipeline of a name, for dispatches.
    fn compute(&mut self, name: &str) -> Result<PipelineId, Lack> {
        let pipeline = self.scene.pipeline(name);
        let programs = pipeline.map_or(&[][..], |pipeline| {
            self.programs.of(pipeline, &ColorState::default())
        });
        let [program] = programs else {
            return Err(Lack::not_yet(format!("pipeline {name}")));
        };
        Ok(self.put(Pipeline::Compute(*program)))
    }

    /// The place of a pipeline, which is new or there already.
    pub(super) fn put(&mut self, pipeline: Pipeline) -> PipelineId {
        let known = self.made.iter().position(|it| *it == pipeline);
        let place = known.unwrap_or_else(|| {
            self.made.push(pipeline);
            self.made.len() - 1
        });
        // A scene has far fewer than 2^32.
        PipelineId(place as u32)
    }
}

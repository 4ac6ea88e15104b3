//! Rows about secondary command buffers: a draw that is recorded into one, and a pass that executes one.

use crate::cost::Cost;
use crate::draws::{MANY, Things};
use crate::recording::record;
use crate::{Failure, Gpu, Parts};
use eitri_runtime::{
    ClearColor, ColorAttachment, CommandBuffer, Draw, ImageView, InheritedRendering, RenderingInfo,
};

/// Pixels of the images along each side.
const SIDE: u32 = 64;

pub(crate) fn rows(device: &mut Gpu, parts: &Parts, things: &Things) -> Result<(), Failure> {
    let commands = device.create_command_buffer(parts.space)?;
    let all = |device: &mut Gpu, count| draws(device, things, commands, count);
    all(device, MANY)?;
    let (few, many) = (all(device, 2)?, all(device, MANY)?);
    many.less(few, MANY - 2).print("draw-secondary");

    let view = ImageView::of(things.images[0]);
    let color = ColorAttachment::cleared(view, ClearColor::Float([0.0; 4]));
    let execute = |device: &mut Gpu, count: u32| {
        record(device, parts, |recorder| {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(color)],
                ..RenderingInfo::default()
            })?;
            (0..count).try_for_each(|_| pass.execute(commands).map(drop))?;
            pass.end_rendering()
        })
    };
    execute(device, MANY)?;
    let (few, many) = (execute(device, 2)?, execute(device, MANY)?);
    many.less(few, MANY - 2).print("execute-secondary");
    Ok(())
}

/// Records so many draws into a secondary command buffer, each with its own push constants.
fn draws(
    device: &mut Gpu,
    things: &Things,
    commands: CommandBuffer,
    count: u32,
) -> Result<Cost, Failure> {
    let inherited = InheritedRendering {
        width: SIDE,
        height: SIDE,
        colors: &[Some(things.color)],
        ..InheritedRendering::default()
    };
    let (cost, recorded) = Cost::of(device, |device| {
        device.record_draws(commands, &inherited, |pass| {
            pass.bind_pipeline(things.pipelines[0])?
                .bind_descriptor_set(things.sets[0])?
                .bind_vertex_buffer(0, things.vertices[0], 0)?;
            (0..count).try_for_each(|number| {
                pass.push_constants(0, &number.to_le_bytes())?
                    .draw(Draw::of(3))
                    .map(drop)
            })
        })
    });
    recorded?;
    Ok(cost)
}

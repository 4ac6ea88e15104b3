//! Rows about draws of other kinds than the plain one, and about draws whose pipelines and sets are in no order.

use crate::counted::Counted;
use crate::draws::{MANY, Things};
use crate::recording::{Random, record};
use crate::{Failure, Gpu, Parts, THINGS};
use alloc::vec::Vec;
use eitri_on_board::MmioPlatform;
use eitri_runtime::{
    Buffer, ClearColor, ColorAttachment, Draw, Error, ImageView, IndexType, IndirectDraws,
    RenderPass, RenderingInfo,
};

type Pass<'p, 'r, 's> = RenderPass<'p, 'r, 's, 'static, Counted<MmioPlatform>>;

/// The parameters of a draw in a buffer: one vertex of one instance.
const PARAMETERS: [u32; 4] = [3, 1, 0, 0];
const PARAMETER_BYTES: u32 = 16;

pub(crate) fn rows(device: &mut Gpu, parts: &Parts, things: &Things) -> Result<(), Failure> {
    let mut random = Random(29);
    let random: Vec<usize> = (0..THINGS).map(|_| random.below(THINGS)).collect();
    shape(device, parts, things, "draw-vertices", |pass, number| {
        pass.bind_vertex_buffer(0, things.vertices[number as usize], 0)?
            .draw(Draw::of(3))
            .map(drop)
    })?;
    shape(device, parts, things, "draw-set", |pass, number| {
        pass.bind_descriptor_set(things.sets[number as usize])?
            .draw(Draw::of(3))
            .map(drop)
    })?;
    shape(device, parts, things, "draw-count", |pass, number| {
        pass.draw(Draw::of(3 + 3 * (number % 8))).map(drop)
    })?;
    shape(device, parts, things, "draw-random-sets", |pass, number| {
        pass.bind_descriptor_set(things.sets[random[number as usize]])?
            .push_constants(0, &number.to_le_bytes())?
            .draw(Draw::of(3))
            .map(drop)
    })?;
    shape(
        device,
        parts,
        things,
        "draw-random-pipelines",
        |pass, number| {
            let which = random[number as usize];
            pass.bind_pipeline(things.pipelines[which])?
                .bind_descriptor_set(things.own[which])?
                .push_constants(0, &number.to_le_bytes())?
                .draw(Draw::of(3))
                .map(drop)
        },
    )?;
    let indices = device.create_buffer(parts.space, 4096)?;
    shape(device, parts, things, "draw-indexed", |pass, number| {
        if number == 0 {
            pass.bind_index_buffer(indices, 0, IndexType::Uint16)?;
        }
        let draw = Draw {
            first: 3 * number,
            vertex_offset: number as i32,
            ..Draw::of(3)
        };
        pass.draw_indexed(draw).map(drop)
    })?;
    let buffers = &things.vertices;
    shape(device, parts, things, "draw-indices", |pass, number| {
        pass.bind_index_buffer(buffers[number as usize], 0, IndexType::Uint16)?
            .bind_vertex_buffer(0, buffers[number as usize], 0)?
            .draw_indexed(Draw::of(3))
            .map(drop)
    })?;
    let (pipeline, set) = things.instanced;
    shape(device, parts, things, "draw-instanced", |pass, number| {
        if number == 0 {
            pass.bind_pipeline(pipeline)?
                .bind_descriptor_set(set)?
                .bind_vertex_buffer(1, things.vertices[0], 0)?;
        }
        let draw = Draw {
            instances: 1 + number % 8,
            first_instance: number,
            ..Draw::of(3)
        };
        pass.draw(draw).map(drop)
    })?;
    let parameters = parameters(device, parts)?;
    let indirect = |number: u32, draws| IndirectDraws {
        buffer: parameters,
        offset: u64::from(PARAMETER_BYTES * (number % 8)),
        draws,
        stride: PARAMETER_BYTES,
        count: None,
    };
    for (name, draws) in [("draw-indirect", 1), ("draw-indirect-8", 8)] {
        shape(device, parts, things, name, |pass, number| {
            pass.draw_indirect(indirect(number, draws)).map(drop)
        })?;
    }
    let name = "draw-indirect-instanced";
    shape(device, parts, things, name, |pass, number| {
        if number == 0 {
            pass.bind_pipeline(pipeline)?
                .bind_descriptor_set(set)?
                .bind_vertex_buffer(1, things.vertices[0], 0)?;
        }
        pass.draw_indirect(indirect(number, 1)).map(drop)
    })
}

/// A buffer with what sixteen indirect draws are to draw.
fn parameters(device: &mut Gpu, parts: &Parts) -> Result<Buffer, Failure> {
    let buffer = device.create_buffer(parts.space, 4096)?;
    let bytes = PARAMETERS.map(u32::to_le_bytes);
    for number in 0..16 {
        let offset = u64::from(PARAMETER_BYTES * number);
        device.write_buffer(buffer, offset, bytes.as_flattened())?;
    }
    Ok(buffer)
}

/// What each of many draws of a pass costs beyond the first two. Before the first of them the first pipeline is bound, with its set and
/// a vertex buffer.
fn shape(
    device: &mut Gpu,
    parts: &Parts,
    things: &Things,
    name: &str,
    mut draw: impl FnMut(&mut Pass<'_, '_, '_>, u32) -> Result<(), Error>,
) -> Result<(), Failure> {
    let view = ImageView::of(things.images[0]);
    let color = ColorAttachment::cleared(view, ClearColor::Float([0.0; 4]));
    let mut all = |device: &mut Gpu, count: u32| {
        record(device, parts, |recorder| {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(color)],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(things.pipelines[0])?
                .bind_descriptor_set(things.sets[0])?
                .bind_vertex_buffer(0, things.vertices[0], 0)?;
            (0..count).try_for_each(|number| draw(&mut pass, number))?;
            pass.end_rendering()
        })
    };
    all(device, MANY)?;
    let (few, many) = (all(device, 2)?, all(device, MANY)?);
    many.less(few, MANY - 2).print(name);
    Ok(())
}

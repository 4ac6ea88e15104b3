//! Draw calls of a pass: what its commands draw, one after the other, with the parameters that buffers hold.

use super::contents::Contents;
use eitri_drawing::state::IndexType;
use eitri_drawing::{
    AttachmentClear, ClearRect, Draw, Drawing, GraphicsPipeline, Indirect, Pass, PassCommand,
    Pipeline, Range, Vertices,
};

/// A draw call.
#[derive(Clone, Debug)]
pub(super) struct Call<'d> {
    pub(super) draw: &'d Draw<'d>,
    pub(super) pipeline: &'d GraphicsPipeline,
    /// Vertices, or indices.
    pub(super) count: u32,
    pub(super) instances: u32,
    /// The first vertex, or what is added to each index.
    pub(super) base_vertex: u32,
    pub(super) first_instance: u32,
    /// The number among the draws of one command.
    pub(super) number: u32,
    pub(super) push: Vec<u8>,
    /// The indices that are read.
    pub(super) indices: Option<Range>,
}

/// What a pass does, in order.
#[derive(Clone, Debug)]
pub(super) enum Item<'d> {
    Call(Box<Call<'d>>),
    Clear(&'d [AttachmentClear], &'d [ClearRect]),
}

/// Bytes of an index.
fn index_bytes(kind: IndexType) -> u64 {
    match kind {
        IndexType::U8 => 1,
        IndexType::U16 => 2,
        IndexType::U32 => 4,
    }
}

/// What a pass does.
pub(super) fn items<'d>(
    drawing: &'d Drawing<'_>,
    pass: &'d Pass<'_>,
    contents: &Contents,
) -> Vec<Item<'d>> {
    let mut items = vec![];
    for command in &pass.commands {
        match command {
            PassCommand::Draw(draw) => {
                let pipeline = drawing.pipelines.get(draw.using.pipeline.index());
                if let Some(Pipeline::Graphics(pipeline)) = pipeline {
                    let calls = calls(draw, pipeline, contents).into_iter();
                    items.extend(calls.map(|call| Item::Call(Box::new(call))));
                }
            }
            PassCommand::Clear(attachments, rects) => items.push(Item::Clear(attachments, rects)),
            PassCommand::BeginQuery(_) | PassCommand::EndQuery(_) => {}
        }
    }
    items
}

fn calls<'d>(
    draw: &'d Draw<'d>,
    pipeline: &'d GraphicsPipeline,
    contents: &Contents,
) -> Vec<Call<'d>> {
    let plain = Call {
        draw,
        pipeline,
        count: 0,
        instances: draw.instances,
        base_vertex: 0,
        first_instance: draw.first_instance,
        number: 0,
        push: draw.using.push.to_vec(),
        indices: None,
    };
    let call = match draw.vertices {
        Vertices::Plain { count, first } => Call {
            count,
            base_vertex: first,
            ..plain
        },
        Vertices::Indexed {
            buffer,
            kind,
            offset,
            count,
            first,
            vertex_offset,
        } => Call {
            count,
            base_vertex: vertex_offset.cast_unsigned(),
            indices: Some(Range {
                buffer,
                offset: offset + u64::from(first) * index_bytes(kind),
                bytes: u64::from(count) * index_bytes(kind),
            }),
            ..plain
        },
        Vertices::Indirect { draws, indices } => {
            let indices = indices.map(|(buffer, kind, offset)| (buffer, index_bytes(kind), offset));
            return indirect(&plain, draws, indices, contents);
        }
    };
    let repeated = (0..draw.repeat).map(|number| {
        let mut call = call.clone();
        if let Some(at) = draw
            .repeat_push_offset
            .and_then(|at| usize::try_from(at).ok())
        {
            call.push.resize(call.push.len().max(at + 4), 0);
            call.push[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        call
    });
    repeated.collect()
}

fn indirect<'d>(
    plain: &Call<'d>,
    draws: Indirect,
    indices: Option<(eitri_drawing::BufferId, u64, u64)>,
    contents: &Contents,
) -> Vec<Call<'d>> {
    let word = |buffer, at: u64| contents.word(buffer, at);
    let most = draws
        .count
        .map_or(draws.draws, |(buffer, at)| word(buffer, at));
    let all = (0..draws.draws.min(most)).map(|number| {
        let start = draws.offset + u64::from(number) * u64::from(draws.stride);
        let at = |place: u64| word(draws.buffer, start + 4 * place);
        match indices {
            None => Call {
                count: at(0),
                instances: at(1),
                base_vertex: at(2),
                first_instance: at(3),
                number,
                ..plain.clone()
            },
            Some((buffer, bytes, offset)) => Call {
                count: at(0),
                instances: at(1),
                base_vertex: at(3),
                first_instance: at(4),
                number,
                indices: Some(Range {
                    buffer,
                    offset: offset + u64::from(at(2)) * bytes,
                    bytes: u64::from(at(0)) * bytes,
                }),
                ..plain.clone()
            },
        }
    });
    all.collect()
}

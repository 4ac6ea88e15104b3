//! Recording passes: attachments, and the draws within.

use crate::formats::own_format;
use crate::missing;
use crate::resources::{Made, MadePipeline};
use crate::sets::{MadeSet, Sets};
use alloc::vec::Vec;
use eitri_descriptors::Arch;
use eitri_drawing::state::{self, Color};
use eitri_drawing::{
    Attachment, BufferId, ClearValue, Draw, Drawing, Indirect, Pass, PassCommand, Vertices, ViewId,
};
use eitri_job::WorkError;
use eitri_runtime::{
    ClearColor, ColorAttachment, DepthAttachment, Draw as Drawn, ImageView, IndexType,
    IndirectDraws, LoadOp, Platform, Recorder, Rect, RenderPass, RenderingInfo, Resolve,
    ResolveMode, StencilAttachment, StoreOp, Viewport,
};

/// Records a pass.
pub(crate) fn record<P: Platform>(
    recorder: &mut Recorder<'_, '_, '_, P>,
    drawing: &Drawing<'_>,
    pass: &Pass<'_>,
    made: &Made<'_>,
    sets: &Sets,
) -> Result<(), WorkError> {
    let arch = recorder.arch();
    let view = |id| view(arch, drawing, made, id);
    let colors = pass.colors.iter().map(|attachment| {
        let color = |it| color(it, &view);
        attachment.as_ref().map(color).transpose()
    });
    let colors = colors.collect::<Result<Vec<_>, WorkError>>()?;
    let depth = pass.depth.as_ref().map(|attachment| {
        Ok::<_, WorkError>(DepthAttachment {
            view: view(attachment.view)?,
            load: load(attachment, |clear| match clear {
                ClearValue::Depth(depth) => depth,
                ClearValue::Color(_) | ClearValue::Stencil(_) => 0.0,
            }),
            store: store(attachment),
        })
    });
    let stencil = pass.stencil.as_ref().map(|attachment| {
        Ok::<_, WorkError>(StencilAttachment {
            view: view(attachment.view)?,
            load: load(attachment, |clear| match clear {
                // A stencil value has 8 bits.
                ClearValue::Stencil(stencil) => stencil as u8,
                ClearValue::Color(_) | ClearValue::Depth(_) => 0,
            }),
            store: store(attachment),
        })
    });
    let depth_resolve = resolve(pass.depth.as_ref(), &view)?;
    let stencil_resolve = resolve(pass.stencil.as_ref(), &view)?;
    let mut begun = recorder.begin_rendering(&RenderingInfo {
        area: Some(rect(pass.area)),
        layers: pass.layers,
        view_mask: pass.view_mask,
        samples: pass.samples,
        colors: &colors,
        depth: depth.transpose()?,
        stencil: stencil.transpose()?,
        depth_resolve,
        stencil_resolve,
        resuming: pass.part.resuming,
        suspending: pass.part.suspending,
    })?;
    for command in &pass.commands {
        match command {
            PassCommand::Draw(draw) => self::draw(&mut begun, draw, made, sets)?,
            PassCommand::Clear(attachments, rects) => {
                crate::clears::clear(&mut begun, attachments, rects)?;
            }
            PassCommand::BeginQuery(query) => {
                // As many queries as views would have a result, and a drawing's query is one.
                if pass.view_mask.count_ones() > 1 {
                    return Err(WorkError::Unsupported("a query of several views".into()));
                }
                let (pool, how) = made.query(*query)?;
                begun.begin_query(pool, query.0, how)?;
            }
            PassCommand::EndQuery(_) => {
                begun.end_query()?;
            }
        }
    }
    begun.end_rendering()?;
    Ok(())
}

fn view(
    arch: Arch,
    drawing: &Drawing<'_>,
    made: &Made<'_>,
    id: ViewId,
) -> Result<ImageView, WorkError> {
    let view = drawing.views.get(id.index());
    let view = view.ok_or_else(|| missing("view"))?;
    let (image, info) = made.image(view.image)?;
    let format = own_format(arch, view, &info).ok_or_else(|| missing("format"))?;
    Ok(ImageView {
        image,
        level: view.level,
        layer: view.layer,
        format,
    })
}

fn color(
    attachment: &Attachment,
    view: &impl Fn(ViewId) -> Result<ImageView, WorkError>,
) -> Result<ColorAttachment, WorkError> {
    Ok(ColorAttachment {
        view: view(attachment.view)?,
        resolve: resolve(Some(attachment), view)?,
        load: load(attachment, |clear| match clear {
            ClearValue::Color(Color::Float(color)) => ClearColor::Float(color),
            ClearValue::Color(Color::Int(color)) => ClearColor::Int(color),
            ClearValue::Color(Color::Uint(color)) => ClearColor::Uint(color),
            ClearValue::Depth(_) | ClearValue::Stencil(_) => ClearColor::Float([0.0; 4]),
        }),
        store: store(attachment),
    })
}

fn resolve(
    attachment: Option<&Attachment>,
    view: &impl Fn(ViewId) -> Result<ImageView, WorkError>,
) -> Result<Option<Resolve>, WorkError> {
    let Some((id, mode)) = attachment.and_then(|it| it.resolve) else {
        return Ok(None);
    };
    let mode = match mode {
        state::ResolveMode::SampleZero => ResolveMode::SampleZero,
        state::ResolveMode::Average => ResolveMode::Average,
        state::ResolveMode::Min => ResolveMode::Min,
        state::ResolveMode::Max => ResolveMode::Max,
    };
    let view = view(id)?;
    Ok(Some(Resolve { view, mode }))
}

fn load<C>(attachment: &Attachment, value: impl FnOnce(ClearValue) -> C) -> LoadOp<C> {
    match attachment.load {
        state::LoadOp::Load => LoadOp::Load,
        state::LoadOp::Clear => LoadOp::Clear(value(attachment.clear)),
        state::LoadOp::DontCare => LoadOp::DontCare,
    }
}

fn store(attachment: &Attachment) -> StoreOp {
    match attachment.store {
        state::StoreOp::Store => StoreOp::Store,
        state::StoreOp::DontCare => StoreOp::DontCare,
    }
}

pub(crate) fn rect(rect: state::Rect) -> Rect {
    Rect {
        x: rect.x,
        y: rect.y,
        width: rect.width,
        height: rect.height,
    }
}

fn viewport(viewport: state::Viewport) -> Viewport {
    Viewport {
        x: viewport.x,
        y: viewport.y,
        width: viewport.width,
        height: viewport.height,
        depth: [viewport.min_depth, viewport.max_depth],
    }
}

fn draw<P: Platform>(
    pass: &mut RenderPass<'_, '_, '_, '_, P>,
    draw: &Draw<'_>,
    made: &Made<'_>,
    sets: &Sets,
) -> Result<(), WorkError> {
    let MadePipeline::Graphics(pipeline) = made.pipeline(draw.using.pipeline)? else {
        return Err(missing("graphics pipeline"));
    };
    pass.bind_pipeline(pipeline)?;
    for set in sets.of(&draw.using) {
        if let MadeSet::Graphics(set) = set {
            pass.bind_descriptor_set(set)?;
        }
    }
    pass.push_constants(0, draw.using.push)?;
    // A drawing has one of each, whatever Vulkan allows.
    for it in &draw.viewports {
        pass.set_viewport(viewport(*it));
    }
    for scissor in &draw.scissors {
        pass.set_scissor(rect(*scissor));
    }
    for vertices in &draw.vertex_buffers {
        let buffer = made.buffer(vertices.buffer)?;
        pass.bind_vertex_buffer(vertices.binding, buffer, vertices.offset)?;
    }
    if let Vertices::Indirect { draws, indices } = draw.vertices {
        return indirect(pass, draws, indices, made);
    }
    let drawn = Drawn {
        instances: draw.instances,
        first_instance: draw.first_instance,
        ..Drawn::of(0)
    };
    let (drawn, indexed) = match draw.vertices {
        Vertices::Plain { count, first } => {
            let plain = Drawn {
                count,
                first,
                ..drawn
            };
            (plain, false)
        }
        Vertices::Indexed {
            buffer,
            kind,
            offset,
            count,
            first,
            vertex_offset,
        } => {
            pass.bind_index_buffer(made.buffer(buffer)?, offset, index_type(kind))?;
            let indexed = Drawn {
                count,
                first,
                vertex_offset,
                ..drawn
            };
            (indexed, true)
        }
        Vertices::Indirect { .. } => return Ok(()),
    };
    for number in 0..draw.repeat {
        if let Some(offset) = draw.repeat_push_offset {
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            pass.push_constants(offset, &number.to_le_bytes())?;
        }
        if indexed {
            pass.draw_indexed(drawn)?;
        } else {
            pass.draw(drawn)?;
        }
    }
    Ok(())
}

fn index_type(kind: state::IndexType) -> IndexType {
    match kind {
        state::IndexType::U8 => IndexType::Uint8,
        state::IndexType::U16 => IndexType::Uint16,
        state::IndexType::U32 => IndexType::Uint32,
    }
}

/// Draws what buffers say.
fn indirect<P: Platform>(
    pass: &mut RenderPass<'_, '_, '_, '_, P>,
    draws: Indirect,
    indices: Option<(BufferId, state::IndexType, u64)>,
    made: &Made<'_>,
) -> Result<(), WorkError> {
    let count = draws.count;
    let count = count.map(|(buffer, offset)| Ok::<_, WorkError>((made.buffer(buffer)?, offset)));
    let draws = IndirectDraws {
        buffer: made.buffer(draws.buffer)?,
        offset: draws.offset,
        draws: draws.draws,
        stride: draws.stride,
        count: count.transpose()?,
    };
    match indices {
        None => pass.draw_indirect(draws)?,
        Some((buffer, kind, offset)) => pass
            .bind_index_buffer(made.buffer(buffer)?, offset, index_type(kind))?
            .draw_indexed_indirect(draws)?,
    };
    Ok(())
}

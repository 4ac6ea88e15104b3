//! Tests of depth and stencil, and what passes them.

use super::canvas::{
    Canvas, RGBA8, SIDE, Vertex, check, cleared, format_of, on_canvas, rectangle, strip,
};
use super::{BLUE, BLUE_WORD, HEAP, RED, RED_WORD, START};
use crate::bench::Bench;
use crate::result::{Trouble, Verdict, failed};
use alloc::vec;
use eitri_descriptors::raster::StencilOp;
use eitri_descriptors::texture::Func;
use eitri_draw_programs::Shader;
use eitri_runtime::{
    Buffer, DepthAttachment, DepthBias, DepthState, Draw, GraphicsPipelineInfo, Image, ImageInfo,
    ImagePart, ImageView, LoadOp, Occlusion, Platform, RenderingInfo, StencilAttachment,
    StencilFace, StencilState, StoreOp, Tiling, Viewport,
};

/// What depth holds before.
const MIDDLE: f32 = 0.5;

/// Whether a new value passes against an old one.
fn passes<T: PartialOrd>(func: Func, new: T, old: T) -> bool {
    match func {
        Func::Never => false,
        Func::Less => new < old,
        Func::Equal => new == old,
        Func::Lequal => new <= old,
        Func::Greater => new > old,
        Func::NotEqual => new != old,
        Func::Gequal => new >= old,
        _ => true,
    }
}

const fn kept(image: Image, clear: f32) -> DepthAttachment {
    DepthAttachment {
        view: ImageView::of(image),
        load: LoadOp::Clear(clear),
        store: StoreOp::Store,
    }
}

/// A column of a quarter of the width, from the left.
fn column(number: u8) -> ([f32; 2], [f32; 2]) {
    let left = f32::from(number) / 2.0 - 1.0;
    ([left, -1.0], [left + 0.5, 1.0])
}

/// The number of a pixel's column.
const fn column_of(x: u32) -> u32 {
    x / (SIDE / 4)
}

fn testing<'i>(compare: Func, write: bool) -> GraphicsPipelineInfo<'i> {
    GraphicsPipelineInfo {
        depth: Some(DepthState { compare, write }),
        has_depth: true,
        ..strip()
    }
}

/// Three columns, nearer than what is there, as near, and further: those are seen that pass, and their depths are kept.
pub(super) fn depth<P: Platform>(it: &mut Bench<'_, '_, '_, P>, func: Func) -> Verdict {
    let depths = [0.25, MIDDLE, 0.75];
    on_canvas(it, HEAP, |it, canvas| {
        let pipeline = canvas.pipeline(it, Shader::Color, &testing(func, true))?;
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let depth = canvas.image(it, "D32_SFLOAT", Tiling::UInterleaved)?;
        let mut draws = vec![];
        for (number, depth) in (0..).zip(depths) {
            let (start, end) = column(number);
            let vertices = canvas.vertices(it, &rectangle(start, end, depth, RED))?;
            draws.push((pipeline, vertices, Draw::of(4)));
        }
        canvas.draw(
            it,
            (&[cleared(image, BLUE)], Some(kept(depth, MIDDLE))),
            &draws,
        )?;
        let new = |x| depths.get(column_of(x) as usize).copied();
        let passed = |x| new(x).filter(|new| passes(func, *new, MIDDLE));
        check(it, (image, "colours"), 0, |x, _| match passed(x) {
            Some(_) => RED_WORD,
            None => BLUE_WORD,
        })?;
        check(it, (depth, "depths"), 0, |x, _| {
            passed(x).unwrap_or(MIDDLE).to_bits()
        })
    })
}

/// Something that depths have besides their comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depths {
    /// They are compared and not written.
    ReadOnly,
    /// A constant is added.
    Bias,
    /// A multiple of the slope is added.
    Slope,
    /// What lies beyond the furthest is not seen.
    Clip,
    /// What lies beyond the furthest is as far.
    Clamp,
    /// Depths go where the viewport says.
    Range,
}

/// The left half is drawn, at 0.25 or beyond 1, into depths of 1: what is there behind.
pub(super) fn depths<P: Platform>(it: &mut Bench<'_, '_, '_, P>, what: Depths) -> Verdict {
    let write = what != Depths::ReadOnly;
    let beyond = matches!(what, Depths::Clip | Depths::Clamp);
    let bias = match what {
        // A unit at depths from 0.25 on is 2^-25 (graphics-model.md 3.2): 2^-4 in all.
        Depths::Bias => Some(DepthBias {
            constant: (1 << 21) as f32,
            ..DepthBias::default()
        }),
        // The depth grows by 1/256 from pixel to pixel.
        Depths::Slope => Some(DepthBias {
            slope: 16.0,
            ..DepthBias::default()
        }),
        _ => None,
    };
    on_canvas(it, HEAP, |it, canvas| {
        let info = GraphicsPipelineInfo {
            depth_bias: bias,
            depth_clamp: what == Depths::Clamp,
            ..testing(Func::Lequal, write)
        };
        let pipeline = canvas.pipeline(it, Shader::Color, &info)?;
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let depth = canvas.image(it, "D32_SFLOAT", Tiling::UInterleaved)?;
        let mut corners = rectangle(START, [0.0, 1.0], if beyond { 1.5 } else { 0.25 }, RED);
        if what == Depths::Slope {
            // To the right: from 0.25 to 0.25 and 32 pixels' worth.
            for Vertex {
                at: [x, _], depth, ..
            } in &mut corners
            {
                *depth = 0.25 + (*x + 1.0) * 0.125;
            }
        }
        let vertices = canvas.vertices(it, &corners)?;
        let range = if what == Depths::Range {
            [0.5, 0.75]
        } else {
            [0.0, 1.0]
        };
        canvas.run(it, |recorder| {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[cleared(image, BLUE)],
                depth: Some(kept(depth, 1.0)),
                ..RenderingInfo::default()
            })?;
            pass.set_viewport(Viewport {
                depth: range,
                ..Viewport::of(SIDE, SIDE)
            })
            .bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, vertices, 0)?
            .draw(Draw::of(4))?;
            pass.end_rendering()
        })?;
        let is_left = |x| x < SIDE / 2;
        check(it, (image, "colours"), 0, |x, _| {
            match is_left(x) && what != Depths::Clip {
                true => RED_WORD,
                false => BLUE_WORD,
            }
        })?;
        let new = |x: u32| match what {
            Depths::ReadOnly | Depths::Clip | Depths::Clamp => 1.0,
            Depths::Bias => 0.25 + 0.0625,
            Depths::Slope => 0.25 + (x as f32 + 0.5) / 256.0 + 0.0625,
            Depths::Range => 0.5 + 0.25 * 0.25,
        };
        // Of the slope the last bit may be another.
        check(
            it,
            (depth, "depths"),
            u8::from(what == Depths::Slope),
            |x, _| {
                if is_left(x) {
                    new(x).to_bits()
                } else {
                    1.0_f32.to_bits()
                }
            },
        )
    })
}

/// What is done to stencil values, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stencil {
    pub(super) compare: Func,
    pub(super) op: StencilOp,
    pub(super) on: On,
    pub(super) compare_mask: u8,
    pub(super) write_mask: u8,
    /// What is there before.
    pub(super) before: u8,
    /// What is there after, where something was drawn.
    pub(super) after: u8,
}

/// When it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// Both tests are passed.
    Pass,
    /// The test of stencil fails.
    Fail,
    /// The test of depth fails.
    DepthFail,
    /// Both tests are passed, by a back face.
    Back,
}

/// What stencil values are compared with, and replaced by.
const REFERENCE: u8 = 0x3C;

impl Stencil {
    pub(super) const USUAL: Stencil = Stencil {
        compare: Func::Always,
        op: StencilOp::Keep,
        on: On::Pass,
        compare_mask: 0xFF,
        write_mask: 0xFF,
        before: 0xA5,
        after: 0x00,
    };

    fn state(&self) -> StencilState {
        let keep = StencilFace {
            compare: self.compare,
            fail: StencilOp::Keep,
            depth_fail: StencilOp::Keep,
            pass: StencilOp::Keep,
            compare_mask: self.compare_mask,
            write_mask: self.write_mask,
            reference: REFERENCE,
        };
        let front = match self.on {
            On::Pass => StencilFace {
                pass: self.op,
                ..keep
            },
            On::Fail => StencilFace {
                fail: self.op,
                ..keep
            },
            On::DepthFail => StencilFace {
                depth_fail: self.op,
                ..keep
            },
            On::Back => keep,
        };
        let back = match self.on {
            On::Back => StencilFace {
                pass: self.op,
                ..keep
            },
            _ => keep,
        };
        StencilState { front, back }
    }
}

fn stencils<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    canvas: &mut Canvas,
) -> Result<Image, Trouble> {
    let format = format_of(it, "S8_UINT")?;
    canvas.image_of(
        it,
        ImageInfo {
            tiling: Tiling::UInterleaved,
            ..ImageInfo::two_d(format, SIDE, SIDE)
        },
    )
}

/// The left half is drawn: of stencil values there it becomes what is said.
pub(super) fn stencil<P: Platform>(it: &mut Bench<'_, '_, '_, P>, what: &Stencil) -> Verdict {
    on_canvas(it, HEAP, |it, canvas| {
        // What fails lies behind what is there.
        let func = if what.on == On::DepthFail {
            Func::Never
        } else {
            Func::Always
        };
        let info = GraphicsPipelineInfo {
            stencil: Some(what.state()),
            has_stencil: true,
            ..testing(func, false)
        };
        let pipeline = canvas.pipeline(it, Shader::Color, &info)?;
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let depth = canvas.image(it, "D32_SFLOAT", Tiling::UInterleaved)?;
        let values = stencils(it, canvas)?;
        let mut corners = rectangle(START, [0.0, 1.0], 0.5, RED);
        if what.on == On::Back {
            corners.swap(1, 2);
        }
        let vertices = canvas.vertices(it, &corners)?;
        canvas.run(it, |recorder| {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[cleared(image, BLUE)],
                depth: Some(kept(depth, MIDDLE)),
                stencil: Some(StencilAttachment {
                    view: ImageView::of(values),
                    load: LoadOp::Clear(what.before),
                    store: StoreOp::Store,
                }),
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, vertices, 0)?
                .draw(Draw::of(4))?;
            pass.end_rendering()
        })?;
        let mut found = vec![0; (SIDE * SIDE) as usize];
        it.device
            .read_image(values, ImagePart::default(), &mut found)?;
        for (number, found) in (0..).zip(found) {
            let (x, y) = (number % SIDE, number / SIDE);
            let wanted = if x < SIDE / 2 {
                what.after
            } else {
                what.before
            };
            if found != wanted {
                return Err(failed!(
                    "stencil value {x}, {y} is {found:#04x}, expected {wanted:#04x}"
                ));
            }
        }
        Ok(())
    })
}

/// Three columns with references that are less than what is there, equal and greater: those are seen that pass.
pub(super) fn compare<P: Platform>(it: &mut Bench<'_, '_, '_, P>, func: Func) -> Verdict {
    const THERE: u8 = 5;
    let references = [THERE - 1, THERE, THERE + 1];
    on_canvas(it, HEAP, |it, canvas| {
        let state = Stencil {
            compare: func,
            ..Stencil::USUAL
        };
        let info = GraphicsPipelineInfo {
            stencil: Some(state.state()),
            has_stencil: true,
            ..strip()
        };
        let pipeline = canvas.pipeline(it, Shader::Color, &info)?;
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let values = stencils(it, canvas)?;
        let mut columns = vec![];
        for (number, reference) in (0..).zip(references) {
            let (start, end) = column(number);
            columns.push((
                reference,
                canvas.vertices(it, &rectangle(start, end, 0.5, RED))?,
            ));
        }
        canvas.run(it, |recorder| {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[cleared(image, BLUE)],
                stencil: Some(StencilAttachment {
                    view: ImageView::of(values),
                    load: LoadOp::Clear(THERE),
                    store: StoreOp::DontCare,
                }),
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?;
            for (reference, vertices) in &columns {
                pass.set_stencil_reference(*reference, *reference)
                    .bind_vertex_buffer(0, *vertices, 0)?
                    .draw(Draw::of(4))?;
            }
            pass.end_rendering()
        })?;
        let passed = |x| {
            let reference = references.get(column_of(x) as usize);
            reference.is_some_and(|reference| passes(func, *reference, THERE))
        };
        check(it, (image, "colours"), 0, |x, _| match passed(x) {
            true => RED_WORD,
            false => BLUE_WORD,
        })
    })
}

/// Samples that pass the test of depth are counted: of 16 by 8 pixels, of which half are hidden, and of some that all are.
pub(super) fn occlusion<P: Platform>(it: &mut Bench<'_, '_, '_, P>, how: Occlusion) -> Verdict {
    on_canvas(it, HEAP, |it, canvas| {
        let pipeline = canvas.pipeline(it, Shader::Color, &testing(Func::Less, true))?;
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let depth = canvas.image(it, "D32_SFLOAT", Tiling::UInterleaved)?;
        let query = canvas.query(it)?;
        let pixels = |pixels: u32| pixels as f32 / (SIDE / 2) as f32 - 1.0;
        let mut part = |it: &mut Bench<'_, '_, '_, P>, [left, right]: [u32; 2], depth| {
            let (start, end) = ([pixels(left), pixels(8)], [pixels(right), pixels(16)]);
            canvas.vertices(it, &rectangle(start, end, depth, RED))
        };
        let near: Buffer = part(it, [16, 24], 0.25)?;
        let far = part(it, [16, 32], 0.5)?;
        let hidden = part(it, [18, 22], 0.75)?;
        let counted = match how {
            Occlusion::Precise => 64,
            Occlusion::Any => 1,
        };
        for (drawn, wanted, what) in [(far, counted, "half hidden"), (hidden, 0, "all hidden")] {
            canvas.run(it, |recorder| {
                recorder.reset_queries(query, 0, 1)?;
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    colors: &[cleared(image, BLUE)],
                    depth: Some(kept(depth, 1.0)),
                    ..RenderingInfo::default()
                })?;
                pass.bind_pipeline(pipeline)?
                    .bind_vertex_buffer(0, near, 0)?
                    .draw(Draw::of(4))?
                    .begin_query(query, 0, how)?
                    .bind_vertex_buffer(0, drawn, 0)?
                    .draw(Draw::of(4))?
                    .end_query()?;
                pass.end_rendering()
            })?;
            let mut results = [None];
            it.device.query_results(query, 0, &mut results)?;
            if results != [Some(wanted)] {
                return Err(failed!(
                    "of a rectangle that is {what} {results:?} samples are counted, expected {wanted}"
                ));
            }
        }
        Ok(())
    })
}

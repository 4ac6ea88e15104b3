//! Graphics: passes that clear, draw, test, blend and read what was drawn; each picture is worked out here.
//!
//! No sample lies on an edge, but where the test is about that; so coverage is what the corners say.
//! Facts: hardware/graphics-model.md 2 (coverage), 4 (tests, blending, tiles), 6 (heaps); graphics-raster.md 4.4 (edges);
//! csf-scheduling.md 7 (heaps that grow).

mod assembled;
mod canvas;
mod colored;
mod picture;
mod probes;
mod rows;
mod sampled;
mod tested;

pub(crate) use probes::PROBES;
pub(crate) use rows::{ROWS, Row, run};

use crate::bench::Bench;
use crate::result::{Unit, Verdict, failed};
use alloc::format;
use alloc::vec::Vec;
use canvas::{RGBA8, SIDE, Vertex, check, cleared, format_of, on_canvas, rectangle, strip};
use eitri_descriptors::texture::Func;
use eitri_draw_programs::Shader;
use eitri_runtime::{
    Accesses, BlendComponent, BlendFactor, BlendOp, ColorBlend, DepthAttachment, DepthState, Draw,
    GraphicsPipelineInfo, ImageView, LoadOp, Platform, Rect, RenderingInfo, ShaderStage, StoreOp,
    TilerHeapConfig, Tiling,
};
use picture::{TRIANGLE, place, shares};

const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];
const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
const BLUE_WORD: u32 = 0xFFFF_0000;
const RED_WORD: u32 = 0xFF00_00FF;
const GREEN_WORD: u32 = 0xFF00_FF00;

/// The corners of everything, in clip coordinates.
const START: [f32; 2] = [-1.0, -1.0];
const END: [f32; 2] = [1.0, 1.0];

/// A heap that no test here fills, but that of heaps: not even where no pass gives back what it took.
const HEAP: TilerHeapConfig = TilerHeapConfig {
    chunk_bytes: 128 << 10,
    initial: 8,
    most: 8,
    reserve: 0,
    passes: 16,
};

const TILINGS: [(Tiling, &str); 2] = [
    (Tiling::Linear, "a linear picture"),
    (Tiling::UInterleaved, "a U-interleaved picture"),
];

/// A target is cleared all over, and then in a part: elsewhere it stays.
pub(crate) fn clear<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    on_canvas(it, HEAP, |it, canvas| {
        for (tiling, what) in TILINGS {
            let image = canvas.image(it, RGBA8, tiling)?;
            let part = Rect {
                x: 16,
                y: 16,
                width: 32,
                height: 8,
            };
            let in_part = |x, y| (16..48).contains(&x) && (16..24).contains(&y);
            let fifths = [0.2, 0.4, 0.6, 0.8];
            for (color, area) in [(fifths, None), (GREEN, Some(part))] {
                canvas.run(it, |recorder| {
                    let pass = recorder.begin_rendering(&RenderingInfo {
                        colors: &[cleared(image, color)],
                        area,
                        ..RenderingInfo::default()
                    })?;
                    pass.end_rendering()
                })?;
                check(it, (image, what), 0, |x, y| match area {
                    Some(_) if in_part(x, y) => GREEN_WORD,
                    _ => 0xCC99_6633,
                })?;
            }
        }
        Ok(())
    })
}

/// A triangle of one colour: of each pixel the edge functions say whether its centre is inside.
pub(crate) fn triangle<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    on_canvas(it, HEAP, |it, canvas| {
        let pipeline = canvas.pipeline(it, Shader::Color, &GraphicsPipelineInfo::default())?;
        let [a, b, c] = TRIANGLE;
        for (corners, what) in [([a, b, c], "one way round"), ([a, c, b], "the other way")] {
            let vertices = corners.map(|corner| Vertex {
                at: place(corner),
                depth: 0.5,
                color: RED,
            });
            let vertices = canvas.vertices(it, &vertices)?;
            for (tiling, of) in TILINGS {
                let image = canvas.image(it, RGBA8, tiling)?;
                let colors = [cleared(image, BLUE)];
                let draw = (pipeline, vertices, Draw::of(3));
                canvas.draw(it, (&colors, None), &[draw])?;
                let what = format!("{of} of a triangle, {what}");
                check(it, (image, &what), 0, |x, y| match shares(x, y) {
                    Some(_) => RED_WORD,
                    None => BLUE_WORD,
                })?;
            }
        }
        Ok(())
    })
}

/// A triangle with another colour at each corner: each pixel has of each as much as it is near to its corner.
pub(crate) fn colors<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    on_canvas(it, HEAP, |it, canvas| {
        let pipeline = canvas.pipeline(it, Shader::Color, &GraphicsPipelineInfo::default())?;
        let mut colors = [RED, GREEN, BLUE].into_iter();
        let vertices = TRIANGLE.map(|corner| Vertex {
            at: place(corner),
            depth: 0.5,
            color: colors.next().unwrap_or_default(),
        });
        let vertices = canvas.vertices(it, &vertices)?;
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let colors = [cleared(image, [0.0; 4])];
        canvas.draw(it, (&colors, None), &[(pipeline, vertices, Draw::of(3))])?;
        let what = "a triangle with a colour at each corner";
        check(it, (image, what), 1, |x, y| match shares(x, y) {
            Some([red, green, blue]) => u32::from_le_bytes([red, green, blue, 255]),
            None => 0,
        })
    })
}

/// Colours are added up.
const SUM: ColorBlend = ColorBlend {
    equations: Some(
        [BlendComponent {
            src: BlendFactor::One,
            dst: BlendFactor::One,
            op: BlendOp::Add,
        }; 2],
    ),
    write_mask: 0xF,
};

/// A sample on the edge of two triangles is drawn by one of them: where colours add up, none is seen twice, and none is missing.
pub(crate) fn edges<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    on_canvas(it, HEAP, |it, canvas| {
        let info = GraphicsPipelineInfo {
            blends: &[SUM],
            ..strip()
        };
        let pipeline = canvas.pipeline(it, Shader::Color, &info)?;
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        // The diagonal of the first goes through centres of pixels; the others meet in such a column and such a row.
        let middle = place([SIDE as i32 * 128 + 128; 2]);
        let [x, y] = middle;
        let rectangles = [
            (START, END),
            (START, middle),
            ([x, -1.0], [1.0, y]),
            ([-1.0, y], [x, 1.0]),
            (middle, END),
        ];
        let mut draws = Vec::new();
        for (start, end) in rectangles {
            let corners = rectangle(start, end, 0.5, [64.0 / 255.0; 4]);
            draws.push((pipeline, canvas.vertices(it, &corners)?, Draw::of(4)));
        }
        let colors = [cleared(image, [0.0; 4])];
        canvas.draw(it, (&colors, None), &draws)?;
        let what = "triangles that touch, each of 0x40, two over each pixel";
        check(it, (image, what), 2, |_, _| 0x8080_8080)
    })
}

/// The nearer of two rectangles is seen, whichever is drawn first, and its depth is kept.
pub(crate) fn depth<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    on_canvas(it, HEAP, |it, canvas| {
        let info = GraphicsPipelineInfo {
            depth: Some(DepthState {
                compare: Func::Less,
                write: true,
            }),
            has_depth: true,
            ..strip()
        };
        let pipeline = canvas.pipeline(it, Shader::Color, &info)?;
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let depths = canvas.image(it, "D32_SFLOAT", Tiling::UInterleaved)?;
        let near = canvas.vertices(it, &rectangle(START, [0.5, 1.0], 0.25, RED))?;
        let far = canvas.vertices(it, &rectangle([-0.5, -1.0], END, 0.5, GREEN))?;
        for (order, what) in [([near, far], "nearer first"), ([far, near], "nearer last")] {
            let kept = DepthAttachment {
                view: ImageView::of(depths),
                load: LoadOp::Clear(1.0),
                store: StoreOp::Store,
            };
            let draws = order.map(|vertices| (pipeline, vertices, Draw::of(4)));
            let colors = [cleared(image, BLUE)];
            canvas.draw(it, (&colors, Some(kept)), &draws)?;
            let is_near = |x| x < SIDE * 3 / 4;
            let picture = (image, &*format!("colours, the {what}"));
            check(it, picture, 0, |x, _| match is_near(x) {
                true => RED_WORD,
                false => GREEN_WORD,
            })?;
            let picture = (depths, &*format!("depths, the {what}"));
            check(it, picture, 0, |x, _| match is_near(x) {
                true => 0.25_f32.to_bits(),
                false => 0.5_f32.to_bits(),
            })?;
        }
        Ok(())
    })
}

/// Half red over blue, sums, parts by a constant, and single channels.
pub(crate) fn blending<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let constant = BlendComponent {
        src: BlendFactor::Constant,
        dst: BlendFactor::OneMinusConstant,
        op: BlendOp::Add,
    };
    let of = |component, write_mask| ColorBlend {
        equations: Some([component; 2]),
        write_mask,
    };
    let red_alone = ColorBlend {
        equations: None,
        write_mask: 1,
    };
    // Of red with an alpha of a half and of blue.
    let cases = [
        ("half over", of(BlendComponent::OVER, 0xF), 0xBF80_0080),
        ("a sum", SUM, 0xFFFF_00FF),
        ("red alone", red_alone, 0xFFFF_00FF),
        (
            "a constant of a quarter, not alpha",
            of(constant, 0x7),
            0xFFBF_0040,
        ),
    ];
    on_canvas(it, HEAP, |it, canvas| {
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let left = rectangle(START, [0.0, 1.0], 0.5, [1.0, 0.0, 0.0, 0.5]);
        let left = canvas.vertices(it, &left)?;
        for (what, blend, expected) in cases {
            let info = GraphicsPipelineInfo {
                blends: &[blend],
                blend_constants: [0.25; 4],
                ..strip()
            };
            let pipeline = canvas.pipeline(it, Shader::Color, &info)?;
            let colors = [cleared(image, BLUE)];
            canvas.draw(it, (&colors, None), &[(pipeline, left, Draw::of(4))])?;
            check(it, (image, what), 1, |x, _| match x < SIDE / 2 {
                true => expected,
                false => BLUE_WORD,
            })?;
        }
        Ok(())
    })
}

/// Two targets of different formats and orders of texels have colours of their own.
pub(crate) fn targets<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    const BGRA8: &str = "B8G8R8A8_UNORM";
    on_canvas(it, HEAP, |it, canvas| {
        let first = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let second = canvas.image(it, BGRA8, Tiling::Linear)?;
        let formats = [Some(format_of(it, RGBA8)?), Some(format_of(it, BGRA8)?)];
        let info = GraphicsPipelineInfo {
            colors: &formats,
            ..strip()
        };
        let pipeline = canvas.pipeline(it, Shader::TwoColors, &info)?;
        let upper = rectangle(START, [1.0, 0.0], 0.5, [1.0, 1.0, 0.0, 1.0]);
        let upper = canvas.vertices(it, &upper)?;
        let colors = [cleared(first, BLUE), cleared(second, RED)];
        canvas.draw(it, (&colors, None), &[(pipeline, upper, Draw::of(4))])?;
        let is_upper = |y| y < SIDE / 2;
        check(it, (first, "target 0"), 0, |_, y| match is_upper(y) {
            true => GREEN_WORD,
            false => BLUE_WORD,
        })?;
        check(it, (second, "target 1"), 0, |_, y| match is_upper(y) {
            // Yellow, and red, with blue first.
            true => 0xFFFF_FF00,
            false => 0xFFFF_0000,
        })
    })
}

/// Chunks of the heap that has to grow.
const MOST: u32 = 8;
/// How often its triangles are drawn over each other, at most.
const OFTEN: u32 = 16;

/// More triangles than a chunk holds: the heap grows, all of them are seen, and what a pass has taken it gives back.
pub(crate) fn heap<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let config = TilerHeapConfig {
        chunk_bytes: 128 << 10,
        initial: 1,
        most: MOST,
        reserve: MOST - 1,
        passes: 16,
    };
    // Two triangles for each four by two pixels, and a colour for each such cell.
    let (columns, rows) = (SIDE / 4, SIDE / 2);
    let color = |column: u32, row: u32| {
        let [red, green] = [column * 8 + 7, row * 8 + 7];
        [red, green, 255 - red, 255].map(|channel| channel as f32 / 255.0)
    };
    let mut vertices = Vec::new();
    for (column, row) in (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row))) {
        let corner = |x: u32, y: u32| place([x, y].map(|pixels| pixels as i32 * 256));
        let (left, top) = (4 * column, 2 * row);
        let [a, b, c, d] = rectangle(
            corner(left, top),
            corner(left + 4, top + 2),
            0.5,
            color(column, row),
        );
        vertices.extend([a, b, c, c, b, d]);
    }
    on_canvas(it, config, |it, canvas| {
        let pipeline = canvas.pipeline(it, Shader::Color, &GraphicsPipelineInfo::default())?;
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let buffer = canvas.vertices(it, &vertices)?;
        let mut instances = 1;
        let chunks = loop {
            let draw = Draw {
                instances,
                ..Draw::of(vertices.len() as u32)
            };
            let colors = [cleared(image, BLUE)];
            canvas.draw(it, (&colors, None), &[(pipeline, buffer, draw)])?;
            let what = format!("{instances} times {} triangles", vertices.len() / 3);
            check(it, (image, &what), 1, |x, y| {
                u32::from_le_bytes(color(x / 4, y / 2).map(|channel| (channel * 255.0 + 0.5) as u8))
            })?;
            let chunks = it.device.tiler_heap(canvas.heap)?.chunks;
            if chunks > 1 {
                break chunks;
            }
            instances *= 2;
            if instances > OFTEN {
                return Err(failed!(
                    "{what} fit into {} bytes: the tiler has never asked for more",
                    config.chunk_bytes
                ));
            }
        };
        it.measure("chunks", chunks.into(), Unit::Count);
        // With half of them, or a few, it did not need two.
        if chunks == MOST {
            return Err(failed!(
                "{instances} times {} triangles took all {MOST} chunks: is what the heap grows by used?",
                vertices.len() / 3
            ));
        }
        for number in 1..=MOST {
            canvas.again(it)?;
            let now = it.device.tiler_heap(canvas.heap)?.chunks;
            if now > chunks {
                return Err(failed!(
                    "the same pass has taken {chunks} chunks first, and {now} when it ran {number} times more: are chunks given back?"
                ));
            }
        }
        Ok(())
    })
}

/// A pass reads, texel by texel, what the pass before has drawn; twice, so that texels that were fetched before are old.
pub(crate) fn passes<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    on_canvas(it, HEAP, |it, canvas| {
        let drawing = canvas.pipeline(it, Shader::Color, &strip())?;
        let reading = canvas.pipeline(it, Shader::Fetched, &strip())?;
        let left = canvas.vertices(it, &rectangle(START, [0.0, 1.0], 0.5, RED))?;
        let upper = canvas.vertices(it, &rectangle(START, [1.0, 0.0], 0.5, GREEN))?;
        let all = canvas.vertices(it, &rectangle(START, END, 0.5, RED))?;
        for (tiling, what) in TILINGS {
            let [drawn, first, second] = [
                canvas.image(it, RGBA8, tiling)?,
                canvas.image(it, RGBA8, tiling)?,
                canvas.image(it, RGBA8, tiling)?,
            ];
            let set = canvas.set(it, reading, drawn)?;
            let sampled = Accesses::SAMPLED_READ.in_stage(ShaderStage::Fragment);
            canvas.run(it, |recorder| {
                for (vertices, read) in [(left, first), (upper, second)] {
                    recorder.barrier(sampled, Accesses::COLOR_WRITE)?;
                    let mut pass = recorder.begin_rendering(&RenderingInfo {
                        colors: &[cleared(drawn, BLUE)],
                        ..RenderingInfo::default()
                    })?;
                    pass.bind_pipeline(drawing)?
                        .bind_vertex_buffer(0, vertices, 0)?
                        .draw(Draw::of(4))?;
                    pass.end_rendering()?;
                    recorder.barrier(Accesses::COLOR_WRITE, sampled)?;
                    let mut pass = recorder.begin_rendering(&RenderingInfo {
                        colors: &[cleared(read, GREEN)],
                        ..RenderingInfo::default()
                    })?;
                    pass.bind_pipeline(reading)?
                        .bind_descriptor_set(set)?
                        .bind_vertex_buffer(0, all, 0)?
                        .draw(Draw::of(4))?;
                    pass.end_rendering()?;
                }
                Ok(())
            })?;
            let half = SIDE / 2;
            let picture = (
                first,
                &*format!("{what} that the first pass drew, as it is read"),
            );
            check(it, picture, 0, |x, _| match x < half {
                true => RED_WORD,
                false => BLUE_WORD,
            })?;
            let picture = (
                second,
                &*format!("{what} that was drawn anew, as it is read"),
            );
            check(it, picture, 0, |_, y| match y < half {
                true => GREEN_WORD,
                false => BLUE_WORD,
            })?;
        }
        Ok(())
    })
}

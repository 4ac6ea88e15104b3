//! Clears within passes.

use super::bench::{
    BLUE, BLUE_WORD, Bench, GREEN, GREEN_WORD, RED, RED_WORD, SIDE, check, rectangle,
};
use super::shaders;
use crate::bench::OrFail;
use eitri_descriptors::texture::Func;
use eitri_runtime::{
    ClearAttachment, ClearColor, ClearRect, ColorAttachment, DepthAttachment, DepthState, Draw,
    GraphicsPipelineInfo, ImageInfo, ImageView, LoadOp, Rect, RenderingInfo, StoreOp, Tiling,
    Topology,
};

const ALL: [f32; 2] = [-1.0, -1.0];
const END: [f32; 2] = [1.0, 1.0];

fn rect(x: i32, y: i32, width: u32, height: u32) -> ClearRect {
    ClearRect {
        rect: Rect {
            x,
            y,
            width,
            height,
        },
        layer: 0,
        layers: 1,
    }
}

fn inside(rect: ClearRect, x: u32, y: u32) -> bool {
    let Rect {
        x: left,
        y: top,
        width,
        height,
    } = rect.rect;
    let (left, top) = (left as u32, top as u32);
    (left..left + width).contains(&x) && (top..top + height).contains(&y)
}

fn color(color: [f32; 4]) -> ClearAttachment {
    ClearAttachment::Color {
        location: 0,
        color: ClearColor::Float(color),
    }
}

/// Colour and depth are cleared behind a draw and before another, whatever the scissor is.
pub(crate) fn rectangles_are_cleared_between_draws() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::UInterleaved);
    let depths = it.image("D32_SFLOAT", Tiling::UInterleaved);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        depth: Some(DepthState {
            compare: Func::Less,
            write: true,
        }),
        has_depth: true,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let near = it.buffer(&rectangle(ALL, END, 0.25, RED));
    let far = it.buffer(&rectangle(ALL, END, 0.5, GREEN));
    let holes = [rect(3, 5, 17, 9), rect(40, 33, 24, 31)];
    let band = rect(0, 50, SIDE, 4);
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            depth: Some(DepthAttachment {
                view: ImageView::of(depths),
                load: LoadOp::Clear(1.0),
                store: StoreOp::Store,
            }),
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, near, 0)?
            .draw(Draw::of(4))?
            .set_scissor(Rect {
                width: SIDE / 2,
                height: SIDE,
                ..Rect::default()
            })
            .clear_attachments(&[ClearAttachment::Depth(0.75)], &holes)?
            .bind_vertex_buffer(0, far, 0)?
            .draw(Draw::of(4))?
            .clear_attachments(&[color(BLUE)], &[band])?;
        pass.end_rendering()
    });
    it.run();
    let hole = |x, y| holes.iter().any(|hole| inside(*hole, x, y));
    let texels = it.texels(image);
    check(&texels, 0, |x, y| match () {
        () if inside(band, x, y) => BLUE_WORD,
        // The second draw has a scissor.
        () if hole(x, y) && x < SIDE / 2 => GREEN_WORD,
        () => RED_WORD,
    });
    let texels = it.texels(depths);
    check(&texels, 0, |x, y| {
        let depth: f32 = match () {
            () if hole(x, y) && x < SIDE / 2 => 0.5,
            () if hole(x, y) => 0.75,
            () => 0.25,
        };
        depth.to_bits()
    });
}

/// A draw is as it was before a clear of a part, though nothing was bound or set in between.
pub(crate) fn a_draw_is_the_same_behind_a_clear() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let upper = it.buffer(&rectangle(ALL, [1.0, 0.0], 0.5, RED));
    let holes = [rect(8, 8, 8, 8), rect(40, 16, 8, 32)];
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, upper, 0)?
            .draw(Draw::of(4))?
            .clear_attachments(&[color(GREEN)], &holes)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    check(&texels, 0, |x, y| match () {
        () if y < SIDE / 2 => RED_WORD,
        () if inside(holes[1], x, y) => GREEN_WORD,
        () => BLUE_WORD,
    });
}

/// Layers of a pass are cleared where they are named, and nothing is drawn.
pub(crate) fn layers_are_cleared_on_their_own() {
    let mut it = Bench::new();
    let format = it.format("R8G8B8A8_UNORM");
    let info = ImageInfo {
        layers: 4,
        ..ImageInfo::two_d(format, SIDE, SIDE)
    };
    let made = it.device.create_image(it.space, info);
    let image = made.or_fail("there is memory");
    let hole = ClearRect {
        layer: 1,
        layers: 2,
        ..rect(7, 0, 20, SIDE)
    };
    it.record(|recorder| {
        let attachment = ColorAttachment::cleared(ImageView::of(image), ClearColor::Float(RED));
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(attachment)],
            layers: 4,
            ..RenderingInfo::default()
        })?;
        pass.clear_attachments(&[color(GREEN)], &[hole])?;
        pass.end_rendering()
    });
    it.run();
    for layer in 0..4 {
        let texels = it.texels_of(image, layer);
        check(&texels, 0, |x, y| {
            if inside(hole, x, y) && (1..3).contains(&layer) {
                GREEN_WORD
            } else {
                RED_WORD
            }
        });
    }
}

/// Draws and clears go to the views of the mask, and to no other layer.
pub(crate) fn each_view_is_drawn_to_its_layer() {
    let mut it = Bench::new();
    let format = it.format("R8G8B8A8_UNORM");
    let info = ImageInfo {
        layers: 4,
        ..ImageInfo::two_d(format, SIDE, SIDE)
    };
    let made = it.device.create_image(it.space, info);
    let image = made.or_fail("there is memory");
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let upper = it.buffer(&rectangle(ALL, [1.0, 0.0], 0.5, GREEN));
    for (view_mask, clear) in [(0b1111, GREEN), (0b101, BLUE)] {
        it.record(|recorder| {
            let view = ImageView::of(image);
            let attachment = ColorAttachment::cleared(view, ClearColor::Float(clear));
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(attachment)],
                view_mask,
                ..RenderingInfo::default()
            })?;
            if view_mask == 0b101 {
                pass.clear_attachments(&[color(RED)], &[rect(0, 16, SIDE, 32)])?
                    .bind_pipeline(pipeline)?
                    .bind_vertex_buffer(0, upper, 0)?
                    .draw(Draw::of(4))?;
            }
            pass.end_rendering()
        });
        it.run();
    }
    for layer in 0..4 {
        let texels = it.texels_of(image, layer);
        check(&texels, 0, |_, y| match (layer, y) {
            (1 | 3, _) | (_, 0..32) => GREEN_WORD,
            (_, 32..48) => RED_WORD,
            _ => BLUE_WORD,
        });
    }
}

/// Vertex programs read the number of the view that they draw, in every draw of a pass.
pub(crate) fn programs_read_the_number_of_their_view() {
    let mut it = Bench::new();
    let format = it.format("R8G8B8A8_UNORM");
    let info = ImageInfo {
        layers: 3,
        ..ImageInfo::two_d(format, SIDE, SIDE)
    };
    let made = it.device.create_image(it.space, info);
    let image = made.or_fail("there is memory");
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let arch = it.arch();
    let programs = (shaders::view_placed_vertices(arch), shaders::color(arch));
    let pipeline = it.pipeline_of(&programs, &info);
    // A quarter of the width, to the right of the centre that the view has.
    let quarter = |top, bottom, color| rectangle([0.0, top], [0.5, bottom], 0.5, color);
    let upper = it.buffer(&quarter(-1.0, 0.0, GREEN));
    let lower = it.buffer(&quarter(0.0, 1.0, RED));
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            view_mask: 0b11,
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?;
        for buffer in [upper, lower] {
            pass.bind_vertex_buffer(0, buffer, 0)?.draw(Draw::of(4))?;
        }
        pass.end_rendering()
    });
    it.run();
    for view in 0..2 {
        let texels = it.texels_of(image, view);
        let left = view * SIDE / 2;
        check(&texels, 0, |x, y| match (x, y) {
            (x, 0..32) if (left..left + SIDE / 4).contains(&x) => GREEN_WORD,
            (x, _) if (left..left + SIDE / 4).contains(&x) => RED_WORD,
            _ => BLUE_WORD,
        });
    }
}

/// A pass that begins with a clear may be one whose last vertices provoke.
pub(crate) fn a_pass_of_clears_has_the_provoking_vertex_of_its_first_draw() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        last_vertex_provokes: true,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let upper = it.buffer(&rectangle(ALL, [1.0, 0.0], 0.5, GREEN));
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.clear_attachments(&[color(RED)], &[rect(0, 16, SIDE, 32)])?
            .bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, upper, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    check(&texels, 0, |_, y| match y {
        0..32 => GREEN_WORD,
        32..48 => RED_WORD,
        _ => BLUE_WORD,
    });
}

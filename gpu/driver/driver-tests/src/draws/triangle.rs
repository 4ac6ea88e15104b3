//! A clear and a triangle.

use super::bench::{BLUE, BLUE_WORD, Bench, RED, RED_WORD, check_triangle, vertices};
use crate::bench::{brief, config};
use crate::machine::Machine;
use eitri_model::{Config, Product};
use eitri_runtime::{ClearColor, ColorAttachment, Draw, ImageView, RenderingInfo, Tiling};

pub(crate) fn a_pass_clears_its_image() {
    for tiling in [Tiling::Linear, Tiling::UInterleaved] {
        let mut it = Bench::new();
        let image = it.image("R8G8B8A8_UNORM", tiling);
        it.record(|recorder| {
            let clear = ClearColor::Float(BLUE);
            let color = ColorAttachment::cleared(ImageView::of(image), clear);
            let pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(color)],
                ..RenderingInfo::default()
            })?;
            pass.end_rendering()
        });
        it.run();
        let texels = it.texels(image);
        assert!(
            texels.iter().all(|texel| *texel == BLUE_WORD),
            "{tiling:?}: {texels:x?}"
        );
    }
}

/// On every product, or on some of each generation.
pub(crate) fn a_triangle_is_drawn() {
    let step = if brief() { 4 } else { 1 };
    for product in Product::all().step_by(step) {
        if product.needs_hash.is_some() {
            continue;
        }
        for tiling in [Tiling::Linear, Tiling::UInterleaved] {
            draw_triangle(product, tiling);
        }
    }
}

fn draw_triangle(product: Product, tiling: Tiling) {
    let mut it = Bench::on(Machine::new(Config {
        product,
        ..config()
    }));
    let image = it.image("R8G8B8A8_UNORM", tiling);
    let info = it.info();
    let pipeline = it.pipeline(&info);
    let corner = |x, y| ([x, y, 0.5, 1.0], RED);
    let corners = [corner(-0.8, -0.75), corner(0.75, -0.5), corner(-0.25, 0.8)];
    let buffer = it.buffer(&vertices(&corners));
    it.record(|recorder| {
        let clear = ClearColor::Float(BLUE);
        let color = ColorAttachment::cleared(ImageView::of(image), clear);
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(color)],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, buffer, 0)?
            .draw(Draw::of(3))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    let pixel = |([x, y, ..], _): ([f32; 4], [f32; 4])| [(x + 1.0) * 32.0, (y + 1.0) * 32.0];
    check_triangle(&texels, corners.map(pixel), RED_WORD, BLUE_WORD);
}

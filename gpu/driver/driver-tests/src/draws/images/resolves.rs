//! Resolves: at the end of a pass, beside samples that are stored, of depth and stencil, and outside of passes.

use super::super::bench::{Bench, RED, SIDE, rectangle};
use super::{flat, words};
use crate::bench::OrFail;
use crate::machine::Machine;
use alloc::vec::Vec;
use core::cmp::Ordering;
use eitri_descriptors::texture::Func;
use eitri_model::Config;
use eitri_runtime::{
    Accesses, Aspect, Attachment, ClearColor, ColorAttachment, DepthAttachment, DepthState, Draw,
    GraphicsError, GraphicsPipelineInfo, Image, ImageCopy, ImageView, LoadOp, RenderingInfo,
    Resolve, ResolveMode, StoreOp, Tiling, Topology,
};

/// Images with four samples and with one, of a format.
fn images(it: &mut Bench, format: &str) -> [Image; 2] {
    images_of(it, format, 4)
}

/// The same with so many samples.
fn images_of(it: &mut Bench, format: &str, samples: u32) -> [Image; 2] {
    let mut info = flat(it, format, [SIDE, SIDE], Tiling::UInterleaved);
    let one = it.new_image(info);
    info.samples = samples;
    [it.new_image(info), one]
}

/// Draws what covers all samples of the left half, and two of four in the column behind it. Depths there are 0.5, elsewhere 1.
fn draw(it: &mut Bench, color: (ColorAttachment, &str), depth: Option<(Image, Option<Resolve>)>) {
    draw_samples(it, 4, color, depth);
}

/// The same to so many samples: half of them in the column.
fn draw_samples(
    it: &mut Bench,
    samples: u32,
    (color, format): (ColorAttachment, &str),
    depth: Option<(Image, Option<Resolve>)>,
) {
    let colors = [Some(it.format(format))];
    let info = GraphicsPipelineInfo {
        samples,
        topology: Topology::TriangleStrip,
        colors: &colors,
        depth: depth.map(|_| DepthState {
            compare: Func::Less,
            write: true,
        }),
        has_depth: depth.is_some(),
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let middle = (SIDE / 2) as f32 + 0.5;
    let edge = middle / (SIDE / 2) as f32 - 1.0;
    let buffer = it.buffer(&rectangle([-1.0, -1.0], [edge, 1.0], 0.5, RED));
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(color)],
            depth: depth.map(|(image, _)| DepthAttachment {
                view: ImageView::of(image),
                load: LoadOp::Clear(1.0),
                store: StoreOp::DontCare,
            }),
            depth_resolve: depth.and_then(|(_, resolve)| resolve),
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, buffer, 0)?
            .draw(Draw::of(4))?;
        pass.end_rendering()
    });
    it.run();
}

/// What the texels of a row of columns are: left of the edge, in its column, right of it.
#[track_caller]
fn check_columns(texels: &[u32], [left, middle, right]: [&[u32]; 3]) {
    for (number, texel) in texels.iter().enumerate() {
        let x = number as u32 % SIDE;
        let allowed = match x.cmp(&(SIDE / 2)) {
            Ordering::Less => left,
            Ordering::Equal => middle,
            Ordering::Greater => right,
        };
        assert!(
            allowed.contains(texel),
            "({x}, {}): {texel:08x}, not {allowed:x?}",
            number as u32 / SIDE
        );
    }
}

/// Samples are stored, and their mean as well.
pub(crate) fn samples_are_stored_beside_their_mean() {
    let mut it = Bench::new();
    let format = "R8G8B8A8_UNORM";
    let [samples, mean] = images(&mut it, format);
    let color = ColorAttachment {
        resolve: Some(Resolve::average(ImageView::of(mean))),
        ..Bench::blue(samples)
    };
    draw(&mut it, (color, format), None);
    let (red, blue) = (0xFF00_00FF, 0xFFFF_0000);
    let texels = words(&it.slices(mean, (0, 0), Aspect::Color));
    let half = [0xFF80_0080, 0xFF7F_007F, 0xFF80_007F, 0xFF7F_0080];
    check_columns(&texels, [&[red], &half, &[blue]]);
    let stored = words(&it.slices(samples, (0, 0), Aspect::Color));
    let of_column = (0..4).map(|sample| {
        let plane = (SIDE * SIDE) as usize * sample;
        stored[plane + (SIDE / 2) as usize]
    });
    let reds = of_column.filter(|texel| *texel == red).count();
    assert_eq!(reds, 2, "samples of the edge");
    let all = stored.iter().filter(|texel| **texel == red).count();
    assert_eq!(all, (SIDE * SIDE * 2 + SIDE * 2) as usize);
}

/// Formats that the fixed function can't average.
pub(crate) fn means_of_raw_formats_are_worked_out() {
    for store in [StoreOp::DontCare, StoreOp::Store] {
        let mut it = Bench::new();
        let format = "R32G32B32A32_SFLOAT";
        let [samples, mean] = images(&mut it, format);
        let color = ColorAttachment {
            resolve: Some(Resolve::average(ImageView::of(mean))),
            store,
            ..ColorAttachment::cleared(
                ImageView::of(samples),
                ClearColor::Float([-3.0, 2.0, 0.0, 1.0]),
            )
        };
        draw(&mut it, (color, format), None);
        let texels = words(&it.slices(mean, (0, 0), Aspect::Color));
        let reds: Vec<u32> = texels.iter().step_by(4).copied().collect();
        let bits = [1.0_f32, -1.0, -3.0].map(|it| [it.to_bits()]);
        check_columns(&reds, [&bits[0], &bits[1], &bits[2]]);
        let greens: Vec<u32> = texels.iter().skip(1).step_by(4).copied().collect();
        let bits = [0.0_f32, 1.0, 2.0].map(|it| [it.to_bits()]);
        check_columns(&greens, [&bits[0], &bits[1], &bits[2]]);
    }
}

/// Means of two samples, which GPUs from v12 on have.
pub(crate) fn means_of_two_samples_are_worked_out() {
    let config = Config::named("G720").or_fail("it is in the table");
    let mut it = Bench::on(Machine::new(config));
    let format = "R32G32B32A32_SFLOAT";
    let [samples, mean] = images_of(&mut it, format, 2);
    let color = ColorAttachment {
        resolve: Some(Resolve::average(ImageView::of(mean))),
        store: StoreOp::DontCare,
        ..ColorAttachment::cleared(
            ImageView::of(samples),
            ClearColor::Float([-3.0, 2.0, 0.0, 1.0]),
        )
    };
    draw_samples(&mut it, 2, (color, format), None);
    let texels = words(&it.slices(mean, (0, 0), Aspect::Color));
    let reds: Vec<u32> = texels.iter().step_by(4).copied().collect();
    let bits = [1.0_f32, -1.0, -3.0].map(|it| [it.to_bits()]);
    check_columns(&reds, [&bits[0], &bits[1], &bits[2]]);
}

/// Every mode of depth.
pub(crate) fn depth_is_resolved_in_every_mode() {
    let half = [0.5_f32.to_bits()];
    let one = [1.0_f32.to_bits()];
    let mean = [0.75_f32.to_bits()];
    let either = [0.5_f32.to_bits(), 1.0_f32.to_bits()];
    let modes: [(ResolveMode, &[u32]); 4] = [
        (ResolveMode::Min, &half),
        (ResolveMode::Max, &one),
        (ResolveMode::Average, &mean),
        (ResolveMode::SampleZero, &either),
    ];
    for (mode, middle) in modes {
        let mut it = Bench::new();
        let [samples, depth] = images(&mut it, "D32_SFLOAT");
        let [colors, _] = images(&mut it, "R8G8B8A8_UNORM");
        let view = ImageView::of(depth);
        let color = ColorAttachment {
            store: StoreOp::DontCare,
            ..Bench::blue(colors)
        };
        let resolve = Some(Resolve { view, mode });
        draw(&mut it, (color, "R8G8B8A8_UNORM"), Some((samples, resolve)));
        let texels = words(&it.slices(depth, (0, 0), Aspect::Depth));
        check_columns(&texels, [&half, middle, &one]);
    }
}

/// A part of an image with samples goes to another place, of integers the first sample.
pub(crate) fn images_are_resolved_outside_of_passes() {
    let mut it = Bench::new();
    let [samples, mean] = images(&mut it, "R8G8B8A8_UNORM");
    draw(&mut it, (Bench::blue(samples), "R8G8B8A8_UNORM"), None);
    let [integers, first] = images(&mut it, "R32_UINT");
    let stored = it.fill_with_noise(integers, (0, 0), Aspect::Color, 5);
    it.record(|recorder| {
        recorder.barrier(Accesses::ALL, Accesses::ALL)?;
        let region = ImageCopy {
            from_offset: [30, 10, 0],
            to_offset: [2, 40, 0],
            extent: [5, 6, 1],
            ..ImageCopy::default()
        };
        // One sample has no mean, several samples are none, and formats are not converted.
        for (source, target) in [(mean, mean), (samples, samples), (samples, first)] {
            let attachment = Attachment::Color(0);
            let refused = recorder.resolve_image(source, target, &region).map(drop);
            assert_eq!(refused, Err(GraphicsError::Mismatch { attachment }.into()));
        }
        recorder.resolve_image(samples, mean, &region)?;
        recorder.resolve_image(integers, first, &region)?;
        Ok(())
    });
    it.run();
    let means = words(&it.slices(mean, (0, 0), Aspect::Color));
    let firsts = words(&it.slices(first, (0, 0), Aspect::Color));
    let stored = words(&stored);
    for (number, (mean, first)) in means.iter().zip(firsts).enumerate() {
        let (x, y) = (number as u32 % SIDE, number as u32 / SIDE);
        if !(2..7).contains(&x) || !(40..46).contains(&y) {
            assert_eq!((*mean, first), (0, 0), "({x}, {y})");
            continue;
        }
        let (from_x, from_y) = (x + 28, y - 30);
        assert_eq!(
            first,
            stored[(from_y * SIDE + from_x) as usize],
            "({x}, {y})"
        );
        let [red, _, blue, _] = mean.to_le_bytes();
        let expected = match from_x.cmp(&(SIDE / 2)) {
            Ordering::Less => (255, 0),
            Ordering::Equal => (128, 128),
            Ordering::Greater => (0, 255),
        };
        let near = |a: u8, b: u8| a.abs_diff(b) <= 1;
        assert!(
            near(red, expected.0) && near(blue, expected.1),
            "({x}, {y}): {mean:08x}"
        );
    }
}

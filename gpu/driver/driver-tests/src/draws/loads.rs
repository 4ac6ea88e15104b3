//! Passes that begin with what their attachments hold, of several kinds in one command buffer.

use super::bench::{BLUE_WORD, Bench, GREEN_WORD, RED, RED_WORD, SIDE, check, rectangle};
use crate::bench::OrFail;
use alloc::vec::Vec;
use eitri_runtime::{
    Accesses, ClearAttachment, ClearColor, ClearRect, ColorAttachment, Draw, GraphicsPipelineInfo,
    ImageInfo, ImagePart, ImageView, LoadOp, Rect, RenderingInfo, Resolve, StoreOp, Tiling,
    Topology,
};

/// Pixels along a side of the corner that a pass changes.
const CORNER: u32 = 8;

/// A texel that no other image has at the place.
fn texel(image: usize, x: u32, y: u32) -> u32 {
    0x8040_2001 + 0x0101_0101 * image as u32 + x + (y << 8)
}

/// Floats, signed and unsigned integers, and several samples are loaded, in one order and in the other.
pub(crate) fn kinds_and_samples_of_what_passes_load_are_their_own() {
    let mut it = Bench::new();
    let clears = [
        ("R8G8B8A8_UNORM", ClearColor::Float([1.0, 0.0, 0.0, 1.0])),
        ("R32_SINT", ClearColor::Int([0xFF00_00FF_u32 as i32; 4])),
        ("R32_UINT", ClearColor::Uint([0xFF00_00FF; 4])),
    ];
    let images = clears.map(|(format, _)| it.image(format, Tiling::Linear));
    let info = ImageInfo {
        samples: 4,
        tiling: Tiling::UInterleaved,
        ..ImageInfo::two_d(it.format("R8G8B8A8_UNORM"), SIDE, SIDE)
    };
    let samples = it.device.create_image(it.space, info);
    let samples = samples.or_fail("there is memory");
    let mean = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        samples: 4,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    // The edge goes through the middle of a column of pixels: two samples of four are left of it.
    let edge = 0.5 / (SIDE / 2) as f32;
    let left = it.buffer(&rectangle([-1.0, -1.0], [edge, 1.0], 0.5, RED));
    let corner = ClearRect {
        rect: Rect {
            width: CORNER,
            height: CORNER,
            ..Rect::default()
        },
        layer: 0,
        layers: 1,
    };
    let clear = |color| ClearAttachment::Color { location: 0, color };
    for order in [[0, 1, 2, 3], [3, 2, 1, 0]] {
        for (number, image) in images.into_iter().enumerate() {
            let places = (0..SIDE * SIDE).map(|at| (at % SIDE, at / SIDE));
            let bytes: Vec<u8> = places
                .flat_map(|(x, y)| texel(number, x, y).to_le_bytes())
                .collect();
            let written = it.device.write_image(image, ImagePart::default(), &bytes);
            written.or_fail("it fits");
        }
        it.record(|recorder| {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(samples))],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, left, 0)?
                .draw(Draw::of(4))?;
            pass.end_rendering()?;
            recorder.barrier(Accesses::COLOR_WRITE, Accesses::COLOR_READ)?;
            for number in order {
                let image = images.get(number).copied();
                let color = ColorAttachment {
                    load: LoadOp::Load,
                    store: StoreOp::Store,
                    resolve: image
                        .is_none()
                        .then(|| Resolve::average(ImageView::of(mean))),
                    ..Bench::blue(image.unwrap_or(samples))
                };
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    colors: &[Some(color)],
                    ..RenderingInfo::default()
                })?;
                let color = match clears.get(number) {
                    Some((_, color)) => *color,
                    None => ClearColor::Float([0.0, 1.0, 0.0, 1.0]),
                };
                pass.clear_attachments(&[clear(color)], &[corner])?;
                pass.end_rendering()?;
            }
            Ok(())
        });
        it.run();
        let is_corner = |x: u32, y: u32| x < CORNER && y < CORNER;
        for (number, image) in images.into_iter().enumerate() {
            let texels = it.texels(image);
            check(&texels, 0, |x, y| match is_corner(x, y) {
                true => RED_WORD,
                false => texel(number, x, y),
            });
        }
        let texels = it.texels(mean);
        check(&texels, 1, |x, y| match x.cmp(&(SIDE / 2)) {
            _ if is_corner(x, y) => GREEN_WORD,
            core::cmp::Ordering::Less => RED_WORD,
            core::cmp::Ordering::Equal => 0xFF80_0080,
            core::cmp::Ordering::Greater => BLUE_WORD,
        });
    }
}

//! Passes in several parts, against the same pass in one.

use super::bench::{Bench, GREEN, GREEN_WORD, RED, RED_WORD, SIDE, check, rectangle};
use crate::bench::OrFail;
use alloc::vec::Vec;
use eitri_descriptors::raster::StencilOp;
use eitri_descriptors::texture::Func;
use eitri_runtime::{
    ClearColor, ColorAttachment, CommandError, DepthAttachment, DepthState, Draw, Error,
    GraphicsError, GraphicsPipelineInfo, Image, ImageInfo, ImageView, LoadOp, RenderingInfo,
    Resolve, StencilAttachment, StencilFace, StencilState, StoreOp, Tiling, Topology,
};

const ALL: [f32; 2] = [-1.0, -1.0];
const BLUE: ClearColor = ClearColor::Float([0.0, 0.0, 1.0, 1.0]);

/// A target of so many samples, what its samples become one in, depth and stencil.
struct Targets {
    color: Image,
    resolved: Option<Image>,
    depth: Image,
}

impl Targets {
    fn new(it: &mut Bench, samples: u32) -> Targets {
        let mut image = |name: &str, samples| {
            let format = it.format(name);
            let info = ImageInfo {
                samples,
                tiling: Tiling::UInterleaved,
                ..ImageInfo::two_d(format, SIDE, SIDE)
            };
            let made = it.device.create_image(it.space, info);
            made.or_fail("there is memory")
        };
        Targets {
            color: image("R8G8B8A8_UNORM", samples),
            resolved: (samples > 1).then(|| image("R8G8B8A8_UNORM", 1)),
            depth: image("D24_UNORM_S8_UINT", samples),
        }
    }

    /// What is seen of it at the end.
    fn seen(&self) -> Image {
        self.resolved.unwrap_or(self.color)
    }

    /// The pass keeps colours alone: of several samples the mean.
    fn color(&self) -> ColorAttachment {
        ColorAttachment {
            resolve: self.resolved.map(|to| Resolve::average(ImageView::of(to))),
            store: match self.resolved {
                Some(_) => StoreOp::DontCare,
                None => StoreOp::Store,
            },
            ..ColorAttachment::cleared(ImageView::of(self.color), BLUE)
        }
    }

    fn info<'c>(
        &self,
        colors: &'c [Option<ColorAttachment>],
        (resuming, suspending): (bool, bool),
    ) -> RenderingInfo<'c> {
        let view = ImageView::of(self.depth);
        RenderingInfo {
            colors,
            depth: Some(DepthAttachment::transient(view, 1.0)),
            stencil: Some(StencilAttachment {
                view,
                load: LoadOp::Clear(0),
                store: StoreOp::DontCare,
            }),
            resuming,
            suspending,
            ..RenderingInfo::default()
        }
    }
}

/// Each part of a pass sees colours, samples, depth and stencil of the parts before, in the same commands and in others; one draws
/// nothing.
pub(crate) fn parts_of_a_pass_are_one_pass() {
    for samples in [1, 4] {
        let mut it = Bench::new();
        let (whole, parts) = (
            Targets::new(&mut it, samples),
            Targets::new(&mut it, samples),
        );
        let once = StencilFace {
            compare: Func::Greater,
            fail: StencilOp::Keep,
            depth_fail: StencilOp::Keep,
            pass: StencilOp::Replace,
            compare_mask: 0xFF,
            write_mask: 0xFF,
            reference: 5,
        };
        let info = GraphicsPipelineInfo {
            topology: Topology::TriangleStrip,
            depth: Some(DepthState {
                compare: Func::Less,
                write: true,
            }),
            stencil: Some(StencilState {
                front: once,
                back: once,
            }),
            has_depth: true,
            has_stencil: true,
            samples,
            ..it.info()
        };
        let pipeline = it.pipeline(&info);
        // The second is behind the first; the third is nearest, but stencil lets each pixel be drawn once. Slanted: sides cross pixels.
        let left = it.buffer(&rectangle(ALL, [0.13, 1.0], 0.25, RED));
        let upper = it.buffer(&rectangle(ALL, [1.0, 0.07], 0.5, GREEN));
        let all = it.buffer(&rectangle(ALL, [0.9, 0.9], 0.1, [0.2, 0.4, 0.6, 1.0]));
        let colors = [Some(whole.color())];
        it.record(|recorder| {
            let mut pass = recorder.begin_rendering(&whole.info(&colors, (false, false)))?;
            pass.bind_pipeline(pipeline)?;
            for buffer in [left, upper, all] {
                pass.bind_vertex_buffer(0, buffer, 0)?.draw(Draw::of(4))?;
            }
            pass.end_rendering()
        });
        it.run();
        let expected = it.texels(whole.seen());
        let colors = [Some(parts.color())];
        let first = [(Some(left), (false, true)), (None, (true, true))];
        let second = [(Some(upper), (true, true)), (Some(all), (true, false))];
        let mut refused = None;
        for part in [&first, &second] {
            it.record(|recorder| {
                for (buffer, flags) in part {
                    let mut pass = recorder.begin_rendering(&parts.info(&colors, *flags))?;
                    if let Some(buffer) = buffer {
                        pass.bind_pipeline(pipeline)?
                            .bind_vertex_buffer(0, *buffer, 0)?
                            .draw(Draw::of(4))?;
                    }
                    pass.end_rendering()?;
                    if *flags == (false, true) {
                        let other = parts.info(&colors, (false, false));
                        refused = recorder.begin_rendering(&other).err();
                    }
                }
                Ok(())
            });
            it.run();
        }
        let found: Vec<u32> = it.texels(parts.seen());
        assert!(
            found == expected,
            "{samples} samples: the parts draw something else"
        );
        check(&found, 0, |x, y| match (x, y) {
            (0..30, 0..50) => RED_WORD,
            (40..57, 0..30) => GREEN_WORD,
            // What is at the sides of these is compared above.
            _ => found.get((y * SIDE + x) as usize).copied().unwrap_or(0),
        });
        let wanted = CommandError::from(GraphicsError::NotResumed);
        assert_eq!(refused, Some(Error::from(wanted)));
    }
}

/// What is asked for of a part may be what a pass before was asked for, word by word: it is a part all the same.
pub(crate) fn a_part_that_asks_for_what_a_pass_before_did_is_resumed() {
    let mut it = Bench::new();
    let targets = Targets::new(&mut it, 1);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let left = it.buffer(&rectangle(ALL, [0.0, 1.0], 0.25, RED));
    let right = it.buffer(&rectangle([0.0, -1.0], [1.0, 0.0], 0.25, GREEN));
    let colors = [Some(targets.color())];
    let part = |resuming, suspending| RenderingInfo {
        colors: &colors,
        resuming,
        suspending,
        ..RenderingInfo::default()
    };
    let mut refused = None;
    it.record(|recorder| {
        let parts = [
            (right, (false, false)),
            (left, (false, true)),
            (right, (true, false)),
        ];
        for (buffer, (resuming, suspending)) in parts {
            let mut pass = recorder.begin_rendering(&part(resuming, suspending))?;
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, buffer, 0)?
                .draw(Draw::of(4))?;
            pass.end_rendering()?;
            if suspending {
                refused = recorder.begin_rendering(&part(false, false)).err();
            }
        }
        Ok(())
    });
    it.run();
    let found: Vec<u32> = it.texels(targets.seen());
    check(&found, 0, |x, y| match (x < SIDE / 2, y < SIDE / 2) {
        (true, _) => RED_WORD,
        (false, true) => GREEN_WORD,
        (false, false) => found.get((y * SIDE + x) as usize).copied().unwrap_or(0),
    });
    let wanted = CommandError::from(GraphicsError::NotResumed);
    assert_eq!(refused, Some(Error::from(wanted)));
}

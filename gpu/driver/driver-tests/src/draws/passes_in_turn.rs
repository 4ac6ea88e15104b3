//! Passes one after the other in the same commands: what one has set is none of the next one's.

use super::bench::{Bench, GREEN, RED, SIDE, rectangle};
use crate::bench::OrFail;
use alloc::vec;
use alloc::vec::Vec;
use eitri_descriptors::texture::Func;
use eitri_runtime::{
    Buffer, ClearAttachment, ClearColor, ClearRect, CommandError, DepthAttachment, DepthState,
    Draw, Error, GraphicsError, GraphicsPipeline, GraphicsPipelineInfo, Image, ImageInfo,
    ImagePart, ImageView, IndexType, Occlusion, Platform, QueryPool, Recorder, Rect, RenderPass,
    RenderingInfo, Tiling, Topology, Viewport,
};

const ALL: [f32; 2] = [-1.0, -1.0];
/// Queries: as many as there are passes in a recording.
const QUERIES: u32 = 3 * HOW.len() as u32;

/// How a pass differs from a plain one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Plain,
    Buffer,
    Pipeline,
    Scissor,
    Viewport,
    Depths,
    Count,
    Indexed,
    OtherIndices,
    Culled,
    DepthTest,
    Counted,
    Cleared,
    Nothing,
    Small,
    Dropped,
}

const HOW: [How; 16] = [
    How::Plain,
    How::Buffer,
    How::Pipeline,
    How::Scissor,
    How::Viewport,
    How::Depths,
    How::Count,
    How::Indexed,
    How::OtherIndices,
    How::Culled,
    How::DepthTest,
    How::Counted,
    How::Cleared,
    How::Nothing,
    How::Small,
    How::Dropped,
];

/// Where a pass renders to.
struct Target {
    side: u32,
    color: Image,
    depth: Image,
}

/// What passes use.
struct Parts {
    /// A target for each kind of pass.
    targets: Vec<Target>,
    pipelines: [GraphicsPipeline; 2],
    buffers: [Buffer; 2],
    indices: [Buffer; 2],
    pool: QueryPool,
}

impl Parts {
    fn new(it: &mut Bench) -> Parts {
        let target = |how| {
            let side = if how == How::Small { SIDE / 2 } else { SIDE };
            let [color, depth] = ["R8G8B8A8_UNORM", "D32_SFLOAT"].map(|name| {
                let info = ImageInfo {
                    tiling: Tiling::UInterleaved,
                    ..ImageInfo::two_d(it.format(name), side, side)
                };
                let made = it.device.create_image(it.space, info);
                made.or_fail("there is memory")
            });
            Target { side, color, depth }
        };
        let targets = HOW.into_iter().map(target).collect();
        let info = GraphicsPipelineInfo {
            topology: Topology::TriangleStrip,
            depth: Some(DepthState {
                compare: Func::Less,
                write: true,
            }),
            has_depth: true,
            ..it.info()
        };
        let list = GraphicsPipelineInfo {
            topology: Topology::TriangleList,
            ..info
        };
        let indices =
            |it: &mut Bench, [a, b, c, d]: [u32; 4]| it.buffer(&[a | b << 16, c | d << 16]);
        let pool = it.device.create_query_pool(it.space, QUERIES);
        Parts {
            targets,
            pipelines: [it.pipeline(&info), it.pipeline(&list)],
            buffers: [
                it.buffer(&rectangle(ALL, [0.5, 0.5], 0.25, RED)),
                it.buffer(&rectangle([-0.75, -0.25], [1.0, 1.0], 0.25, GREEN)),
            ],
            indices: [indices(it, [0, 1, 2, 3]), indices(it, [2, 1, 2, 0])],
            pool: pool.or_fail("there is memory"),
        }
    }

    /// The target of such a pass.
    fn target(&self, how: How) -> &Target {
        let number = HOW.iter().position(|it| *it == how);
        let target = number.and_then(|number| self.targets.get(number));
        target.or_fail("each has one")
    }
}

/// Begins a pass, to a colour that is cleared.
fn begin<'p, 'r, 's, 'd, P: Platform>(
    recorder: &'p mut Recorder<'r, 's, 'd, P>,
    target: &Target,
) -> Result<RenderPass<'p, 'r, 's, 'd, P>, Error> {
    recorder.begin_rendering(&RenderingInfo {
        colors: &[Some(Bench::blue(target.color))],
        depth: Some(DepthAttachment::transient(ImageView::of(target.depth), 0.5)),
        ..RenderingInfo::default()
    })
}

/// Records a pass; its query is the one of this number.
fn pass<P: Platform>(
    recorder: &mut Recorder<'_, '_, '_, P>,
    parts: &Parts,
    (how, query): (How, u32),
) -> Result<(), Error> {
    let [strip, list] = parts.pipelines;
    let [red, green] = parts.buffers;
    let mut it = begin(recorder, parts.target(how))?;
    it.bind_pipeline(if how == How::Pipeline { list } else { strip })?
        .bind_vertex_buffer(0, if how == How::Buffer { green } else { red }, 0)?;
    let part = Rect {
        x: 7,
        y: 9,
        width: 50,
        height: 50,
    };
    let viewport = Viewport::of(SIDE, SIDE);
    match how {
        How::Scissor | How::Dropped => {
            it.set_scissor(part);
        }
        How::Viewport => {
            it.set_viewport(Viewport {
                x: 12.0,
                width: 40.0,
                ..viewport
            });
        }
        // All of it is behind what was cleared.
        How::Depths => {
            it.set_viewport(Viewport {
                depth: [0.625, 1.0],
                ..viewport
            });
        }
        How::Culled => {
            it.set_cull_mode(true, true);
        }
        How::DepthTest => {
            it.set_depth_test(Some(DepthState {
                compare: Func::Greater,
                write: true,
            }));
        }
        How::Counted => {
            it.begin_query(parts.pool, query, Occlusion::Precise)?;
        }
        How::Cleared => {
            let color = ClearAttachment::Color {
                location: 0,
                color: ClearColor::Float([1.0; 4]),
            };
            let rect = ClearRect {
                rect: part,
                layer: 0,
                layers: 1,
            };
            it.clear_attachments(&[color], &[rect])?;
        }
        _ => {}
    }
    let [whole, other] = parts.indices;
    match how {
        How::Nothing => {}
        How::Count => {
            it.draw(Draw::of(3))?;
        }
        How::Indexed | How::OtherIndices => {
            let indices = if how == How::Indexed { whole } else { other };
            it.bind_index_buffer(indices, 0, IndexType::Uint16)?
                .draw_indexed(Draw::of(4))?;
        }
        _ => {
            it.draw(Draw::of(4))?;
        }
    }
    if how == How::Counted {
        it.end_query()?;
    }
    if how == How::Dropped {
        return Ok(());
    }
    it.end_rendering()
}

/// Records passes, and runs them.
fn run(it: &mut Bench, parts: &Parts, all: &[How]) {
    it.record(|recorder| {
        recorder.reset_queries(parts.pool, 0, QUERIES)?;
        let mut all = all.iter().copied().zip(0..);
        all.try_for_each(|each| pass(recorder, parts, each))
    });
    it.run();
}

/// What such a pass has rendered last.
fn picture(it: &mut Bench, parts: &Parts, how: How) -> Vec<u8> {
    let Target { side, color, .. } = *parts.target(how);
    let mut bytes = vec![0; (side * side * 4) as usize];
    let read = it
        .device
        .read_image(color, ImagePart::default(), &mut bytes);
    read.or_fail("it is there");
    bytes
}

/// A pass gives the same picture alone and behind any other one, which set something else: its pipeline, buffers, indices, state.
pub(crate) fn passes_in_turn_are_as_each_alone() {
    in_turn(&HOW);
}

/// The same behind one that is dropped.
pub(crate) fn passes_behind_a_dropped_one_are_as_each_alone() {
    in_turn(&[How::Dropped]);
}

fn in_turn(others: &[How]) {
    let mut it = Bench::new();
    let parts = Parts::new(&mut it);
    let drawn = || HOW.into_iter().filter(|how| *how != How::Dropped);
    let alone: Vec<_> = drawn()
        .map(|how| {
            run(&mut it, &parts, &[how]);
            (how, picture(&mut it, &parts, how))
        })
        .collect();
    let (_, plain) = alone.first().or_fail("there are some");
    for (how, other) in &alone {
        let alike = matches!(how, How::Plain | How::Indexed | How::Counted);
        assert!(alike || other != plain, "{how:?} is a picture of its own");
    }
    for &before in others {
        // A plain pass comes first: the one before the last may go on from it.
        let all: Vec<_> = drawn().flat_map(|how| [How::Plain, before, how]).collect();
        run(&mut it, &parts, &all);
        for (how, expected) in &alone {
            let found = picture(&mut it, &parts, *how);
            assert!(
                found == *expected,
                "{how:?} behind {before:?} is another picture"
            );
        }
    }
}

/// A pass that was leaked leaves its commands without a place for the next one; one that was dropped does not.
pub(crate) fn no_pass_begins_behind_one_that_was_leaked() {
    let mut it = Bench::new();
    let parts = Parts::new(&mut it);
    let target = parts.target(How::Plain);
    it.record(|recorder| {
        drop(begin(recorder, target)?);
        core::mem::forget(begin(recorder, target)?);
        let leaked = begin(recorder, target).map(drop);
        let wanted = CommandError::from(GraphicsError::PassLeaked);
        assert_eq!(leaked, Err(wanted.into()));
        Ok(())
    });
    // Other commands have their own.
    run(&mut it, &parts, &[How::Plain]);
}

//! A pass of many triangles, whose picture depends on the order of each of them: for heaps that are too small for it.

use super::bench::{BLUE, Bench, SIDE, Up, vertices};
use super::shaders;
use crate::bench::{OrFail, machine, queue_in, up};
use crate::machine::{Host, Machine};
use crate::shapes::Random;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::replace;
use eitri_descriptors::raster::StencilOp;
use eitri_descriptors::texture::Func;
use eitri_runtime::{
    BlendComponent, Buffer, ClearColor, ColorAttachment, ColorBlend, CommandBuffer,
    DepthAttachment, DepthState, Draw, GraphicsPipeline, GraphicsPipelineInfo, Image, ImageInfo,
    ImagePart, ImageView, LoadOp, Occlusion, QueryPool, Queue, Rect, RenderingInfo, Resolve, Space,
    StencilAttachment, StencilFace, StencilState, StoreOp, TilerHeap, TilerHeapConfig, Tiling,
};

/// Triangles of a draw, and draws of a pass.
const TRIANGLES: u32 = 700;
const DRAWS: u32 = 3;
/// Chunks that no pass here needs.
pub(super) const PLENTY: u32 = 24;

pub(super) const fn heap(initial: u32, most: u32) -> TilerHeapConfig {
    TilerHeapConfig {
        chunk_bytes: 128 << 10,
        initial,
        most,
        reserve: most - initial,
        passes: 16,
    }
}

/// What a pass is like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Like {
    pub(super) samples: u32,
    /// Samples are kept, too.
    pub(super) keeps: bool,
    /// Colours: one, or two of different formats.
    pub(super) colors: usize,
    /// It is drawn in two parts, of which the second resumes the first.
    pub(super) parts: bool,
    /// It begins with what is there.
    pub(super) loads: bool,
    pub(super) views: u32,
    pub(super) area: Option<Rect>,
}

pub(super) const PLAIN: Like = Like {
    samples: 1,
    keeps: false,
    colors: 1,
    parts: false,
    loads: false,
    views: 0,
    area: None,
};

/// Colours, what their samples become one in, depth with stencil, and a query.
pub(super) struct Targets {
    colors: Vec<Image>,
    resolved: Vec<Image>,
    depth: Image,
    query: QueryPool,
}

/// What is seen of a pass: the texels of all images that it keeps, and the samples that were counted.
pub(super) type Seen = (Vec<Vec<u32>>, Vec<Option<u64>>);

pub(super) struct Scene {
    like: Like,
    pub(super) bench: Bench,
    targets: Targets,
    pipeline: GraphicsPipeline,
    triangles: Buffer,
}

/// What of a scene is in an address space of its own.
pub(super) struct Context {
    space: Space,
    queue: Queue,
    commands: CommandBuffer,
    heap: TilerHeap,
    targets: Targets,
    pipeline: GraphicsPipeline,
    triangles: Buffer,
}

const FORMATS: [&str; 2] = ["R8G8B8A8_UNORM", "A2B10G10R10_UNORM_PACK32"];

impl Targets {
    fn new(it: &mut Bench, like: &Like) -> Targets {
        let layers = 32 - like.views.leading_zeros();
        let mut image = |name: &str, samples, tiling| {
            let format = it.format(name);
            let info = ImageInfo {
                samples,
                tiling,
                layers: layers.max(1),
                ..ImageInfo::two_d(format, SIDE, SIDE)
            };
            let made = it.device.create_image(it.space, info);
            made.or_fail("there is memory")
        };
        let names = FORMATS.iter().take(like.colors);
        let several = like.samples > 1;
        let tiling = if several {
            Tiling::UInterleaved
        } else {
            Tiling::Linear
        };
        let colors = names
            .clone()
            .map(|name| image(name, like.samples, tiling))
            .collect();
        let resolved = names
            .filter(|_| several)
            .map(|name| image(name, 1, Tiling::Linear));
        let resolved = resolved.collect();
        let depth = match like.colors {
            1 => "D24_UNORM_S8_UINT",
            _ => "D32_SFLOAT_S8_UINT",
        };
        let depth = image(depth, like.samples, Tiling::UInterleaved);
        let query = it.device.create_query_pool(it.space, 8);
        Targets {
            colors,
            resolved,
            depth,
            query: query.or_fail("there is memory"),
        }
    }

    /// Those that are seen.
    fn kept(&self) -> &[Image] {
        match self.resolved.as_slice() {
            [] => &self.colors,
            resolved => resolved,
        }
    }

    fn attachments(&self, like: &Like) -> Vec<Option<ColorAttachment>> {
        let attachment = |(number, image): (usize, &Image)| {
            let view = ImageView::of(*image);
            let resolved = self.resolved.get(number);
            Some(ColorAttachment {
                view,
                resolve: resolved.map(|to| Resolve::average(ImageView::of(*to))),
                load: match like.loads {
                    true => LoadOp::Load,
                    false => LoadOp::Clear(ClearColor::Float(BLUE)),
                },
                store: match resolved {
                    Some(_) if !like.keeps => StoreOp::DontCare,
                    _ => StoreOp::Store,
                },
            })
        };
        self.colors.iter().enumerate().map(attachment).collect()
    }

    fn info<'c>(
        &self,
        like: &Like,
        colors: &'c [Option<ColorAttachment>],
        (resuming, suspending): (bool, bool),
    ) -> RenderingInfo<'c> {
        let view = ImageView::of(self.depth);
        RenderingInfo {
            colors,
            area: like.area,
            view_mask: like.views,
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

/// Triangles anywhere around the target, of random colours and depths.
fn triangles() -> Vec<u32> {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut part = |from: f32, to: f32| from + (to - from) * random.roll(4096) as f32 / 4096.0;
    let mut all = Vec::new();
    for _ in 0..TRIANGLES * DRAWS {
        let (x, y) = (part(-1.1, 1.1), part(-1.1, 1.1));
        let color = [
            part(0.0, 1.0),
            part(0.0, 1.0),
            part(0.0, 1.0),
            part(0.2, 1.0),
        ];
        for _ in 0..3 {
            let at = [
                x + part(-0.1, 0.1),
                y + part(-0.1, 0.1),
                part(0.0, 1.0),
                1.0,
            ];
            all.push((at, color));
        }
    }
    vertices(&all)
}

/// Over each other by their alpha, if they are nearer, and at most five in each place: what comes later needs colours, depth and
/// stencil of what came before.
fn pipeline(it: &mut Bench, like: &Like) -> GraphicsPipeline {
    let counted = StencilFace {
        compare: Func::Greater,
        fail: StencilOp::Keep,
        depth_fail: StencilOp::Keep,
        pass: StencilOp::IncrSat,
        compare_mask: 0xFF,
        write_mask: 0xFF,
        reference: 5,
    };
    let over = ColorBlend {
        equations: Some([BlendComponent::OVER; 2]),
        ..ColorBlend::default()
    };
    let colors: Vec<_> = FORMATS
        .iter()
        .take(like.colors)
        .map(|name| Some(it.format(name)))
        .collect();
    let blends = vec![over; like.colors];
    let info = GraphicsPipelineInfo {
        colors: &colors,
        blends: &blends,
        depth: Some(DepthState {
            compare: Func::Less,
            write: true,
        }),
        stencil: Some(StencilState {
            front: counted,
            back: counted,
        }),
        has_depth: true,
        has_stencil: true,
        samples: like.samples,
        ..it.info()
    };
    let fragments = match like.colors {
        1 => shaders::color(it.arch()),
        _ => shaders::two_colors(it.arch()),
    };
    let programs = (shaders::vertices(it.arch()), fragments);
    it.pipeline_of(&programs, &info)
}

impl Scene {
    pub(super) fn new(
        like: Like,
        machine: Machine,
        device: Up<Host>,
        heap: TilerHeapConfig,
    ) -> Scene {
        let mut bench = Bench::of(machine, device, heap);
        let targets = Targets::new(&mut bench, &like);
        let pipeline = pipeline(&mut bench, &like);
        let triangles = bench.buffer(&triangles());
        let mut scene = Scene {
            like,
            bench,
            targets,
            pipeline,
            triangles,
        };
        scene.record();
        scene
    }

    pub(super) fn with(like: Like, heap: TilerHeapConfig) -> Scene {
        let machine = machine();
        let device = up(machine.clone());
        Scene::new(like, machine, device, heap)
    }

    fn record_passes(&mut self, drops: bool) {
        let Scene {
            like,
            bench,
            targets,
            pipeline,
            triangles,
        } = self;
        let colors = targets.attachments(like);
        let of = |flags| targets.info(like, &colors, flags);
        let query = targets.query;
        let draw = |first: u32| Draw {
            first: 3 * TRIANGLES * first,
            ..Draw::of(3 * TRIANGLES)
        };
        let parts = match like.parts {
            true => vec![(0..2, (false, true)), (2..DRAWS, (true, false))],
            false => vec![(0..DRAWS, (false, false))],
        };
        bench.record(|recorder| {
            recorder.reset_queries(query, 0, 8)?;
            if drops {
                let mut pass = recorder.begin_rendering(&of((false, false)))?;
                pass.bind_pipeline(*pipeline)?
                    .bind_vertex_buffer(0, *triangles, 0)?;
                for number in 0..DRAWS {
                    pass.draw(draw(number))?;
                }
            }
            for (number, (draws, flags)) in (0..).zip(parts) {
                let mut pass = recorder.begin_rendering(&of(flags))?;
                pass.bind_pipeline(*pipeline)?
                    .bind_vertex_buffer(0, *triangles, 0)?
                    .begin_query(query, 4 * number, Occlusion::Precise)?;
                for number in draws {
                    pass.draw(draw(number))?;
                }
                pass.end_query()?;
                pass.end_rendering()?;
            }
            Ok(())
        });
    }

    /// Goes on in another address space, with a queue and a heap of its own; gives what the scene had before.
    pub(super) fn another(&mut self, heap: TilerHeapConfig) -> Context {
        let bench = &mut self.bench;
        let space = bench.device.create_space().or_fail("there is memory");
        let queue = queue_in(&mut bench.device, space);
        let heap = bench.device.create_tiler_heap(space, heap);
        let heap = heap.or_fail("there is memory");
        let bound = bench.device.bind_tiler_heap(queue, heap);
        bound.or_fail("it is there");
        let commands = bench.device.create_command_buffer(space);
        let commands = commands.or_fail("there is memory");
        let before = Context {
            space: replace(&mut bench.space, space),
            queue: replace(&mut bench.queue, queue),
            commands: replace(&mut bench.commands, commands),
            heap: replace(&mut bench.heap, heap),
            targets: Targets::new(bench, &self.like),
            pipeline: pipeline(bench, &self.like),
            triangles: bench.buffer(&triangles()),
        };
        let before = Context {
            targets: replace(&mut self.targets, before.targets),
            pipeline: replace(&mut self.pipeline, before.pipeline),
            triangles: replace(&mut self.triangles, before.triangles),
            ..before
        };
        self.record();
        before
    }

    /// Goes on in a context; gives the one before.
    pub(super) fn switch(&mut self, to: Context) -> Context {
        let bench = &mut self.bench;
        Context {
            space: replace(&mut bench.space, to.space),
            queue: replace(&mut bench.queue, to.queue),
            commands: replace(&mut bench.commands, to.commands),
            heap: replace(&mut bench.heap, to.heap),
            targets: replace(&mut self.targets, to.targets),
            pipeline: replace(&mut self.pipeline, to.pipeline),
            triangles: replace(&mut self.triangles, to.triangles),
        }
    }

    /// A new queue with the same heap in place of one that has ended.
    pub(super) fn renew_queue(&mut self) {
        let it = &mut self.bench;
        it.device.destroy_queue(it.queue).or_fail("it is dead");
        it.queue = queue_in(&mut it.device, it.space);
        let bound = it.device.bind_tiler_heap(it.queue, it.heap);
        bound.or_fail("its queue has gone");
    }

    /// The pass is dropped when its draws are recorded, and another one draws them.
    pub(super) fn drop_a_pass_before(&mut self) {
        self.record_passes(true);
    }

    fn record(&mut self) {
        self.record_passes(false);
    }

    /// What is there before: a frame of a colour.
    pub(super) fn begin(&mut self) {
        let layers = (32 - self.like.views.leading_zeros()).max(1);
        for image in self.targets.kept() {
            let bytes = vec![0x35; (SIDE * SIDE * 4) as usize];
            for layer in 0..layers {
                let part = ImagePart {
                    layer,
                    ..ImagePart::default()
                };
                let written = self.bench.device.write_image(*image, part, &bytes);
                written.or_fail("no job is in flight");
            }
        }
    }

    pub(super) fn seen(&mut self) -> Seen {
        let layers = (32 - self.like.views.leading_zeros()).max(1);
        let mut all = Vec::new();
        for image in self.targets.kept() {
            for layer in 0..layers {
                all.push(self.bench.texels_of(*image, layer));
            }
        }
        let mut counted = vec![None; 8];
        let device = &mut self.bench.device;
        let found = device.query_results(self.targets.query, 0, &mut counted);
        found.or_fail("they are there");
        (all, counted)
    }

    pub(super) fn draw(&mut self) -> Seen {
        self.begin();
        self.bench.run();
        self.seen()
    }

    pub(super) fn chunks(&self) -> u32 {
        let info = self.bench.device.tiler_heap(self.bench.heap);
        info.or_fail("it is there").chunks
    }
}

#[track_caller]
pub(super) fn same(found: &Seen, expected: &Seen, what: &str) {
    assert_eq!(found.1, expected.1, "{what}: samples that are counted");
    for (number, (found, expected)) in found.0.iter().zip(&expected.0).enumerate() {
        let wrong = found.iter().zip(expected).filter(|(a, b)| a != b).count();
        assert_eq!(wrong, 0, "{what}: texels of image {number} are wrong");
    }
}

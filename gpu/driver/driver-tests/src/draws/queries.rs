//! Queries of draws.

use super::bench::{Bench, GREEN, RED, SIDE, rectangle};
use crate::bench::OrFail;
use alloc::vec;
use alloc::vec::Vec;
use eitri_descriptors::texture::Func;
use eitri_runtime::{
    DepthAttachment, DepthState, Draw, GraphicsPipeline, GraphicsPipelineInfo, ImageInfo,
    ImageView, LoadOp, Occlusion, QueryCopy, RenderingInfo, StoreOp, Tiling, Topology,
};

const ALL: [f32; 2] = [-1.0, -1.0];
const END: [f32; 2] = [1.0, 1.0];
const PIXELS: u64 = (SIDE * SIDE) as u64;

/// A pipeline that draws what is nearer.
fn tested(it: &mut Bench, samples: u32) -> GraphicsPipeline {
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        depth: Some(DepthState {
            compare: Func::Less,
            write: true,
        }),
        has_depth: samples == 1,
        samples,
        ..it.info()
    };
    it.pipeline(&info)
}

/// Samples that are seen count, of each query its own draws; more queries than a pass keeps by itself.
pub(crate) fn queries_count_the_samples_that_are_seen() {
    const COUNT: u32 = 40;
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::UInterleaved);
    let depths = it.image("D32_SFLOAT", Tiling::UInterleaved);
    let pipeline = tested(&mut it, 1);
    let left = it.buffer(&rectangle(ALL, [0.0, 1.0], 0.25, RED));
    let all = it.buffer(&rectangle(ALL, END, 0.5, GREEN));
    let pool = it.device.create_query_pool(it.space, COUNT + 1);
    let pool = pool.or_fail("there is memory");
    for round in 0..2 {
        it.record(|recorder| {
            recorder.reset_queries(pool, 0, COUNT + 1)?;
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
                .bind_vertex_buffer(0, left, 0)?
                .begin_query(pool, 0, Occlusion::Precise)?
                .draw(Draw::of(4))?
                .end_query()?
                .bind_vertex_buffer(0, all, 0)?
                .begin_query(pool, 1, Occlusion::Precise)?
                .draw(Draw::of(4))?
                .draw(Draw::of(4))?
                .end_query()?
                .begin_query(pool, 2, Occlusion::Any)?
                .draw(Draw::of(4))?
                .end_query()?;
            pass.bind_vertex_buffer(0, left, 0)?;
            for query in 3..COUNT {
                pass.begin_query(pool, query, Occlusion::Any)?;
                if query == COUNT - 1 {
                    pass.clear_attachments(
                        &[eitri_runtime::ClearAttachment::Depth(1.0)],
                        &[eitri_runtime::ClearRect {
                            rect: eitri_runtime::Rect {
                                x: 1,
                                y: 1,
                                width: 1,
                                height: 1,
                            },
                            layer: 0,
                            layers: 1,
                        }],
                    )?;
                    pass.draw(Draw::of(4))?;
                }
                pass.end_query()?;
            }
            pass.end_rendering()
        });
        it.run();
        let mut results = vec![None; COUNT as usize + 1];
        it.device
            .query_results(pool, 0, &mut results)
            .or_fail("they are there");
        let mut expected = vec![Some(0); COUNT as usize];
        expected[0] = Some(PIXELS / 2);
        expected[1] = Some(PIXELS / 2);
        expected[COUNT as usize - 1] = Some(1);
        expected.push(None);
        assert_eq!(results, expected, "round {round}");
    }
}

/// In a pass of three views a query has three results, which add up to the samples of all views; those behind it have none.
pub(crate) fn queries_of_several_views_add_up() {
    const VIEWS: u32 = 3;
    let mut it = Bench::new();
    let format = it.format("R8G8B8A8_UNORM");
    let info = ImageInfo {
        layers: 4,
        tiling: Tiling::UInterleaved,
        ..ImageInfo::two_d(format, SIDE, SIDE)
    };
    let made = it.device.create_image(it.space, info);
    let image = made.or_fail("there is memory");
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let left = it.buffer(&rectangle(ALL, [0.0, 1.0], 0.25, RED));
    let pool = it.device.create_query_pool(it.space, 2 * VIEWS + 1);
    let pool = pool.or_fail("there is memory");
    let mut refused = None;
    it.record(|recorder| {
        recorder.reset_queries(pool, 0, 2 * VIEWS + 1)?;
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            view_mask: 0b1011,
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, left, 0)?
            .begin_query(pool, 0, Occlusion::Precise)?
            .draw(Draw::of(4))?
            .draw(Draw::of(4))?
            .end_query()?
            .begin_query(pool, VIEWS, Occlusion::Any)?
            .draw(Draw::of(4))?
            .end_query()?;
        // There are too few queries for the views from here on.
        refused = pass.begin_query(pool, 2 * VIEWS - 1, Occlusion::Any).err();
        pass.end_rendering()
    });
    it.run();
    let mut results = vec![None; 2 * VIEWS as usize + 1];
    it.device
        .query_results(pool, 0, &mut results)
        .or_fail("they are there");
    let sum: u64 = results.iter().take(VIEWS as usize).flatten().sum();
    assert_eq!(sum, u64::from(VIEWS) * PIXELS, "two halves in each view");
    let any: Vec<Option<u64>> = results.iter().skip(VIEWS as usize).copied().collect();
    assert_eq!(any, [Some(1), Some(0), Some(0), None]);
    assert!(refused.is_some(), "the last query has no two behind it");
}

/// A query counts the samples of two passes, one of them of four samples a pixel, and its result is copied in several ways.
pub(crate) fn a_query_spans_passes_and_is_copied() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let format = it.format("R8G8B8A8_UNORM");
    let info = ImageInfo {
        samples: 4,
        tiling: Tiling::UInterleaved,
        ..ImageInfo::two_d(format, SIDE, SIDE)
    };
    let made = it.device.create_image(it.space, info);
    let many = made.or_fail("there is memory");
    let plain = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let one = it.pipeline(&plain);
    let four = tested(&mut it, 4);
    let left = it.buffer(&rectangle(ALL, [0.0, 1.0], 0.25, RED));
    let pool = it.device.create_query_pool(it.space, 2);
    let pool = pool.or_fail("there is memory");
    let to = it.buffer(&[9; 16]);
    it.record(|recorder| {
        recorder.reset_queries(pool, 0, 2)?;
        recorder.begin_query(pool, 0, Occlusion::Precise)?;
        for (image, pipeline) in [(image, one), (many, four)] {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, left, 0)?
                .draw(Draw::of(4))?;
            pass.end_rendering()?;
        }
        recorder.end_query()?;
        let narrow = QueryCopy {
            wide: false,
            wait: true,
            availability: true,
            stride: 8,
        };
        recorder.copy_query_results_as(pool, (0, 1), (to, 0), narrow)?;
        let wide = QueryCopy {
            wide: true,
            wait: false,
            stride: 24,
            ..narrow
        };
        recorder.copy_query_results_as(pool, (0, 2), (to, 16), wide)?;
        Ok(())
    });
    it.run();
    let sum = (PIXELS / 2 * 5) as u32;
    let mut bytes = [0; 64];
    it.device.read_buffer(to, 0, &mut bytes).or_fail("it fits");
    let (words, _) = bytes.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|it| u32::from_le_bytes(*it)).collect();
    // The second query has no result: its place stays.
    let expected = [sum, 1, 9, 9, sum, 0, 1, 0, 9, 9, 9, 9, 0, 0, 9, 9];
    assert_eq!(words, expected);
}

/// Results that a job copies, and does nothing else, are what the host reads.
pub(crate) fn results_that_are_copied_alone_reach_the_host() {
    let mut it = Bench::new();
    let pool = it.device.create_query_pool(it.space, 1);
    let pool = pool.or_fail("there is memory");
    let to = it.buffer(&[9; 4]);
    it.record(|recorder| {
        recorder.reset_queries(pool, 0, 1)?;
        recorder.write_timestamp(pool, 0)?;
        Ok(())
    });
    it.run();
    let mut results = [None];
    it.device
        .query_results(pool, 0, &mut results)
        .or_fail("it is there");
    let time = results[0].or_fail("the job is done");
    it.record(|recorder| {
        let how = QueryCopy {
            wide: true,
            wait: true,
            availability: false,
            stride: 8,
        };
        recorder.copy_query_results_as(pool, (0, 1), (to, 0), how)?;
        Ok(())
    });
    it.run();
    let mut bytes = [0; 8];
    it.device.read_buffer(to, 0, &mut bytes).or_fail("it fits");
    assert_eq!(u64::from_le_bytes(bytes), time);
}

/// The times of two passes, and that of the commands between them, are in their order.
pub(crate) fn a_pass_tells_when_it_is_done() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let plain = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let pipeline = it.pipeline(&plain);
    let all = it.buffer(&rectangle(ALL, END, 0.25, RED));
    let pool = it.device.create_query_pool(it.space, 3);
    let pool = pool.or_fail("there is memory");
    it.record(|recorder| {
        recorder.reset_queries(pool, 0, 3)?;
        for query in [0, 2] {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, all, 0)?
                .draw(Draw::of(4))?
                .write_timestamp(pool, query)?;
            pass.end_rendering()?;
            if query == 0 {
                recorder.write_timestamp(pool, 1)?;
            }
        }
        Ok(())
    });
    it.run();
    let mut results = [None; 3];
    it.device
        .query_results(pool, 0, &mut results)
        .or_fail("they are there");
    let times = results.map(|time| time.or_fail("it is there"));
    assert!(times[0] > 0, "{times:?}");
    assert!(times[0] <= times[1] && times[0] <= times[2], "{times:?}");
}

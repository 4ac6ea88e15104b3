//! Draws whose numbers stand in buffers.

use super::bench::{BLUE_WORD, Bench, GREEN, RED, RED_WORD, SIDE, check, rectangle};
use super::shaders;
use crate::bench::OrFail;
use alloc::vec::Vec;
use eitri_runtime::{
    Accesses, Buffer, Draw, GraphicsPipeline, GraphicsPipelineInfo, IndexType, IndirectDraws,
    RenderingInfo, Tiling, Topology,
};

/// Cells along a side.
const CELLS: u32 = 8;
const CELL: u32 = SIDE / CELLS;

/// A pipeline whose instances are moved, and rectangles of a cell's size in the upper left corner: the second one is red.
struct Cells {
    it: Bench,
    pipeline: GraphicsPipeline,
    vertices: Buffer,
    /// Where an instance goes: by rows.
    places: Buffer,
    indices: Buffer,
}

impl Cells {
    fn new() -> Cells {
        let mut it = Bench::new();
        let info = GraphicsPipelineInfo {
            topology: Topology::TriangleStrip,
            ..it.info()
        };
        let programs = (
            shaders::moved_vertices(it.arch()),
            shaders::color(it.arch()),
        );
        let pipeline = it.pipeline_of(&programs, &info);
        let end = 2.0 / CELLS as f32 - 1.0;
        let mut words = rectangle([-1.0, -1.0], [end, end], 0.5, GREEN);
        words.extend(rectangle([-1.0, -1.0], [end, end], 0.5, RED));
        let vertices = it.buffer(&words);
        let step = 2.0 / CELLS as f32;
        let places = (0..CELLS * CELLS).flat_map(|cell| {
            let [x, y] = [cell % CELLS, cell / CELLS].map(|it| it as f32 * step);
            [x.to_bits(), y.to_bits(), 0, 0]
        });
        let places = it.buffer(&places.collect::<Vec<u32>>());
        let indices = it.buffer(&[9 | 9 << 16, 1 << 16, 2 | 3 << 16]);
        Cells {
            it,
            pipeline,
            vertices,
            places,
            indices,
        }
    }

    /// Draws into an image, and says which cells must be red.
    fn run(&mut self, draws: IndirectDraws, indexed: bool, red: impl Fn(u32) -> bool) {
        let it = &mut self.it;
        let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
        let (pipeline, vertices, places, indices) =
            (self.pipeline, self.vertices, self.places, self.indices);
        it.record(|recorder| {
            recorder.barrier(Accesses::TRANSFER_WRITE, Accesses::INDIRECT_READ)?;
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, vertices, 0)?
                .bind_vertex_buffer(1, places, 0)?
                .bind_index_buffer(indices, 0, IndexType::Uint16)?;
            // The first instance in green, over which it is drawn in red behind the indirect draws.
            pass.draw(Draw::of(4))?;
            if indexed {
                pass.draw_indexed_indirect(draws)?;
            } else {
                pass.draw_indirect(draws)?;
            }
            // What registers hold behind it is not taken for what they held before.
            pass.draw(Draw {
                first: 4,
                ..Draw::of(4)
            })?;
            pass.draw(Draw {
                first: 4,
                first_instance: CELLS * CELLS - 1,
                ..Draw::of(4)
            })?;
            pass.end_rendering()
        });
        for _ in 0..2 {
            it.run();
            let texels = it.texels(image);
            check(&texels, 0, |x, y| {
                let cell = y / CELL * CELLS + x / CELL;
                if red(cell) || cell == 0 || cell == CELLS * CELLS - 1 {
                    RED_WORD
                } else {
                    BLUE_WORD
                }
            });
        }
    }
}

fn draws(buffer: Buffer, draws: u32, stride: u32) -> IndirectDraws {
    IndirectDraws {
        buffer,
        offset: 4,
        draws,
        stride,
        count: None,
    }
}

/// Plain and indexed draws, with first vertices and instances, with none, and fewer than there might be.
pub(crate) fn buffers_say_what_is_drawn() {
    let mut cells = Cells::new();
    // Counts, instances, first vertices, first instances; between them a word that is none of them.
    let plain = cells.it.buffer(&[
        7, 4, 2, 4, 3, 7, 4, 0, 4, 9, 7, 0, 1, 4, 12, 7, 4, 1, 4, 40, 7, 4, 1, 4, 63, 7,
    ]);
    cells.run(draws(plain, 4, 20), false, |cell| {
        [3, 4, 40].contains(&cell)
    });
    let indexed = cells.it.buffer(&[
        7, 4, 3, 2, 4, 5, 4, 1, 2, 4, 33, 4, 1, 2, 4, 1, 4, 0, 2, 4, 2,
    ]);
    let some = |count| IndirectDraws {
        count: Some((count, 8)),
        ..draws(indexed, 4, 20)
    };
    for (count, most) in [(0, 0), (1, 1), (2, 2), (77, 4)] {
        let count = cells.it.buffer(&[0, 0, count]);
        cells.run(some(count), true, |cell| match cell {
            5..=7 => most > 0,
            33 => most > 1,
            1 => most > 2,
            _ => false,
        });
    }
}

/// A program that reads the first instance and not the first vertex has that of each draw: here it says at which pixel the draw
/// begins, as the bits of a float.
pub(crate) fn programs_read_the_first_instance_of_an_indirect_draw() {
    let mut it = Bench::new();
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let programs = (
        shaders::instance_placed_vertices(it.arch()),
        shaders::color(it.arch()),
    );
    let pipeline = it.pipeline_of(&programs, &info);
    let vertices = it.buffer(&rectangle([0.0, -1.0], [0.25, 1.0], 0.5, RED));
    let places = [8.0_f32, 48.0];
    let words = places.map(|place| [4, 1, 0, place.to_bits()]);
    let buffer = it.buffer(&[&[0][..], words.as_flattened()].concat());
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, vertices, 0)?
            .draw_indirect(draws(buffer, 2, 16))?;
        pass.end_rendering()
    });
    it.run();
    let texels = it.texels(image);
    check(&texels, 0, |x, _| match x {
        8..16 | 48..56 => RED_WORD,
        _ => BLUE_WORD,
    });
}

/// One draw for each cell: the stream waits until copies of what depends on the first instance can be used again.
pub(crate) fn more_indirect_draws_than_copies_are_drawn() {
    let mut cells = Cells::new();
    let odd = (0..CELLS * CELLS).filter(|cell| cell % 3 != 0);
    let all: Vec<u32> = odd.flat_map(|cell| [4, 1, 4, cell]).collect();
    let count = all.len() as u32 / 4;
    let all = [&[0][..], &all].concat();
    let buffer = cells.it.buffer(&all);
    cells.run(draws(buffer, count, 16), false, |cell| cell % 3 != 0);
    let outside = IndirectDraws {
        draws: count + 1,
        ..draws(buffer, count, 16)
    };
    let image = cells.it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let commands = cells.it.commands;
    let recorded = cells.it.device.record(commands, |recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.draw_indirect(outside).map(drop)
    });
    assert!(recorded.is_err(), "the last draw is not inside the buffer");
    let buffers = cells.it.device.buffer_bytes(buffer);
    assert_eq!(buffers.or_fail("it is there"), 4 + u64::from(count) * 16);
}

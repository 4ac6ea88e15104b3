//! Draws one after the other in the same pass: what one has set or bound, and how many vertices and instances it had, is none of the
//! next one's.

use super::bench::{BLUE_WORD, Bench, GREEN, GREEN_WORD, RED, RED_WORD, SIDE, check, rectangle};
use super::{secondaries, shaders};
use crate::bench::OrFail;
use crate::shapes::Random;
use alloc::vec::Vec;
use eitri_runtime::{
    Accesses, BindingElement, Buffer, ClearColor, ColorAttachment, Draw, Error, GraphicsPipeline,
    GraphicsPipelineInfo, Image, ImageView, IndexType, IndirectDraws, LoadOp, Platform, Recorder,
    RenderPass, RenderingInfo, Tiling, Topology,
};

/// Cells along a side, and all of them.
const CELLS: u32 = 8;
const CELL: u32 = SIDE / CELLS;
const ALL: u32 = CELLS * CELLS;
/// Draws of a recording, and recordings.
const DRAWS: usize = 160;
const RECORDINGS: u64 = 3;
/// Most instances of a draw.
const INSTANCES: u32 = 3;
/// Words of parameters, and what a buffer of them has: a row of a plain draw, and behind all of these one of an indexed draw.
const ROW: u32 = 5;
const ROWS: u32 = 16;

/// Vertices of rectangles of a cell's size, green and red; and the same in the other order.
const COLORS: [[u32; 2]; 2] = [[GREEN_WORD, RED_WORD], [RED_WORD, GREEN_WORD]];
/// Cells by which the places of instances are moved.
const MOVED: [u32; 2] = [0, 5];
/// Rectangles that the indices have, by where draws begin in them.
const INDICES: [[u32; 2]; 3] = [[0, 1], [1, 0], [1, 1]];

/// A change of what is bound, or a draw. Numbers choose among [`Parts`].
#[derive(Clone, Copy, Debug)]
enum Step {
    Pipeline(usize),
    Vertices(usize),
    Places(usize),
    Indices(usize),
    /// Goes on in another pass.
    Pass,
    Draw(Numbers),
    Indexed(Numbers),
    /// So many draws of a buffer from a row on; and at most as many as a word says.
    Indirect {
        indexed: bool,
        row: u32,
        draws: u32,
        count: Option<u32>,
    },
}

/// What is drawn of rectangles.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    /// There are vertices.
    some: bool,
    /// The rectangle, or the first of the indices.
    first: u32,
    /// Rectangles that are added to each index.
    offset: u32,
    instances: u32,
    instance: u32,
}

impl Numbers {
    fn random(random: &mut Random) -> Numbers {
        Numbers {
            some: random.below(8) != 0,
            first: random.below(2) as u32,
            offset: random.below(2) as u32,
            instances: random.below(INSTANCES as usize + 1) as u32,
            instance: random.below((ALL - 16) as usize) as u32,
        }
    }

    const fn draw(self, indexed: bool) -> Draw {
        Draw {
            count: if self.some { 4 } else { 0 },
            instances: self.instances,
            first: 4 * self.first,
            vertex_offset: if indexed { 4 * self.offset as i32 } else { 0 },
            first_instance: self.instance,
        }
    }
}

impl Step {
    fn random(random: &mut Random) -> Step {
        let mut number = |sides: usize| random.below(sides);
        match number(16) {
            0 => Step::Pipeline(number(3)),
            1 => Step::Vertices(number(2)),
            2 => Step::Places(number(2)),
            3 | 4 => Step::Indices(number(3)),
            5 => match number(3) {
                0 => Step::Pass,
                _ => Step::Vertices(number(2)),
            },
            6 | 7 => Step::Indirect {
                indexed: number(2) == 0,
                row: number(ROWS as usize - 4) as u32,
                draws: [1, 1, 1, 4][number(4)],
                count: (number(4) == 0).then(|| number(4) as u32),
            },
            8..=11 => Step::Indexed(Numbers::random(random)),
            _ => Step::Draw(Numbers::random(random)),
        }
    }
}

/// What draws use.
struct Parts {
    image: Image,
    /// Two whose instances are moved, and one that draws to the first cell alone.
    pipelines: [GraphicsPipeline; 3],
    vertices: [Buffer; 2],
    places: [Buffer; 2],
    indices: [(Buffer, IndexType); 3],
    /// Rows of parameters, of which the numbers are those of [`Parts::rows`]; and the numbers 0 to 3.
    parameters: Buffer,
    counts: Buffer,
    rows: Vec<Numbers>,
}

impl Parts {
    fn new(it: &mut Bench, random: &mut Random) -> Parts {
        let info = GraphicsPipelineInfo {
            topology: Topology::TriangleStrip,
            ..it.info()
        };
        let moved = (
            shaders::moved_vertices(it.arch()),
            shaders::color(it.arch()),
        );
        let end = 2.0 / CELLS as f32 - 1.0;
        let mut vertices = |first, second| {
            let mut words = rectangle([-1.0, -1.0], [end, end], 0.5, first);
            words.extend(rectangle([-1.0, -1.0], [end, end], 0.5, second));
            // Indices of the second and what is added to them stay inside.
            words.extend(rectangle([-1.0, -1.0], [end, end], 0.5, first));
            it.buffer(&words)
        };
        let vertices = [vertices(GREEN, RED), vertices(RED, GREEN)];
        let places = MOVED.map(|by| {
            let step = 2.0 / CELLS as f32;
            let places = (0..ALL + INSTANCES).flat_map(|instance| {
                let cell = (instance + by) % ALL;
                let [x, y] = [cell % CELLS, cell / CELLS].map(|it| it as f32 * step);
                [x.to_bits(), y.to_bits(), 0, 0]
            });
            it.buffer(&places.collect::<Vec<u32>>())
        });
        let mut indices = |which: usize, wide: bool| {
            let all = INDICES[which]
                .iter()
                .flat_map(|rectangle| (0..4).map(move |it| 4 * rectangle + it));
            let all: Vec<u32> = all.collect();
            let words = match wide {
                true => all,
                false => all.chunks(2).map(|it| it[0] | it[1] << 16).collect(),
            };
            let kind = match wide {
                true => IndexType::Uint32,
                false => IndexType::Uint16,
            };
            (it.buffer(&words), kind)
        };
        let indices = [indices(0, false), indices(1, false), indices(2, true)];
        let rows: Vec<Numbers> = (0..ROWS).map(|_| Numbers::random(random)).collect();
        let plain = rows.iter().map(|row| {
            let it = row.draw(false);
            [it.count, it.instances, it.first, it.first_instance, 0]
        });
        let indexed = rows.iter().map(|row| {
            let it = row.draw(true);
            let offset = it.vertex_offset as u32;
            [it.count, it.instances, it.first, offset, it.first_instance]
        });
        let parameters: Vec<u32> = plain.chain(indexed).flatten().collect();
        Parts {
            image: it.image("R8G8B8A8_UNORM", Tiling::Linear),
            pipelines: [
                it.pipeline_of(&moved, &info),
                it.pipeline_of(&moved, &info),
                it.pipeline(&info),
            ],
            vertices,
            places,
            indices,
            parameters: it.buffer(&parameters),
            counts: it.buffer(&[0, 1, 2, 3]),
            rows,
        }
    }

    /// Begins a pass, the first of a recording or one that goes on, and binds what is bound.
    fn begin<'p, 'r, 's, 'd, P: Platform>(
        &self,
        recorder: &'p mut Recorder<'r, 's, 'd, P>,
        bound: &Bound,
        first: bool,
    ) -> Result<RenderPass<'p, 'r, 's, 'd, P>, Error> {
        let mut color = Bench::blue(self.image);
        if !first {
            recorder.barrier(Accesses::COLOR_WRITE, Accesses::COLOR_READ)?;
            color.load = LoadOp::Load;
        }
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(color)],
            ..RenderingInfo::default()
        })?;
        self.bind(&mut pass, bound)?;
        Ok(pass)
    }

    /// Binds what is bound.
    fn bind<P: Platform>(
        &self,
        pass: &mut RenderPass<'_, '_, '_, '_, P>,
        bound: &Bound,
    ) -> Result<(), Error> {
        let (indices, kind) = self.indices[bound.indices];
        pass.bind_pipeline(self.pipelines[bound.pipeline])?
            .bind_vertex_buffer(0, self.vertices[bound.vertices], 0)?
            .bind_vertex_buffer(1, self.places[bound.places], 0)?
            .bind_index_buffer(indices, 0, kind)?;
        Ok(())
    }

    /// Records a step that is not another pass.
    fn record<P: Platform>(
        &self,
        pass: &mut RenderPass<'_, '_, '_, '_, P>,
        step: Step,
    ) -> Result<(), Error> {
        match step {
            Step::Pipeline(it) => pass.bind_pipeline(self.pipelines[it]),
            Step::Vertices(it) => pass.bind_vertex_buffer(0, self.vertices[it], 0),
            Step::Places(it) => pass.bind_vertex_buffer(1, self.places[it], 0),
            Step::Indices(it) => {
                let (buffer, kind) = self.indices[it];
                pass.bind_index_buffer(buffer, 0, kind)
            }
            Step::Pass => return Ok(()),
            Step::Draw(numbers) => pass.draw(numbers.draw(false)),
            Step::Indexed(numbers) => pass.draw_indexed(numbers.draw(true)),
            Step::Indirect {
                indexed,
                row,
                draws,
                count,
            } => {
                let row = if indexed { row + ROWS } else { row };
                let all = IndirectDraws {
                    buffer: self.parameters,
                    offset: (row * ROW * 4).into(),
                    draws,
                    stride: ROW * 4,
                    count: count.map(|count| (self.counts, (count * 4).into())),
                };
                match indexed {
                    true => pass.draw_indexed_indirect(all),
                    false => pass.draw_indirect(all),
                }
            }
        }
        .map(drop)
    }

    /// Does to cells what a step does.
    fn apply(&self, bound: &mut Bound, cells: &mut [u32], step: Step) {
        match step {
            Step::Pipeline(it) => bound.pipeline = it,
            Step::Vertices(it) => bound.vertices = it,
            Step::Places(it) => bound.places = it,
            Step::Indices(it) => bound.indices = it,
            Step::Pass => {}
            Step::Draw(numbers) => bound.draw(cells, numbers, false),
            Step::Indexed(numbers) => bound.draw(cells, numbers, true),
            Step::Indirect {
                indexed,
                row,
                draws,
                count,
            } => {
                let draws = draws.min(count.unwrap_or(draws));
                for row in row..row + draws {
                    bound.draw(cells, self.rows[row as usize], indexed);
                }
            }
        }
    }
}

/// What is bound.
#[derive(Clone, Copy, Default)]
struct Bound {
    pipeline: usize,
    vertices: usize,
    places: usize,
    indices: usize,
}

impl Bound {
    fn draw(&self, cells: &mut [u32], numbers: Numbers, indexed: bool) {
        if !numbers.some {
            return;
        }
        let rectangle = match indexed {
            true => INDICES[self.indices][numbers.first as usize] + numbers.offset,
            false => numbers.first,
        };
        // The third is as the first.
        let color = COLORS[self.vertices][rectangle as usize % 2];
        for instance in numbers.instance..numbers.instance + numbers.instances {
            let cell = match self.pipeline {
                2 => 0,
                _ => (instance + MOVED[self.places]) % ALL,
            };
            cells[cell as usize] = color;
        }
    }
}

/// Draws in any order are what each is by itself.
pub(crate) fn draws_in_turn_are_as_each_alone() {
    let mut it = Bench::new();
    let mut random = Random(57);
    let parts = Parts::new(&mut it, &mut random);
    for recording in 0..RECORDINGS {
        let mut steps: Vec<Step> = (0..DRAWS).map(|_| Step::random(&mut random)).collect();
        // The first is one pass.
        if recording == 0 {
            steps.retain(|step| !matches!(step, Step::Pass));
        }
        draw(&mut it, &parts, &steps);
    }
}

/// The same of draws of which some are a secondary's: it begins with nothing that the pass has bound, and the pass goes on behind it with
/// what it had before.
pub(crate) fn draws_of_secondaries_are_as_each_alone() {
    let mut it = Bench::new();
    let mut random = Random(61);
    let parts = Parts::new(&mut it, &mut random);
    let secondary = secondaries::commands(&mut it);
    let inherited = secondaries::inherited(&it);
    for _ in 0..RECORDINGS {
        let mut steps: Vec<Step> = (0..DRAWS).map(|_| Step::random(&mut random)).collect();
        steps.retain(|step| !matches!(step, Step::Pass));
        let (first, rest) = steps.split_at(steps.len() / 4);
        let (inside, last) = rest.split_at(rest.len() * 2 / 3);
        let (mut bound, mut cells) = (Bound::default(), [BLUE_WORD; ALL as usize]);
        let recorded = it.device.record_draws(secondary, &inherited, |pass| {
            parts.bind(pass, &Bound::default())?;
            inside.iter().try_for_each(|step| parts.record(pass, *step))
        });
        recorded.or_fail("it can be recorded");
        it.record(|recorder| {
            let mut pass = parts.begin(recorder, &bound, true)?;
            first
                .iter()
                .try_for_each(|step| parts.record(&mut pass, *step))?;
            pass.execute(secondary)?;
            last.iter()
                .try_for_each(|step| parts.record(&mut pass, *step))?;
            pass.end_rendering()
        });
        let mut of_secondary = Bound::default();
        for step in first {
            parts.apply(&mut bound, &mut cells, *step);
        }
        for step in inside {
            parts.apply(&mut of_secondary, &mut cells, *step);
        }
        for step in last {
            parts.apply(&mut bound, &mut cells, *step);
        }
        check_cells(&mut it, &parts, &cells, &steps);
    }
}

/// A pass that goes on from the last draw of another has the indices that it binds, though that one bound them for no draw.
pub(crate) fn a_pass_has_the_indices_that_it_binds() {
    let mut it = Bench::new();
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    // One table of resources is the fragment stage's, as it is where passes go on from each other.
    let programs = (shaders::vertices(it.arch()), shaders::fetched(it.arch()));
    let pipeline = it.pipeline_of(&programs, &info);
    let set = it.device.create_graphics_set(pipeline, 0);
    let set = set.or_fail("it has one");
    let [green, left, right] = [0; 3].map(|_| it.image("R8G8B8A8_UNORM", Tiling::UInterleaved));
    let bound = it.device.bind_in_stages(set, |device, set| {
        device.bind_image(set, BindingElement::first(0), green)
    });
    bound.or_fail("it is an image");
    let mut vertices = rectangle([-1.0, -1.0], [0.0, 1.0], 0.5, RED);
    vertices.extend(rectangle([0.0, -1.0], [1.0, 1.0], 0.5, RED));
    let vertices = it.buffer(&vertices);
    let indices = [0, 4].map(|first| it.buffer(&[first, first + 1, first + 2, first + 3]));
    it.record(|recorder| {
        let color = ColorAttachment::cleared(ImageView::of(green), ClearColor::Float(GREEN));
        let filled = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(color)],
            ..RenderingInfo::default()
        })?;
        filled.end_rendering()?;
        recorder.barrier(Accesses::COLOR_WRITE, Accesses::SHADER_READ)?;
        for (image, own) in [left, right].into_iter().zip(indices) {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_descriptor_set(set)?
                .bind_vertex_buffer(0, vertices, 0)?
                .bind_index_buffer(own, 0, IndexType::Uint32)?
                .draw_indexed(Draw::of(4))?
                .bind_index_buffer(indices[1], 0, IndexType::Uint32)?;
            pass.end_rendering()?;
        }
        Ok(())
    });
    it.run();
    for (image, is_left) in [(left, true), (right, false)] {
        check(&it.texels(image), 0, |x, _| {
            if (x < SIDE / 2) == is_left {
                GREEN_WORD
            } else {
                BLUE_WORD
            }
        });
    }
}

/// Records steps, runs them, and holds the picture against what each does to the cells.
#[track_caller]
fn draw(it: &mut Bench, parts: &Parts, steps: &[Step]) {
    let (mut bound, mut cells) = (Bound::default(), [BLUE_WORD; ALL as usize]);
    it.record(|recorder| {
        let mut pass = parts.begin(recorder, &bound, true)?;
        for step in steps {
            parts.apply(&mut bound, &mut cells, *step);
            if let Step::Pass = step {
                pass.end_rendering()?;
                pass = parts.begin(recorder, &bound, false)?;
            } else {
                parts.record(&mut pass, *step)?;
            }
        }
        pass.end_rendering()
    });
    check_cells(it, parts, &cells, steps);
}

/// Runs what was recorded of steps, and holds the picture against the cells.
#[track_caller]
fn check_cells(it: &mut Bench, parts: &Parts, cells: &[u32; ALL as usize], steps: &[Step]) {
    it.run();
    let texels = it.texels(parts.image);
    let found = cells.iter().enumerate().find(|(cell, color)| {
        let (x, y) = (*cell as u32 % CELLS * CELL, *cell as u32 / CELLS * CELL);
        texels[(y * SIDE + x) as usize] != **color
    });
    assert!(found.is_none(), "{found:x?} after {steps:#?}");
    check(&texels, 0, |x, y| {
        cells[(y / CELL * CELLS + x / CELL) as usize]
    });
}

//! Sets in turn, in one pass, in passes and in recordings: a draw has what its set names when it is recorded.

use super::bench::{BLUE_WORD, Bench, GREEN_WORD, RED, RED_WORD, SIDE, check};
use super::secondaries::column;
use super::shaders;
use crate::bench::OrFail;
use crate::shapes::Random;
use alloc::vec::Vec;
use eitri_runtime::{
    BindingElement, Buffer, CommandError, Draw, Error, GraphicsPipeline, GraphicsPipelineInfo,
    GraphicsSet, Image, ImagePart, RenderingInfo, Tiling, Topology,
};

/// Columns of the picture, sets, and draws of a recording.
const COLUMNS: usize = 8;
const WIDTH: u32 = SIDE / COLUMNS as u32;
const SETS: usize = 3;
const DRAWS: usize = 40;
const RECORDINGS: usize = 3;

/// The objects that the draws use.
struct Parts {
    image: Image,
    /// Two of the same programs.
    pipelines: [GraphicsPipeline; 2],
    sets: [GraphicsSet; SETS],
    /// Vertices of each column.
    columns: Vec<Buffer>,
}

/// A draw into a column, with what is bound before it.
#[derive(Clone, Copy, Debug)]
struct Step {
    pipeline: Option<usize>,
    set: Option<usize>,
    column: usize,
}

impl Step {
    fn random(random: &mut Random) -> Step {
        Step {
            pipeline: (random.below(4) == 0).then(|| random.below(2)),
            set: (random.below(2) == 0).then(|| random.below(SETS)),
            column: random.below(COLUMNS),
        }
    }
}

impl Parts {
    fn new(it: &mut Bench) -> Parts {
        let info = GraphicsPipelineInfo {
            topology: Topology::TriangleStrip,
            ..it.info()
        };
        let programs = (shaders::vertices(it.arch()), shaders::fetched(it.arch()));
        let pipelines = [(); 2].map(|()| it.pipeline_of(&programs, &info));
        let sets = [(); SETS].map(|()| {
            let set = it.device.create_graphics_set(pipelines[0], 0);
            set.or_fail("there is memory")
        });
        let columns = (0..COLUMNS as u32).map(|number| it.buffer(&column(number, RED)));
        let columns = columns.collect();
        Parts {
            image: it.image("R8G8B8A8_UNORM", Tiling::Linear),
            pipelines,
            sets,
            columns,
        }
    }

    fn bind(&self, it: &mut Bench, set: usize, image: Image) {
        let bound = it.device.bind_in_stages(self.sets[set], |device, set| {
            device.bind_image(set, BindingElement::first(0), image)
        });
        bound.or_fail("it is an image");
    }

    fn record(&self, it: &mut Bench, steps: &[Step]) -> Result<(), Error> {
        it.device.record(it.commands, |recorder| {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(self.image))],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(self.pipelines[0])?
                .bind_descriptor_set(self.sets[0])?;
            for step in steps {
                if let Some(pipeline) = step.pipeline {
                    pass.bind_pipeline(self.pipelines[pipeline])?;
                }
                if let Some(set) = step.set {
                    pass.bind_descriptor_set(self.sets[set])?;
                }
                pass.bind_vertex_buffer(0, self.columns[step.column], 0)?
                    .draw(Draw::of(4))?;
            }
            pass.end_rendering()
        })
    }
}

/// An image that has one colour.
fn filled(it: &mut Bench, word: u32) -> Image {
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let bytes = word.to_le_bytes().repeat((SIDE * SIDE) as usize);
    let written = it.device.write_image(image, ImagePart::default(), &bytes);
    written.or_fail("it fits");
    image
}

/// Sets are bound at random; between recordings one of them names something else, and something that none names is destroyed.
pub(crate) fn sets_in_turn_name_what_was_bound_last() {
    let mut it = Bench::new();
    let mut random = Random(83);
    let parts = Parts::new(&mut it);
    let images = [GREEN_WORD, RED_WORD].map(|word| filled(&mut it, word));
    let mut names = [0, 1, 0];
    for (set, name) in names.into_iter().enumerate() {
        parts.bind(&mut it, set, images[name]);
    }
    for recording in 0..RECORDINGS {
        if recording > 0 {
            let set = recording % SETS;
            names[set] = 1 - names[set];
            parts.bind(&mut it, set, images[names[set]]);
            let other = it.buffer(&[0]);
            let destroyed = it.device.destroy_buffer(other);
            destroyed.or_fail("nothing uses it");
        }
        let steps: Vec<Step> = (0..DRAWS).map(|_| Step::random(&mut random)).collect();
        parts.record(&mut it, &steps).or_fail("sets are complete");
        it.run();
        let (mut set, mut columns) = (0, [BLUE_WORD; COLUMNS]);
        for step in &steps {
            set = step.set.unwrap_or(set);
            columns[step.column] = [GREEN_WORD, RED_WORD][names[set]];
        }
        check(&it.texels(parts.image), 0, |x, _| {
            columns[(x / WIDTH) as usize]
        });
    }
}

/// A set that was found to have all that it needs does not have it any more when that is destroyed, whichever draw of a recording it is
/// for; with something else it has.
pub(crate) fn a_set_is_refused_whose_image_was_destroyed() {
    let mut it = Bench::new();
    let parts = Parts::new(&mut it);
    let green = filled(&mut it, GREEN_WORD);
    let lost = filled(&mut it, RED_WORD);
    parts.bind(&mut it, 0, green);
    parts.bind(&mut it, 1, lost);
    let draw = |set, column| Step {
        pipeline: None,
        set: Some(set),
        column,
    };
    let steps = [draw(0, 0), draw(1, 1), draw(0, 2), draw(1, 3)];
    let picture = |it: &mut Bench, second: u32| {
        it.run();
        check(&it.texels(parts.image), 0, |x, _| match x / WIDTH {
            0 | 2 => GREEN_WORD,
            1 | 3 => second,
            _ => BLUE_WORD,
        });
    };
    parts.record(&mut it, &steps).or_fail("they are complete");
    picture(&mut it, RED_WORD);
    it.device.destroy_image(lost).or_fail("no job uses it");
    let missing = CommandError::Missing {
        set: 0,
        binding: 0,
        element: 0,
    };
    for steps in [&steps[..], &steps[1..]] {
        let recorded = parts.record(&mut it, steps);
        assert_eq!(recorded, Err(Error::from(missing)));
    }
    parts.bind(&mut it, 1, green);
    parts.record(&mut it, &steps).or_fail("they are again");
    picture(&mut it, GREEN_WORD);
}

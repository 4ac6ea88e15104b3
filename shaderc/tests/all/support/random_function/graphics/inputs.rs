//! What random pipelines are given: a triangle with exact planes, attributes, buffers, images, and what targets hold before.

use super::super::Random;
use super::super::start::{bytes, input_words};
use super::textures::{LEVELS, TEXELS};
use super::{ColorTarget, FETCHED, Pipeline, SAMPLED, SIZE};
use eitri_shaderc::interp::{Buffer, Image, Resources, Sampler, TexelFormat, Wrap};
use eitri_shaderc::ir::TexelKind;

/// Locations of attributes: clip coordinates, four words, three bytes with a sign.
pub const POSITION: u8 = 0;
pub const INTEGERS: u8 = 1;
pub const SMALL: u8 = 2;
/// The triangle's sides along x and y, in pixels.
pub const SIDE: f32 = 32.0;
/// Numbers that vertices have among their slots of the input.
pub const VERTEX_SLOTS: u32 = 8;
pub const FIRST_VERTEX: u32 = 5;
pub const FIRST_INSTANCE: u32 = 3;
/// What depth and stencil hold before.
pub const DEPTH_BEFORE: f32 = 0.25;
pub const STENCIL_BEFORE: u8 = 0x5a;
/// Formats of the images.
pub const SAMPLED_FORMAT: &str = "r32g32b32a32_sfloat";
pub const FETCHED_FORMAT: &str = "r32g32b32a32_uint";

/// What a pipeline is given.
pub struct Inputs {
    /// Clip coordinates.
    pub positions: [[f32; 4]; 3],
    pub integers: [[u32; 4]; 3],
    pub small: [[i8; 4]; 3],
    /// Bytes of the buffers.
    pub input: Vec<u8>,
    pub output: Vec<u8>,
    pub push: Vec<u8>,
    /// By level.
    pub sampled: Vec<Vec<u8>>,
    pub fetched: Vec<u8>,
    /// What each target holds before, as words.
    pub held: Vec<[u32; 4]>,
}

/// Corners of a triangle whose edges run between the places of samples, which are multiples of an eighth; clip coordinates with the same w.
fn corners(random: &mut Random) -> [[f32; 4]; 3] {
    let w = random.pick(&[1.0, 2.0, 0.5, 4.0]);
    let start = [2.0 / 32.0, 3.0 / 32.0].map(|fraction| random.below(20) as f32 - 14.0 + fraction);
    let mut corners = [
        start,
        [start[0] + SIDE, start[1]],
        [start[0], start[1] + SIDE],
    ];
    corners.rotate_left(random.below(3) as usize);
    if random.below(2) == 0 {
        corners.swap(0, 1);
    }
    let mirrored = [random.below(2), random.below(2)];
    corners.map(|corner| {
        let z = (8 + random.below(2)) as f32 / 16.0;
        let [x, y] = [0, 1].map(|axis| {
            let size = SIZE[axis] as f32;
            let at = match mirrored[axis] {
                0 => corner[axis],
                _ => size - corner[axis],
            };
            (at / (size / 2.0) - 1.0) * w
        });
        [x, y, z * w, w]
    })
}

/// What a target may hold: what its components can.
fn held(random: &mut Random, target: &ColorTarget) -> [u32; 4] {
    let missing = match target.kind {
        TexelKind::Float => 1.0f32.to_bits(),
        _ => 1,
    };
    let mut words = [0, 0, 0, missing];
    for word in &mut words[..target.components.into()] {
        let value = random.word() & target.most;
        *word = match target.kind {
            TexelKind::Float => (value as f32).to_bits(),
            _ => value,
        };
    }
    words
}

/// What the pipeline of a seed is given.
pub fn inputs(seed: u64, pipeline: &Pipeline) -> Inputs {
    let mut random = Random(seed ^ 0x3c6e_f372);
    let pixels = SIZE[0] * SIZE[1] * pipeline.samples;
    let positions = corners(&mut random);
    let integers = [(); 3].map(|()| [(); 4].map(|()| random.word()));
    let small = [(); 3].map(|()| [(); 4].map(|()| random.word() as i8));
    let input = bytes(&input_words(&mut random, pixels));
    let output = bytes(&vec![0x0707_0707; (pixels * super::super::SLOTS) as usize]);
    let sampled = (0..LEVELS).map(|level| {
        let texels = (TEXELS >> level).pow(2);
        let words = (0..4 * texels).map(|at| ((level * 4096 + at * 3 + 1) as f32).to_bits());
        bytes(&words.collect::<Vec<u32>>())
    });
    let sampled = sampled.collect();
    let fetched: Vec<u32> = (0..4 * TEXELS * TEXELS).map(|_| random.word()).collect();
    let targets = pipeline.targets.iter();
    Inputs {
        positions,
        integers,
        small,
        input,
        output,
        push: (0..16).map(|at| at * 5 + 3).collect(),
        sampled,
        fetched: bytes(&fetched),
        held: targets.map(|target| held(&mut random, target)).collect(),
    }
}

impl Inputs {
    /// The same for the interpreter.
    pub fn resources(&self) -> Resources {
        let buffer = |bytes: &Vec<u8>| Buffer {
            bytes: bytes.clone(),
        };
        let image = |format: &str, levels: u32, bytes: Vec<u8>| {
            let format = TexelFormat::of_name(&format.to_uppercase()).expect("it is a format");
            let mut image = Image::new(format, [TEXELS, TEXELS, 1]);
            (image.levels, image.bytes) = (levels, bytes);
            image
        };
        let sampled = image(SAMPLED_FORMAT, LEVELS, self.sampled.concat());
        let fetched = image(FETCHED_FORMAT, 1, self.fetched.clone());
        let sampler = Sampler {
            wrap: [Wrap::Repeat; 3],
            lod: [0.0, 100.0],
            ..Sampler::default()
        };
        Resources {
            buffers: [
                ((0, super::super::INPUT, 0), buffer(&self.input)),
                ((0, super::super::OUTPUT, 0), buffer(&self.output)),
            ]
            .into(),
            images: [((0, SAMPLED, 0), sampled), ((0, FETCHED, 0), fetched)].into(),
            samplers: [((0, SAMPLED, 0), sampler)].into(),
        }
    }
}

//! Random vertex and fragment functions that fit each other, what they draw, and what must come of it.
//!
//! Values are such that every machine gives the same bits: words are computed with as in compute functions, and what is
//! interpolated, or read from textures, becomes whole numbers that lie far from where they would be rounded the other way.

pub mod expected;
pub mod fragment;
pub mod inputs;
mod textures;
mod vertex;

use super::Random;
use eitri_shaderc::Target;
use eitri_shaderc::ir::{Function, Sampling, TexelKind};

/// Width and height of what is drawn on.
pub const SIZE: [u32; 2] = [16, 16];
/// The binding of an image with levels, and its sampler.
pub const SAMPLED: u32 = 2;
/// The binding of an image of integers.
pub const FETCHED: u32 = 3;

/// A vertex and a fragment function, and what they draw on.
pub struct Pipeline {
    pub vertex: Function,
    pub fragment: Function,
    pub targets: Vec<ColorTarget>,
    /// Samples of a pixel; if there are several, the fragment function runs for each.
    pub samples: u32,
    /// Whether the fragment function stores the depth, and the stencil value.
    pub depth: bool,
    pub stencil: bool,
    /// Locations that are interpolated without regard to perspective, a bit each.
    pub noperspective: u32,
}

/// A colour that is drawn on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColorTarget {
    pub kind: TexelKind,
    /// Vulkan's name in lower case.
    pub format: &'static str,
    pub components: u8,
    /// Bytes of a component.
    pub bytes: u8,
    /// Largest whole number that its components hold.
    pub most: u32,
}

#[rustfmt::skip]
const FORMATS: &[ColorTarget] = &[
    ColorTarget { kind: TexelKind::Unsigned, format: "r32g32b32a32_uint",   components: 4, bytes: 4, most: u32::MAX },
    ColorTarget { kind: TexelKind::Unsigned, format: "r32g32b32a32_uint",   components: 4, bytes: 4, most: u32::MAX },
    ColorTarget { kind: TexelKind::Signed,   format: "r32g32b32a32_sint",   components: 4, bytes: 4, most: u32::MAX },
    ColorTarget { kind: TexelKind::Unsigned, format: "r32g32_uint",         components: 2, bytes: 4, most: u32::MAX },
    ColorTarget { kind: TexelKind::Unsigned, format: "r16g16b16a16_uint",   components: 4, bytes: 2, most: 0xffff },
    ColorTarget { kind: TexelKind::Float,    format: "r32g32b32a32_sfloat", components: 4, bytes: 4, most: 0xff_ffff },
    ColorTarget { kind: TexelKind::Float,    format: "r16g16b16a16_sfloat", components: 4, bytes: 2, most: 0x7ff },
];

/// What a vertex function hands on at a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Handed {
    location: u8,
    /// Components that are stored, from the first; 0 if none is.
    stored: u8,
    /// Components that are loaded.
    first: u8,
    count: u8,
    /// Whether each side says that 16 bits are enough.
    relaxed: [bool; 2],
    sampling: Sampling,
    noperspective: bool,
}

/// What both functions of a pipeline agree on.
struct Agreed {
    samples: u32,
    handed: Vec<Handed>,
    targets: Vec<ColorTarget>,
    depth: bool,
    stencil: bool,
    /// Whether the fragment function stores which samples are left.
    mask: bool,
    /// Whether its lanes look at each other; else they read and change memory.
    quads: bool,
}

fn handed(random: &mut Random, location: u8, quads: bool) -> Handed {
    let stored = random.below(6).min(4) as u8;
    let first = random.below(4) as u8;
    let flat = random.below(2) == 0;
    let relaxed = match flat {
        true => [false; 2],
        false => [(); 2].map(|()| random.below(3) > 0),
    };
    let places: &[Sampling] = match (relaxed[0] && relaxed[1], quads) {
        _ if flat => &[Sampling::Flat],
        // A helper has no covered place.
        (true, true) => &[Sampling::Center, Sampling::Sample],
        (true, false) => &[Sampling::Center, Sampling::Centroid],
        (false, true) => &[Sampling::Center, Sampling::AtSample, Sampling::AtOffset],
        (false, false) => &[Sampling::Center, Sampling::Centroid, Sampling::AtOffset],
    };
    Handed {
        location,
        stored,
        first,
        count: 1 + random.below(u32::from(4 - first)) as u8,
        relaxed,
        sampling: random.pick(places),
        noperspective: !flat && random.below(3) == 0,
    }
}

/// The pipeline of a seed.
pub fn generate(seed: u64, target: &Target) -> Pipeline {
    // Numbers of its own, so that what functions compute does not depend on how many of these there are.
    let mut random = Random(seed.rotate_left(17) ^ 0x6a09_e667);
    let quads = seed.is_multiple_of(2);
    let locations = 1 + random.below(6) as u8;
    let targets = 1 + random.below(3);
    let samples = if seed % 5 == 4 { 4 } else { 1 };
    let agreed = Agreed {
        samples,
        handed: (0..locations)
            .map(|location| handed(&mut random, location, quads || samples > 1))
            .collect(),
        targets: (0..targets).map(|_| random.pick(FORMATS)).collect(),
        // What is left of these in several samples is not compared.
        depth: random.below(3) == 0 && samples == 1,
        stencil: random.below(3) == 0 && samples == 1,
        mask: random.below(4) == 0,
        quads,
    };
    let handed = agreed.handed.iter();
    let noperspective = handed.filter(|handed| handed.noperspective);
    Pipeline {
        noperspective: noperspective.fold(0, |mask, handed| mask | 1 << handed.location),
        vertex: vertex::generate(seed, target, &agreed),
        fragment: fragment::generate(seed, target, &agreed),
        samples,
        depth: agreed.depth,
        stencil: agreed.stencil,
        targets: agreed.targets,
    }
}

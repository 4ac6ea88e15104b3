//! Anisotropic samples: the level that they take and that a query gives, and the texels that they mix.
//!
//! Facts: hardware/graphics-model.md 5.2 (free choice) and 5.4.

use super::texture_vectors::{Image, LEVEL, Plane, sampled, sampler};
use eitri_descriptors::texture::{LodAlgorithm, Sampler, TextureDimension};

/// A square of 16 texels: level 0 from `texel`, each other level its own number everywhere.
fn image(texel: impl Fn(u32) -> f32) -> Image {
    let first = vec![(0..16).map(texel).collect(); 16];
    let others = (1..5).map(|level| Plane(vec![vec![level as f32]]));
    Image {
        dimension: TextureDimension::TwoD,
        size: [16, 16],
        levels: 5,
        planes: std::iter::once(Plane(first)).chain(others).collect(),
    }
}

fn anisotropic(most: u32) -> Sampler {
    Sampler {
        lod_algorithm: LodAlgorithm::Anisotropic,
        maximum_anisotropy: most,
        ..sampler(true)
    }
}

/// Quads whose first thread samples the middle of texel 8; the others are these steps, in texels, to the right of it and below.
fn quads([x, y]: [f32; 2]) -> Vec<[u32; 3]> {
    let at = |texels: f32| ((8.5 + texels) / 16.0).to_bits();
    let thread = |lane: u32| {
        let [right, below] = [lane % 2, lane / 2 % 2].map(|step| step as f32);
        [at(right * x), at(below * y), 0]
    };
    (0..16).map(thread).collect()
}

#[test]
fn a_query_gives_the_level_that_the_sample_takes() {
    // Steps in texels, the most probes; the level in 256ths, and the nearest one.
    for (steps, most, fixed, nearest) in [
        // Eight probes of one texel; four, and two, of more.
        ([8.0, 1.0], 16, 0, 0.0),
        ([8.0, 1.0], 4, 256, 1.0),
        ([1.0, 8.0], 2, 512, 2.0),
        // Three probes for two and a half.
        ([5.0, 2.0], 16, 189, 1.0),
        // As without anisotropy.
        ([4.0, 4.0], 16, 512, 2.0),
    ] {
        let image = image(|_| 0.0);
        let found = sampled(&image, &anisotropic(most), LEVEL, &quads(steps));
        for [level, taken, ..] in found {
            let level = level.to_bits() as u16 as i16;
            assert_eq!(
                (level, taken),
                (fixed, nearest),
                "steps of {steps:?} texels, at most {most} probes: the query's level, and that of the sample"
            );
        }
    }
}

#[test]
fn a_sample_is_the_mean_of_its_probes() {
    // Four texels along x, one along y: probes 1.5 and 0.5 texels before and behind, here of 1, 2, 4 and so on.
    let image = image(|x| (1 << x) as f32);
    let found = sampled(&image, &anisotropic(16), LEVEL, &quads([4.0, 1.0]));
    // The nearest texel of a place between two of them is the one behind: 7, 8, 9 and 10.
    let wanted = [7, 8, 9, 10].map(|texel| (1 << texel) as f32);
    assert_eq!(found[0][1], wanted.iter().sum::<f32>() / 4.0);
}

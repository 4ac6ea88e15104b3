//! Footprints by hand: weights, wrap modes, levels, layers, faces.

use super::*;
use crate::shader::texture::Texel;
use alloc::vec::Vec;
use eitri_descriptors::{RawOrFloat, Slod, Ulod};

const FLAT: Footing = Footing {
    size: [4, 4, 1],
    levels: 1,
    layers: 1,
    lod: [0, 0],
    axes: 2,
    cube: false,
    integer: false,
};

fn linear(wrap: WrapMode) -> Sampler {
    Sampler::new(SamplerDescriptor {
        wrap_mode_s: wrap,
        wrap_mode_t: wrap,
        maximum_lod: Ulod(31.0),
        mipmap_mode: MipmapMode::Trilinear,
        ..SamplerDescriptor::default()
    })
}

fn at(x: f32, y: f32) -> Coordinates {
    Coordinates {
        at: [x, y, 0.0],
        ..Coordinates::default()
    }
}

/// A texel with its part of the whole.
struct Tap {
    texel: Option<Texel>,
    weight: f64,
}

/// The texels of a sample.
fn taps_of(sampler: &Sampler, footing: &Footing, at: &Coordinates, level: i64) -> Vec<Tap> {
    let mut taps = Vec::new();
    let mut add = |footprint: &Footprint| {
        taps.extend(footprint.corners().map(|corner| Tap {
            texel: footprint.texel(corner),
            weight: footprint.weights[corner],
        }));
        Ok::<(), ()>(())
    };
    assert_eq!(sampler.each_footprint(footing, at, level, &mut add), Ok(()));
    taps
}

/// Texels with 256ths of weight (of 65536ths for two axes).
fn weights(taps: &[Tap]) -> Vec<([i64; 2], f64)> {
    let texels = taps.iter().map(|tap| {
        let texel = tap.texel.expect("no border");
        ([texel.at[0], texel.at[1]], tap.weight)
    });
    texels.collect()
}

#[test]
fn weights_are_256ths_of_the_way_to_the_next_texel() {
    let sampler = linear(WrapMode::ClampToEdge);
    // In the middle of texel (1, 2): it alone.
    let taps = taps_of(&sampler, &FLAT, &at(1.5 / 4.0, 2.5 / 4.0), 0);
    assert_eq!(weights(&taps), [([1, 2], 1.0)]);
    // A quarter of a texel further along x.
    let taps = taps_of(&sampler, &FLAT, &at(1.75 / 4.0, 2.5 / 4.0), 0);
    assert_eq!(weights(&taps), [([1, 2], 0.75), ([2, 2], 0.25)]);
    // Less than a 512th is not seen.
    let taps = taps_of(&sampler, &FLAT, &at((1.5 + 0.0019) / 4.0, 2.5 / 4.0), 0);
    assert_eq!(weights(&taps), [([1, 2], 1.0)]);
}

#[test]
fn coordinates_outside_follow_the_wrap_mode() {
    use WrapMode as W;
    #[rustfmt::skip]
    let rows = [
        (W::Repeat,              [3, 0, 1]),
        (W::ClampToEdge,         [0, 3, 3]),
        (W::MirroredRepeat,      [0, 3, 2]),
        (W::MirroredClampToEdge, [0, 3, 3]),
    ];
    for (mode, [before, after, next]) in rows {
        let found = [-1, 4, 5].map(|at| wrapped(mode, at, 4));
        assert_eq!(found, [Some(before), Some(after), Some(next)], "{mode:?}");
    }
    let found = [-1, 0, 3, 4].map(|at| wrapped(W::ClampToBorder, at, 4));
    assert_eq!(found, [None, Some(0), Some(3), None]);
    let found = [-5, -4, -1, 4].map(|at| wrapped(W::MirroredClampToBorder, at, 4));
    assert_eq!(found, [None, Some(3), Some(0), None]);
}

/// A texture of one level is minified, too: its own limits choose levels, not filters.
#[test]
fn a_texture_of_one_level_has_both_filters() {
    for (magnify_nearest, minify_nearest) in [(true, false), (false, true)] {
        let sampler = Sampler::new(SamplerDescriptor {
            magnify_nearest,
            minify_nearest,
            maximum_lod: Ulod(31.0),
            ..SamplerDescriptor::default()
        });
        for (level, nearest) in [
            (-ONE, magnify_nearest),
            (0, magnify_nearest),
            (1, minify_nearest),
            (ONE, minify_nearest),
        ] {
            let taps = taps_of(&sampler, &FLAT, &at(0.5, 0.5), level);
            assert_eq!(taps.len() == 1, nearest, "level {level} of 256");
            assert_eq!(
                sampler.filter_is_open(&FLAT, level),
                level > 0,
                "level {level} of 256"
            );
        }
    }
}

#[test]
fn levels_are_chosen_and_mixed() {
    let footing = Footing {
        levels: 3,
        lod: [0, 2 * ONE],
        ..FLAT
    };
    let levels = |sampler: &Sampler, level: i64| {
        let taps = taps_of(sampler, &footing, &at(0.5, 0.5), level);
        let mut levels: Vec<(u32, f64)> = Vec::new();
        for tap in taps {
            let level = tap.texel.expect("no border").level;
            match levels.iter_mut().find(|(other, _)| *other == level) {
                Some((_, sum)) => *sum += tap.weight,
                None => levels.push((level, tap.weight)),
            }
        }
        levels
    };
    let trilinear = linear(WrapMode::Repeat);
    assert_eq!(levels(&trilinear, 64), [(0, 0.75), (1, 0.25)]);
    assert_eq!(levels(&trilinear, 256), [(1, 1.0)]);
    assert_eq!(levels(&trilinear, 10 * ONE), [(2, 1.0)]);
    assert_eq!(levels(&trilinear, -5 * ONE), [(0, 1.0)]);
    let nearest = Sampler::new(SamplerDescriptor {
        mipmap_mode: MipmapMode::Nearest,
        ..trilinear.descriptor
    });
    // Half way down.
    assert_eq!(levels(&nearest, 128), [(0, 1.0)]);
    assert_eq!(levels(&nearest, 129), [(1, 1.0)]);
    let limited = Sampler::new(SamplerDescriptor {
        minimum_lod: Ulod(1.0),
        lod_bias: Slod(-0.5),
        ..nearest.descriptor
    });
    assert_eq!(
        (levels(&limited, 0), limited.bias()),
        (alloc::vec![(1, 1.0)], -128)
    );
}

#[test]
fn a_gather_takes_the_footprint_from_below() {
    let sampler = linear(WrapMode::ClampToEdge);
    let texels = [0, 1, 2, 3].map(|corner| {
        let mut texels = Vec::new();
        let mut add = |footprint: &Footprint| {
            let found = footprint.corners().map(|corner| footprint.texel(corner));
            texels.extend(found.map(|texel| texel.expect("no border").at));
            Ok::<(), ()>(())
        };
        let gathered = sampler.each_gathered(&FLAT, &at(0.5, 0.5), corner, &mut add);
        assert_eq!((gathered, texels.len()), (Ok(()), 1));
        texels[0]
    });
    assert_eq!(texels, [[1, 2, 0], [2, 2, 0], [2, 1, 0], [1, 1, 0]]);
}

#[test]
fn layers_are_rounded_and_clamped() {
    let footing = Footing { layers: 4, ..FLAT };
    let layer_at = |layer_at: f32| {
        let at = Coordinates {
            layer: layer_at,
            ..at(0.5, 0.5)
        };
        layer(&footing, &at)
    };
    assert_eq!([-2.0, 0.5, 1.5, 2.4, 9.0].map(layer_at), [0, 0, 2, 2, 3]);
}

#[test]
fn comparisons_and_reductions_are_of_texels() {
    let sampler = Sampler::new(SamplerDescriptor {
        compare_function: Func::Greater,
        reduction_mode: ReductionMode::Maximum,
        border_color_a: RawOrFloat(0x3f80_0000),
        ..SamplerDescriptor::default()
    });
    assert!(sampler.compares(0.5, 0.25) && !sampler.compares(0.25, 0.25));
    let taps = [([0.25; 4], 0.5), ([0.75; 4], 0.5), ([9.0; 4], 0.0)];
    let mut reduction = sampler.reduction();
    for (colour, weight) in taps {
        reduction.add(colour, weight);
    }
    assert_eq!(reduction.colour(), [0.75; 4]);
    assert_eq!(sampler.border(false, false), [0.0, 0.0, 0.0, 1.0]);
}

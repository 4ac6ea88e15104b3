//! What operations on images give, for one lane.
//!
//! Needs: operands as `ir::image` orders them.  Guarantees: nothing outside of an image is touched.
use super::memory::Bound;
use super::quads::{self, Coordinates};
use super::step::atomic;
use crate::ir::{Dim, ImageAction, ImageOp, Lod, Type};
use eitri_texels::{Image, Sampler, Texel, Wanted, gather, sample};

/// The results; none if an operand names no image or sampler.
pub(super) fn eval(op: ImageOp, args: &[u64], bound: &mut Bound) -> Option<Vec<u32>> {
    let sampler = match op.has_sampler() {
        true => Some(bound.sampler(args[1])?.clone()),
        false => None,
    };
    let image = bound.image(args[0])?;
    let words: Vec<u32> = args[op.resources()..]
        .iter()
        .map(|word| *word as u32)
        .collect();
    let args = words.as_slice();
    if let Some(sampler) = sampler {
        return Some(sampled(op, image, &sampler, args, None));
    }
    let shape = op.shape;
    Some(match op.action {
        ImageAction::Read | ImageAction::Fetch => {
            let mut place = place(op, args);
            if op.action == ImageAction::Fetch {
                let after = shape.dim.coordinates() + usize::from(shape.arrayed);
                let offsets = match shape.multisampled {
                    true => &args[after + 1..],
                    false => {
                        place.level = (args[after] as i32).into();
                        &args[after + 1..]
                    }
                };
                for (at, offset) in place.at.iter_mut().zip(offsets) {
                    *at += i64::from(*offset as i32);
                }
            }
            image.load(place).to_vec()
        }
        ImageAction::Write(count) => {
            let count = usize::from(count);
            let mut words = [0; 4];
            words[..count].copy_from_slice(&args[args.len() - count..]);
            image.store(place(op, args), words);
            vec![]
        }
        ImageAction::Atomic(which) => {
            let operands = &args[args.len() - op.words()..];
            let Some(word) = image.word(place(op, args)) else {
                return Some(vec![0]);
            };
            let old = u32::from_le_bytes(*word);
            let expected = operands.get(1).map(|word| u64::from(*word));
            let new = atomic(which, Type::W32, old.into(), operands[0].into(), expected);
            *word = (new as u32).to_le_bytes();
            vec![old]
        }
        ImageAction::Levels => vec![image.levels],
        ImageAction::Samples => vec![image.samples],
        ImageAction::Size => {
            let level = args.first().copied().unwrap_or(0);
            let [x, y, z, layers] = image.sizes(level);
            let mut sizes = [x, y, z][..shape.dim.sizes()].to_vec();
            if shape.arrayed {
                let cubes = shape.dim == Dim::Cube;
                sizes.push(if cubes { layers / 6 } else { layers });
            }
            sizes
        }
        ImageAction::Sample(_) | ImageAction::Gather(_) | ImageAction::QueryLod => return None,
    })
}

/// The texel that integer coordinates name.
fn place(op: ImageOp, args: &[u32]) -> Texel {
    let shape = op.shape;
    let count = shape.dim.coordinates();
    // Coordinates of storage images and buffers have no sign: what has one lies far outside.
    let whole = |word: u32| match op.action {
        ImageAction::Fetch => i64::from(word as i32),
        _ => i64::from(word),
    };
    let mut place = Texel::default();
    for (at, word) in place.at.iter_mut().zip(&args[..count]) {
        *at = whole(*word);
    }
    let mut rest = args[count..].iter();
    if shape.arrayed {
        place.layer = rest.next().map_or(0, |word| whole(*word));
    }
    if shape.multisampled {
        place.sample = rest.next().map_or(0, |word| whole(*word));
    }
    place
}

/// The results of what goes by derivatives: a sample, or the level itself.
pub(super) fn by_derivatives(
    op: ImageOp,
    args: &[u64],
    along: [Coordinates; 2],
    bound: &mut Bound,
) -> Option<Vec<u32>> {
    let sampler = bound.sampler(args[1])?.clone();
    let image = bound.image(args[0])?;
    let level = quads::level(image, sampler.unnormalized, op.shape.dim, along);
    if op.action == ImageAction::QueryLod {
        let wanted = level + f64::from(sampler.lod_bias);
        let [least, most] = sampler.lod.map(f64::from);
        let last = f64::from(image.levels - 1);
        let used = wanted.max(least).min(most).clamp(0.0, last);
        let used = match sampler.mipmap_linear {
            true => used,
            false => (used + 0.5).ceil() - 1.0,
        };
        return Some(
            [used, wanted]
                .map(|level| (level as f32).to_bits())
                .to_vec(),
        );
    }
    let words: Vec<u32> = args[op.resources()..]
        .iter()
        .map(|word| *word as u32)
        .collect();
    Some(sampled(op, image, &sampler, &words, Some(level)))
}

/// `derived` is the level that derivatives ask for, where they do.
fn sampled(
    op: ImageOp,
    image: &Image,
    sampler: &Sampler,
    args: &[u32],
    derived: Option<f64>,
) -> Vec<u32> {
    let float = |word: u32| f64::from(f32::from_bits(word));
    let shape = op.shape;
    let count = shape.dim.coordinates();
    let (at, args) = args.split_at(count);
    let (layer, args) = args.split_at(shape.arrayed.into());
    let (reference, args) = args.split_at(op.compare.into());
    let (level, args) = args.split_at(op.level_operands());
    let (least, offsets) = args.split_at(op.min_lod.into());
    let mut wanted = Wanted {
        axes: shape.dim.sizes(),
        cube: shape.dim == Dim::Cube,
        layer: layer.first().map_or(0.0, |word| float(*word)),
        reference: reference.first().map(|word| float(*word)),
        ..Wanted::default()
    };
    for (to, word) in wanted.at.iter_mut().zip(at) {
        *to = float(*word);
    }
    for (to, word) in wanted.offset.iter_mut().zip(offsets) {
        *to = i64::from(*word as i32);
    }
    let words = match op.action {
        ImageAction::Gather(component) => gather(image, sampler, &wanted, component.into()),
        ImageAction::Sample(lod) => {
            wanted.level = match lod {
                Lod::Zero => 0.0,
                Lod::Level => float(level[0]),
                Lod::Implicit => derived.unwrap_or(0.0),
                Lod::Bias => derived.unwrap_or(0.0) + float(level[0]),
                Lod::Gradients => {
                    let longest = |derivatives: &[u32]| {
                        let sizes = image.sizes(0);
                        let squares = derivatives
                            .iter()
                            .zip(sizes)
                            .map(|(word, size)| (float(*word) * f64::from(size)).powi(2));
                        squares.sum::<f64>().sqrt()
                    };
                    let (x, y) = level.split_at(shape.dim.sizes());
                    longest(x).max(longest(y)).log2()
                }
            };
            if let Some(least) = least.first() {
                wanted.level = wanted.level.max(float(*least));
            }
            sample(image, sampler, &wanted)
        }
        _ => [0; 4],
    };
    words.to_vec()
}

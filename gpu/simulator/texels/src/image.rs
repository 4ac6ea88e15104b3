//! Images of a dispatch: texels, samplers, and what filtering makes of them.
//!
//! Needs: formats by name.  Guarantees: what is outside reads as 0 and is not written.
//! Filtering is the API's own arithmetic, in real numbers: coordinates aren't rounded to a grid, weights have no limit of
//! bits. A machine differs by as much as its precision allows.
//! Never: shares anything with the model, which computes in the hardware's fixed point.
//! Facts: hardware/graphics-texture.md 7.4 to 7.6 for what an image is; the formulas are Vulkan's.
use crate::format::TexelFormat;

/// An image bound for a dispatch, or the texels of a buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct Image {
    /// Its texels.
    pub format: TexelFormat,
    /// Texels along x, y and z; of a buffer, all along x.
    pub size: [u32; 3],
    /// Layers; of cubes six each.
    pub layers: u32,
    /// Levels.
    pub levels: u32,
    /// Samples of a texel.
    pub samples: u32,
    /// Layer by layer, in them level by level, slice by slice, row by row, without gaps.
    pub bytes: Vec<u8>,
}

/// What coordinates outside of an image read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wrap {
    /// The image again.
    Repeat,
    /// The image again, every other time from the other side.
    Mirror,
    /// The texel at the edge.
    #[default]
    Clamp,
    /// The border's colour.
    Border,
    /// The image once from the other side, then the texel at the edge.
    MirrorOnce,
}

/// A sampler bound for a dispatch.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sampler {
    /// Whether texels are mixed where the image is made larger.
    pub magnify_linear: bool,
    /// Whether texels are mixed where the image is made smaller.
    pub minify_linear: bool,
    /// Whether levels are mixed.
    pub mipmap_linear: bool,
    /// By axis.
    pub wrap: [Wrap; 3],
    /// Added to the level.
    pub lod_bias: f32,
    /// Least and greatest level.
    pub lod: [f32; 2],
    /// Comparison of a reference with a texel.
    pub compare: Option<Compare>,
    /// Coordinates count texels.
    pub unnormalized: bool,
    /// What lies outside, as words.
    pub border: [u32; 4],
}

/// A comparison of a reference with a texel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum Compare {
    Never,
    Less,
    Equal,
    LessOrEqual,
    Greater,
    NotEqual,
    GreaterOrEqual,
    Always,
}

impl Compare {
    fn holds(self, reference: f64, texel: f64) -> bool {
        match self {
            Compare::Never => false,
            Compare::Less => reference < texel,
            Compare::Equal => reference == texel,
            Compare::LessOrEqual => reference <= texel,
            Compare::Greater => reference > texel,
            Compare::NotEqual => reference != texel,
            Compare::GreaterOrEqual => reference >= texel,
            Compare::Always => true,
        }
    }
}

/// Which texel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Texel {
    /// Along x, y and z.
    pub at: [i64; 3],
    /// Of which layer; of cubes a layer is a face.
    pub layer: i64,
    /// Of which level.
    pub level: i64,
    /// Which of its samples.
    pub sample: i64,
}

/// A sample that is asked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Normalised coordinates, or a direction.
    pub at: [f64; 3],
    /// How many of them there are; a cube has a direction.
    pub axes: usize,
    /// Whether it is a direction.
    pub cube: bool,
    /// Of which layer, or of which cube.
    pub layer: f64,
    /// Of which level, before the sampler's bias.
    pub level: f64,
    /// What texels are compared with.
    pub reference: Option<f64>,
    /// Added to the coordinates, in texels.
    pub offset: [i64; 3],
}

impl Image {
    /// An image of zeros.
    pub fn new(format: TexelFormat, size: [u32; 3]) -> Image {
        let mut image = Image {
            format,
            size,
            layers: 1,
            levels: 1,
            samples: 1,
            bytes: vec![],
        };
        image.bytes = vec![0; image.packed_bytes()];
        image
    }

    /// Bytes of all texels.
    pub fn packed_bytes(&self) -> usize {
        self.layer_texels(self.levels) * self.layers as usize * self.format.bytes()
    }

    /// Texels of the first levels of a layer.
    fn layer_texels(&self, levels: u32) -> usize {
        let of = |level| {
            let [x, y, z] = self.level_size(level).map(|size| size as usize);
            x * y * z * self.samples as usize
        };
        (0..levels).map(of).sum()
    }

    fn level_size(&self, level: u32) -> [u32; 3] {
        self.size
            .map(|size| size.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Where a texel lies in the bytes.
    fn offset(&self, place: Texel) -> Option<std::ops::Range<usize>> {
        let inside = |number: i64, count: u32| (0..i64::from(count)).contains(&number);
        if !inside(place.level, self.levels)
            || !inside(place.layer, self.layers)
            || !inside(place.sample, self.samples)
        {
            return None;
        }
        let level = place.level as u32;
        let size = self.level_size(level);
        if !(0..3).all(|axis| inside(place.at[axis], size[axis])) {
            return None;
        }
        let [x, y, z] = place.at.map(|at| at as usize);
        let [width, height, depth] = size.map(|size| size as usize);
        let slice = if depth > 1 { z } else { place.sample as usize };
        let before =
            self.layer_texels(self.levels) * place.layer as usize + self.layer_texels(level);
        let number = before + (slice * height + y) * width + x;
        let bytes = self.format.bytes();
        Some(number * bytes..(number + 1) * bytes)
    }

    /// Whether there is such a texel.
    pub fn has(&self, texel: Texel) -> bool {
        self.offset(texel).is_some()
    }

    /// The words of a texel; zeros outside.
    pub fn load(&self, place: Texel) -> [u32; 4] {
        let bytes = self.offset(place).and_then(|range| self.bytes.get(range));
        bytes.map_or([0; 4], |bytes| self.format.load(bytes))
    }

    /// Writes a texel; outside nothing.
    pub fn store(&mut self, place: Texel, words: [u32; 4]) {
        let bytes = self.format.store(words);
        if let Some(range) = self.offset(place)
            && let Some(to) = self.bytes.get_mut(range)
        {
            to.copy_from_slice(&bytes);
        }
    }

    /// A texel of one word, to be changed.
    pub fn word(&mut self, place: Texel) -> Option<&mut [u8; 4]> {
        let range = self.offset(place)?;
        self.bytes.get_mut(range)?.try_into().ok()
    }

    /// Width, height and depth of a level, layers.
    pub fn sizes(&self, level: u32) -> [u32; 4] {
        let [x, y, z] = self.level_size(level);
        [x, y, z, self.layers]
    }
}

/// The words that a sampler makes of an image.
pub fn sample(image: &Image, sampler: &Sampler, wanted: &Wanted) -> [u32; 4] {
    let bias = wanted.level + f64::from(sampler.lod_bias);
    let [least, most] = sampler.lod.map(f64::from);
    let level = bias.max(least).min(most);
    let linear = if level <= 0.0 {
        sampler.magnify_linear
    } else {
        sampler.minify_linear
    };
    let last = f64::from(image.levels - 1);
    let level = level.clamp(0.0, last);
    let colour = if sampler.mipmap_linear {
        let (low, part) = (level.floor(), level.fract());
        let near = filter(image, sampler, wanted, low as i64, linear);
        let far = filter(image, sampler, wanted, (low + 1.0).min(last) as i64, linear);
        mix(near, far, part)
    } else {
        let nearest = (level + 0.5).ceil() - 1.0;
        filter(image, sampler, wanted, nearest as i64, linear)
    };
    match wanted.reference {
        Some(_) => colour.map(|value| (value as f32).to_bits()),
        None => image.format.words(colour),
    }
}

/// A component of the four texels of a footprint: (i0, j1), (i1, j1), (i1, j0), (i0, j0).
pub fn gather(image: &Image, sampler: &Sampler, wanted: &Wanted, component: usize) -> [u32; 4] {
    let (at, face) = on_level(image, sampler, wanted, 0);
    let [x, y] = [at[0], at[1]].map(|at| number(at - 0.5));
    let corners = [(x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y)];
    let texels = corners.map(|(x, y)| {
        let place = Texel {
            at: [x, y, 0],
            layer: face,
            ..Texel::default()
        };
        tap(image, sampler, wanted, place)
    });
    let texels = texels.map(|texel| texel[component]);
    match wanted.reference {
        Some(_) => texels.map(|value| (value as f32).to_bits()),
        None => image.format.words(texels),
    }
}

fn mix(a: [f64; 4], b: [f64; 4], part: f64) -> [f64; 4] {
    std::array::from_fn(|index| a[index] * (1.0 - part) + b[index] * part)
}

/// Coordinates in texels of a level, and the layer.
fn on_level(image: &Image, sampler: &Sampler, wanted: &Wanted, level: i64) -> ([f64; 3], i64) {
    let layers = f64::from(image.layers);
    let layer = wanted.layer.round_ties_even();
    let size = image.level_size(level as u32);
    let (at, layer) = match wanted.cube {
        true => {
            let (face, s, t) = face_of(wanted.at);
            let cube = layer.clamp(0.0, layers / 6.0 - 1.0);
            ([s, t, 0.0], 6 * cube as i64 + face)
        }
        false => (wanted.at, layer.clamp(0.0, layers - 1.0) as i64),
    };
    let texels = std::array::from_fn(|axis| {
        let scale = if sampler.unnormalized {
            1.0
        } else {
            f64::from(size[axis])
        };
        // What is no number is 0.
        let at = if at[axis].is_nan() { 0.0 } else { at[axis] };
        at * scale + wanted.offset[axis] as f64
    });
    (texels, layer)
}

/// The face that a direction points to, and the coordinates on it.
fn face_of([x, y, z]: [f64; 3]) -> (i64, f64, f64) {
    let [ax, ay, az] = [x.abs(), y.abs(), z.abs()];
    let (face, s, t, major) = if az >= ax && az >= ay {
        if z < 0.0 {
            (5, -x, -y, az)
        } else {
            (4, x, -y, az)
        }
    } else if ay >= ax {
        if y < 0.0 {
            (3, x, -z, ay)
        } else {
            (2, x, z, ay)
        }
    } else if x < 0.0 {
        (1, z, -y, ax)
    } else {
        (0, -z, -y, ax)
    };
    let on = |c: f64| {
        if major > 0.0 {
            0.5 * (c / major + 1.0)
        } else {
            0.5
        }
    };
    (face, on(s), on(t))
}

/// The direction that a place on a face, also beside it, has.
fn direction(face: i64, s: f64, t: f64) -> [f64; 3] {
    let (s, t) = (2.0 * s - 1.0, 2.0 * t - 1.0);
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// The texel that a coordinate lies in. Beyond every image all places are alike.
fn number(at: f64) -> i64 {
    const FAR: f64 = (1_u64 << 40) as f64;
    at.floor().clamp(-FAR, FAR) as i64
}

/// One level, filtered.
fn filter(image: &Image, sampler: &Sampler, wanted: &Wanted, level: i64, linear: bool) -> [f64; 4] {
    let (at, layer) = on_level(image, sampler, wanted, level);
    let place = |at| Texel {
        at,
        layer,
        level,
        sample: 0,
    };
    if !linear {
        let used = |axis: usize| match axis < wanted.axes.min(3) {
            true => number(at[axis]),
            false => 0,
        };
        return tap(image, sampler, wanted, place([used(0), used(1), used(2)]));
    }
    let axes = if wanted.cube { 2 } else { wanted.axes };
    let base: [f64; 3] = std::array::from_fn(|axis| match axis < axes {
        true => at[axis] - 0.5,
        false => 0.0,
    });
    let mut sum = [0.0; 4];
    for corner in 0..1 << axes {
        let mut weight = 1.0;
        let at = std::array::from_fn(|axis| {
            if axis >= axes {
                return 0;
            }
            let (low, up) = (number(base[axis]), corner >> axis & 1);
            let part = (base[axis] - low as f64).clamp(0.0, 1.0);
            weight *= if up == 1 { part } else { 1.0 - part };
            low + up
        });
        if weight > 0.0 {
            let texel = tap(image, sampler, wanted, place(at));
            for (sum, value) in sum.iter_mut().zip(texel) {
                *sum += weight * value;
            }
        }
    }
    sum
}

/// A texel of a footprint, wrapped and compared.
fn tap(image: &Image, sampler: &Sampler, wanted: &Wanted, mut place: Texel) -> [f64; 4] {
    let size = image.level_size(place.level as u32).map(i64::from);
    if wanted.cube {
        return cube_tap(image, sampler, wanted, place);
    }
    for axis in 0..wanted.axes {
        let (at, size) = (place.at[axis], size[axis]);
        place.at[axis] = match sampler.wrap[axis] {
            Wrap::Repeat => at.rem_euclid(size),
            Wrap::Mirror => {
                let at = at.rem_euclid(2 * size);
                at.min(2 * size - 1 - at)
            }
            Wrap::Clamp => at.clamp(0, size - 1),
            Wrap::MirrorOnce => (if at < 0 { -1 - at } else { at }).clamp(0, size - 1),
            Wrap::Border => at,
        };
    }
    compared(image, sampler, wanted, place)
}

/// The colour at a place, or whether the reference compares with it.
fn compared(image: &Image, sampler: &Sampler, wanted: &Wanted, place: Texel) -> [f64; 4] {
    let bytes = image.offset(place).and_then(|range| image.bytes.get(range));
    let colour = match bytes {
        Some(bytes) => image.format.unpack(bytes),
        None if image.format.is_integer() => sampler.border.map(|word| f64::from(word as i32)),
        None => sampler.border.map(|word| f32::from_bits(word).into()),
    };
    match wanted.reference {
        Some(reference) => {
            let compare = sampler.compare.unwrap_or(Compare::Never);
            let holds = compare.holds(reference, colour[0]);
            [f64::from(u8::from(holds)), 0.0, 0.0, 1.0]
        }
        None => colour,
    }
}

/// A texel of a cube: beyond an edge it is on another face, beyond a corner the mean of the three that meet there.
fn cube_tap(image: &Image, sampler: &Sampler, wanted: &Wanted, place: Texel) -> [f64; 4] {
    let size = i64::from(image.level_size(place.level as u32)[0]);
    let outside = |at: i64| !(0..size).contains(&at);
    let [x, y, _] = place.at;
    if outside(x) && outside(y) {
        let (inner_x, inner_y) = (x.clamp(0, size - 1), y.clamp(0, size - 1));
        let three = [(inner_x, inner_y), (x, inner_y), (inner_x, y)].map(|(x, y)| {
            let at = [x, y, 0];
            cube_tap(image, sampler, wanted, Texel { at, ..place })
        });
        return std::array::from_fn(|index| {
            three.iter().map(|texel| texel[index]).sum::<f64>() / 3.0
        });
    }
    if !outside(x) && !outside(y) {
        return compared(image, sampler, wanted, place);
    }
    let (cube, face) = (place.layer / 6, place.layer % 6);
    let on = |at: i64| (at as f64 + 0.5) / size as f64;
    let (face, s, t) = face_of(direction(face, on(x), on(y)));
    let texel = |on: f64| ((on * size as f64).floor() as i64).clamp(0, size - 1);
    let place = Texel {
        at: [texel(s), texel(t), 0],
        layer: 6 * cube + face,
        ..place
    };
    compared(image, sampler, wanted, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_that_no_image_has_are_sampled_like_others() {
        let image = Image {
            format: TexelFormat::of_name("R8_UNORM").expect("a format"),
            size: [2, 2, 1],
            layers: 1,
            levels: 1,
            samples: 1,
            bytes: vec![0, 255, 0, 255],
        };
        let far = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, -1e300];
        for wrap in [
            Wrap::Repeat,
            Wrap::Mirror,
            Wrap::Clamp,
            Wrap::Border,
            Wrap::MirrorOnce,
        ] {
            for linear in [false, true] {
                let sampler = Sampler {
                    magnify_linear: linear,
                    minify_linear: linear,
                    wrap: [wrap; 3],
                    ..Sampler::default()
                };
                for (x, y) in far.into_iter().zip(far.into_iter().rev()) {
                    let wanted = Wanted {
                        at: [x, y, 0.0],
                        axes: 2,
                        ..Wanted::default()
                    };
                    let [red, ..] = sample(&image, &sampler, &wanted).map(f32::from_bits);
                    assert!((0.0..=1.0).contains(&red), "{wrap:?} {x} {y}: {red}");
                    gather(&image, &sampler, &wanted, 0);
                }
                if wrap == Wrap::Clamp {
                    let wanted = Wanted {
                        at: [f64::INFINITY, 0.5, 0.0],
                        axes: 2,
                        ..Wanted::default()
                    };
                    let [red, ..] = sample(&image, &sampler, &wanted).map(f32::from_bits);
                    assert_eq!(red, 1.0, "the texel at the edge, linear: {linear}");
                }
            }
        }
    }
}

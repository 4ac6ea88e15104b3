//! Sampling: from coordinates in the hardware's fixed point to footprints, the texels that a sample takes and their weights.
//!
//! Coordinates have 8 bits below a texel, levels 8 bits below a level, so weights are 256ths.
//! Never: reads memory; who asks for a footprint does.
//! Facts: hardware/graphics-texture.md 7.5 and 7.6; hardware/descriptors.md 7; hardware/valhall-isa.md 11.10.
// FACT: where the probes of an anisotropic sample lie is not published (hardware/graphics-texture.md 7.6). `detail` spreads N probes
// by the formula of graphics-model.md 5.2 (free choice): the middles of N equal parts of the step. That section calls its formula
// the form of Vulkan's text, but lavapipe 26.2 has probe i of N, from 1 on, at i / (N + 1) - 1/2 (measured, docs/linux.md). Settled by
// sampling a single bright column of texels at a grazing angle on any board.

use super::cube::texels_across_edges;
use super::float::nearest;
use super::footprint::{CORNERS, Footprint};
use super::format::Colour;
use eitri_descriptors::texture::{
    Func, LodAlgorithm, MipmapMode, ReductionMode, Sampler as SamplerDescriptor, WrapMode,
};

/// One texel, and one level, in fixed point.
const ONE: i64 = 256;

/// A sampler as an instruction sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sampler {
    descriptor: SamplerDescriptor,
    /// Its least and greatest level, and its bias, 8 bits below the point.
    lod: [i64; 2],
    bias: i64,
}

/// What a sampler is asked about: a texture's size, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Footing {
    /// Texels of level 0.
    pub(crate) size: [u32; 3],
    pub(crate) levels: u32,
    /// Layers; of cubes faces.
    pub(crate) layers: u32,
    /// The texture's own limits of the level, 8 bits below the point.
    pub(crate) lod: [i64; 2],
    /// Coordinates that are used: 1 to 3.
    pub(crate) axes: usize,
    pub(crate) cube: bool,
    /// Integers are not mixed.
    pub(crate) integer: bool,
}

/// A coordinate and level that an instruction gives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Coordinates {
    pub(crate) at: [f32; 3],
    /// The face of a cube.
    pub(crate) face: u32,
    /// The layer, as a float.
    pub(crate) layer: f32,
    /// Offsets in texels.
    pub(crate) offset: [i8; 3],
}

impl Sampler {
    pub(crate) fn new(descriptor: SamplerDescriptor) -> Sampler {
        Sampler {
            lod: [descriptor.minimum_lod.0, descriptor.maximum_lod.0].map(fixed),
            bias: fixed(descriptor.lod_bias.0),
            descriptor,
        }
    }

    /// Whether sRGB texels are left as they are stored.
    pub(crate) const fn skips_srgb(&self) -> bool {
        self.descriptor.srgb_override
    }

    /// What is outside: bits of the sampled type.
    pub(crate) fn border(&self, signed: bool, integer: bool) -> Colour {
        let sampler = &self.descriptor;
        let components = [
            sampler.border_color_r,
            sampler.border_color_g,
            sampler.border_color_b,
            sampler.border_color_a,
        ];
        components.map(|component| match (integer, signed) {
            (true, true) => f64::from(component.0 as i32),
            (true, false) => f64::from(component.0),
            (false, _) => f64::from(f32::from_bits(component.0)),
        })
    }

    /// Whether a texel compares with the reference.
    pub(crate) fn compares(&self, texel: f64, reference: f64) -> bool {
        match self.descriptor.compare_function {
            Func::Never => false,
            Func::Less => texel < reference,
            Func::Equal => texel == reference,
            Func::Lequal => texel <= reference,
            Func::Greater => texel > reference,
            Func::NotEqual => texel != reference,
            Func::Gequal => texel >= reference,
            Func::Always => true,
        }
    }

    /// Whether coordinates are parts of the texture's size, not texels.
    pub(crate) const fn is_normalized(&self) -> bool {
        self.descriptor.normalized_coordinates
    }

    /// The sampler's bias, 8 bits below the point.
    pub(crate) fn bias(&self) -> i64 {
        self.bias
    }

    /// The most probes of a sample; one unless the sampler is anisotropic.
    pub(crate) fn most_probes(&self) -> u32 {
        match self.descriptor.lod_algorithm {
            LodAlgorithm::Anisotropic => self.descriptor.maximum_anisotropy,
            LodAlgorithm::Isotropic => 1,
        }
    }

    /// A level between the sampler's limits.
    pub(crate) fn clamped(&self, level: i64) -> i64 {
        let [least, most] = self.lod;
        level.max(least).min(most)
    }

    /// How the texels of a footprint become one: of none yet.
    pub(crate) fn reduction(&self) -> Reduction {
        let mode = self.descriptor.reduction_mode;
        let nothing = match mode {
            // The sum of no numbers.
            ReductionMode::Average => -0.0,
            ReductionMode::Minimum => f64::INFINITY,
            ReductionMode::Maximum => f64::NEG_INFINITY,
        };
        Reduction {
            mode,
            colour: [nothing; 4],
        }
    }

    /// Whether the filter of this level takes the nearest texel.
    fn is_nearest(&self, level: i64) -> bool {
        let cutoff = if self.descriptor.magnify_cutoff {
            ONE / 2
        } else {
            0
        };
        match level <= cutoff {
            true => self.descriptor.magnify_nearest,
            false => self.descriptor.minify_nearest,
        }
    }

    /// Whether the filter would be another if the texture's greatest level counted before it is chosen.
    // FACT: whether it does is not known. graphics-model.md 5.1 has it in step 4, before the choice in step 5, and calls that Vulkan's
    // order; but Vulkan has the sampler's limits alone there, and drivers set it to the number of levels less one: an image of one
    // level would never be minified. It is taken to choose levels alone. Settled by an image of one level and two filters on any board.
    pub(crate) fn filter_is_open(&self, footing: &Footing, level: i64) -> bool {
        let [least, most] = footing.lod;
        let level = self.clamped(level).max(least);
        self.is_nearest(level) != self.is_nearest(level.min(most))
    }

    /// Hands the footprints that a sample at this level takes to `add`. The level has its bias already, and is not yet clamped.
    #[inline]
    pub(crate) fn each_footprint<E>(
        &self,
        footing: &Footing,
        at: &Coordinates,
        level: i64,
        add: &mut impl FnMut(&Footprint) -> Result<(), E>,
    ) -> Result<(), E> {
        let [least, most] = footing.lod;
        let level = self.clamped(level).max(least);
        let last = i64::from(footing.levels) - 1;
        let linear = !self.is_nearest(level) && !footing.integer;
        let level = level.min(most).clamp(0, last * ONE);
        let (first, part) = match self.descriptor.mipmap_mode {
            MipmapMode::None => (0, 0),
            // Half way is rounded down.
            MipmapMode::Nearest => ((level + ONE / 2 - 1) / ONE, 0),
            MipmapMode::Trilinear | MipmapMode::PerformanceTrilinear => (level / ONE, level % ONE),
        };
        let part = part as f64 / ONE as f64;
        for (level, part) in [(first, 1.0 - part), (first + 1, part)] {
            if part > 0.0 {
                let level = level.min(last) as u32;
                self.footprints_of_level(footing, at, (level, linear, part), add)?;
            }
        }
        Ok(())
    }

    /// Hands the footprints of a corner of a gather to `add`. The corners: (i0, j1), (i1, j1), (i1, j0), (i0, j0).
    // FACT: the order is that of hardware/valhall-isa.md 11.10, of graphics-texture.md 7.6 and of the vectors (`texture_linear`, member
    // `gather`); the code that PanVK 26.2 makes of textureGather takes the four registers as (i0, j0), (i1, j0), (i0, j1), (i1, j1),
    // and that driver is said to pass conformance tests on a G610 (graphics-model.md 8). Settled by a gather from four different
    // texels on any board.
    #[inline]
    pub(crate) fn each_gathered<E>(
        &self,
        footing: &Footing,
        at: &Coordinates,
        corner: usize,
        add: &mut impl FnMut(&Footprint) -> Result<(), E>,
    ) -> Result<(), E> {
        let fixed = self.fixed(footing, at, 0);
        let layer = layer(footing, at);
        let (x, y) = [(0, 1), (1, 1), (1, 0), (0, 0)][corner % 4];
        let low = [0, 1].map(|axis| (fixed[axis] - ONE / 2).div_euclid(ONE));
        let place = [low[0] + x, low[1] + y, 0];
        self.texel_at(footing, (place, layer, 0), 1.0, add)
    }

    #[inline]
    fn footprints_of_level<E>(
        &self,
        footing: &Footing,
        at: &Coordinates,
        (level, linear, part): (u32, bool, f64),
        add: &mut impl FnMut(&Footprint) -> Result<(), E>,
    ) -> Result<(), E> {
        let layer = layer(footing, at);
        if !linear {
            let place = self.fixed(footing, at, level).map(|at| at.div_euclid(ONE));
            return self.texel_at(footing, (place, layer, level), part, add);
        }
        if self.crosses_edges(footing) {
            return self.linear_across_edges(footing, (at, layer), (level, part), add);
        }
        let (columns, column_parts) = self.along(footing, at, (level, 0));
        let (rows, row_parts) = match footing.axes {
            1 => ONLY,
            _ => self.along(footing, at, (level, 1)),
        };
        let (slices, slice_parts) = match footing.axes {
            1 | 2 => ONLY,
            _ => self.along(footing, at, (level, 2)),
        };
        // All of these are exact: they have 8 bits an axis, and 8 of the level.
        for (slice, slice_part) in slices.into_iter().zip(slice_parts) {
            if slice_part == 0.0 {
                continue;
            }
            let [upper, lower] = row_parts.map(|row| part * slice_part * row);
            let [left, right] = column_parts;
            add(&Footprint {
                columns,
                rows,
                slice,
                layer,
                level,
                weights: [left * upper, right * upper, left * lower, right * lower],
            })?;
        }
        Ok(())
    }

    /// The two places along an axis that a linear filter takes, and the part of the whole that each has.
    #[inline(always)]
    fn along(
        &self,
        footing: &Footing,
        at: &Coordinates,
        (level, axis): (u32, usize),
    ) -> ([Option<u32>; 2], [f64; 2]) {
        let (low, fraction) = around(self.fixed_along(footing, at, (level, axis)));
        let size = size_along(footing, level, axis).into();
        let places = [
            self.wrapped(axis, low, size),
            self.wrapped(axis, low + 1, size),
        ];
        (places, parts(fraction))
    }

    /// Hands the texels around a place on a face of a cube to `add`, one by one: those beyond an edge lie on another face.
    fn linear_across_edges<E>(
        &self,
        footing: &Footing,
        (at, layer): (&Coordinates, u32),
        (level, part): (u32, f64),
        add: &mut impl FnMut(&Footprint) -> Result<(), E>,
    ) -> Result<(), E> {
        let fixed = self.fixed(footing, at, level);
        let [x, y] = [0, 1].map(|axis| around(fixed[axis]));
        for corner in 0..CORNERS {
            let (right, lower) = (corner & 1, corner >> 1);
            let weight = part * parts(x.1)[right] * parts(y.1)[lower];
            if weight == 0.0 {
                continue;
            }
            let place = [x.0 + right as i64, y.0 + lower as i64, 0];
            self.texel_at(footing, (place, layer, level), weight, add)?;
        }
        Ok(())
    }

    /// Coordinates in 256ths of a texel of a level.
    #[inline]
    fn fixed(&self, footing: &Footing, at: &Coordinates, level: u32) -> [i64; 3] {
        let mut fixed = [0; 3];
        for (axis, fixed) in fixed.iter_mut().enumerate().take(footing.axes) {
            *fixed = self.fixed_along(footing, at, (level, axis));
        }
        fixed
    }

    /// A coordinate in 256ths of a texel of a level.
    #[inline(always)]
    fn fixed_along(&self, footing: &Footing, at: &Coordinates, (level, axis): (u32, usize)) -> i64 {
        let scale = match self.descriptor.normalized_coordinates {
            true => size_along(footing, level, axis).into(),
            false => 1.0,
        };
        let scaled = f64::from(at.at[axis]) * scale * ONE as f64;
        // What is no number, or far outside, ends somewhere far outside.
        let scaled = scaled.clamp(-1e12, 1e12);
        let whole = match self.descriptor.round_to_nearest_even {
            true => nearest(scaled),
            false => floor(scaled),
        };
        whole + ONE * i64::from(at.offset[axis])
    }

    /// Whether texels beyond an edge are those of the next face of a cube.
    fn crosses_edges(&self, footing: &Footing) -> bool {
        footing.cube && self.descriptor.seamless_cube_map
    }

    /// The texel along an axis that a place means; none is the border.
    #[inline(always)]
    fn wrapped(&self, axis: usize, at: i64, size: i64) -> Option<u32> {
        // Most are inside.
        if (0..size).contains(&at) {
            return Some(at as u32);
        }
        let mode = match axis {
            0 => self.descriptor.wrap_mode_s,
            1 => self.descriptor.wrap_mode_t,
            _ => self.descriptor.wrap_mode_r,
        };
        wrapped(mode, at, size).map(|at| at as u32)
    }

    /// One texel, wrapped; the corner of a cube is three.
    #[inline]
    fn texel_at<E>(
        &self,
        footing: &Footing,
        (place, layer, level): ([i64; 3], u32, u32),
        weight: f64,
        add: &mut impl FnMut(&Footprint) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.crosses_edges(footing) {
            let size = size_along(footing, level, 0).into();
            let (count, texels) = texels_across_edges(place, layer, level, size);
            for (texel, part) in texels.into_iter().take(count) {
                let at = texel.at.map(|at| Some(at as u32));
                let found = (texel.layer, texel.level);
                add(&Footprint::of_texel(at, found, weight * part))?;
            }
            return Ok(());
        }
        let mut at = [Some(0); 3];
        for (axis, at) in at.iter_mut().enumerate().take(footing.axes) {
            let size = size_along(footing, level, axis).into();
            *at = self.wrapped(axis, place[axis], size);
        }
        add(&Footprint::of_texel(at, (layer, level), weight))
    }
}

/// The places and parts along an axis that a texture does not have.
const ONLY: ([Option<u32>; 2], [f64; 2]) = ([Some(0); 2], [1.0, 0.0]);

/// The first of the two texels around a place, and how far behind its middle the place lies.
#[inline]
fn around(fixed: i64) -> (i64, i64) {
    let moved = fixed - ONE / 2;
    (moved.div_euclid(ONE), moved.rem_euclid(ONE))
}

/// The parts of two texels, this far behind the middle of the first.
#[inline]
fn parts(fraction: i64) -> [f64; 2] {
    [ONE - fraction, fraction].map(|part| part as f64 / ONE as f64)
}

/// What texels of a footprint have become so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    mode: ReductionMode,
    colour: Colour,
}

impl Reduction {
    /// Adds a texel. One of no weight does not count.
    #[inline]
    pub(crate) fn add(&mut self, colour: Colour, weight: f64) {
        if weight <= 0.0 {
            return;
        }
        let each = self.colour.iter_mut().zip(colour);
        match self.mode {
            ReductionMode::Average => each.for_each(|(sum, value)| *sum += value * weight),
            ReductionMode::Minimum => each.for_each(|(least, value)| *least = least.min(value)),
            ReductionMode::Maximum => each.for_each(|(most, value)| *most = most.max(value)),
        }
    }

    pub(crate) fn colour(self) -> Colour {
        self.colour
    }
}

/// The layer, of a cube the face, that coordinates name.
#[inline]
fn layer(footing: &Footing, at: &Coordinates) -> u32 {
    let layers = if footing.cube {
        footing.layers / 6
    } else {
        footing.layers
    };
    let most = layers.max(1) - 1;
    let layer = if most == 0 {
        0
    } else {
        let layer = libm::rint(f64::from(at.layer));
        // What is no number is the first one.
        layer.clamp(0.0, most.into()) as u32
    };
    match footing.cube {
        true => 6 * layer + at.face,
        false => layer,
    }
}

/// The greatest integer that is not greater. What is no number is 0.
#[inline]
fn floor(value: f64) -> i64 {
    let cut = value as i64;
    cut - i64::from(cut as f64 > value)
}

/// 8.8 fixed point; what descriptors hold is exact in it.
fn fixed(level: f32) -> i64 {
    libm::rint(f64::from(level) * ONE as f64) as i64
}

/// Texels of a level along an axis.
#[inline]
fn size_along(footing: &Footing, level: u32, axis: usize) -> u32 {
    (footing.size[axis] >> level.min(31)).max(1)
}

/// The texel that a coordinate beyond the image means; none is the border.
fn wrapped(mode: WrapMode, at: i64, size: i64) -> Option<i64> {
    let last = size - 1;
    // Behind the image comes its mirror image: -1 is 0, and the size is the last.
    let once = if at < 0 { -1 - at } else { at };
    match mode {
        // Without a division where the size is a power of two.
        WrapMode::Repeat if size & last == 0 => Some(at & last),
        WrapMode::Repeat => Some(at.rem_euclid(size)),
        WrapMode::ClampToEdge => Some(at.clamp(0, last)),
        WrapMode::ClampToBorder => (0..size).contains(&at).then_some(at),
        WrapMode::MirroredRepeat => {
            let period = at.rem_euclid(2 * size);
            Some(if period < size {
                period
            } else {
                2 * size - 1 - period
            })
        }
        WrapMode::MirroredClampToEdge => Some(once.min(last)),
        WrapMode::MirroredClampToBorder => (once < size).then_some(once),
    }
}

#[cfg(test)]
#[path = "sampling_tests.rs"]
mod tests;

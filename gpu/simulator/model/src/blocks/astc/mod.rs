//! ASTC blocks, of two and three dimensions.
//!
//! A block has weights on a grid, end points for each of up to four partitions, and a pattern that tells the texels' partitions.
//! Facts: hardware/graphics-compression.md 6.

mod colours;
mod high_range;
mod mode;
mod partition;
mod sequence;
mod tables;
mod weights;

use super::bits::mix;
use colours::{EndPoints, end_points};
use mode::BlockMode;
use partition::partition;
use sequence::{Sequence, sequence_bits};

/// How a plane's blocks are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Astc {
    /// Texels along each axis; the last is 1 in two dimensions.
    pub(crate) footprint: [u32; 3],
    /// Texels are half floats, not bytes.
    pub(crate) wide: bool,
    /// High dynamic range is legal.
    pub(crate) hdr: bool,
}

/// A block without a meaning: its texels are magenta.
struct Illegal;

/// A component of an end point, ready to be mixed: 16 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Component {
    value: i32,
    /// A logarithm, not a fraction.
    high_range: bool,
}

/// Bits `low` up to, not including, `end` of a block.
fn field(block: u128, low: u32, end: u32) -> u32 {
    (block >> low) as u32 & (((1_u64 << (end - low)) - 1) as u32)
}

impl Astc {
    /// The components of a texel: half floats if they are wide, else bytes.
    pub(super) fn colour(&self, block: u128, at: [u32; 3]) -> [u16; 4] {
        self.decode(block, at).unwrap_or(if self.wide {
            [ONE, 0, ONE, ONE]
        } else {
            [255, 0, 255, 255]
        })
    }

    fn is_3d(&self) -> bool {
        self.footprint[2] > 1
    }

    fn decode(&self, block: u128, at: [u32; 3]) -> Result<[u16; 4], Illegal> {
        if field(block, 0, 9) == 0x1fc {
            return self.void_extent(block);
        }
        let mode = BlockMode::of(field(block, 0, 11), self.is_3d()).ok_or(Illegal)?;
        if (0..3).any(|axis| mode.grid[axis] > self.footprint[axis]) {
            return Err(Illegal);
        }
        let weight_count = mode.weights();
        let weight_bits = sequence_bits(mode.levels, weight_count);
        let partitions = field(block, 11, 13) + 1;
        if weight_count > 64 || !(24..=96).contains(&weight_bits) || partitions == 4 && mode.dual {
            return Err(Illegal);
        }
        // Above the colours and below the weights: what does not fit into the header.
        let mut top = 128 - weight_bits;
        let mut kinds = [0; 4];
        let start = if partitions == 1 {
            kinds[0] = field(block, 13, 17);
            17
        } else {
            let low = field(block, 23, 29);
            if low & 3 == 0 {
                kinds = [low >> 2; 4];
            } else {
                let extra = 3 * partitions - 4;
                top -= extra;
                let all = low | field(block, top, top + extra) << 6;
                for (index, kind) in (0..partitions).zip(&mut kinds) {
                    let class = (all & 3) - 1 + (all >> (2 + index) & 1);
                    *kind = class << 2 | all >> (2 + partitions + 2 * index) & 3;
                }
            }
            29
        };
        let mut second_plane = None;
        if mode.dual {
            top -= 2;
            second_plane = Some(field(block, top, top + 2) as usize);
        }
        let kinds = &kinds[..partitions as usize];
        let own = match partitions {
            1 => 0,
            _ => partition(field(block, 13, 23), partitions, self.small(), at),
        };
        let ends = self.end_points(block, (start, top), kinds, own)?;
        let weights = weights::of_texel(block, &mode, self.footprint, at);
        let mut colour = [0; 4];
        for (index, component) in colour.iter_mut().enumerate() {
            let weight = weights[usize::from(second_plane == Some(index))];
            let [first, second] = ends[index];
            let mixed = mix(first.value, second.value, weight);
            *component = self.finished(mixed, first.high_range);
        }
        Ok(colour)
    }

    /// The end points of partition `own`: two of each component. `kinds` are the partitions' end point modes.
    fn end_points(
        &self,
        block: u128,
        (start, top): (u32, u32),
        kinds: &[u32],
        own: usize,
    ) -> Result<[[Component; 2]; 4], Illegal> {
        let values = |kind: &u32| 2 * (kind / 4 + 1);
        let count: u32 = kinds.iter().map(values).sum();
        let bits = top.checked_sub(start).ok_or(Illegal)?;
        if count > 18 {
            return Err(Illegal);
        }
        let levels = sequence::most_levels(bits, count).ok_or(Illegal)?;
        let sequence = Sequence::new(block >> start, levels, count);
        let before: u32 = kinds[..own].iter().map(values).sum();
        let mut read = [0; 8];
        for (index, value) in (0..values(&kinds[own])).zip(&mut read) {
            *value = tables::colour(levels, sequence.value(before + index));
        }
        let EndPoints { ends, high_range } = end_points(kinds[own], read);
        if !self.hdr && high_range.contains(&true) {
            return Err(Illegal);
        }
        Ok(core::array::from_fn(|index| {
            ends.map(|end| Component {
                value: match (high_range[index], self.wide) {
                    (true, _) => end[index],
                    (false, true) => end[index] * 257,
                    (false, false) => end[index] << 8 | 0x80,
                },
                high_range: high_range[index],
            })
        }))
    }

    /// Whether partitions are drawn twice as large, since the block has few texels.
    fn small(&self) -> bool {
        self.footprint.iter().product::<u32>() < 31
    }

    /// A mixed component of 16 bits as a texel has it.
    fn finished(&self, mixed: i32, high_range: bool) -> u16 {
        if high_range {
            let (exponent, fraction) = (mixed >> 11, mixed & 0x7ff);
            let fraction = match fraction {
                0..512 => 3 * fraction,
                512..1536 => 4 * fraction - 512,
                _ => 5 * fraction - 2048,
            };
            (exponent << 10 | fraction >> 3).min(0x7bff) as u16
        } else if self.wide {
            half_of_fraction(mixed as u32)
        } else {
            (mixed >> 8) as u16
        }
    }

    /// A block of one colour.
    fn void_extent(&self, block: u128) -> Result<[u16; 4], Illegal> {
        let (axes, width, low) = match self.is_3d() {
            false => (2, 13, 12),
            true => (3, 9, 10),
        };
        if axes == 2 && field(block, 10, 12) != 3 {
            return Err(Illegal);
        }
        let extent = |index: u32| field(block, low + width * index, low + width * (index + 1));
        let none = (0..2 * axes).all(|index| extent(index) == (1 << width) - 1);
        if !none && (0..axes).any(|axis| extent(2 * axis) >= extent(2 * axis + 1)) {
            return Err(Illegal);
        }
        let high_range = field(block, 9, 10) == 1;
        if high_range && !self.hdr {
            return Err(Illegal);
        }
        Ok(core::array::from_fn(|index| {
            let stored = (block >> (64 + 16 * index)) as u16;
            if high_range {
                stored
            } else {
                self.finished(stored.into(), false)
            }
        }))
    }
}

/// A half float's 1.
const ONE: u16 = 0x3c00;

/// The half float of a fraction in 65536ths, cut off; 65535 counts as 1.
fn half_of_fraction(value: u32) -> u16 {
    match value {
        0 => 0,
        // Below the least normal half, 2^-14: units are 2^-24.
        1..4 => (value << 8) as u16,
        65535 => ONE,
        _ => {
            let top = value.ilog2();
            let fraction = (u64::from(value) << 10 >> top) as u16 & 0x3ff;
            ((top - 1) as u16) << 10 | fraction
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// A block of one colour, opaque white, with so many extents of `width` bits each from bit `low` on.
    fn of_one_colour(extents: &[u32], (width, low): (usize, usize), header: u128) -> u128 {
        let places = (low..).step_by(width);
        let extents = extents.iter().zip(places);
        let extents = extents.fold(0, |all, (extent, at)| all | u128::from(*extent) << at);
        u128::from(u64::MAX) << 64 | extents | header
    }

    #[test]
    fn an_extent_of_one_colour_begins_before_it_ends_on_each_axis() {
        const WHITE: [u16; 4] = [255; 4];
        const MAGENTA: [u16; 4] = [255, 0, 255, 255];
        // In two dimensions bits 10 and 11 are ones.
        for (footprint, shape, header, axes) in [
            ([4, 4, 1], (13, 12), 0xDFC, 2),
            ([3, 3, 3], (9, 10), 0x1FC, 3),
        ] {
            let astc = Astc {
                footprint,
                wide: false,
                hdr: false,
            };
            let most = (1 << shape.0) - 1;
            let check = |extents: &[u32], wanted: [u16; 4]| {
                let found = astc.colour(of_one_colour(extents, shape, header), [0; 3]);
                assert_eq!(found, wanted, "{footprint:?}, extents {extents:?}");
            };
            check(&vec![most; 2 * axes], WHITE);
            check(&vec![0; 2 * axes], MAGENTA);
            check(&vec![most - 1; 2 * axes], MAGENTA);
            for axis in 0..axes {
                // The other axes have all: from 0 to the end.
                let with = |start: u32, end: u32| {
                    let mut extents = [0, most].repeat(axes);
                    (extents[2 * axis], extents[2 * axis + 1]) = (start, end);
                    extents
                };
                check(&with(0, most), WHITE);
                check(&with(6, 7), WHITE);
                check(&with(most - 1, most), WHITE);
                check(&with(7, 7), MAGENTA);
                check(&with(7, 6), MAGENTA);
                check(&with(most, most), MAGENTA);
            }
        }
    }

    #[test]
    fn the_header_of_one_colour_in_two_dimensions_has_two_ones() {
        let astc = Astc {
            footprint: [4, 4, 1],
            wide: true,
            hdr: false,
        };
        for (header, is_legal) in [
            (0xDFC, true),
            (0x9FC, false),
            (0x5FC, false),
            (0x1FC, false),
            // Bit 9: half floats of high range, which this plane does not have.
            (0xFFC, false),
        ] {
            let block = of_one_colour(&[0x1FFF; 4], (13, 12), header);
            let wanted = if is_legal {
                [ONE; 4]
            } else {
                [ONE, 0, ONE, ONE]
            };
            assert_eq!(astc.colour(block, [0; 3]), wanted, "{header:#x}");
        }
    }
}

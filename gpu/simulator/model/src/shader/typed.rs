//! Typed accesses: components between registers and memory, converted.
//!
//! Guarantees: as in `messages`, an access that stalls or fails has had no effect and can be sent again.
//!
//! Facts: hardware/valhall-isa.md 11.4 to 11.6, 11.10 (TEX_FETCH).

use super::float::{Format as Float, Round, canonical32, narrow, wide16, wide32};
use super::format::{Colour, PixelFormat};
use super::lanes::spread;
use super::texture::Texel;
use super::warp::Warp;
use eitri_isa::Arch;
use eitri_isa::values::RegisterFormat;

/// Bit of a conversion descriptor that asks for the bits as they are.
const RAW: u32 = 1 << 22;

/// What a conversion descriptor asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Conversion {
    pub(crate) format: PixelFormat,
    /// Registers hold the bits of memory, in words of 32, not components.
    pub(crate) raw: bool,
}

impl Conversion {
    /// The conversion of a descriptor; `None` if its format is not modelled.
    pub(crate) fn of(word: u32) -> Option<Conversion> {
        Some(Conversion {
            format: PixelFormat::of(word & 0x3f_ffff)?,
            raw: word & RAW != 0,
        })
    }

    /// What registers get as it is, if that is all that the conversion does.
    pub(crate) fn words(&self, components: Components) -> Option<Words> {
        let format = &self.format;
        let (loaded, ones) = format.words().filter(|_| !self.raw)?;
        let floats = !format.is_integer();
        let same = match components.format {
            RegisterFormat::Auto => true,
            RegisterFormat::F32 => floats,
            RegisterFormat::S32 => format.is_signed(),
            RegisterFormat::U32 => format.is_integer() && !format.is_signed(),
            _ => false,
        };
        (same && loaded <= components.count && components.count <= 4).then_some(Words {
            loaded,
            count: components.count,
            floats,
            ones,
        })
    }

    /// The registers that a texel becomes.
    pub(crate) fn registers(&self, texel: u128, components: Components) -> [u32; 4] {
        if self.raw {
            return core::array::from_fn(|index| (texel >> (32 * index)) as u32);
        }
        components.registers(self.format.unpack(texel), &self.format)
    }

    /// The texel that registers become.
    pub(crate) fn texel(&self, registers: [u32; 4], components: Components) -> u128 {
        if self.raw {
            let words = registers.into_iter().enumerate();
            return words.fold(0, |texel, (index, word)| {
                texel | u128::from(word) << (32 * index)
            });
        }
        self.format.pack(components.colour(registers, &self.format))
    }
}

/// Components that registers get as they stand in memory, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// Words of memory.
    pub(crate) loaded: u8,
    /// Registers: those beyond get what components are that memory lacks.
    count: u8,
    floats: bool,
    /// Which of those are 1, not 0.
    ones: [bool; 4],
}

impl Words {
    /// Makes registers from `first` on, into whose running lanes the words were loaded, what a conversion makes them: each NaN is that
    /// of conversions, and components that memory lacks are 0 or 1.
    pub(crate) fn complete(self, warp: &mut Warp, first: u8) {
        let runs = spread(warp.lanes);
        for (index, is_one) in (0..self.count).zip(self.ones) {
            let register = &mut warp.registers[usize::from(first.wrapping_add(index) & 63)];
            if index >= self.loaded {
                let value = match (is_one, self.floats) {
                    (true, true) => single(1.0),
                    (true, false) => 1,
                    (false, _) => 0,
                };
                for (register, runs) in register.iter_mut().zip(runs) {
                    *register = *register & !runs | value & runs;
                }
            } else if self.floats {
                let is_nan = |bits: u32| bits & 0x7fff_ffff > 0x7f80_0000;
                for (register, runs) in register.iter_mut().zip(runs) {
                    if is_nan(*register & runs) {
                        *register = single(wide32(*register));
                    }
                }
            }
        }
    }
}

/// Components in registers: as many, of this format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Components {
    pub(crate) count: u8,
    pub(crate) format: RegisterFormat,
}

impl Components {
    /// How many registers they take.
    pub(crate) fn registers_needed(self) -> u8 {
        if self.format.bits() == 16 {
            self.count.div_ceil(2)
        } else {
            self.count
        }
    }

    /// The registers that hold the first components of a colour from memory of `format`.
    pub(crate) fn registers(self, colour: Colour, format: &PixelFormat) -> [u32; 4] {
        let mut registers = [0; 4];
        for index in 0..usize::from(self.count) {
            let bits = self.bits(colour[index], format);
            if self.format.bits() == 16 {
                registers[index / 2] |= (bits & 0xffff) << (16 * (index % 2));
            } else {
                registers[index] = bits;
            }
        }
        registers
    }

    fn bits(self, value: f64, format: &PixelFormat) -> u32 {
        let limited = |least: f64, greatest: f64| value.clamp(least, greatest) as i64 as u32;
        match self.format {
            RegisterFormat::F32 => single(value),
            RegisterFormat::F16 => narrow(value, 0, Float::Binary16, Round::NearestEven),
            RegisterFormat::S32 => limited(f64::from(i32::MIN), f64::from(i32::MAX)),
            RegisterFormat::U32 => limited(0.0, f64::from(u32::MAX)),
            RegisterFormat::S16 => limited(f64::from(i16::MIN), f64::from(i16::MAX)),
            RegisterFormat::U16 => limited(0.0, f64::from(u16::MAX)),
            // The type is the memory format's.
            RegisterFormat::Auto if format.is_integer() => value as i64 as u32,
            RegisterFormat::Auto => single(value),
        }
    }

    /// The colour that registers hold, for memory of `format`; components that are not there are 0.
    pub(crate) fn colour(self, registers: [u32; 4], format: &PixelFormat) -> Colour {
        core::array::from_fn(|index| {
            if index >= usize::from(self.count) {
                return 0.0;
            }
            let bits = if self.format.bits() == 16 {
                registers[index / 2] >> (16 * (index % 2)) & 0xffff
            } else {
                registers[index]
            };
            match self.format {
                RegisterFormat::F32 => wide32(bits),
                RegisterFormat::F16 => wide16(bits as u16),
                RegisterFormat::S32 => f64::from(bits as i32),
                RegisterFormat::U32 => f64::from(bits),
                RegisterFormat::S16 => f64::from(bits as i16),
                RegisterFormat::U16 => f64::from(bits as u16),
                RegisterFormat::Auto if format.is_signed() => f64::from(bits as i32),
                RegisterFormat::Auto if format.is_integer() => f64::from(bits),
                RegisterFormat::Auto => wide32(bits),
            }
        })
    }
}

/// The nearest binary32: what [`narrow`] gives.
fn single(value: f64) -> u32 {
    canonical32(value as f32)
}

/// What a TEX_FETCH asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// Coordinates: 1 to 3.
    pub(crate) dimensions: u8,
    /// The payload has a layer.
    pub(crate) array: bool,
    /// The payload has offsets and the level.
    pub(crate) offset: bool,
    /// The handle has two words.
    pub(crate) wide: bool,
    /// Components that are wanted, red in bit 0.
    pub(crate) mask: u8,
    /// Whether they have 16 bits.
    pub(crate) narrow: bool,
}

impl Fetch {
    /// Registers of the payload.
    pub(crate) fn payload(&self) -> u8 {
        self.dimensions + u8::from(self.array) + u8::from(self.offset)
    }

    /// Registers of the result.
    pub(crate) fn results(&self) -> u8 {
        let count = self.mask.count_ones() as u8;
        if self.narrow {
            count.div_ceil(2)
        } else {
            count
        }
    }

    /// Whether the third offset of a handle names a sample.
    pub(crate) fn names_sample_by_offset(&self, handle: u64) -> bool {
        !self.wide && self.dimensions < 3 && handle >> 40 & 0xf != 0
    }

    /// The handle of the texture, and the texel, of one thread.
    pub(crate) fn target(&self, handle: u64, payload: &[u32], arch: Arch) -> (u32, Texel) {
        let (low, high) = (handle as u32, (handle >> 32) as u32);
        let mut words = payload.iter().copied();
        let mut texel = Texel::default();
        for axis in 0..usize::from(self.dimensions) {
            texel.at[axis] = i64::from(words.next().unwrap_or(0) as i32);
        }
        if self.array {
            texel.layer = words.next().unwrap_or(0);
        }
        if self.offset {
            let bytes = words.next().unwrap_or(0).to_le_bytes();
            for (coordinate, offset) in texel.at.iter_mut().zip(bytes).take(2) {
                *coordinate += i64::from(offset as i8);
            }
            if self.dimensions == 3 {
                texel.at[2] += i64::from(bytes[2] as i8);
            } else {
                texel.sample = bytes[2].into();
            }
            texel.level = bytes[3].into();
        }
        if self.wide {
            return (high, texel);
        }
        // Extra fields: offsets of four bits, then level and layer.
        for axis in 0..usize::from(self.dimensions) {
            texel.at[axis] += i64::from((high >> (4 * axis) << 28) as i32 >> 28);
        }
        // FACT: the third offset of a texture without a third axis is taken to be the sample index, as in the payload's word of
        // offsets (valhall-isa.md 11.10 states it of that word alone). Settled by fetching sample 1 so on any board.
        if self.dimensions < 3 {
            texel.sample += high >> 8 & 0xf;
        }
        let (layer, level) = if arch >= Arch::V11 {
            (high >> 12 & 0xf, (high >> 16 & 0x7fff) >> 8)
        } else {
            (high >> 16, high >> 12 & 0xf)
        };
        texel.layer = texel.layer.wrapping_add(layer);
        texel.level += level;
        let table = match low >> 27 {
            // Four-bit tables 12 to 15 are the internal ones.
            internal @ 12..16 => internal + 48,
            table => table,
        };
        (table << 24 | low >> 16 & 0x7ff, texel)
    }

    /// The registers that hold the wanted components, packed without gaps.
    pub(crate) fn registers(&self, colour: Colour, format: &PixelFormat) -> [u32; 4] {
        masked_registers((self.mask, self.narrow), colour, format)
    }
}

/// The registers that hold the components of a mask, red in bit 0, packed without gaps; perhaps of 16 bits.
pub(crate) fn masked_registers(
    (mask, narrow): (u8, bool),
    colour: Colour,
    format: &PixelFormat,
) -> [u32; 4] {
    let mut wanted = colour;
    if mask != 0xf {
        let components = (0..4).filter(|index| mask >> index & 1 != 0);
        for (place, index) in wanted.iter_mut().zip(components) {
            *place = colour[index];
        }
    }
    let register = match (narrow, format.is_integer(), format.is_signed()) {
        (false, ..) => RegisterFormat::Auto,
        (true, false, _) => RegisterFormat::F16,
        (true, true, false) => RegisterFormat::U16,
        (true, true, true) => RegisterFormat::S16,
    };
    Components {
        count: mask.count_ones() as u8,
        format: register,
    }
    .registers(wanted, format)
}

/// The texel that the two coordinate words of LD_TEX and LEA_TEX name.
// FACT: whether the depth of a 3D image stands in the low or the high half of the second word differs between sources
// (hardware/valhall-isa.md 11.5); the half that is not 0 is taken. Settled by a store to a 3D image on any board.
pub(crate) fn image_texel(xy: u32, zw: u32, is_3d: bool) -> Texel {
    let (low, high) = (zw & 0xffff, zw >> 16);
    let mut texel = Texel {
        at: [i64::from(xy & 0xffff), i64::from(xy >> 16), 0],
        ..Texel::default()
    };
    if is_3d {
        texel.at[2] = i64::from(low | high);
    } else {
        (texel.layer, texel.sample) = (high, low);
    }
    texel
}

#[cfg(test)]
mod tests {
    use super::*;

    const FETCH: Fetch = Fetch {
        dimensions: 2,
        array: false,
        offset: false,
        wide: false,
        mask: 0b1111,
        narrow: false,
    };

    #[test]
    fn narrow_handles_hold_table_index_and_extra_fields() {
        // Texture table 1, index 5; sampler 0.
        let handle = 1 << 27 | 5 << 16;
        let (found, texel) = FETCH.target(handle, &[3, 4], Arch::V10);
        assert_eq!((found, texel.at), (0x0100_0005, [3, 4, 0]));
        // Offsets -1 and 2, level 3, layer 7 on v10; layer 3 and level 7 / 256 on v11.
        let extra = 0x0007_302f_u64 << 32;
        let (_, texel) = FETCH.target(handle | extra, &[3, 4], Arch::V10);
        assert_eq!((texel.at, texel.level, texel.layer), ([2, 6, 0], 3, 7));
        let (_, texel) = FETCH.target(handle | extra, &[3, 4], Arch::V11);
        assert_eq!((texel.level, texel.layer), (0, 3));
        // The third offset is the sample where there is no third axis, else an offset.
        let (_, texel) = FETCH.target(handle | 0x0d00_u64 << 32, &[3, 4], Arch::V10);
        assert_eq!((texel.sample, texel.at), (13, [3, 4, 0]));
        let solid = Fetch {
            dimensions: 3,
            ..FETCH
        };
        let (_, texel) = solid.target(handle | 0x0d00_u64 << 32, &[3, 4, 5], Arch::V10);
        assert_eq!((texel.sample, texel.at), (0, [3, 4, 2]));
        // Tables 12 to 15 are 60 to 63.
        assert_eq!(FETCH.target(13 << 27, &[0, 0], Arch::V10).0, 61 << 24);
    }

    #[test]
    fn the_payload_is_coordinates_layer_offsets() {
        let fetch = Fetch {
            array: true,
            offset: true,
            wide: true,
            ..FETCH
        };
        let (handle, texel) =
            fetch.target(0x0200_0009_0000_0000, &[10, 20, 2, 0x0301_fe05], Arch::V12);
        assert_eq!(handle, 0x0200_0009);
        assert_eq!(
            texel,
            Texel {
                at: [15, 18, 0],
                layer: 2,
                level: 3,
                sample: 1
            }
        );
        assert_eq!((fetch.payload(), fetch.results()), (4, 4));
    }

    #[test]
    fn components_pack_two_a_register_where_they_have_16_bits() {
        let format = PixelFormat::of(0x0b_b000).expect("RGBA8");
        let half = Components {
            count: 3,
            format: RegisterFormat::F16,
        };
        let registers = half.registers([1.0, 0.5, 2.0, 0.0], &format);
        assert_eq!(registers, [0x3800_3c00, 0x4000, 0, 0]);
        assert_eq!(half.colour(registers, &format), [1.0, 0.5, 2.0, 0.0]);
        let auto = Components {
            count: 1,
            format: RegisterFormat::Auto,
        };
        let signed = PixelFormat::of(0x0c_5010).expect("R32_SINT");
        assert_eq!(auto.registers([-2.0; 4], &signed)[0], 0xffff_fffe);
        assert_eq!(auto.colour([0xffff_fffe; 4], &signed)[0], -2.0);
    }
}

//! What TEX_SINGLE, TEX_GATHER and TEX_GRADIENT ask for: fields, payload and handle of one thread.
//!
//! Never: reads memory or computes a colour.  Facts: hardware/valhall-isa.md 4 (counts), 9.8 and 11.10;
//! directions hardware/graphics-model.md 5.3, hardware/graphics-compiler.md 6.

use super::cube::face_and_place;
use super::detail::Probes;
use super::sampling::Coordinates;
use eitri_isa::Arch;
use eitri_isa::values::LodMode;

/// What is wanted of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A filtered colour.
    Sample(LodMode),
    /// A component of four texels.
    Gather(u8),
    /// A level of detail.
    Gradient(Gradient),
}

/// What a TEX_GRADIENT asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gradient {
    /// The payload has derivatives, not coordinates.
    pub(crate) derivatives: bool,
    /// The sampler's bias is left out.
    pub(crate) no_bias: bool,
    /// The sampler's limits are left out.
    pub(crate) no_clamp: bool,
}

/// A texture message but TEX_FETCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextureRequest {
    pub(crate) wanted: Wanted,
    /// Coordinates: 1 to 3; of a cube 2, with the face in the first.
    pub(crate) axes: u8,
    pub(crate) cube: bool,
    /// The payload of a cube has a direction, which the unit projects onto a face.
    pub(crate) projected: bool,
    pub(crate) array: bool,
    pub(crate) shadow: bool,
    pub(crate) offset: bool,
    /// The handle has two words.
    pub(crate) wide: bool,
    /// Components that are wanted, red in bit 0.
    pub(crate) mask: u8,
    /// Whether they have 16 bits.
    pub(crate) narrow: bool,
}

/// The payload and handle of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Payload {
    pub(crate) texture: u32,
    pub(crate) sampler: u32,
    pub(crate) coordinates: Coordinates,
    pub(crate) reference: f32,
    /// The level word: signed, 8 bits below the point, in the low half.
    pub(crate) level: i64,
    /// What a gradient descriptor asks for.
    pub(crate) probes: Probes,
    /// The least level that the high half of a bias asks for.
    pub(crate) least: i64,
    /// Of TEX_GRADIENT: along x and along y of each coordinate.
    pub(crate) derivatives: [[f32; 2]; 3],
}

/// Below the three bits of the face.
const FACE_MASK: u32 = 0x1fff_ffff;
/// What those three bits are in any float from 2^-63 to 1.
const FACE_PLACE: u32 = 0x2000_0000;

impl TextureRequest {
    fn level_words(&self) -> u8 {
        match self.wanted {
            Wanted::Sample(mode) => match mode {
                LodMode::Zero | LodMode::Computed | LodMode::ComputedForceDelta => 0,
                LodMode::Explicit | LodMode::ComputedBias | LodMode::ComputedBiasForceDelta => 1,
                LodMode::Grdesc => 2,
            },
            Wanted::Gather(_) | Wanted::Gradient(_) => 0,
        }
    }

    /// Registers of the payload.
    pub(crate) fn payload(&self) -> u8 {
        if let Wanted::Gradient(Gradient {
            derivatives: true, ..
        }) = self.wanted
        {
            return self.axes * 2;
        }
        let projected = u8::from(self.projected);
        if matches!(self.wanted, Wanted::Gradient(_)) {
            return self.axes + projected;
        }
        let flags = [self.projected, self.array, self.shadow, self.offset];
        let flags: u8 = flags.into_iter().map(u8::from).sum();
        self.axes + flags + self.level_words()
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

    /// What a thread's payload and handle say.
    #[inline]
    pub(crate) fn read(
        &self,
        handle: u64,
        mut words: impl Iterator<Item = u32>,
        arch: Arch,
    ) -> Payload {
        let mut next = || words.next().unwrap_or(0);
        let mut payload = Payload::default();
        if let Wanted::Gradient(Gradient {
            derivatives: true, ..
        }) = self.wanted
        {
            for pair in payload.derivatives.iter_mut().take(self.axes.into()) {
                *pair = [f32::from_bits(next()), f32::from_bits(next())];
            }
        } else {
            let coordinates = &mut payload.coordinates;
            let count = self.axes + u8::from(self.projected);
            for at in coordinates.at.iter_mut().take(count.into()) {
                *at = f32::from_bits(next());
            }
            if self.projected {
                (coordinates.face, coordinates.at) = face_and_place(coordinates.at);
            } else if self.cube {
                let word = coordinates.at[0].to_bits();
                coordinates.face = word >> 29;
                coordinates.at[0] = f32::from_bits(word & FACE_MASK | FACE_PLACE);
            }
            if self.array {
                coordinates.layer = f32::from_bits(next());
            }
            if self.shadow {
                payload.reference = f32::from_bits(next());
            }
            if self.offset {
                let bytes = next().to_le_bytes();
                coordinates.offset = [bytes[0] as i8, bytes[1] as i8, bytes[2] as i8];
            }
            if self.level_words() > 0 {
                let word = next();
                payload.level = i64::from(word as i16);
                match self.wanted {
                    Wanted::Sample(LodMode::Grdesc) => {
                        payload.probes = Probes::of_descriptor([word, next()]);
                    }
                    // The high half of an explicit level is nothing.
                    Wanted::Sample(LodMode::Explicit) => {}
                    _ => payload.least = i64::from((word >> 16) as i16),
                }
            }
        }
        self.name(handle, arch, &mut payload);
        payload
    }

    /// The handles of texture and sampler, with what a narrow one adds.
    fn name(&self, handle: u64, arch: Arch, payload: &mut Payload) {
        let (low, high) = (handle as u32, (handle >> 32) as u32);
        if self.wide {
            (payload.sampler, payload.texture) = (low, high);
            return;
        }
        let table = |bits: u32| match bits & 0x1f {
            // Four-bit tables 12 to 15 are the internal ones.
            internal @ 12..16 => internal + 48,
            table => table,
        };
        payload.texture = table(low >> 27) << 24 | low >> 16 & 0x7ff;
        payload.sampler = table(low >> 11) << 24 | low & 0x7ff;
        let offset = &mut payload.coordinates.offset;
        for (axis, offset) in offset.iter_mut().enumerate().take(self.axes.into()) {
            let extra = (high >> (4 * axis) << 28) as i32 >> 28;
            *offset = offset.wrapping_add(extra as i8);
        }
        let layer = if arch >= Arch::V11 {
            high >> 12 & 0xf
        } else {
            high >> 16
        };
        payload.coordinates.layer += layer as f32;
        if arch >= Arch::V11 {
            payload.level += i64::from((high >> 16) as i16);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: TextureRequest = TextureRequest {
        wanted: Wanted::Sample(LodMode::Explicit),
        axes: 2,
        cube: false,
        projected: false,
        array: true,
        shadow: true,
        offset: true,
        wide: true,
        mask: 0b0101,
        narrow: false,
    };

    #[test]
    fn the_payload_is_in_the_order_of_the_table() {
        // valhall-isa.md 11.10: coordinates, layer, reference, offsets, level.
        let words = [0.25_f32.to_bits(), 0.5_f32.to_bits(), 3.0_f32.to_bits()];
        let words = [&words[..], &[0.75_f32.to_bits(), 0x0000_fe01, 0xff80]].concat();
        let payload = SAMPLE.read(0x0100_0005_0200_0007, words.into_iter(), Arch::V10);
        assert_eq!(
            (payload.sampler, payload.texture),
            (0x0200_0007, 0x0100_0005)
        );
        let at = payload.coordinates;
        assert_eq!(
            (at.at, at.layer, at.offset),
            ([0.25, 0.5, 0.0], 3.0, [1, -2, 0])
        );
        assert_eq!((payload.reference, payload.level), (0.75, -128));
        assert_eq!((SAMPLE.payload(), SAMPLE.results()), (6, 2));
    }

    #[test]
    fn a_cube_has_its_face_above_the_first_coordinate() {
        let request = TextureRequest {
            wanted: Wanted::Sample(LodMode::Zero),
            cube: true,
            array: false,
            shadow: false,
            offset: false,
            wide: false,
            ..SAMPLE
        };
        let word = 5 << 29 | 0.75_f32.to_bits() & FACE_MASK;
        // Texture table 1, index 3; sampler table 2, index 4.
        let handle = 1 << 27 | 3 << 16 | 2 << 11 | 4;
        let payload = request.read(handle, [word, 1.0_f32.to_bits()].into_iter(), Arch::V10);
        let at = payload.coordinates;
        assert_eq!((at.face, at.at), (5, [0.75, 1.0, 0.0]));
        assert_eq!(
            (payload.texture, payload.sampler),
            (0x0100_0003, 0x0200_0004)
        );
    }

    #[test]
    fn narrow_handles_add_offsets_layer_and_level() {
        let request = TextureRequest {
            wide: false,
            ..SAMPLE
        };
        let words = [0.25_f32, 0.5, 1.0, 0.75].map(f32::to_bits);
        let words = [&words[..], &[0x0000_0201, 0x0010]].concat();
        // Offsets -1 and 3; layer 7 on v10, and layer 5 and level 7 / 256 on v11.
        let read = |arch| request.read(0x0007_503f << 32, words.iter().copied(), arch);
        let old = read(Arch::V10);
        let at = old.coordinates;
        assert_eq!((at.offset, at.layer, old.level), ([0, 5, 0], 8.0, 0x10));
        let new = read(Arch::V11);
        let at = new.coordinates;
        assert_eq!((at.offset, at.layer, new.level), ([0, 5, 0], 6.0, 0x17));
    }

    #[test]
    fn derivatives_come_in_pairs() {
        let gradient = Gradient {
            derivatives: true,
            no_bias: true,
            no_clamp: true,
        };
        let request = TextureRequest {
            wanted: Wanted::Gradient(gradient),
            ..SAMPLE
        };
        let words = [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_bits);
        let payload = request.read(0, words.into_iter(), Arch::V10);
        assert_eq!(payload.derivatives, [[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]);
        assert_eq!(request.payload(), 4);
    }
}

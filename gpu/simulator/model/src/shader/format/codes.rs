//! Codes and orders of pixel formats: which components a code has, where they lie, and what outputs take of them.
//!
//! Codes are a table by structure: a block of codes a kind of number, a row of eight a number of components, a column a size;
//! packed formats stand alone.
//!
//! Facts: hardware/descriptors.md 10.1; hardware/graphics-texture.md 7.9; hardware/graphics-formats.md 1.

use super::super::yuv;

/// How a component is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Unorm,
    Snorm,
    Uint,
    Sint,
    /// A float of 32, 16, 11 or 10 bits; those of 11 and 10 bits have no sign.
    Float,
    /// Signed, with 16 bits below the point.
    Fixed,
}

/// How the components lie in a texel, the first in the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One after another, of these sizes; 0 is none.
    Bits([u8; 4]),
    /// Three fractions of nine bits and an exponent of five that they share.
    SharedExponent,
    /// Nothing: reads give what the order says.
    Nothing,
}

/// What an output component takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::shader) enum Takes {
    Stored(u8),
    Zero,
    One,
}

/// Lowest bit of each component and bytes of a texel, of components of `sizes` above bits of `fraction` each.
pub(super) fn places(sizes: [u8; 4], fraction: [u8; 4]) -> ([u8; 4], u8) {
    let mut end = 0;
    let low = core::array::from_fn(|index| {
        let low = end + fraction[index];
        end = low + sizes[index];
        low
    });
    (low, end / 8)
}

/// As [`places`], of components whose last has the lowest bits.
pub(super) fn reversed_places([a, b, c, d]: [u8; 4]) -> ([u8; 4], u8) {
    let ([d, c, b, a], bytes) = places([d, c, b, a], [0; 4]);
    ([a, b, c, d], bytes)
}

pub(super) const STENCIL: u32 = 93;
pub(super) const DEPTH24: u32 = 77;
pub(super) const DEPTH24_ABOVE: u32 = 78;
/// Components of ten bits, each above six unused ones.
pub(super) const PADDED10: u32 = 190;
pub(super) const RGB1: u32 = 16;
/// The order 000A.
pub(super) const ALPHA_ALONE: u32 = 229;

/// Whether the last component of a code has the lowest bits: A1 BGR5, A2 BGR10, B10F G11F R11F and E5F B9F G9F R9F, whose names
/// list them (graphics-formats.md 1).
pub(super) const fn is_reversed(code: u32) -> bool {
    matches!(code, 66 | 68 | 70 | 72 | 74 | 90 | 92)
}

/// How the texels of a format code are stored.
pub(super) fn stored(code: u32) -> Option<(Number, Layout)> {
    use Number::{Fixed, Float, Sint, Snorm, Uint, Unorm};
    let bits = |number, sizes| Some((number, Layout::Bits(sizes)));
    #[rustfmt::skip]
    let packed = match code {
         yuv::FIRST_CODE..=yuv::LAST_CODE => bits(Unorm, [8, 8, 8, 0]),
         64 => bits(Unorm, [ 5,  6,  5, 0]),
         65 | 66 => bits(Unorm, [ 5,  5,  5, 1]),
         67 | 68 => bits(Unorm, [10, 10, 10, 2]),
         69 | 70 => bits(Snorm, [10, 10, 10, 2]),
         71 | 72 => bits(Uint,  [10, 10, 10, 2]),
         73 | 74 => bits(Sint,  [10, 10, 10, 2]),
         75 => bits(Unorm, [16,  0,  0, 0]),
         DEPTH24 | DEPTH24_ABOVE => bits(Unorm, [24,  0,  0, 0]),
         76 => bits(Float, [32,  0,  0, 0]),
         81 => bits(Fixed, [32,  0,  0,  0]),
         82 => bits(Fixed, [32, 32,  0,  0]),
         83 => bits(Fixed, [32, 32, 32,  0]),
         84 => bits(Fixed, [32, 32, 32, 32]),
         89 | 90 => bits(Float, [11, 11, 10, 0]),
         PADDED10 => bits(Unorm, [10, 10, 10, 10]),
         91 | 92 => Some((Float, Layout::SharedExponent)),
         STENCIL => bits(Uint, [8, 0, 0, 0]),
         95 => Some((Float, Layout::Nothing)),
         _ => None,
    };
    if packed.is_some() {
        return packed;
    }
    let (number, base) = match code {
        96..=127 => (Snorm, 96),
        128..=159 => (Uint, 128),
        160..=191 => (Unorm, 160),
        192..=223 => (Sint, 192),
        // The floats that are stored with another rounding of narrower sources: none is wider than theirs.
        231 | 239 | 247 | 255 => (Float, 224),
        _ => return None,
    };
    let (row, column) = ((code - base) / 8, (code - base) % 8);
    let (number, size) = match (number, column) {
        (Float, _) => (Float, 32),
        (number, 1) => (number, 2),
        (number, 2) => (number, 4),
        (number, 3) => (number, 8),
        (number, 4) => (number, 16),
        (number, 5) => (number, 32),
        // Floats stand where the blocks have room.
        (Sint, 7) => (Float, 16),
        (Unorm, 7) => (Float, 32),
        _ => return None,
    };
    let mut sizes = [0; 4];
    sizes[..=row as usize].fill(size);
    // A texel has whole bytes.
    (sizes.iter().sum::<u8>() % 8 == 0).then_some((number, Layout::Bits(sizes)))
}

/// What red, green, blue and alpha take. The name of an order lists the stored components, the lowest first.
pub(super) fn order(order: u32, layout: Layout) -> Option<[Takes; 4]> {
    use Takes::{One, Stored, Zero};
    let [a, b, c, d] = [Stored(0), Stored(1), Stored(2), Stored(3)];
    #[rustfmt::skip]
    let components = match order {
          0 => [a, b, c, d],             // RGBA
          2 => [b, a, c, d],             // GRBA
          4 => [c, b, a, d],             // BGRA
          8 => [b, c, d, a],             // ARGB
         10 => [c, b, d, a],             // AGRB
         12 => [d, c, b, a],             // ABGR
         RGB1 => [a, b, c, One],
         18 => [b, a, c, One],           // GRB1
         20 => [c, b, a, One],           // BGR1
         24 => [b, c, d, One],           // 1RGB
         26 => [c, b, d, One],           // 1GRB
         28 => [d, c, b, One],           // 1BGR
        226 => [a, a, a, a],             // RRRR
        227 => [a, a, a, One],           // RRR1
        // FACT: which component of two is the A of RRRA is not stated (hardware/descriptors.md 10.1); the second is taken.
        // Settled by sampling two different bytes with this order on any board.
        228 => [a, a, a, if matches!(layout, Layout::Bits([_, _, 0, 0])) { b } else { d }], // RRRA
        ALPHA_ALONE => [Zero, Zero, Zero, a],
        230 => [Zero, Zero, Zero, One],  // 0001
        231 => [Zero, Zero, Zero, Zero], // 0000
        240 => [a, Zero, Zero, Zero],    // R000
        242 => [a, c, b, d],             // RBGA
        _ => return None,
    };
    Some(components)
}

//! Kernels that fetch texels of a texture and store them as they lie in memory.
//!
//! Facts: hardware/valhall-isa.md 11 and 13, hardware/graphics-texture.md 7.7.

use super::super::output_code::WAIT;
use super::super::packing::Packing;
use crate::command::{
    CLAMP, Element, Order, SIDE_UNIFORMS, SPREAD, Side, UNIFORMS, element_place, side_uniforms,
};
use heapless::Vec;

/// Most instructions.
const MOST_CODE: usize = 64;
/// Uniforms: the last element along x and y, the first texel, shifts of fields in the bytes of a word, the texture's handle, what a
/// component is multiplied with, the destination, and what bits are spread with.
const FIRST: usize = 2;
const SHIFTS: usize = 4;
const HANDLE: usize = 6;
const SCALES: usize = 8;
const DESTINATION: usize = 12;
const SPREAD_PLACE: usize = DESTINATION + SIDE_UNIFORMS;

/// Table 0 of textures, entry 1, behind the sampler (hardware/graphics-compiler.md 4).
const TEXTURE: u32 = 1 << 16;

/// The texel of an element.
const TEXEL: [u64; 2] = [
    0x00a0_c400_0000_820e, // IADD.u32 r4, r14, u2
    0x00a0_c500_0000_830f, // IADD.u32 r5, r15, u3
];

/// Fetches of fractions and of integers.
const FETCH: [u64; 2] = [
    0x0925_4434_17c0_0086, // TEX_FETCH.slot0.f.32.2d.wait0 @r0:r1:r2:r3, @r4:r5, u6
    0x0925_4434_1bc0_0086, // TEX_FETCH.slot0.u.32.2d.wait0 @r0:r1:r2:r3, @r4:r5, u6
];

/// The field of the first component's fraction.
const SCALE: u64 = 0x00b2_c000_00c0_8800; // FMA.f32 r0, r0, u8, 0x0
const TO_INTEGER: u64 = 0x0090_c000_001c_0000; // F32_TO_U32 r0, r0

/// Puts the fields of a word together.
const ONE_WORD: [u64; 4] = [
    0x00b4_c801_11c0_8400, // LSHIFT_OR.i32 r8, r0, u4.b00, 0x0
    0x00b4_c801_1508_8401, // LSHIFT_OR.i32 r8, r1, u4.b11, r8
    0x00b4_c801_1908_8402, // LSHIFT_OR.i32 r8, r2, u4.b22, r8
    0x00b4_c001_1d08_8403, // LSHIFT_OR.i32 r0, r3, u4.b33, r8
];

/// The same of two words with two fields each; of one word with two fields the first alone.
const TWO_WORDS: [u64; 2] = [
    0x00b4_c001_1500_8401, // LSHIFT_OR.i32 r0, r1, u4.b11, r0
    0x00b4_c101_1d02_8403, // LSHIFT_OR.i32 r1, r3, u4.b33, r2
];

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FetchKernel {
    pub(super) element: Element,
    pub(super) to: Order,
    /// Components are fractions that stand for fields.
    pub(super) scaled: bool,
    /// Fields of a texel: 1 to 4.
    pub(super) fields: usize,
}

impl FetchKernel {
    /// A number that no other kernel has.
    pub(super) fn key(self) -> u32 {
        let tiles = u32::from(self.to == Order::Tiles);
        let fields = (self.fields as u32).min(4);
        self.element as u32 | tiles << 3 | u32::from(self.scaled) << 4 | fields << 5
    }

    /// The code.
    pub(super) fn code(self) -> Vec<u64, MOST_CODE> {
        let mut code = Vec::new();
        // There is room: tiles take the most, 17 and four instructions.
        let mut put = |words: &[u64]| {
            let _ = code.extend_from_slice(words);
        };
        put(&CLAMP);
        put(&TEXEL);
        let [fractions, integers] = FETCH;
        put(&[if self.scaled { fractions } else { integers }, WAIT]);
        if self.scaled {
            for component in 0..4_u64 {
                let scale = (SCALE | component << 40 | component).wrapping_add(component << 8);
                put(&[scale, TO_INTEGER | component << 40 | component]);
            }
        }
        let (of_one_word, _) = TWO_WORDS.split_at(1);
        match (self.fields, self.element) {
            (0 | 1, _) => {}
            (2, _) => put(of_one_word),
            (_, Element::Eight) => put(&TWO_WORDS),
            _ => put(&ONE_WORD),
        }
        for word in element_place(self.to) {
            put(&[word]);
        }
        put(self.element.stores());
        code
    }

    /// The uniforms of a copy of so many texels from a first one on.
    pub(super) fn uniforms(
        self,
        packing: &Packing,
        ([x, y], to): ([u32; 2], &Side),
        [width, height]: [u32; 2],
    ) -> [u32; UNIFORMS] {
        let mut uniforms = [0; UNIFORMS];
        let mut set = |place: usize, words: &[u32]| {
            for (uniform, word) in uniforms.iter_mut().skip(place).zip(words) {
                *uniform = *word;
            }
        };
        set(0, &[width.saturating_sub(1), height.saturating_sub(1)]);
        set(FIRST, &[x, y]);
        // Alpha that is not there beside three other fields is fetched as 1: it is shifted out of their 16 bits.
        let shift = |bits: u32, shift: u32| if bits == 0 { 31 } else { shift % 32 };
        let shifts = packing.fields.map(|it| shift(it.bits, it.shift));
        let all = shifts.iter().rev().fold(0, |all, shift| all << 8 | shift);
        set(SHIFTS, &[all]);
        set(HANDLE, &[TEXTURE]);
        let scales = packing.fields.map(|it| (it.most() as f32).to_bits());
        set(SCALES, &scales);
        set(DESTINATION, &side_uniforms(to, self.element));
        set(SPREAD_PLACE, &SPREAD);
        uniforms
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_commented_words;

    #[test]
    fn the_words_are_what_their_comments_say() {
        let checked = check_commented_words(include_str!("kernel.rs"));
        assert!(checked >= 4 * 12, "only {checked} words have comments");
    }
}

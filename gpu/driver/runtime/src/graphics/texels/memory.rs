//! Texels of memory that no texture describes, brought into the tile: of a buffer, or of an image in any order.
//!
//! A texel is loaded as it lies, and its fields are moved to the registers of components. Where no format has the fields as integers
//! they become the fractions that stand for them, which the tile turns into the same fields again.
//! Facts: hardware/graphics-framebuffer.md 5.8.1 to 5.8.3, hardware/graphics-formats.md 3.

use super::super::load::WIDE_UNIFORMS;
use super::super::output_code::WAIT;
use super::super::packing::Packing;
use crate::command::{Element, Order, SIDE_UNIFORMS, SPREAD, Side, element_place, side_uniforms};
use heapless::Vec;

/// Most instructions.
const MOST_CODE: usize = 64;

/// Uniforms: the last pixel along x and y; the first pixel, negated; the memory; what bits are spread with; the fields, each with a
/// shift and a mask; and what a field is multiplied with.
const LAST: usize = 0;
const FIRST: usize = 10;
const MEMORY: usize = 12;
const SPREAD_PLACE: usize = MEMORY + SIDE_UNIFORMS;
const FIELDS: usize = 24;
const SCALES: usize = 32;

/// The element of a pixel: from the first on, and no further than the last. Pixels of a border load what their neighbours do.
const ELEMENT: [u64; 4] = [
    0x00a0_ce00_0000_8a04, // IADD.u32 r14, r4, u10
    0x00a0_cf00_0000_8b05, // IADD.u32 r15, r5, u11
    0x0150_ce04_800e_800e, // CSEL.u32.lt r14, r14, u0, r14, u0
    0x0150_cf04_810f_810f, // CSEL.u32.lt r15, r15, u1, r15, u1
];

/// The first component's field; and as a fraction.
const FIELD: u64 = 0x00b4_c000_1099_9800; // RSHIFT_AND.i32 r0, r0, u24.b00, u25
const TO_FLOAT: u64 = 0x0090_c000_0019_0000; // U32_TO_F32 r0, r0
const SCALE: u64 = 0x00b2_c000_00c0_a000; // FMA.f32 r0, r0, u32, 0x0

/// How texels are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct FromMemory {
    pub(in super::super) order: Order,
    pub(in super::super) element: Element,
    /// Fields become fractions.
    pub(in super::super) scaled: bool,
}

/// Texels in memory, and the pixels that they go to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct MemoryTexels {
    pub(in super::super) side: Side,
    pub(in super::super) element: Element,
    pub(in super::super) packing: Packing,
    /// The first pixel, and how many there are along x and y.
    pub(in super::super) first: [u32; 2],
    pub(in super::super) count: [u32; 2],
}

impl FromMemory {
    /// A number below 2^5 that no other has.
    pub(super) fn key(self) -> u32 {
        let tiles = u32::from(self.order == Order::Tiles);
        self.element as u32 | tiles << 3 | u32::from(self.scaled) << 4
    }

    /// The code, behind that which finds the pixel.
    pub(super) fn code(self) -> Vec<u64, MOST_CODE> {
        let mut code = Vec::new();
        // There is room: tiles take the most, 17 and four instructions.
        let mut put = |word: u64| {
            let _ = code.push(word);
        };
        ELEMENT.into_iter().for_each(&mut put);
        // With the uniforms of a copy's destination: those of its source are other ones here.
        element_place(self.order).for_each(&mut put);
        self.element.loads().iter().for_each(|word| put(*word));
        put(WAIT);
        // From the last component on: the first ones still hold the texel.
        for component in (0..4_u64).rev() {
            let second = self.element == Element::Eight && component >= 2;
            let uniforms = component.wrapping_mul(2);
            let word = FIELD | component << 40 | u64::from(second);
            put(word.wrapping_add(uniforms << 8 | uniforms << 16));
        }
        if self.scaled {
            for component in 0..4_u64 {
                put(TO_FLOAT | component << 40 | component);
                put((SCALE | component << 40 | component).wrapping_add(component << 8));
            }
        }
        code
    }
}

impl MemoryTexels {
    pub(super) fn how(&self) -> FromMemory {
        FromMemory {
            order: self.side.order,
            element: self.element,
            scaled: self.packing.scaled,
        }
    }

    /// Sets the uniforms.
    pub(super) fn set_uniforms(&self, uniforms: &mut [u32; WIDE_UNIFORMS]) {
        let [x, y] = self.first;
        let [width, height] = self.count;
        let mut set = |place: usize, words: &[u32]| {
            for (uniform, word) in uniforms.iter_mut().skip(place).zip(words) {
                *uniform = *word;
            }
        };
        set(LAST, &[width.saturating_sub(1), height.saturating_sub(1)]);
        set(FIRST, &[x.wrapping_neg(), y.wrapping_neg()]);
        set(MEMORY, &side_uniforms(&self.side, self.element));
        set(SPREAD_PLACE, &SPREAD);
        let fields = self.packing.fields.iter().zip(0_usize..);
        for (field, component) in fields {
            let most = field.most();
            // Fields of the second word have their shifts from there.
            set(
                FIELDS.saturating_add(component.saturating_mul(2)),
                &[field.shift % 32, most],
            );
            let scale = if most == 0 { 0.0 } else { 1.0 / most as f32 };
            set(SCALES.saturating_add(component), &[scale.to_bits()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_commented_words;

    #[test]
    fn the_words_are_what_their_comments_say() {
        let checked = check_commented_words(include_str!("memory.rs"));
        assert!(checked >= 4 * 7, "only {checked} words have comments");
    }
}

//! Kernels of copies: a thread copies an element, from anywhere to anywhere.
//!
//! A kernel is put together from the words below, which are the same on every generation: where the element of the source lies, a
//! load, where that of the destination lies, a store. A place is found by one of two blocks, for rows and for tiles. A kernel knows no
//! format, so that it copies texels, blocks of compressed formats, depth, stencil and bytes alike, and needs no descriptors of images.
//! Facts: hardware/valhall-isa.md 11 and 13 (loads, stores, preloads), hardware/graphics-framebuffer.md 5.8.2 (tiles).

use heapless::Vec;

/// Preloaded registers: the thread's number along x, y and z (r60 to r62).
pub(super) const PRELOAD: u32 = 1 << 12 | 1 << 13 | 1 << 14;
/// Most instructions.
const MOST_CODE: usize = 64;

/// Words of uniforms, and those of a side.
pub(crate) const UNIFORMS: usize = 24;
pub(crate) const SIDE_UNIFORMS: usize = 10;

/// How a side's elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row by row.
    Rows,
    /// In U-interleaved tiles.
    Tiles,
}

/// Bytes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    One,
    Two,
    Three,
    Four,
    Eight,
    Twelve,
    Sixteen,
}

impl Element {
    pub(super) const fn of(bytes: u32) -> Option<Element> {
        Some(match bytes {
            1 => Element::One,
            2 => Element::Two,
            3 => Element::Three,
            4 => Element::Four,
            8 => Element::Eight,
            12 => Element::Twelve,
            16 => Element::Sixteen,
            _ => return None,
        })
    }

    pub(crate) const fn bytes(self) -> u32 {
        match self {
            Element::One => 1,
            Element::Two => 2,
            Element::Three => 3,
            Element::Four => 4,
            Element::Eight => 8,
            Element::Twelve => 12,
            Element::Sixteen => 16,
        }
    }

    /// What addresses are multiples of: three bytes are copied one by one.
    pub(super) const fn alignment(self) -> u64 {
        let bytes = self.bytes() as u64;
        bytes & bytes.wrapping_neg()
    }

    pub(crate) const fn loads(self) -> &'static [u64] {
        match self {
            Element::One => &[0x0060_8082_0000_0004], // LOAD.i8.unsigned.slot0 @r0, r4, offset:0
            Element::Two => &[0x0060_8082_0800_0004], // LOAD.i16.unsigned.slot0 @r0, r4, offset:0
            Element::Three => &[
                0x0060_8082_0000_0004, // LOAD.i8.unsigned.slot0 @r0, r4, offset:0
                0x0060_8182_0000_0104, // LOAD.i8.unsigned.slot0 @r1, r4, offset:1
                0x0060_8282_0000_0204, // LOAD.i8.unsigned.slot0 @r2, r4, offset:2
            ],
            Element::Four => &[0x0060_8082_1800_0004], // LOAD.i32.unsigned.slot0 @r0, r4, offset:0
            Element::Eight => &[0x0060_80f4_2800_0004], // LOAD.i64.unsigned.slot0 @r0:r1, r4, offset:0
            Element::Twelve => &[0x0060_80e6_3000_0004], // LOAD.i96.unsigned.slot0 @r0:r1:r2, r4, offset:0
            Element::Sixteen => &[0x0060_80f8_3800_0004], // LOAD.i128.unsigned.slot0 @r0:r1:r2:r3, r4, offset:0
        }
    }

    pub(crate) const fn stores(self) -> &'static [u64] {
        match self {
            Element::One => &[0x7861_4002_0000_0004], // STORE.i8.slot0.end @r0, r4, offset:0
            Element::Two => &[0x7861_4002_0800_0004], // STORE.i16.slot0.end @r0, r4, offset:0
            Element::Three => &[
                0x0061_4002_0000_0004, // STORE.i8.slot0 @r0, r4, offset:0
                0x0061_4102_0000_0104, // STORE.i8.slot0 @r1, r4, offset:1
                0x7861_4202_0000_0204, // STORE.i8.slot0.end @r2, r4, offset:2
            ],
            Element::Four => &[0x7861_4002_1800_0004], // STORE.i32.slot0.end @r0, r4, offset:0
            Element::Eight => &[0x7861_4004_2800_0004], // STORE.i64.slot0.end @r0:r1, r4, offset:0
            Element::Twelve => &[0x7861_4006_3000_0004], // STORE.i96.slot0.end @r0:r1:r2, r4, offset:0
            Element::Sixteen => &[0x7861_4008_3800_0004], // STORE.i128.slot0.end @r0:r1:r2:r3, r4, offset:0
        }
    }
}

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kernel {
    pub(super) element: Element,
    pub(super) from: Order,
    pub(super) to: Order,
}

/// An operand of an instruction that is a uniform of a side: the source's number is in the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Uniform {
    No,
    /// The second operand.
    Second,
    /// The third operand.
    Third,
}
use Uniform::{No, Second, Third};

impl Uniform {
    /// The word with the uniform of the destination.
    const fn of_destination(self, word: u64) -> u64 {
        // Operands have 8 bits each.
        let place = match self {
            No => return word,
            Second => 8,
            Third => 16,
        };
        word + ((SIDE_UNIFORMS as u64) << place)
    }
}

/// The thread's element, of which there are that many: threads beyond the last copy it again (r14, r15).
pub(crate) const CLAMP: [u64; 2] = [
    0x0150_ce04_803c_803c, // CSEL.u32.lt r14, r60, u0, r60, u0
    0x0150_cf04_813d_813d, // CSEL.u32.lt r15, r61, u1, r61, u1
];

/// Column and row of an element (r10, r12).
#[rustfmt::skip]
const ROWS: [(u64, Uniform); 2] = [
    (0x00a0_ca00_0000_850e, Second), // IADD.u32 r10, r14, u5
    (0x00a0_cc00_0000_870f, Second), // IADD.u32 r12, r15, u7
];

/// Number of an element in its row of tiles, and the row of tiles (r10, r12).
#[rustfmt::skip]
const TILES: [(u64, Uniform); 17] = [
    (0x00a0_c800_0000_850e, Second), // IADD.u32 r8, r14, u5
    (0x00a0_c900_0000_870f, Second), // IADD.u32 r9, r15, u7
    (0x00b4_ca00_11c0_8908, Second), // RSHIFT_OR.i32 r10, r8, u9.b00, 0x0
    (0x00b4_cc00_11c0_8909, Second), // RSHIFT_OR.i32 r12, r9, u9.b00, 0x0
    (0x00b4_c801_108a_c008, Third),  // LSHIFT_AND.i32 r8, r8, 0x0.b00, u10
    (0x00b4_c801_1908_c808, No),     // LSHIFT_OR.i32 r8, r8, 0x3020100.b22, r8
    (0x00b4_c801_1096_c008, No),     // LSHIFT_AND.i32 r8, r8, 0x0.b00, u22
    (0x00b4_c801_1d08_c408, No),     // LSHIFT_OR.i32 r8, r8, 0x1000000.b33, r8
    (0x00b4_c801_1097_c008, No),     // LSHIFT_AND.i32 r8, r8, 0x0.b00, u23
    (0x00b4_c901_108a_c009, Third),  // LSHIFT_AND.i32 r9, r9, 0x0.b00, u10
    (0x00b4_c901_1909_c809, No),     // LSHIFT_OR.i32 r9, r9, 0x3020100.b22, r9
    (0x00b4_c901_1096_c009, No),     // LSHIFT_AND.i32 r9, r9, 0x0.b00, u22
    (0x00b4_c901_1d09_c409, No),     // LSHIFT_OR.i32 r9, r9, 0x1000000.b33, r9
    (0x00b4_c901_1097_c009, No),     // LSHIFT_AND.i32 r9, r9, 0x0.b00, u23
    (0x00b4_c801_1208_c009, No),     // LSHIFT_XOR.i32 r8, r9, 0x0.b00, r8
    (0x00b4_c801_1e08_c409, No),     // LSHIFT_XOR.i32 r8, r9, 0x1000000.b33, r8
    (0x00b4_ca01_1108_8b0a, Second), // LSHIFT_OR.i32 r10, r10, u11.b00, r8
];

/// Address of the element: row, slice, base, and the element in its row (r4).
#[rustfmt::skip]
const ADDRESS: [(u64, Uniform); 6] = [
    (0x01a3_c480_200a_840c, Second), // IMULD.u64 r4, r12.w0, u4.w0
    (0x01a3_c680_200a_863e, Second), // IMULD.u64 r6, r62.w0, u6.w0
    (0x01a3_c400_0000_0604, No),     // IADD.u64 r4, r4, r6
    (0x01a3_c400_0000_8204, Second), // IADD.u64 r4, r4, u2
    (0x01a3_c680_200a_880a, Second), // IMULD.u64 r6, r10.w0, u8.w0
    (0x01a3_c400_0000_0604, No),     // IADD.u64 r4, r4, r6
];

/// Code that finds an element of the first slice of a destination: its address in r4, from its column and row in r14 and r15.
pub(crate) fn element_place(order: Order) -> impl Iterator<Item = u64> {
    let place = match order {
        Order::Rows => &ROWS[..],
        Order::Tiles => &TILES[..],
    };
    // Without the two words of the slice.
    let [row, _, _, rest @ ..] = &ADDRESS;
    let all = place.iter().chain([row]).chain(rest);
    all.map(|(word, uniform)| uniform.of_destination(*word))
}

/// `NOP.wait0`.
const WAIT: u64 = 0x0800_c000_0000_0000;

impl Kernel {
    /// A number that no other kernel has.
    pub(super) const fn key(self) -> u32 {
        self.element as u32 | (self.from as u32) << 4 | (self.to as u32) << 5
    }

    /// The code.
    pub(super) fn code(self) -> Vec<u64, MOST_CODE> {
        let mut code = Vec::new();
        let place = |order| match order {
            Order::Rows => &ROWS[..],
            Order::Tiles => &TILES[..],
        };
        let side = |order| place(order).iter().chain(&ADDRESS);
        let from = side(self.from).map(|(word, _)| *word);
        let to = side(self.to).map(|(word, uniform)| uniform.of_destination(*word));
        let loads = self.element.loads().iter().copied();
        let stores = self.element.stores().iter().copied();
        let all = CLAMP.into_iter().chain(from).chain(loads).chain([WAIT]);
        for word in all.chain(to).chain(stores) {
            // There is room: the longest has two sides in tiles, and three loads and stores.
            let _ = code.push(word);
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_commented_words;
    use eitri_isa::{Instr, Syntax};
    use std::string::{String, ToString};

    #[test]
    fn the_words_are_what_their_comments_say() {
        let checked = check_commented_words(include_str!("kernel.rs"));
        assert!(checked >= 4 * 33, "only {checked} words have comments");
    }

    #[test]
    fn the_destination_has_uniforms_of_its_own() {
        let kernel = Kernel {
            element: Element::Four,
            from: Order::Rows,
            to: Order::Tiles,
        };
        let arch = eitri_isa::Arch::ALL
            .into_iter()
            .find(|it| it.major() == 10)
            .expect("v10");
        let text = |word: u64| {
            let instr = Instr::decode(word, arch).expect("legal");
            instr.display(arch, Syntax::Mesa24).to_string()
        };
        let code = kernel.code();
        // Two words that clamp, a side in rows, a load and a wait.
        let of_destination = code.get(2 + 2 + 6 + 2..).expect("more words");
        let uniforms = of_destination.iter().map(|word| text(*word));
        let uniforms: std::vec::Vec<String> = uniforms
            .flat_map(|line| {
                let operands = line.replace([',', '.'], " ");
                let words = operands.split_whitespace().map(str::to_string);
                words
                    .filter(|word| {
                        word.strip_prefix('u')
                            .is_some_and(|rest| rest.parse().is_ok_and(|it: usize| it < UNIFORMS))
                    })
                    .collect::<std::vec::Vec<_>>()
            })
            .collect();
        let expected = [
            "u15", "u17", "u19", "u19", "u20", "u22", "u23", "u20", "u22", "u23", "u21", "u14",
            "u16", "u12", "u18",
        ];
        assert_eq!(uniforms, expected);
    }
}

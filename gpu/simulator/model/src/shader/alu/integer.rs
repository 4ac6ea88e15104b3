//! Integer arithmetic: add, subtract, multiply, averages, dot products, counting.
//!
//! Facts: hardware/valhall-isa.md 8.3 and 9.3.

use crate::shader::lanes::{Lanes, Part, bytes, halves, words};

/// An operation on integer parts; the sources are 0, 1 and, for dot products and carries, 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Integer {
    /// A + B.
    Add { part: Part, saturate: bool },
    /// A - B.
    Subtract { part: Part, saturate: bool },
    /// Low bits of A * B.
    Multiply { part: Part, saturate: bool },
    /// (A + B) / 2 without overflow, toward minus infinity or, `up`, toward plus infinity.
    Average { part: Part, up: bool },
    /// |A|; the most negative value maps to itself.
    Absolute { part: Part },
    /// Leading zeros of A; `mask` gives all ones for a zero part instead of its width.
    LeadingZeros { part: Part, mask: bool },
    /// Set bits of A.
    PopulationCount,
    /// C + the dot product of four bytes of A and B.
    DotProduct {
        /// Whether the bytes of A, and of B, are signed.
        signed: [bool; 2],
        /// Whether the sum is, which matters for saturation.
        signed_sum: bool,
        saturate: bool,
    },
    /// A + B + C, or the carry out of it.
    // FACT: that C is the carry in, and the borrow in of `SubtractBorrow`, is inferred (hardware/valhall-isa.md 9.3). Settled
    // by a shader on any board that adds and subtracts with C = 1.
    AddCarry { return_carry: bool },
    /// A - B - C, or the borrow out of it.
    SubtractBorrow { return_borrow: bool },
}

impl Integer {
    #[inline]
    pub(super) fn run(self, [a, b, c, _]: [&Lanes; 4], out: &mut Lanes) {
        match self {
            // The commonest operations of all, kept plain for the host's vector unit.
            Integer::Add {
                part: Part::U32 | Part::S32,
                saturate: false,
            } => words([a, b], out, |[a, b]| a.wrapping_add(b)),
            Integer::Multiply {
                part: Part::U32 | Part::S32,
                saturate: false,
            } => words([a, b], out, |[a, b]| a.wrapping_mul(b)),
            Integer::Subtract {
                part: Part::U32 | Part::S32,
                saturate: false,
            } => words([a, b], out, |[a, b]| a.wrapping_sub(b)),
            Integer::Add {
                part: Part::U16 | Part::S16,
                saturate: false,
            } => halves([a, b], out, |[a, b]| a.wrapping_add(b)),
            Integer::Multiply {
                part: Part::U16 | Part::S16,
                saturate: false,
            } => halves([a, b], out, |[a, b]| a.wrapping_mul(b)),
            Integer::Add { part, saturate } => part.map([a, b], out, |[a, b]| {
                finish(part, saturate, i128::from(a + b))
            }),
            Integer::Subtract { part, saturate } => part.map([a, b], out, |[a, b]| {
                finish(part, saturate, i128::from(a - b))
            }),
            Integer::Multiply { part, saturate } => part.map([a, b], out, |[a, b]| {
                finish(part, saturate, i128::from(a) * i128::from(b))
            }),
            Integer::Average { part, up } => {
                part.map([a, b], out, |[a, b]| (a + b + i64::from(up)) >> 1);
            }
            Integer::Absolute { part } => part.map([a], out, |[a]| a.abs()),
            Integer::LeadingZeros { part, mask } => part.map([a], out, |[a]| match a {
                0 if mask => -1,
                _ => i64::from(a.leading_zeros()) - i64::from(64 - part.bits()),
            }),
            Integer::PopulationCount => words([a], out, |[a]| a.count_ones()),
            Integer::DotProduct {
                signed,
                signed_sum,
                saturate,
            } => match (signed, saturate) {
                // Without saturation the sum's type does not matter; the common kinds become loops of their own.
                ([false, false], false) => words([a, b, c], out, dot_words::<false>),
                ([true, true], false) => words([a, b, c], out, dot_words::<true>),
                _ => words([a, b, c], out, |sources| {
                    dot_product(sources, signed, signed_sum, saturate)
                }),
            },
            Integer::AddCarry { return_carry } => words([a, b, c], out, |[a, b, c]| {
                let sum = u64::from(a) + u64::from(b) + u64::from(c);
                if return_carry {
                    (sum >> 32) as u32
                } else {
                    sum as u32
                }
            }),
            Integer::SubtractBorrow { return_borrow } => words([a, b, c], out, |[a, b, c]| {
                let difference = i64::from(a) - i64::from(b) - i64::from(c);
                if return_borrow {
                    u32::from(difference < 0)
                } else {
                    difference as u32
                }
            }),
        }
    }
}

#[inline(always)]
fn finish(part: Part, saturate: bool, exact: i128) -> i64 {
    if saturate {
        part.saturate(exact)
    } else {
        exact as i64
    }
}

#[inline(always)]
fn dot_product([a, b, c]: [u32; 3], signed: [bool; 2], signed_sum: bool, saturate: bool) -> u32 {
    let value = |byte: u8, signed: bool| {
        if signed {
            i64::from(byte as i8)
        } else {
            i64::from(byte)
        }
    };
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    let products = a.iter().zip(b);
    let products = products.map(|(&a, b)| value(a, signed[0]) * value(b, signed[1]));
    let part = if signed_sum { Part::S32 } else { Part::U32 };
    let c = if signed_sum {
        i64::from(c as i32)
    } else {
        i64::from(c)
    };
    finish(part, saturate, i128::from(c + products.sum::<i64>())) as u32
}

/// The dot product without saturation, of bytes that are all signed or all not, in 32-bit arithmetic.
#[inline(always)]
fn dot_words<const SIGNED: bool>([a, b, c]: [u32; 3]) -> u32 {
    let value = |word: u32, byte: u32| {
        if SIGNED {
            (word << (24 - 8 * byte)).cast_signed() >> 24
        } else {
            (word >> (8 * byte) & 0xff).cast_signed()
        }
    };
    // A product of two bytes is far from the limits of 32 bits, and so are four of them.
    let product = |byte| value(a, byte) * value(b, byte);
    let sum = product(0) + product(1) + product(2) + product(3);
    c.wrapping_add(sum.cast_unsigned())
}

/// The bytes of a register with each byte's bits reversed; four of them in reversed order reverse the word.
pub(super) fn reverse_bits(a: &Lanes, out: &mut Lanes) {
    bytes([a], out, |[a]| a.reverse_bits());
    let halfway = *out;
    words([&halfway], out, |[a]| a.swap_bytes());
}

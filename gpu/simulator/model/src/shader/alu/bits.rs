//! Shifts, logic and packing.
//!
//! Facts: hardware/valhall-isa.md 9.1 (packing), 9.4 (shift and logic in one instruction), 9.5 (MUX).

use super::integer::reverse_bits;
use crate::shader::lanes::{Lanes, Part, words};

pub use eitri_isa::meaning::{Logic, ShiftKind};

/// A shift and a logic operation in one: `shift(A, amount) logic B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// How A is shifted.
    pub kind: ShiftKind,
    /// How the shifted A and B are joined.
    pub logic: Logic,
    /// The result is complemented.
    pub not_result: bool,
}

impl Shift {
    /// The result for one part of `bits` bits (8 to 64), whose values stand in the low bits.
    #[inline(always)]
    pub(crate) fn part(self, bits: u32, a: u64, amount: u64, b: u64) -> u64 {
        let mask = u64::MAX >> (64 - bits);
        let amount = amount as u32 & (bits - 1);
        let a = a & mask;
        // A shift by the width is no shift at all of the part that wraps around.
        let around = (bits - amount) & (bits - 1);
        let shifted = match self.kind {
            ShiftKind::Right => a >> amount,
            ShiftKind::Left => a << amount,
            ShiftKind::RotateRight => a >> amount | a << around,
            ShiftKind::RotateLeft => a << amount | a >> around,
            ShiftKind::RightArithmetic => {
                let up = 64 - bits;
                (((a << up) as i64 >> up) >> amount) as u64
            }
        };
        let joined = match self.logic {
            Logic::And => shifted & b,
            Logic::Or => shifted | b,
            Logic::Xor => shifted ^ b,
        };
        (if self.not_result { !joined } else { joined }) & mask
    }
}

/// What decides a `MUX`, for each part of its third source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MuxMode {
    /// The sign bit is set.
    Negative,
    /// It is zero.
    IntegerZero,
    /// It is +0.0 or -0.0.
    FloatZero,
    /// Each bit by itself.
    Bit,
}

/// Shifts, logic and packing; sources A, B, C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bits {
    /// Shift A by B (an amount a part), join with C.
    Shift { part: Part, shift: Shift },
    /// A where the mode holds for C, else B.
    Mux { part: Part, mode: MuxMode },
    /// Bit reversal of A.
    Reverse,
    /// Complement of A.
    Not,
    /// Low halves of A and B as one register.
    MakeHalves,
    /// Low bytes of A and B, and the low half of C above them.
    MakeBytes,
    /// A joined with B: the forms with an immediate (v11 and later).
    Logic(Logic),
}

impl Bits {
    pub(super) fn run(self, [a, b, c, _]: [&Lanes; 4], out: &mut Lanes) {
        match self {
            Bits::Shift {
                part: Part::U32 | Part::S32,
                shift,
            } => shift_words(shift, [a, b, c], out),
            Bits::Shift { part, shift } => part.map([a, b, c], out, |[a, amount, b]| {
                shift.part(part.bits(), a as u64, amount as u64, b as u64) as i64
            }),
            Bits::Mux {
                part: Part::U32 | Part::S32,
                mode,
            } => mux_words(mode, [a, b, c], out),
            Bits::Mux { part, mode } => {
                let sign = 1i64 << (part.bits() - 1);
                part.map([a, b, c], out, |[a, b, m]| match mode {
                    MuxMode::Negative => pick(m & sign != 0, a, b),
                    MuxMode::IntegerZero => pick(m == 0, a, b),
                    MuxMode::FloatZero => pick(m & (sign - 1) == 0, a, b),
                    MuxMode::Bit => (a & m) | (b & !m),
                });
            }
            Bits::Reverse => reverse_bits(a, out),
            Bits::Not => words([a], out, |[a]| !a),
            Bits::MakeHalves => words([a, b], out, |[a, b]| (a & 0xffff) | b << 16),
            Bits::MakeBytes => words([a, b, c], out, |[a, b, c]| {
                (a & 0xff) | (b & 0xff) << 8 | c << 16
            }),
            Bits::Logic(Logic::And) => words([a, b], out, |[a, b]| a & b),
            Bits::Logic(Logic::Or) => words([a, b], out, |[a, b]| a | b),
            Bits::Logic(Logic::Xor) => words([a, b], out, |[a, b]| a ^ b),
        }
    }
}

/// The 32-bit shifts that nearly all programs use, in 32-bit arithmetic.
fn shift_words(shift: Shift, [a, amounts, b]: [&Lanes; 3], out: &mut Lanes) {
    let invert = if shift.not_result { u32::MAX } else { 0 };
    let first = amounts[0];
    let is_uniform = amounts.iter().fold(0, |all, amount| all | (amount ^ first)) == 0;
    macro_rules! joined {
        ($shifted:expr) => {
            match (shift.logic, is_uniform) {
                // Hosts shift vectors by one amount for all lanes, and some by nothing else.
                (Logic::And, true) => {
                    words([a, b], out, |[a, b]| ($shifted(a, first) & b) ^ invert);
                }
                (Logic::Or, true) => {
                    words([a, b], out, |[a, b]| ($shifted(a, first) | b) ^ invert);
                }
                (Logic::Xor, true) => {
                    words([a, b], out, |[a, b]| ($shifted(a, first) ^ b) ^ invert);
                }
                (Logic::And, false) => {
                    words([a, amounts, b], out, |[a, n, b]| {
                        ($shifted(a, n) & b) ^ invert
                    });
                }
                (Logic::Or, false) => {
                    words([a, amounts, b], out, |[a, n, b]| {
                        ($shifted(a, n) | b) ^ invert
                    });
                }
                (Logic::Xor, false) => {
                    words([a, amounts, b], out, |[a, n, b]| {
                        ($shifted(a, n) ^ b) ^ invert
                    });
                }
            }
        };
    }
    match shift.kind {
        ShiftKind::Right => joined!(|a: u32, n: u32| a >> (n & 31)),
        ShiftKind::Left => joined!(|a: u32, n: u32| a << (n & 31)),
        ShiftKind::RotateRight => joined!(|a: u32, n: u32| a.rotate_right(n & 31)),
        ShiftKind::RotateLeft => joined!(|a: u32, n: u32| a.rotate_left(n & 31)),
        ShiftKind::RightArithmetic => {
            joined!(|a: u32, n: u32| ((a as i32) >> (n & 31)) as u32);
        }
    }
}

/// A 32-bit choice, decided by C.
fn mux_words(mode: MuxMode, sources: [&Lanes; 3], out: &mut Lanes) {
    macro_rules! chosen {
        ($holds:expr) => {
            words(sources, out, |[a, b, m]| if $holds(m) { a } else { b })
        };
    }
    match mode {
        MuxMode::Negative => chosen!(|m: u32| (m as i32) < 0),
        MuxMode::IntegerZero => chosen!(|m: u32| m == 0),
        MuxMode::FloatZero => chosen!(|m: u32| m & 0x7fff_ffff == 0),
        MuxMode::Bit => words(sources, out, |[a, b, m]| (a & m) | (b & !m)),
    }
}

fn pick(first: bool, a: i64, b: i64) -> i64 {
    if first { a } else { b }
}

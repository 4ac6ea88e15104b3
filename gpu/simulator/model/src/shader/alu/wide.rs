//! Operations with a 64-bit result.
//!
//! Facts: hardware/valhall-isa.md 9.3 (SHADDX, IMULD, SEG_ADD), 9.4 (shifts).

use super::Shift;
use crate::shader::lanes::WideLanes;

/// An operation on 64-bit values; sources A, B, C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wide {
    /// A + B.
    Add,
    /// A - B.
    Subtract,
    /// A + (B << shift).
    ShiftAdd { shift: u8 },
    /// The product of A and B, which were widened from 32 bits or less.
    Multiply { signed: bool },
    /// A + B, or A - B; a null A may stay null.
    // FACT: which value SEG_ADD counts as null is not established (hardware/valhall-isa.md 9.3); 0 is taken. Settled by a
    // shader on any board that adds to 0 with preserve_null.
    SegmentAdd { negate: bool, preserve_null: bool },
    /// Shift A by the low byte of B, join with C.
    Shift(Shift),
    /// Complement of A.
    Not,
}

impl Wide {
    /// Sets `out` to the operation's result in every lane.
    pub(crate) fn run(self, [a, b, c]: [&WideLanes; 3], out: &mut WideLanes) {
        macro_rules! each {
            ($f:expr) => {
                for (lane, out) in out.iter_mut().enumerate() {
                    *out = $f(a[lane], b[lane]);
                }
            };
        }
        match self {
            Wide::Add => each!(u64::wrapping_add),
            Wide::Subtract => each!(u64::wrapping_sub),
            Wide::ShiftAdd { shift } => {
                let shift = shift & 7;
                each!(|a: u64, b: u64| a.wrapping_add(b << shift));
            }
            Wide::Multiply { signed: false } => {
                each!(|a: u64, b: u64| u64::from(a as u32) * u64::from(b as u32));
            }
            Wide::Multiply { signed: true } => {
                each!(|a: u64, b: u64| { (i64::from(a as i32) * i64::from(b as i32)) as u64 })
            }
            Wide::SegmentAdd {
                negate,
                preserve_null,
            } => each!(|a: u64, b: u64| match negate {
                _ if preserve_null && a == 0 => 0,
                true => a.wrapping_sub(b),
                false => a.wrapping_add(b),
            }),
            Wide::Shift(shift) => {
                for (lane, out) in out.iter_mut().enumerate() {
                    *out = shift.part(64, a[lane], b[lane], c[lane]);
                }
            }
            Wide::Not => each!(|a: u64, _| !a),
        }
    }
}

//! Bit fields, first and last set bits, signs: to shifts, masks and leading zeros.
//!
//! Needs: nothing.  Guarantees: none of these operations is left.  Facts: hardware/compiler-isel.md 4.2 and 4.3.
use crate::ir::rewrite::rewrite;
use crate::ir::{Alu, Builder, Function, Op, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "bit_fields",
    what: "bit fields and bit searches become shifts, masks and clz",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let changed = rewrite(function, |b, data| {
        let Op::Alu(alu) = data.op else { return None };
        let args = data.args.as_slice();
        let value = match (alu, args) {
            (Alu::FindLsb, &[a]) => {
                let minus = b.alu(Alu::INeg, &[a]);
                let lowest = b.alu(Alu::IAnd, &[a, minus]);
                highest(b, lowest)
            }
            (Alu::UFindMsb, &[a]) => highest(b, a),
            (Alu::SFindMsb, &[a]) => {
                let sign = b.alu_word(Alu::SShr, a, 31);
                let magnitude = b.alu(Alu::IXor, &[a, sign]);
                highest(b, magnitude)
            }
            (Alu::SSign, &[a]) => {
                let raised = b.alu_word(Alu::SMax, a, u32::MAX);
                b.alu_word(Alu::SMin, raised, 1)
            }
            (Alu::BitInsert, &[base, insert, offset, count]) => {
                let low = low_bits(b, count);
                let mask = b.alu(Alu::IShl, &[low, offset]);
                let placed = b.alu(Alu::IShl, &[insert, offset]);
                b.alu(Alu::BitSelect, &[mask, placed, base])
            }
            (Alu::UBitExtract, &[a, offset, count]) => {
                let low = low_bits(b, count);
                let shifted = b.alu(Alu::UShr, &[a, offset]);
                b.alu(Alu::IAnd, &[shifted, low])
            }
            (Alu::SBitExtract, &[a, offset, count]) => {
                let width = b.word(32);
                let rest = b.alu(Alu::ISub, &[width, count]);
                let above = b.alu(Alu::ISub, &[rest, offset]);
                let up = b.alu(Alu::IShl, &[a, above]);
                let value = b.alu(Alu::SShr, &[up, rest]);
                // Shifts by 32 are shifts by 0.
                let zero = b.word(0);
                let none = b.alu_word(Alu::IEq, count, 0);
                b.select(none, zero, value)
            }
            _ => return None,
        };
        Some(vec![value])
    });
    Changed::from_bool(changed)
}

/// 31 - clz: -1 for zero.
fn highest(b: &mut Builder<'_>, a: Value) -> Value {
    let zeros = b.alu(Alu::Clz, &[a]);
    let last = b.word(31);
    b.alu(Alu::ISub, &[last, zeros])
}

/// (1 << count) - 1, and all ones for 32.
fn low_bits(b: &mut Builder<'_>, count: Value) -> Value {
    let one = b.word(1);
    let bit = b.alu(Alu::IShl, &[one, count]);
    let below = b.alu_word(Alu::IAdd, bit, u32::MAX);
    let ones = b.word(u32::MAX);
    let full = b.alu_word(Alu::IEq, count, 32);
    b.select(full, ones, below)
}

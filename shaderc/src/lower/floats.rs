//! Float operations without an instruction: division, square root, remainders, fraction, sign.
//!
//! Needs: nothing.  Guarantees: none of these operations is left; results within the bounds of the facts.
//! Facts: hardware/compiler-isel.md 4.1; hardware/compiler-correctness.md 1.1.
use crate::ir::rewrite::rewrite;
use crate::ir::{Alu, Builder, Function, Op, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "floats",
    what: "division, square root, remainders and the like become what the machine has",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let changed = rewrite(function, |b, data| {
        let Op::Alu(alu) = data.op else { return None };
        let value = match (alu, data.args.as_slice()) {
            (Alu::FDiv, &[x, y]) => quotient(b, x, y),
            (Alu::FSqrt, &[x]) => {
                // Of zero: the reciprocal of infinity; of infinity: the reciprocal of zero.
                let inverse = b.alu(Alu::FRsq, &[x]);
                b.alu(Alu::FRcp, &[inverse])
            }
            (Alu::FFract, &[x]) => {
                let floor = b.alu(Alu::FFloor, &[x]);
                b.alu(Alu::FSub, &[x, floor])
            }
            (Alu::FSign, &[x]) => {
                let zero = b.float(0.0);
                let above = b.alu(Alu::FLt, &[zero, x]);
                let below = b.alu(Alu::FLt, &[x, zero]);
                let (above, below) = (b.alu(Alu::B2F, &[above]), b.alu(Alu::B2F, &[below]));
                b.alu(Alu::FSub, &[above, below])
            }
            (Alu::FMod, &[x, y]) => remainder(b, x, y, Alu::FFloor),
            (Alu::FRem, &[x, y]) => remainder(b, x, y, Alu::FTrunc),
            (Alu::FQuantize16, &[x]) => quantize(b, x),
            _ => return None,
        };
        Some(vec![value])
    });
    Changed::from_bool(changed)
}

fn quotient(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let inverse = b.alu(Alu::FRcp, &[y]);
    if b.function.as_word(x) == Some(1.0f32.to_bits()) {
        return inverse;
    }
    b.alu(Alu::FMul, &[x, inverse])
}

/// x - y * round(x / y)
fn remainder(b: &mut Builder<'_>, x: Value, y: Value, round: Alu) -> Value {
    let quotient = quotient(b, x, y);
    let whole = b.alu(round, &[quotient]);
    let product = b.alu(Alu::FMul, &[y, whole]);
    b.alu(Alu::FSub, &[x, product])
}

/// To binary16 and back. A binary16 without exponent bits is zero or a denormal: only its sign is kept.
fn quantize(b: &mut Builder<'_>, x: Value) -> Value {
    let zero = b.float(0.0);
    let half = b.alu(Alu::PackHalf, &[x, zero]);
    let exponent = b.alu_word(Alu::IAnd, half, 0x7c00);
    let sign = b.alu_word(Alu::IAnd, half, 0x8000);
    let small = b.alu_word(Alu::IEq, exponent, 0);
    let kept = b.select(small, sign, half);
    b.alu(Alu::HalfLow, &[kept])
}

//! Fused multiply-add: a sum of a product becomes one operation, where neither is exact.
//!
//! Needs: nothing.  Guarantees: never touches what SPIR-V decorates NoContraction.
//! Facts: hardware/compiler-correctness.md 1.2; hardware/compiler-isel.md 4.1.
use crate::ir::rewrite::rewrite;
use crate::ir::{Alu, Function, Op, Type, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "fuse_multiply_add",
    what: "inexact sums of products become fused operations",
    run,
};

/// The same for 16 bits, which comes first: products are not to be paired without their sums.
pub(crate) const HALVES: Pass = Pass {
    name: "fuse_halves",
    what: "inexact sums of products of 16 bits become fused operations",
    run: |function, _| fuse(function, |ty| ty == Type::W16),
};

fn run(function: &mut Function, _: &Target) -> Changed {
    fuse(function, |_| true)
}

fn fuse(function: &mut Function, wanted: impl Fn(Type) -> bool) -> Changed {
    let changed = rewrite(function, |b, data| {
        let (false, Op::Alu(alu), &[x, y]) = (data.exact, data.op, data.args.as_slice()) else {
            return None;
        };
        if !wanted(b.function.ty(x)) {
            return None;
        }
        let value = match alu {
            Alu::FAdd => {
                let (a, c, rest) = match (product(b.function, x), product(b.function, y)) {
                    (Some((a, c)), _) => (a, c, y),
                    (None, Some((a, c))) => (a, c, x),
                    (None, None) => return None,
                };
                b.alu(Alu::FFma, &[a, c, rest])
            }
            Alu::FSub => match (product(b.function, x), product(b.function, y)) {
                (Some((a, c)), _) => {
                    let minus = b.alu(Alu::FNeg, &[y]);
                    b.alu(Alu::FFma, &[a, c, minus])
                }
                (None, Some((a, c))) => {
                    // A constant factor, which stands last, is negated for nothing.
                    let minus = b.alu(Alu::FNeg, &[c]);
                    b.alu(Alu::FFma, &[a, minus, x])
                }
                (None, None) => return None,
            },
            _ => return None,
        };
        Some(vec![value])
    });
    Changed::from_bool(changed)
}

/// The factors of an inexact product.
fn product(function: &Function, value: Value) -> Option<(Value, Value)> {
    let data = function.def_inst(value)?;
    let product = data.op == Op::Alu(Alu::FMul) && !data.exact;
    product.then(|| (data.args[0], data.args[1]))
}

//! Instructions that work component by component on scalars and vectors.
//!
//! Needs: operands of the result's component count.  Guarantees: the table is used for constants and for code alike.
//! Facts: hardware/compiler-isel.md 15.1; hardware/compiler-correctness.md 1.4 (unordered comparisons).
use rspirv::spirv::Op;

use crate::interp::eval::eval;
use crate::ir::{self, Alu, Builder, Kind, Value};

/// How an instruction is made of operations of the IR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Recipe {
    pub operands: usize,
    form: Form,
}

/// What is done with the operands a, b, ...
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// As they are.
    Plain(Alu),
    /// (b, a)
    Swap(Alu),
    /// not of (a, b)
    Not(Alu),
    /// not of (b, a)
    NotSwap(Alu),
    /// (a, a)
    Twice(Alu),
    /// op(a, b) or op(b, a)
    Either(Alu),
    /// not of that
    Neither(Alu),
    /// op(a, a) and op(b, b)
    Both(Alu),
    /// op(a, a) or op(b, b)
    Any(Alu),
    /// |a| == infinity
    IsInf,
}

/// The recipe for an instruction, if it works component by component.
#[rustfmt::skip]
pub(crate) fn recipe(op: Op) -> Option<Recipe> {
    use Form::{Any, Both, Either, IsInf, Neither, Not, NotSwap, Plain, Swap, Twice};
    let (operands, form) = match op {
        Op::SNegate                => (1, Plain(Alu::INeg)),
        Op::IAdd                   => (2, Plain(Alu::IAdd)),
        Op::ISub                   => (2, Plain(Alu::ISub)),
        Op::IMul                   => (2, Plain(Alu::IMul)),
        Op::UDiv                   => (2, Plain(Alu::UDiv)),
        Op::SDiv                   => (2, Plain(Alu::SDiv)),
        Op::UMod                   => (2, Plain(Alu::UMod)),
        Op::SRem                   => (2, Plain(Alu::SRem)),
        Op::SMod                   => (2, Plain(Alu::SMod)),
        Op::ShiftRightLogical      => (2, Plain(Alu::UShr)),
        Op::ShiftRightArithmetic   => (2, Plain(Alu::SShr)),
        Op::ShiftLeftLogical       => (2, Plain(Alu::IShl)),
        Op::BitwiseOr              => (2, Plain(Alu::IOr)),
        Op::BitwiseXor             => (2, Plain(Alu::IXor)),
        Op::BitwiseAnd             => (2, Plain(Alu::IAnd)),
        Op::Not                    => (1, Plain(Alu::INot)),
        Op::BitReverse             => (1, Plain(Alu::BitReverse)),
        Op::BitCount               => (1, Plain(Alu::BitCount)),
        Op::FNegate                => (1, Plain(Alu::FNeg)),
        Op::FAdd                   => (2, Plain(Alu::FAdd)),
        Op::FSub                   => (2, Plain(Alu::FSub)),
        Op::FMul                   => (2, Plain(Alu::FMul)),
        Op::FDiv                   => (2, Plain(Alu::FDiv)),
        Op::FRem                   => (2, Plain(Alu::FRem)),
        Op::FMod                   => (2, Plain(Alu::FMod)),
        Op::QuantizeToF16          => (1, Plain(Alu::FQuantize16)),
        Op::LogicalEqual           => (2, Not(Alu::BXor)),
        Op::LogicalNotEqual        => (2, Plain(Alu::BXor)),
        Op::LogicalOr              => (2, Plain(Alu::BOr)),
        Op::LogicalAnd             => (2, Plain(Alu::BAnd)),
        Op::LogicalNot             => (1, Plain(Alu::BNot)),
        Op::IEqual                 => (2, Plain(Alu::IEq)),
        Op::INotEqual              => (2, Plain(Alu::INe)),
        Op::UGreaterThan           => (2, Swap(Alu::ULt)),
        Op::SGreaterThan           => (2, Swap(Alu::SLt)),
        Op::UGreaterThanEqual      => (2, Plain(Alu::UGe)),
        Op::SGreaterThanEqual      => (2, Plain(Alu::SGe)),
        Op::ULessThan              => (2, Plain(Alu::ULt)),
        Op::SLessThan              => (2, Plain(Alu::SLt)),
        Op::ULessThanEqual         => (2, Swap(Alu::UGe)),
        Op::SLessThanEqual         => (2, Swap(Alu::SGe)),
        Op::FOrdEqual              => (2, Plain(Alu::FEq)),
        Op::FUnordEqual            => (2, Neither(Alu::FLt)),
        Op::FOrdNotEqual           => (2, Either(Alu::FLt)),
        Op::FUnordNotEqual         => (2, Plain(Alu::FNe)),
        Op::FOrdLessThan           => (2, Plain(Alu::FLt)),
        Op::FUnordLessThan         => (2, Not(Alu::FGe)),
        Op::FOrdGreaterThan        => (2, Swap(Alu::FLt)),
        Op::FUnordGreaterThan      => (2, NotSwap(Alu::FGe)),
        Op::FOrdLessThanEqual      => (2, Swap(Alu::FGe)),
        Op::FUnordLessThanEqual    => (2, NotSwap(Alu::FLt)),
        Op::FOrdGreaterThanEqual   => (2, Plain(Alu::FGe)),
        Op::FUnordGreaterThanEqual => (2, Not(Alu::FLt)),
        Op::Ordered                => (2, Both(Alu::FEq)),
        Op::Unordered              => (2, Any(Alu::FNe)),
        Op::LessOrGreater          => (2, Either(Alu::FLt)),
        Op::IsNan                  => (1, Twice(Alu::FNe)),
        Op::IsInf                  => (1, IsInf),
        _ => return None,
    };
    Some(Recipe { operands, form })
}

impl Recipe {
    /// What operand `index` must be.
    pub fn operand(self, index: usize) -> Kind {
        match self.form {
            Form::Plain(alu)
            | Form::Swap(alu)
            | Form::Not(alu)
            | Form::NotSwap(alu)
            | Form::Twice(alu)
            | Form::Either(alu)
            | Form::Neither(alu)
            | Form::Both(alu)
            | Form::Any(alu) => {
                let kinds = alu.operands();
                kinds.get(index).copied().unwrap_or(kinds[0])
            }
            Form::IsInf => Kind::F,
        }
    }

    /// What it gives.
    pub fn result(self) -> Kind {
        match self.form {
            Form::Plain(alu) => alu.result(),
            // All other forms are of comparisons.
            _ => Kind::B,
        }
    }

    /// Computes it for constants.
    pub fn eval(self, width: ir::Type, args: [u64; 4]) -> u64 {
        let eval = |alu, args| eval(alu, width, args);
        let [a, b, ..] = args;
        let (plain, swap) = ([a, b, 0, 0], [b, a, 0, 0]);
        let (twice, other) = ([a, a, 0, 0], [b, b, 0, 0]);
        match self.form {
            Form::Plain(alu) => eval(alu, args),
            Form::Swap(alu) => eval(alu, swap),
            Form::Not(alu) => eval(alu, plain) ^ 1,
            Form::NotSwap(alu) => eval(alu, swap) ^ 1,
            Form::Twice(alu) => eval(alu, twice),
            Form::Either(alu) => eval(alu, plain) | eval(alu, swap),
            Form::Neither(alu) => (eval(alu, plain) | eval(alu, swap)) ^ 1,
            Form::Both(alu) => eval(alu, twice) & eval(alu, other),
            Form::Any(alu) => eval(alu, twice) | eval(alu, other),
            Form::IsInf => {
                let magnitude = eval(Alu::FAbs, plain);
                u64::from(magnitude == infinity(width))
            }
        }
    }

    /// Builds it for one component.
    pub fn build(self, builder: &mut Builder<'_>, args: &[Value]) -> Value {
        let (a, b) = (args[0], args.get(1).copied().unwrap_or(args[0]));
        match self.form {
            Form::Plain(alu) => builder.alu(alu, args),
            Form::Swap(alu) => builder.alu(alu, &[b, a]),
            Form::Not(alu) => {
                let plain = builder.alu(alu, &[a, b]);
                builder.alu(Alu::BNot, &[plain])
            }
            Form::NotSwap(alu) => {
                let swap = builder.alu(alu, &[b, a]);
                builder.alu(Alu::BNot, &[swap])
            }
            Form::Twice(alu) => builder.alu(alu, &[a, a]),
            Form::Either(alu) => either(builder, alu, [a, b], [b, a], Alu::BOr),
            Form::Neither(alu) => {
                let either = either(builder, alu, [a, b], [b, a], Alu::BOr);
                builder.alu(Alu::BNot, &[either])
            }
            Form::Both(alu) => either(builder, alu, [a, a], [b, b], Alu::BAnd),
            Form::Any(alu) => either(builder, alu, [a, a], [b, b], Alu::BOr),
            Form::IsInf => {
                let magnitude = builder.alu(Alu::FAbs, &[a]);
                builder.alu_bits(Alu::FEq, magnitude, infinity(builder.function.ty(a)))
            }
        }
    }
}

/// The bits of infinity.
fn infinity(width: ir::Type) -> u64 {
    match width {
        ir::Type::W16 => 0x7c00,
        _ => f32::INFINITY.to_bits().into(),
    }
}

fn either(
    builder: &mut Builder<'_>,
    alu: Alu,
    first: [Value; 2],
    second: [Value; 2],
    join: Alu,
) -> Value {
    let first = builder.alu(alu, &first);
    let second = builder.alu(alu, &second);
    builder.alu(join, &[first, second])
}

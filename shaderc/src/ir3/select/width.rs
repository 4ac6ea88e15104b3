//! Widths: conversions between words and halves, by themselves or by the instruction before.
//!
//! Facts: hardware/ir3-isa.md 4 (which instructions convert their result, and how), 6 (rounding).

use super::Selector;
use crate::ir::{self, Alu, InstData};
use crate::ir3::mir::{Class, Instr, Op, Type};

/// How an instruction makes a result of another width than its sources.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Widening {
    /// As floats.
    Float,
    /// Zeros above.
    Zero,
    /// The sign above.
    Sign,
    /// Not at all, as far as is known.
    None,
}

fn widening(op: Op) -> Widening {
    match op {
        Op::AddF | Op::MulF | Op::MadF16 => Widening::Float,
        Op::AddU
        | Op::SubU
        | Op::MinU
        | Op::MaxU
        | Op::AndB
        | Op::OrB
        | Op::XorB
        | Op::NotB
        | Op::ShlB
        | Op::ShrB
        | Op::AshrB
        | Op::MulU24
        | Op::MadU24 => Widening::Zero,
        Op::MinS | Op::MaxS | Op::AbsNegS | Op::MulS24 => Widening::Sign,
        _ => Widening::None,
    }
}

impl Selector<'_> {
    /// What the instruction for an operation defines: its result, or what that becomes in the other width, if only this is
    /// read and the instruction gives it. How floats would be narrowed is not known.
    pub(super) fn result(&mut self, op: Op, data: &InstData) -> ir::Value {
        let result = data.results[0];
        let Some(user) = self.only_user(result) else {
            return result;
        };
        let half = self.class(result) == Class::Half;
        let how = widening(op);
        let folds = match user.op {
            ir::Op::Alu(Alu::U2U16) => !half && matches!(how, Widening::Zero | Widening::Sign),
            ir::Op::Alu(Alu::U2U32) => half && how == Widening::Zero,
            ir::Op::Alu(Alu::S2S32) => half && how == Widening::Sign,
            ir::Op::Alu(Alu::F2F32) => half && how == Widening::Float,
            _ => false,
        };
        match user.results.first().filter(|_| folds) {
            Some(&converted) => {
                self.done[converted.index()] = true;
                converted
            }
            None => result,
        }
    }

    /// A conversion between types, read through one that only widened a half, unless the half is nowhere.
    pub(super) fn convert(&mut self, from: Type, to: Type, data: &InstData) {
        let operand = data.args[0];
        let inner = self.alu_of(operand).and_then(|(alu, inner)| {
            let half = match (from, alu) {
                (Type::F32, Alu::F2F32) => Type::F16,
                (Type::U32, Alu::U2U32) => Type::U16,
                (Type::S32, Alu::S2S32) => Type::S16,
                _ => return None,
            };
            let there = self.is_half(inner) && !self.done[operand.index()];
            there.then(|| (half, inner.args[0]))
        });
        let (from, value) = inner.unwrap_or((from, operand));
        let source = self.plain(value);
        self.define(data.results[0], Instr::converted(from, to, source));
    }

    /// A float to a half, to nearest even.
    pub(super) fn narrow_float(&mut self, data: &InstData) {
        let source = self.plain(data.args[0]);
        let instr = Instr {
            round_even: true,
            ..Instr::converted(Type::F32, Type::F16, source)
        };
        self.define(data.results[0], instr);
    }
}

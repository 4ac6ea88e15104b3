//! Floats: addition, multiplication, rounding, minimum and maximum.
//!
//! Signs and halves are read through; a saturation that alone reads a result becomes its clamp.
//! A product alone is a fused operation with -0.0, which leaves the sign of zero.
//! Facts: hardware/compiler-isel.md 2, 4.1, hardware/valhall-isa.md 8.2, 9.6.

use super::Selector;
use crate::ir::{self, Alu, InstData};
use crate::valhall::mir::{Instr, Modifier, Modifiers, Op, Operand, Select, Source};
use eitri_isa::Arch;
use smallvec::smallvec;

impl Selector<'_> {
    /// A value, read through sign changes and the widening of a half.
    pub(super) fn float_source(&mut self, value: ir::Value) -> Source {
        let (value, source) = self.signed_source(value);
        match self.alu_of(value) {
            Some((alu @ (Alu::HalfLow | Alu::HalfHigh), inner)) => {
                let inner = inner.args[0];
                let operand = self.operand(inner);
                if !matches!(operand, Operand::Word(_)) {
                    return source;
                }
                Source { operand, ..source }.select(if alu == Alu::HalfLow {
                    Select::H0
                } else {
                    Select::H1
                })
            }
            _ => source,
        }
    }

    /// A value read through sign changes alone, and what is below them.
    pub(super) fn signed_source(&mut self, mut value: ir::Value) -> (ir::Value, Source) {
        let (mut neg, mut abs) = (false, false);
        while let Some((alu, inner)) = self.alu_of(value) {
            match alu {
                Alu::FNeg => neg ^= !abs,
                Alu::FAbs => abs = true,
                _ => break,
            }
            value = inner.args[0];
        }
        (
            value,
            Source {
                neg,
                abs,
                ..self.plain(value)
            },
        )
    }

    /// Defines a float result, clamped where a saturation is its only reader.
    pub(super) fn define_float(&mut self, value: ir::Value, instr: Instr) {
        let saturated = match self.only_user(value) {
            Some(user) if matches!(user.op, ir::Op::Alu(Alu::FSat | Alu::FSat2)) => {
                Some(user.results[0])
            }
            _ => None,
        };
        match saturated {
            Some(result) => {
                self.done[result.index()] = true;
                self.define(result, instr.with(Modifier::Clamp01));
            }
            None => self.define(value, instr),
        }
    }

    pub(super) fn float_add(&mut self, subtract: bool, data: &InstData) {
        let a = self.float_source(data.args[0]);
        let b = self.float_source(data.args[1]);
        let b = if subtract { b.negated() } else { b };
        self.define_float(
            data.results[0],
            Instr {
                sources: smallvec![a, b],
                ..Instr::new(Op::FAdd)
            },
        );
    }

    pub(super) fn float_multiply(&mut self, data: &InstData) {
        let [a, b] = [0, 1].map(|index| self.float_source(data.args[index]));
        self.define_float(
            data.results[0],
            Instr {
                sources: smallvec![a, b, minus_zero()],
                ..Instr::new(Op::Fma)
            },
        );
    }

    pub(super) fn float_fused(&mut self, data: &InstData) {
        let sources = data
            .args
            .iter()
            .map(|&arg| self.float_source(arg))
            .collect();
        self.define_float(
            data.results[0],
            Instr {
                sources,
                ..Instr::new(Op::Fma)
            },
        );
    }

    pub(super) fn float_extreme(&mut self, op: Op, data: &InstData) {
        let sources = data
            .args
            .iter()
            .map(|&arg| self.float_source(arg))
            .collect();
        self.define_float(
            data.results[0],
            Instr {
                sources,
                ..Instr::new(op)
            },
        );
    }

    pub(super) fn float_unary(&mut self, op: Op, modifiers: &[Modifier], data: &InstData) {
        // Rounding widens no halves from v11 on.
        let source = match op == Op::FRound && self.function.extra.arch >= Arch::V11 {
            true => self.signed_source(data.args[0]).1,
            false => self.float_source(data.args[0]),
        };
        let sources = smallvec![source];
        self.define(
            data.results[0],
            Instr {
                sources,
                modifiers: Modifiers::from_slice(modifiers),
                ..Instr::new(op)
            },
        );
    }

    /// A sign change that somebody reads as it is.
    pub(super) fn float_sign(&mut self, data: &InstData) {
        let sources = smallvec![self.float_source(data.results[0]), minus_zero()];
        self.define(
            data.results[0],
            Instr {
                sources,
                ..Instr::new(Op::FAdd)
            },
        );
    }

    pub(super) fn float_saturate(&mut self, data: &InstData) {
        let sources = smallvec![self.float_source(data.args[0]), minus_zero()];
        self.define(
            data.results[0],
            Instr {
                sources,
                ..Instr::new(Op::FAdd)
            }
            .with(Modifier::Clamp01),
        );
    }

    /// The exponent takes no modifier, and the mantissa no half: their bits mean something else.
    pub(super) fn scale(&mut self, data: &InstData) {
        let (_, mantissa) = self.signed_source(data.args[0]);
        let sources = smallvec![mantissa, self.plain(data.args[1])];
        self.define(
            data.results[0],
            Instr {
                sources,
                ..Instr::new(Op::LdExp)
            },
        );
    }
}

/// The neutral element of addition.
pub(super) fn minus_zero() -> Source {
    Source::constant(0).negated()
}

//! Integers: addition, multiplication, minimum and maximum.
//!
//! Facts: hardware/compiler-isel.md 4.2, hardware/valhall-isa.md 9.3, 9.5.

use super::Selector;
use crate::ir::{self, Alu, InstData};
use crate::valhall::mir::{Instr, Modifier, Op, Operand, Select, Source, Sources, Word};
use smallvec::smallvec;

impl Selector<'_> {
    /// Operands as they are.
    pub(super) fn unary(&mut self, op: Op, data: &InstData) {
        let sources = smallvec![self.plain(data.args[0])];
        self.define(
            data.results[0],
            Instr {
                sources,
                ..Instr::new(op)
            },
        );
    }

    /// Operands as they are.
    pub(super) fn ternary(&mut self, op: Op, data: &InstData) {
        let sources = data.args.iter().map(|&arg| self.plain(arg)).collect();
        self.define(
            data.results[0],
            Instr {
                sources,
                ..Instr::new(op)
            },
        );
    }

    /// Two operands that may be bytes or halves: of numbers without a sign, or of those with one.
    pub(super) fn integer(&mut self, [unsigned, signed]: [Op; 2], data: &InstData) {
        let has_sign = data
            .args
            .iter()
            .any(|&arg| self.signed_part_of(arg).is_some());
        let op = if has_sign { signed } else { unsigned };
        let sources = data.args.iter().map(|&arg| match has_sign {
            true => self.signed_integer_source(arg),
            false => self.integer_source(arg),
        });
        let sources = sources.collect();
        self.define(
            data.results[0],
            Instr {
                sources,
                ..Instr::new(op)
            },
        );
    }

    /// A sum. A complement is `-1 - x`, so of `~x + k` a difference is left.
    pub(super) fn add(&mut self, data: &InstData) {
        let complement = self.alu_of(data.args[0]);
        let constant = self.ir.as_word(data.args[1]);
        if let (Some((Alu::INot, inner)), Some(constant)) = (complement, constant)
            && self.single_use(data.args[0])
        {
            let rest = Source::constant(constant.wrapping_sub(1));
            let sources = smallvec![rest, self.integer_source(inner.args[0])];
            let instr = Instr {
                sources,
                ..Instr::new(Op::ISub)
            };
            return self.define(data.results[0], instr);
        }
        self.integer([Op::IAdd, Op::IAddS], data);
    }

    pub(super) fn absolute(&mut self, data: &InstData) {
        let sources = smallvec![self.signed_integer_source(data.args[0])];
        self.define(
            data.results[0],
            Instr {
                sources,
                ..Instr::new(Op::IAbs)
            },
        );
    }

    pub(super) fn negate(&mut self, data: &InstData) {
        let sources = smallvec![Source::constant(0), self.integer_source(data.args[0])];
        self.define(
            data.results[0],
            Instr {
                sources,
                ..Instr::new(Op::ISub)
            },
        );
    }

    /// `a` if `a condition b`, else `b`.
    pub(super) fn minimum(&mut self, op: Op, condition: Modifier, data: &InstData) {
        let (a, b) = (self.plain(data.args[0]), self.plain(data.args[1]));
        let instr = Instr {
            sources: smallvec![a, b, a, b],
            ..Instr::new(op)
        };
        self.define(data.results[0], instr.with(condition));
    }

    pub(super) fn unsigned_high(&mut self, data: &InstData) {
        let high = Word::Value(self.word(data.results[0]));
        self.long_multiply(data.args[0], data.args[1], high);
    }

    /// The unsigned high word, less each operand where the other is negative.
    pub(super) fn signed_high(&mut self, data: &InstData) {
        let high = self.function.new_value();
        self.long_multiply(data.args[0], data.args[1], Word::Value(high));
        let (a, b) = (self.plain(data.args[0]), self.plain(data.args[1]));
        let all = Source::constant(31).select(Select::B0);
        let first = self.compute(Op::ARShiftAnd, &[a, all, b]);
        let second = self.compute(Op::ARShiftAnd, &[b, all, a]);
        let part = self.compute(Op::ISub, &[Source::value(high), first]);
        self.define(
            data.results[0],
            Instr {
                sources: smallvec![part, second],
                ..Instr::new(Op::ISub)
            },
        );
    }

    /// The 64-bit product; its low word is new, its high word is `high`.
    fn long_multiply(&mut self, a: ir::Value, b: ir::Value, high: Word) {
        let low = Word::Value(self.function.new_value());
        let sources = [a, b].map(|arg| {
            let word = self.in_register(arg);
            Source::plain(Operand::Word(word)).select(Select::W0)
        });
        self.emit(Instr {
            dests: smallvec![low, high],
            sources: Sources::from_slice(&sources),
            ..Instr::new(Op::IMulD)
        });
    }

    /// The value, read through a mask or shift that takes a byte or half of another, zero-extended.
    pub(super) fn integer_source(&mut self, value: ir::Value) -> Source {
        if let Some(half) = self.arrived_half(value) {
            return half;
        }
        match self.part_of(value) {
            Some((whole, select)) if self.ir.as_word(whole).is_none() => {
                match self.operand(whole) {
                    operand @ Operand::Word(_) => Source::plain(operand).select(select),
                    _ => self.plain(value),
                }
            }
            _ => self.plain(value),
        }
    }

    /// The value, read through shifts that take a byte or half of another, sign-extended.
    pub(super) fn signed_integer_source(&mut self, value: ir::Value) -> Source {
        match self.signed_part_of(value) {
            Some((whole, select)) => {
                let word = self.in_register(whole);
                Source::plain(Operand::Word(word)).select(select)
            }
            None => self.plain(value),
        }
    }

    /// The word that is no constant of which `value` is a byte or half with its sign above, and which.
    pub(super) fn signed_part_of(&self, value: ir::Value) -> Option<(ir::Value, Select)> {
        let by = |data: &InstData| data.args.get(1).and_then(|&arg| self.ir.as_word(arg));
        let (Alu::SShr, data) = self.alu_of(value)? else {
            return None;
        };
        let shifted = data.args[0];
        let left = match self.alu_of(shifted) {
            Some((Alu::IShl, inner)) => by(inner).map(|left| (inner.args[0], left)),
            _ => None,
        };
        let (whole, left) = left.unwrap_or((shifted, 0));
        let select = match (left, by(data)?) {
            (0, 16) => Select::H1,
            (16, 16) => Select::H0,
            (0, 24) => Select::B3,
            (8, 24) => Select::B2,
            (16, 24) => Select::B1,
            (24, 24) => Select::B0,
            _ => return None,
        };
        let of_word = matches!(
            self.ir.def(whole),
            ir::ValueDef::Result(..) | ir::ValueDef::Phi(_)
        ) && !self.uniforms.contains_key(&whole);
        of_word.then_some((whole, select))
    }

    /// The word of which `value` is a byte or half, and which.
    pub(super) fn part_of(&self, value: ir::Value) -> Option<(ir::Value, Select)> {
        let (alu, data) = self.alu_of(value)?;
        let amount = |data: &InstData| data.args.get(1).and_then(|&arg| self.ir.as_word(arg));
        match (alu, amount(data)?) {
            (Alu::UShr, 24) => Some((data.args[0], Select::B3)),
            (Alu::UShr, 16) => Some((data.args[0], Select::H1)),
            (Alu::IAnd, 0xffff) => Some((data.args[0], Select::H0)),
            (Alu::IAnd, 0xff) => match self.alu_of(data.args[0]) {
                Some((Alu::UShr, inner)) => match amount(inner) {
                    Some(8) => Some((inner.args[0], Select::B1)),
                    Some(16) => Some((inner.args[0], Select::B2)),
                    _ => Some((data.args[0], Select::B0)),
                },
                _ => Some((data.args[0], Select::B0)),
            },
            _ => None,
        }
    }
}

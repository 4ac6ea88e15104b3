//! Two values of 16 bits at once: arithmetic on both halves of words, and words made of two halves.
//!
//! A source may take any half of one word for each of its lanes, and change both signs. What takes halves of two words
//! needs them joined first. A choice by a comparison is one instruction, which reads no halves in another order.
//! Facts: hardware/compiler-isel.md 2, 4.1 and 4.2, hardware/valhall-isa.md 9.3 to 9.6.

use super::Selector;
use super::float::minus_zero;
use crate::ir::{self, Alu, InstData};
use crate::valhall::mir::{Instr, Modifier, Op, Operand, Select, Source, Sources};
use smallvec::smallvec;

/// Both signs of two binary16.
const SIGNS: u32 = 0x8000_8000;

impl Selector<'_> {
    /// Two binary16, read through sign changes and through the choice of halves of one word.
    fn halves_source(&mut self, mut value: ir::Value) -> Source {
        let (mut neg, mut abs) = (false, false);
        while let Some((alu, inner)) = self.alu_of(value) {
            let constant = inner.args.get(1).and_then(|&arg| self.ir.as_word(arg));
            match (alu, constant) {
                (Alu::IXor, Some(SIGNS)) => neg ^= !abs,
                (Alu::IAnd, Some(mask)) if mask == !SIGNS => abs = true,
                _ => break,
            }
            value = inner.args[0];
        }
        let source = self.chosen_halves(value);
        let source = source.unwrap_or_else(|| self.plain(value));
        Source { neg, abs, ..source }
    }

    /// What a word made of two halves of another is as a selection.
    fn chosen_halves(&mut self, value: ir::Value) -> Option<Source> {
        let (Alu::Pack16, data) = self.alu_of(value)? else {
            return None;
        };
        let [(low, low_half), (high, high_half)] = [0, 1].map(|part| self.half_of(data.args[part]));
        if low != high {
            return None;
        }
        let source = self.plain(low);
        let select = match (low_half, high_half) {
            (Select::H0, Select::H0) => Select::H00,
            (Select::H0, _) => Select::Identity,
            (_, Select::H0) => Select::H10,
            _ => Select::H11,
        };
        matches!(source.operand, Operand::Word(_)).then(|| source.select(select))
    }

    /// The word and the half of it that are the low half of a value.
    fn half_of(&self, value: ir::Value) -> (ir::Value, Select) {
        match self.alu_of(value) {
            Some((Alu::UShr, data)) if self.ir.as_word(data.args[1]) == Some(16) => {
                (data.args[0], Select::H1)
            }
            _ => (value, Select::H0),
        }
    }

    /// A word of the low halves of two.
    pub(super) fn join_halves(&mut self, data: &InstData) {
        let sources = [0, 1].map(|part| {
            let (word, half) = self.half_of(data.args[part]);
            Source::plain(Operand::Word(self.in_register(word))).select(half)
        });
        let join = Instr {
            sources: Sources::from_slice(&sources),
            ..Instr::new(Op::MkVec)
        };
        self.define(data.results[0], join);
    }

    /// An operation on both halves.
    pub(super) fn on_halves(&mut self, op: Op, data: &InstData) {
        let sources = data.args.iter().map(|&arg| self.halves_source(arg));
        let instr = Instr {
            sources: sources.collect(),
            ..Instr::new(op)
        };
        self.define_float(data.results[0], instr);
    }

    pub(super) fn multiply_halves(&mut self, data: &InstData) {
        let [a, b] = [0, 1].map(|index| self.halves_source(data.args[index]));
        let instr = Instr {
            sources: smallvec![a, b, minus_zero()],
            ..Instr::new(Op::Fma2)
        };
        self.define_float(data.results[0], instr);
    }

    pub(super) fn saturate_halves(&mut self, data: &InstData) {
        let sources = smallvec![self.halves_source(data.args[0]), minus_zero()];
        let instr = Instr {
            sources,
            ..Instr::new(Op::FAdd2)
        };
        self.define(data.results[0], instr.with(Modifier::Clamp01));
    }

    /// Two integers of 16 bits, read through the choice of halves of one word.
    fn integers_source(&mut self, value: ir::Value) -> Source {
        let source = self.chosen_halves(value);
        source.unwrap_or_else(|| self.plain(value))
    }

    /// An operation on the integers in both halves.
    pub(super) fn integers_of_halves(&mut self, op: Op, data: &InstData) {
        let sources = data.args.iter().map(|&arg| self.integers_source(arg));
        let instr = Instr {
            sources: sources.collect(),
            ..Instr::new(op)
        };
        self.define(data.results[0], instr);
    }

    /// A shift of both halves: of each amount the low byte counts.
    pub(super) fn shift_halves(&mut self, op: Op, data: &InstData) {
        let word = self.integers_source(data.args[0]);
        let amounts = self.integers_source(data.args[1]);
        let bytes = match amounts.select {
            Select::H00 => Some(Select::B00),
            Select::H11 => Some(Select::B22),
            Select::Identity => Some(Select::B02),
            _ => None,
        };
        let amounts = match bytes {
            Some(bytes) => amounts.select(bytes),
            None => self.plain(data.args[1]).select(Select::B02),
        };
        let instr = Instr {
            sources: smallvec![word, amounts, Source::constant(0)],
            ..Instr::new(op)
        };
        self.define(data.results[0], instr);
    }

    /// Ones in the halves of which a comparison is true.
    pub(super) fn compare_halves(&mut self, alu: Alu, data: &InstData) {
        let (op, condition) = match alu {
            Alu::IEq2 => (Op::ICmpOrU2, Modifier::Eq),
            Alu::SLt2 => (Op::ICmpOrS2, Modifier::Lt),
            _ => (Op::ICmpOrU2, Modifier::Lt),
        };
        let [a, b] = [0, 1].map(|index| self.integers_source(data.args[index]));
        let instr = Instr {
            sources: smallvec![a, b, Source::constant(0)],
            ..Instr::new(op)
        };
        let instr = instr.with(condition).with(Modifier::ResultMask);
        self.define(data.results[0], instr);
    }

    /// A choice of bits by a comparison of halves, which is then a choice of halves. True if it was one.
    pub(super) fn choose_halves(&mut self, data: &InstData) -> bool {
        let compare = self.alu_of(data.args[0]);
        let (op, condition, inner) = match compare {
            Some((Alu::IEq2, inner)) => (Op::CselU2, Modifier::Eq, inner),
            Some((Alu::SLt2, inner)) => (Op::CselS2, Modifier::Lt, inner),
            Some((Alu::ULt2, inner)) => (Op::CselU2, Modifier::Lt, inner),
            _ => return false,
        };
        let args = [inner.args[0], inner.args[1], data.args[1], data.args[2]];
        let sources = args.into_iter().map(|arg| self.plain(arg)).collect();
        let instr = Instr {
            sources,
            ..Instr::new(op)
        };
        self.define(data.results[0], instr.with(condition));
        true
    }
}

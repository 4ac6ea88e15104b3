//! Two binary16 at once: arithmetic on both halves of words, and words made of two halves.
//!
//! A source may take any half of one word for each of its lanes, and change both signs. What takes halves of two words
//! needs them joined first.
//! Facts: hardware/compiler-isel.md 2 and 4.1, hardware/valhall-isa.md 9.6.

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
}

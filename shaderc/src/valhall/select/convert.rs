//! Conversions between integers, binary32 and binary16.
//!
//! Facts: hardware/compiler-isel.md 4.5, 4.6, hardware/valhall-isa.md 9.2.

use super::Selector;
use crate::ir::{Alu, InstData};
use crate::valhall::mir::{Instr, Modifier, Op, Operand, Select, Source, Sources, Word};
use eitri_isa::Arch;
use smallvec::smallvec;

impl Selector<'_> {
    pub(super) fn float_to_integer(&mut self, op: Op, data: &InstData) {
        let (_, source) = self.signed_source(data.args[0]);
        let instr = Instr {
            sources: smallvec![source],
            ..Instr::new(op)
        };
        self.define(data.results[0], instr.with(Modifier::RoundZero));
    }

    /// From an unsigned word, byte or half.
    pub(super) fn unsigned_to_float(&mut self, data: &InstData) {
        let source = self.integer_source(data.args[0]);
        let (op, source) = match source.select {
            // One conversion widens for itself from v11 on, and the others are gone.
            _ if self.function.extra.arch >= Arch::V11 => (Op::U32ToF32, source),
            Select::B0 | Select::B1 | Select::B2 | Select::B3 => (Op::U8ToF32, source),
            Select::H0 | Select::H1 => (Op::U16ToF32, source),
            _ => (Op::U32ToF32, source),
        };
        self.define(
            data.results[0],
            Instr {
                sources: smallvec![source],
                ..Instr::new(op)
            },
        );
    }

    /// From a word, byte or half with a sign.
    pub(super) fn signed_to_float(&mut self, data: &InstData) {
        let source = self.signed_integer_source(data.args[0]);
        let op = match source.select {
            // One conversion widens for itself from v11 on, and the others are gone.
            _ if self.function.extra.arch >= Arch::V11 => Op::S32ToF32,
            Select::B0 | Select::B1 | Select::B2 | Select::B3 => Op::S8ToF32,
            Select::H0 | Select::H1 => Op::S16ToF32,
            _ => Op::S32ToF32,
        };
        self.define(
            data.results[0],
            Instr {
                sources: smallvec![source],
                ..Instr::new(op)
            },
        );
    }

    /// A byte or half with its sign above.
    pub(super) fn extend_sign(&mut self, data: &InstData) {
        let source = self.signed_integer_source(data.results[0]);
        let op = match source.select {
            Select::H0 | Select::H1 => Op::S16ToS32,
            _ => Op::S8ToS32,
        };
        self.define(
            data.results[0],
            Instr {
                sources: smallvec![source],
                ..Instr::new(op)
            },
        );
    }

    pub(super) fn pack_half(&mut self, data: &InstData) {
        if self.function.extra.arch >= Arch::V11 {
            self.pack_narrowed(data);
            return;
        }
        let sources = data
            .args
            .iter()
            .map(|&arg| self.signed_source(arg).1)
            .collect();
        self.define(
            data.results[0],
            Instr {
                sources,
                ..Instr::new(Op::V2F32ToV2F16)
            },
        );
    }

    /// From v11 on nothing converts two at once: each is added to -0.0, with a result of a half, and the halves are joined.
    fn pack_narrowed(&mut self, data: &InstData) {
        let halves = [0, 1].map(|index| {
            let (_, source) = self.signed_source(data.args[index]);
            self.narrow(source).select(Select::H0)
        });
        let join = Instr {
            sources: Sources::from_slice(&halves),
            ..Instr::new(Op::MkVec)
        };
        self.define(data.results[0], join);
    }

    /// A float as one of 16 bits, in both halves.
    pub(super) fn narrow(&mut self, source: Source) -> Source {
        let dest = self.function.new_value();
        let narrow = Instr {
            dests: smallvec![Word::Value(dest)],
            sources: smallvec![source, Source::constant(0).negated()],
            ..Instr::new(Op::FAdd)
        };
        self.emit(narrow.with(Modifier::Narrow));
        Source::value(dest)
    }

    /// A half that somebody reads as binary32 and cannot widen.
    pub(super) fn half_to_float(&mut self, data: &InstData) {
        let high = matches!(data.op, crate::ir::Op::Alu(Alu::HalfHigh));
        let word = self.in_register(data.args[0]);
        let source =
            Source::plain(Operand::Word(word)).select(if high { Select::H1 } else { Select::H0 });
        self.define(
            data.results[0],
            Instr {
                sources: smallvec![source],
                ..Instr::new(Op::F16ToF32)
            },
        );
    }
}

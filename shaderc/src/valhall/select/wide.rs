//! Words of 64 bits: addresses, and what atomics take and give. They are pairs of words.
//!
//! Facts: hardware/compiler-isel.md 5, hardware/valhall-isa.md 9.3.

use super::Selector;
use super::memory::{Location, Reach};
use crate::ir::{self, Alu, InstData};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{Instr, Op, Operand, Source, Word};
use smallvec::smallvec;

impl Selector<'_> {
    /// The words of a value of 64 bits, in registers.
    pub(super) fn wide_words(&mut self, value: ir::Value) -> [Word; 2] {
        if let Some(bits) = self.ir.as_bits(value) {
            return [bits as u32, (bits >> 32) as u32].map(|word| self.constant_word(word));
        }
        if let Some((Alu::Pack64, data)) = self.alu_of(value) {
            let halves = [data.args[0], data.args[1]];
            return halves.map(|half| self.in_register(half));
        }
        self.wide_result(value)
    }

    /// A constant in a register.
    fn constant_word(&mut self, word: u32) -> Word {
        let dest = Word::Value(self.function.new_value());
        self.emit(Instr {
            dests: smallvec![dest],
            sources: smallvec![Source::constant(word)],
            ..Instr::new(Op::Mov)
        });
        dest
    }

    /// The words that an instruction gives as a value of 64 bits.
    pub(super) fn wide_result(&mut self, value: ir::Value) -> [Word; 2] {
        let words = match self.wide.get(&value) {
            Some(words) => *words,
            None => {
                let words = [(); 2].map(|()| self.function.new_value());
                self.wide.insert(value, words);
                words
            }
        };
        words.map(Word::Value)
    }

    /// A value of 64 bits as a source.
    fn wide_source(&mut self, value: ir::Value) -> Source {
        let [low, high] = self.wide_words(value);
        Source::plain(Operand::Pair(low, high))
    }

    /// One half of a value of 64 bits.
    pub(super) fn half_of_wide(&mut self, high: bool, data: &InstData) {
        let words = self.wide_words(data.args[0]);
        let half = words[usize::from(high)];
        let instr = Instr {
            sources: smallvec![Source::plain(Operand::Word(half))],
            ..Instr::new(Op::Mov)
        };
        self.define(data.results[0], instr);
    }

    /// An operation that gives 64 bits.
    pub(super) fn wide_alu(&mut self, alu: Alu, data: &InstData) -> Result<(), Unsupported> {
        let op = match alu {
            Alu::IAdd => Op::IAdd64U,
            Alu::ISub => Op::ISub64U,
            _ => return Err(self.unsupported(alu.name())),
        };
        let sources = data.args.iter().map(|&arg| self.wide_source(arg)).collect();
        let dests = self.wide_result(data.results[0]).into();
        self.emit(Instr {
            dests,
            sources,
            ..Instr::new(op)
        });
        Ok(())
    }

    /// Memory by address: a constant part goes into the message.
    pub(super) fn locate_global(&mut self, address: ir::Value, reach: Reach) -> Location {
        if let Some((Alu::IAdd, data)) = self.alu_of(address)
            && let (base, Some(bits)) = (data.args[0], self.ir.as_bits(data.args[1]))
            && reach.contains(bits.cast_signed())
        {
            return Location {
                address: self.wide_source(base),
                offset: bits.cast_signed(),
            };
        }
        Location {
            address: self.wide_source(address),
            offset: 0,
        }
    }
}

//! Halves: values of 16 bits in the halves of words, computed in half registers.
//!
//! Facts: hardware/ir3-isa.md 4, 6 (rounding of conversions).

use super::Selector;
use crate::ir::range::upper_bound;
use crate::ir::{self, InstData};
use crate::ir3::mir::{Class, Condition, Instr, Op, Source, Type};

impl Selector<'_> {
    /// The low or high half of a word, in a half register.
    pub(super) fn half(&mut self, word: Source, high: bool) -> Source {
        let instr = match high {
            // The shift itself cuts off what is above.
            true => Instr::on(Op::ShrB, &[word, Source::constant(16)]),
            false => Instr::converted(Type::U32, Type::U16, word),
        };
        self.put_in(Class::Half, instr)
    }

    /// Two half registers as the halves of a word.
    fn define_halves(&mut self, result: ir::Value, [low, high]: [Source; 2]) {
        let [low, high] = [low, high]
            .map(|half| self.put_in(Class::Full, Instr::converted(Type::U16, Type::U32, half)));
        let sources = [Source::constant(16), high, low];
        self.define(result, Instr::on(Op::ShlG, &sources));
    }

    pub(super) fn pack_half(&mut self, data: &InstData) {
        let halves = [0, 1].map(|number| {
            let word = self.plain(data.args[number]);
            let instr = Instr {
                round_even: true,
                ..Instr::converted(Type::F32, Type::F16, word)
            };
            self.put_in(Class::Half, instr)
        });
        self.define_halves(data.results[0], halves);
    }

    pub(super) fn unpack_half(&mut self, high: bool, data: &InstData) {
        let word = self.plain(data.args[0]);
        let half = self.half(word, high);
        self.define(
            data.results[0],
            Instr::converted(Type::F16, Type::F32, half),
        );
    }

    pub(super) fn join_halves(&mut self, data: &InstData) {
        let [mut low, high] = [0, 1].map(|number| self.plain(data.args[number]));
        if upper_bound(self.ir, data.args[0]) > 0xffff {
            low = self.compute(Op::AndB, &[low, Source::constant(0xffff)]);
        }
        let sources = [Source::constant(16), high, low];
        self.define(data.results[0], Instr::on(Op::ShlG, &sources));
    }

    /// An operation on both halves.
    pub(super) fn on_halves(&mut self, op: Op, data: &InstData) {
        let words = self.plain_all(data);
        let halves = [false, true].map(|high| {
            let sources: Vec<Source> = words.iter().map(|&word| self.half(word, high)).collect();
            let instr = Instr {
                half: true,
                ..Instr::on(op, &sources)
            };
            self.put_in(Class::Half, instr)
        });
        self.define_halves(data.results[0], halves);
    }

    pub(super) fn saturate_halves(&mut self, data: &InstData) {
        let word = self.plain(data.args[0]);
        let halves = [false, true].map(|high| {
            let half = self.half(word, high);
            let instr = Instr {
                half: true,
                saturate: true,
                ..Instr::on(Op::MaxF, &[half, half])
            };
            self.put_in(Class::Half, instr)
        });
        self.define_halves(data.results[0], halves);
    }

    pub(super) fn absolute_halves(&mut self, data: &InstData) {
        let word = self.plain(data.args[0]);
        let halves = [false, true].map(|high| {
            let half = self.half(word, high).absolute();
            let instr = Instr {
                half: true,
                ..Instr::on(Op::AbsNegS, &[half])
            };
            self.put_in(Class::Half, instr)
        });
        self.define_halves(data.results[0], halves);
    }

    /// Ones in the halves of which a comparison is true.
    pub(super) fn compare_halves(&mut self, op: Op, condition: Condition, data: &InstData) {
        let words = self.plain_all(data);
        let halves = [false, true].map(|high| {
            let sources: Vec<Source> = words.iter().map(|&word| self.half(word, high)).collect();
            let compare = Instr {
                half: true,
                condition: Some(condition),
                ..Instr::on(op, &sources)
            };
            let truth = self.put_in(Class::Half, compare);
            let mask = Instr {
                half: true,
                ..Instr::on(Op::AbsNegS, &[truth.negated()])
            };
            self.put_in(Class::Half, mask)
        });
        self.define_halves(data.results[0], halves);
    }
}

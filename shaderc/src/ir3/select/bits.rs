//! Bits: logic, shifts, and the instructions that do both.
//!
//! Facts: hardware/ir3-isa.md 3 (complements of sources), 16 (shifts with a mask).

use super::Selector;
use crate::ir::{self, Alu, InstData};
use crate::ir3::mir::{Class, Instr, Op, Source, Type};

/// The largest immediate of a shift with a mask: 11 bits without a sign.
const LARGEST: u32 = 2047;

impl Selector<'_> {
    /// The value, read through a complement.
    fn bitwise_source(&mut self, value: ir::Value) -> Source {
        match self.alu_of(value) {
            Some((Alu::INot, inner)) => {
                let inner = inner.args[0];
                self.plain(inner).inverted()
            }
            _ => self.plain(value),
        }
    }

    pub(super) fn bitwise(&mut self, op: Op, data: &InstData) {
        let sources: Vec<Source> = data
            .args
            .iter()
            .map(|&arg| self.bitwise_source(arg))
            .collect();
        let result = self.result(op, data);
        self.define(result, self.on(data, op, &sources));
    }

    /// A shift, whose amount has the width of what is shifted.
    pub(super) fn shift(&mut self, op: Op, data: &InstData) {
        let word = self.plain(data.args[0]);
        let by = self.amount(data.args[1], data);
        let result = self.result(op, data);
        self.define(result, self.on(data, op, &[word, by]));
    }

    /// The amount of a shift, modulo the width if it is constant.
    fn amount(&mut self, by: ir::Value, data: &InstData) -> Source {
        let half = self.is_half(data);
        let width = if half { 16 } else { 32 };
        match self.ir.as_word(by) {
            Some(amount) => Source::constant(amount % width),
            None if half => {
                let by = self.plain(by);
                self.put_in(Class::Half, Instr::converted(Type::U32, Type::U16, by))
            }
            None => self.plain(by),
        }
    }

    /// `(x >> n) & m`, `(x << n) & m`: one instruction, where the mask is small or in a register.
    pub(super) fn and(&mut self, data: &InstData) {
        let mask = data.args[1];
        if let Some((shift, inner)) = self.own_shift(data.args[0])
            && self.fits(mask)
        {
            let op = match shift {
                Alu::UShr => Op::ShrM,
                _ => Op::ShlM,
            };
            self.shift_with(op, inner, mask, data);
            return;
        }
        self.bitwise(Op::AndB, data);
    }

    /// `(x >> n) | y`, `(x << n) | y`, `(x & y) | z`.
    pub(super) fn or(&mut self, data: &InstData) {
        for (own, other) in [(0, 1), (1, 0)].map(|(a, b)| (data.args[a], data.args[b])) {
            if !self.fits(other) {
                continue;
            }
            if let Some((shift, inner)) = self.own_shift(own) {
                let op = match shift {
                    Alu::UShr => Op::ShrG,
                    _ => Op::ShlG,
                };
                self.shift_with(op, inner, other, data);
                return;
            }
            if let Some((Alu::IAnd, inner)) = self.alu_of(own)
                && self.single_use(own)
                && self.fits(inner.args[1])
                && !self.absorbs(inner.args[0])
                && !self.absorbs(inner.args[1])
                && self.own_shift(inner.args[0]).is_none()
            {
                let inner = inner.args.clone();
                let sources = [inner[1], inner[0], other].map(|value| self.plain(value));
                self.define(data.results[0], self.on(data, Op::AndG, &sources));
                return;
            }
        }
        self.bitwise(Op::OrB, data);
    }

    /// Whether a bitwise instruction would read through the operation that gives the value.
    fn absorbs(&self, value: ir::Value) -> bool {
        matches!(self.alu_of(value), Some((Alu::INot, _)))
    }

    /// Whether a shift with a mask can read the value without a move.
    fn fits(&self, value: ir::Value) -> bool {
        match self.ir.as_word(value) {
            Some(word) => word <= LARGEST,
            None => self.uniform(value).is_none(),
        }
    }

    /// The logical shift that gives the value and that nothing else reads, by what an instruction can hold.
    fn own_shift(&self, value: ir::Value) -> Option<(Alu, [ir::Value; 2])> {
        let (alu, data) = self.alu_of(value)?;
        let good = matches!(alu, Alu::UShr | Alu::IShl)
            && self.single_use(value)
            && self.fits(data.args[1]);
        good.then(|| (alu, [data.args[0], data.args[1]]))
    }

    fn shift_with(&mut self, op: Op, [word, by]: [ir::Value; 2], with: ir::Value, data: &InstData) {
        let by = self.amount(by, data);
        let (word, with) = (self.plain(word), self.plain(with));
        self.define(data.results[0], self.on(data, op, &[by, word, with]));
    }

    /// To the left by n is to the right by -n, modulo the width.
    pub(super) fn rotate(&mut self, data: &InstData) {
        let word = self.plain(data.args[0]);
        let (left, right) = match self.ir.as_word(data.args[1]) {
            Some(amount) => (
                Source::constant(amount & 31),
                Source::constant(amount.wrapping_neg() & 31),
            ),
            None => {
                let left = self.plain(data.args[1]);
                let right = self.compute(Op::AbsNegS, &[left.negated()]);
                let right = self.compute(Op::AndB, &[right, Source::constant(31)]);
                (left, right)
            }
        };
        let high = self.compute(Op::ShlB, &[word, left]);
        self.define(data.results[0], Instr::on(Op::ShrG, &[right, word, high]));
    }

    /// `(b & a) | (c & ~a)`
    pub(super) fn bit_select(&mut self, data: &InstData) {
        let [a, b, c] = [0, 1, 2].map(|number| self.plain(data.args[number]));
        let rest = self.on(data, Op::AndB, &[c, a.inverted()]);
        let rest = self.put_in(self.class(data.results[0]), rest);
        self.define(data.results[0], self.on(data, Op::AndG, &[a, b, rest]));
    }

    /// Bits are counted in halves.
    pub(super) fn bit_count(&mut self, data: &InstData) {
        let word = self.plain(data.args[0]);
        if self.is_half(data) {
            let count = self.count_half(word);
            self.define(
                data.results[0],
                Instr::converted(Type::U16, Type::U32, count),
            );
            return;
        }
        let [low, high] = [false, true].map(|high| {
            let half = self.half(word, high);
            self.count_half(half)
        });
        let sum = Instr {
            half: true,
            ..Instr::on(Op::AddU, &[low, high])
        };
        let sum = self.put_in(Class::Half, sum);
        self.define(data.results[0], Instr::converted(Type::U16, Type::U32, sum));
    }

    fn count_half(&mut self, half: Source) -> Source {
        let count = Instr {
            half: true,
            ..Instr::on(Op::CbitsB, &[half])
        };
        self.put_in(Class::Half, count)
    }

    /// Of zero the machine counts -1, which is the largest number.
    pub(super) fn leading_zeros(&mut self, data: &InstData) {
        let word = self.plain(data.args[0]);
        let zeros = self.compute(Op::ClzB, &[word]);
        let sources = [zeros, Source::constant(32)];
        self.define(data.results[0], Instr::on(Op::MinU, &sources));
    }
}

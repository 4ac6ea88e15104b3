//! Integers: sums, products, signs, words of 64 bits.
//!
//! Facts: hardware/ir3-isa.md 10 (products of 16 and 24 bits), 15.

use super::Selector;
use crate::ir::range::upper_bound;
use crate::ir::{self, Alu, InstData, Type};
use crate::ir3::mir::{Condition, Instr, Op, Operand, Source, Word};

/// What a factor of a 24-bit product is less than.
const LIMIT_24: u32 = 1 << 24;

impl Selector<'_> {
    /// An instruction that reads the operands as they are.
    pub(super) fn plain_op(&mut self, op: Op, data: &InstData) {
        let sources = self.plain_all(data);
        let result = self.result(op, data);
        self.define(result, self.on(data, op, &sources));
    }

    /// A sum; a product of 24 bits that nothing else reads is part of it.
    pub(super) fn add(&mut self, data: &InstData) {
        let product = [0, 1].into_iter().find_map(|side| {
            let (alu, inner) = self.alu_of(data.args[side])?;
            let fits = alu == Alu::IMul
                && !self.is_half(data)
                && self.single_use(data.args[side])
                && inner
                    .args
                    .iter()
                    .all(|&factor| upper_bound(self.ir, factor) < LIMIT_24);
            fits.then(|| (inner.args.clone(), data.args[1 - side]))
        });
        let Some((factors, addend)) = product else {
            self.plain_op(Op::AddU, data);
            return;
        };
        let sources = [factors[1], factors[0], addend].map(|value| self.plain(value));
        let result = self.result(Op::MadU24, data);
        self.define(result, Instr::on(Op::MadU24, &sources));
    }

    /// The low word of a product, of as many parts as the factors have.
    pub(super) fn multiply(&mut self, data: &InstData) {
        if self.is_half(data) {
            self.plain_op(Op::MulS24, data);
            return;
        }
        let [a, b] = [data.args[0], data.args[1]];
        let bounds = [a, b].map(|factor| upper_bound(self.ir, factor));
        let [a, b] = [a, b].map(|factor| self.plain(factor));
        if bounds.iter().all(|&bound| bound < LIMIT_24) {
            let result = self.result(Op::MulU24, data);
            self.define(result, Instr::on(Op::MulU24, &[a, b]));
            return;
        }
        let low = self.compute(Op::MullU, &[a, b]);
        // Each takes the high half of its first source: nothing where that is zero.
        let wide: Vec<[Source; 2]> = [[a, b], [b, a]]
            .into_iter()
            .zip(bounds)
            .filter(|(_, bound)| *bound > 0xffff)
            .map(|(pair, _)| pair)
            .collect();
        let (last, first) = match wide.split_last() {
            Some(split) => split,
            None => {
                self.define_as(data.results[0], low);
                return;
            }
        };
        let mut sum = low;
        for [high, other] in first {
            sum = self.compute(Op::MadshM16, &[*high, *other, sum]);
        }
        self.define(
            data.results[0],
            Instr::on(Op::MadshM16, &[last[0], last[1], sum]),
        );
    }

    pub(super) fn unsigned_high(&mut self, data: &InstData) {
        let (third, second, first) = self.high_parts(data);
        let part = self.compute(Op::AddU, &[third, second]);
        self.define(data.results[0], Instr::on(Op::AddU, &[part, first]));
    }

    /// The unsigned high word, less each operand where the other is negative.
    pub(super) fn signed_high(&mut self, data: &InstData) {
        let (third, second, first) = self.high_parts(data);
        let part = self.compute(Op::AddU, &[third, second]);
        let high = self.compute(Op::AddU, &[part, first]);
        let [a, b] = [data.args[0], data.args[1]].map(|value| self.plain(value));
        let mut less = |sign: Source, other: Source| {
            let mask = self.compute(Op::AshrB, &[sign, Source::constant(31)]);
            self.compute(Op::AndB, &[mask, other])
        };
        let (one, two) = (less(a, b), less(b, a));
        let part = self.compute(Op::SubU, &[high, one]);
        self.define(data.results[0], Instr::on(Op::SubU, &[part, two]));
    }

    /// Three words whose sum is the high word of the unsigned product. With halves `a1:a0` and `b1:b0` the middle is
    /// `a1 b0 + (a0 b0 >> 16)`, which fits a word, and what remains of it goes to `a0 b1`.
    fn high_parts(&mut self, data: &InstData) -> (Source, Source, Source) {
        let sixteen = Source::constant(16);
        let low = Source::constant(0xffff);
        let [a, b] = [data.args[0], data.args[1]].map(|value| self.plain(value));
        let [a1, b1] = [a, b].map(|word| self.compute(Op::ShrB, &[word, sixteen]));
        let [a0, b0] = [a, b].map(|word| self.compute(Op::AndB, &[word, low]));
        let product = self.compute(Op::MullU, &[a, b]);
        let carried = self.compute(Op::ShrB, &[product, sixteen]);
        let middle = self.compute(Op::MadU24, &[a1, b0, carried]);
        let rest = self.compute(Op::AndB, &[middle, low]);
        let other = self.compute(Op::MadU24, &[a0, b1, rest]);
        let first = self.compute(Op::ShrB, &[middle, sixteen]);
        let second = self.compute(Op::ShrB, &[other, sixteen]);
        let third = self.compute(Op::MullU, &[a1, b1]);
        (third, second, first)
    }

    pub(super) fn negate(&mut self, data: &InstData) {
        let source = self.plain(data.args[0]).negated();
        let result = self.result(Op::AbsNegS, data);
        self.define(result, self.on(data, Op::AbsNegS, &[source]));
    }

    pub(super) fn absolute(&mut self, data: &InstData) {
        let source = self.plain(data.args[0]).absolute();
        let result = self.result(Op::AbsNegS, data);
        self.define(result, self.on(data, Op::AbsNegS, &[source]));
    }

    pub(super) fn unsigned_dot(&mut self, data: &InstData) {
        let [a, b, c] = [0, 1, 2].map(|number| self.plain(data.args[number]));
        let sum = self.dot(a, b, c);
        self.define_as(data.results[0], sum);
    }

    /// Bytes with a sign are 128 less than those without that have the highest bit changed: of the products of those goes
    /// 128 times the sum of either side.
    pub(super) fn signed_dot(&mut self, data: &InstData) {
        let [a, b, c] = [0, 1, 2].map(|number| self.plain(data.args[number]));
        let above = |this: &mut Self, word: Source| {
            this.compute(Op::XorB, &[word, Source::constant(0x8080_8080)])
        };
        let ones = Source::constant(0x0101_0101);
        let b = above(self, b);
        let (product, sum, square) = match self.parts.dp4acc {
            // The machine multiplies bytes with a sign by bytes without.
            true => {
                let product = self.compute(Op::Dp4Mixed, &[a, b, c]);
                let sum = self.compute(Op::Dp4Mixed, &[a, ones, Source::constant(0)]);
                (product, sum, 0)
            }
            false => {
                let a = above(self, a);
                let product = self.dot(a, b, c);
                let sum = self.dot(a, ones, Source::constant(0));
                let sum = self.dot(b, ones, sum);
                (product, sum, 4 * 128 * 128)
            }
        };
        let excess = self.compute(Op::ShlB, &[sum, Source::constant(7)]);
        let rest = self.compute(Op::SubU, &[product, excess]);
        let sources = [rest, Source::constant(square)];
        self.define(data.results[0], Instr::on(Op::AddU, &sources));
    }

    /// The sum of the products of four unsigned bytes, and `c`.
    fn dot(&mut self, a: Source, b: Source, c: Source) -> Source {
        if self.parts.dp4acc {
            return self.compute(Op::Dp4U, &[a, b, c]);
        }
        let mut sum = c;
        for shift in [0, 8, 16, 24] {
            let [a, b] = [a, b].map(|word| {
                let byte = [Source::constant(shift), word, Source::constant(0xff)];
                self.compute(Op::ShrM, &byte)
            });
            sum = self.compute(Op::MadU24, &[a, b, sum]);
        }
        sum
    }

    /// Selects an operation that gives 64 bits; true if it was one.
    pub(super) fn wide_alu(&mut self, alu: Alu, data: &InstData) -> bool {
        if self.ir.ty(data.results[0]) != Type::W64 || alu == Alu::Pack64 {
            return false;
        }
        let op = match alu {
            Alu::IAdd => Op::AddU,
            Alu::ISub => Op::SubU,
            other => {
                self.refuse(&format!("{} of 64 bits", other.name()));
                return true;
            }
        };
        let [a, b] = [0, 1].map(|number| self.wide_words(data.args[number]).map(Source::word));
        let low = self.compute(op, &[a[0], b[0]]);
        let high = self.compute(op, &[a[1], b[1]]);
        // Carried if the sum is less than a part of it; borrowed if what is taken from is less than what is taken.
        let (less, than) = match op {
            Op::AddU => (low, b[0]),
            _ => (a[0], b[0]),
        };
        let carry = Instr {
            condition: Some(Condition::Lt),
            ..Instr::on(Op::CmpsU, &[less, than])
        };
        let carry = self.put_in(crate::ir3::mir::Class::Full, carry);
        let high = self.compute(op, &[high, carry]);
        let words = [low, high].map(|half| self.register(half));
        self.wide.insert(data.results[0], words);
        true
    }

    /// The words of a value of 64 bits, low and high.
    pub(super) fn wide_words(&mut self, value: ir::Value) -> [Word; 2] {
        if let Some(words) = self.wide.get(&value) {
            return *words;
        }
        if let Some(bits) = self.ir.as_bits(value) {
            let words = [bits as u32, (bits >> 32) as u32];
            return words.map(|word| self.register(Source::constant(word)));
        }
        // Uses come after what gives them: the lowered form has no phi of 64 bits.
        self.refuse("a value of 64 bits that is chosen by control flow");
        [self.word(value); 2].map(Word::Value)
    }

    pub(super) fn join_wide(&mut self, data: &InstData) {
        let words = [0, 1].map(|number| self.in_register(data.args[number]));
        self.wide.insert(data.results[0], words);
    }

    pub(super) fn half_of_wide(&mut self, number: usize, data: &InstData) {
        let word = self.wide_words(data.args[0])[number];
        self.define_as(data.results[0], Source::plain(Operand::Word(word)));
    }
}

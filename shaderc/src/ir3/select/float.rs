//! Floats: arithmetic with signs of sources, saturation, special functions.
//!
//! Facts: hardware/ir3-isa.md 3 (signs), 10, 11 (range of sine and cosine), 15.

use std::f32::consts::{PI, TAU};

use super::Selector;
use crate::ir::{self, Alu, InstData};
use crate::ir3::mir::{Class, Condition, Instr, Op, Source};

impl Selector<'_> {
    /// The value, read through changes of its sign.
    pub(super) fn float_source(&mut self, value: ir::Value) -> Source {
        match self.alu_of(value) {
            Some((Alu::FNeg, inner)) => {
                let inner = inner.args[0];
                self.float_source(inner).negated()
            }
            Some((Alu::FAbs, inner)) => {
                let inner = inner.args[0];
                self.float_source(inner).absolute()
            }
            _ => self.plain(value),
        }
    }

    /// The value, read through negation alone.
    fn negatable_source(&mut self, value: ir::Value) -> Source {
        match self.alu_of(value) {
            Some((Alu::FNeg, inner)) => {
                let inner = inner.args[0];
                self.negatable_source(inner).negated()
            }
            _ => self.plain(value),
        }
    }

    /// Defines a float, or what its saturation gives where nothing else reads it.
    fn define_float(&mut self, data: &InstData, instr: Instr) {
        let result = data.results[0];
        let saturated = self.only_user(result).and_then(|user| match user.op {
            ir::Op::Alu(Alu::FSat) => Some(user.results[0]),
            _ => None,
        });
        match saturated {
            Some(saturated) => {
                self.done[saturated.index()] = true;
                let instr = Instr {
                    saturate: true,
                    ..instr
                };
                self.define(saturated, instr);
            }
            None => {
                let result = self.result(instr.op, data);
                self.define(result, instr);
            }
        }
    }

    pub(super) fn float(&mut self, op: Op, data: &InstData) {
        let sources: Vec<Source> = data
            .args
            .iter()
            .map(|&arg| self.float_source(arg))
            .collect();
        let instr = self.on(data, op, &sources);
        match op {
            Op::AddF | Op::MulF => self.define_float(data, instr),
            _ => self.define(data.results[0], instr),
        }
    }

    pub(super) fn float_subtract(&mut self, data: &InstData) {
        let a = self.float_source(data.args[0]);
        let b = self.float_source(data.args[1]).negated();
        self.define_float(data, self.on(data, Op::AddF, &[a, b]));
    }

    pub(super) fn float_fused(&mut self, data: &InstData) {
        let [a, b, c] = [0, 1, 2].map(|number| self.negatable_source(data.args[number]));
        // The second is a register: a constant factor comes first.
        let op = match self.is_half(data) {
            true => Op::MadF16,
            false => Op::MadF32,
        };
        self.define_float(data, self.on(data, op, &[b, a, c]));
    }

    pub(super) fn float_sign(&mut self, data: &InstData) {
        let source = self.float_source(data.results[0]);
        self.define(data.results[0], self.on(data, Op::AbsNegF, &[source]));
    }

    pub(super) fn float_saturate(&mut self, data: &InstData) {
        let source = self.float_source(data.args[0]);
        let instr = Instr {
            saturate: true,
            ..self.on(data, Op::MaxF, &[source, source])
        };
        self.define(data.results[0], instr);
    }

    /// A special function.
    pub(super) fn special(&mut self, op: Op, data: &InstData) {
        let source = self.float_source(data.args[0]);
        // Some have a variant for halves.
        let op = match (self.is_half(data), op) {
            (true, Op::Rsq) => Op::HalfRsq,
            (true, Op::Log2) => Op::HalfLog2,
            (true, Op::Exp2) => Op::HalfExp2,
            (_, op) => op,
        };
        self.define(data.results[0], self.on(data, op, &[source]));
    }

    /// Sine or cosine of an angle that is brought to where the machine knows them.
    pub(super) fn periodic(&mut self, op: Op, data: &InstData) {
        let float = |value: f32| Source::constant(value.to_bits());
        let angle = self.float_source(data.args[0]);
        let turns = self.compute(Op::MulF, &[angle, float(1.0 / TAU)]);
        let turns = self.compute(Op::AddF, &[turns, float(0.5)]);
        let whole = self.compute(Op::FloorF, &[turns]);
        let part = self.compute(Op::AddF, &[turns, whole.negated()]);
        let angle = self.compute(Op::MadF32, &[float(TAU), part, float(-PI)]);
        self.define(data.results[0], Instr::on(op, &[angle]));
    }

    /// Times three powers of two, each of which a float can be: from the largest to nothing it is more than two of them.
    pub(super) fn scale(&mut self, data: &InstData) {
        let number = self.float_source(data.args[0]);
        let exponent = self.plain(data.args[1]);
        let exponent = self.clamped(exponent, -278, 278);
        let first = self.clamped(exponent, -126, 127);
        let rest = self.compute(Op::SubU, &[exponent, first]);
        let second = self.clamped(rest, -126, 127);
        let third = self.compute(Op::SubU, &[rest, second]);
        let [first, second, third] = [first, second, third].map(|exponent| {
            let biased = self.compute(Op::AddU, &[exponent, Source::constant(127)]);
            self.compute(Op::ShlB, &[biased, Source::constant(23)])
        });
        let part = self.compute(Op::MulF, &[number, first]);
        let part = self.compute(Op::MulF, &[part, second]);
        self.define(data.results[0], Instr::on(Op::MulF, &[part, third]));
    }

    fn clamped(&mut self, value: Source, least: i32, most: i32) -> Source {
        let value = self.compute(Op::MinS, &[value, Source::constant(most as u32)]);
        self.compute(Op::MaxS, &[value, Source::constant(least as u32)])
    }

    /// The exponent's bits of a float.
    fn exponent_bits(&mut self, value: ir::Value) -> Source {
        let word = self.plain(value);
        let sources = [Source::constant(23), word, Source::constant(255)];
        self.compute(Op::ShrM, &sources)
    }

    pub(super) fn mantissa(&mut self, data: &InstData) {
        let exponent = self.exponent_bits(data.args[0]);
        let word = self.plain(data.args[0]);
        let bits = self.compute(Op::AndB, &[word, Source::constant(0x807f_ffff)]);
        let scaled = self.compute(Op::OrB, &[bits, Source::constant(0.5f32.to_bits())]);
        // Neither 0 nor 255.
        let below = self.compute(Op::SubU, &[exponent, Source::constant(1)]);
        let normal = Instr {
            condition: Some(Condition::Lt),
            ..Instr::on(Op::CmpsU, &[below, Source::constant(254)])
        };
        let normal = self.put_in(Class::Full, normal);
        self.define(
            data.results[0],
            Instr::on(Op::SelB32, &[scaled, normal, word]),
        );
    }

    pub(super) fn exponent(&mut self, data: &InstData) {
        let bits = self.exponent_bits(data.args[0]);
        let exponent = self.compute(Op::SubU, &[bits, Source::constant(126)]);
        let sources = [exponent, bits, Source::constant(0)];
        self.define(data.results[0], Instr::on(Op::SelB32, &sources));
    }
}

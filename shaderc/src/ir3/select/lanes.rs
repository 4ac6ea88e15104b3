//! Operations of lanes together.
//!
//! A subgroup is a wave of 64 lanes. Sequences that need branches stay one instruction until `expand_lanes`.
//! Facts: hardware/ir3-isa.md 13.

use eitri_ir3_isa::device::WAVE;
use smallvec::smallvec;

use super::Selector;
use crate::ir::{Combine, InstData, LaneOp, ScanForm, Value, ValueDef};
use crate::ir3::mir::{Class, Instr, Op, Source, Word, Words};

impl Selector<'_> {
    pub(super) fn lanes(&mut self, lanes: LaneOp, data: &InstData) {
        if !self.waves_are_subgroups() {
            return;
        }
        match lanes {
            LaneOp::First => {
                let value = self.in_register(data.args[0]);
                self.define(
                    data.results[0],
                    Instr::on(Op::First, &[Source::word(value)]),
                );
            }
            LaneOp::Shuffle => {
                let from = self.plain(data.args[1]);
                // One lane that all want says it to all at once.
                match self.reads_uniformly(data, data.args[1]) {
                    true => self.read_lane(from, data),
                    false => self.shuffle(from, data),
                }
            }
            LaneOp::QuadSwapX | LaneOp::QuadSwapY => self.refuse(lanes.name()),
            LaneOp::ShuffleXor => match self.ir.as_word(data.args[1]) {
                Some(flip @ 1..=3) if self.parts.lane_ops && self.is_whole => {
                    let op = [Op::QuadX, Op::QuadY, Op::QuadXY][flip as usize - 1];
                    let value = self.in_register(data.args[0]);
                    self.define(data.results[0], Instr::on(op, &[Source::word(value)]));
                }
                _ => {
                    let lane = self.lane();
                    let flip = self.plain(data.args[1]);
                    let from = self.compute(Op::XorB, &[lane, flip]);
                    self.shuffle(from, data);
                }
            },
        }
    }

    /// Whether all lanes that run an instruction together have the same in an operand.
    fn reads_uniformly(&self, data: &InstData, operand: Value) -> bool {
        match self.ir.def(data.results[0]) {
            ValueDef::Result(inst, _) => self.uniformity.is_uniform_in(operand, inst),
            ValueDef::Word(_) | ValueDef::Bool(_) | ValueDef::Phi(_) => false,
        }
    }

    /// Whether the function's subgroups are waves; notes it if not.
    pub(super) fn waves_are_subgroups(&mut self) -> bool {
        let count = self.ir.lanes.count();
        if count != WAVE {
            self.refuse(&format!("subgroups of {count} lanes"));
        }
        count == WAVE
    }

    /// The lane's number in its wave: waves are filled in the order of invocations.
    pub(super) fn lane(&mut self) -> Source {
        let index = self.linear_id();
        self.compute(Op::AndB, &[index, Source::constant(WAVE - 1)])
    }

    /// The words of a mask.
    pub(super) fn ballot(&mut self, data: &InstData) {
        if !self.waves_are_subgroups() {
            return;
        }
        let mut dests: Words = data
            .results
            .iter()
            .map(|&result| Word::Value(self.word(result)))
            .collect();
        if self.ir.as_bool(data.args[0]) == Some(true) {
            self.emit(Instr {
                dests,
                ..Instr::new(Op::Active)
            });
            return;
        }
        let condition = self.in_register(data.args[0]);
        let zero = self.register(Source::constant(0));
        dests.push(self.new_word(Class::Predicate));
        self.emit(Instr {
            dests,
            ..Instr::on(Op::Ballot, &[Source::word(condition), Source::word(zero)])
        });
    }

    /// What all lanes have together, one after the other.
    pub(super) fn scan(&mut self, combine: Combine, form: ScanForm, data: &InstData) {
        if !self.waves_are_subgroups() {
            return;
        }
        let value = self.in_register(data.args[0]);
        let neutral = combine.neutral(crate::ir::Type::W32) as u32;
        let neutral = self.register(Source::constant(neutral));
        // What the lanes before have, and that with the own.
        let mut dests: Words = smallvec![Word::Value(self.word(data.results[0]))];
        dests.extend([(); 2].map(|()| self.new_word(Class::Full)));
        self.emit(Instr {
            dests,
            scan: Some((combine, form)),
            ..Instr::on(Op::Scan, &[Source::word(value), Source::word(neutral)])
        });
    }

    /// What the lane `from` has, the same for all lanes.
    fn read_lane(&mut self, from: Source, data: &InstData) {
        let value = self.in_register(data.args[0]);
        let lane = self.lane();
        let [lane, from] = [lane, from].map(|source| self.register(source));
        let zero = self.register(Source::constant(0));
        let result = Word::Value(self.word(data.results[0]));
        let sources = [value, from, lane, zero].map(Source::word);
        let predicate = self.new_word(Class::Predicate);
        self.emit(Instr {
            dests: smallvec![result, predicate],
            ..Instr::on(Op::ReadLane, &sources)
        });
    }

    /// What lane `from` of the wave has.
    fn shuffle(&mut self, from: Source, data: &InstData) {
        let value = self.in_register(data.args[0]);
        let lane = self.lane();
        let [lane, from] = [lane, from].map(|source| self.register(source));
        let zero = self.register(Source::constant(0));
        // The lanes that still wait, the lane that is served, what it has; and what branches ask.
        let mut dests: Words = smallvec![Word::Value(self.word(data.results[0]))];
        dests.extend([(); 3].map(|()| self.new_word(Class::Full)));
        dests.push(self.new_word(Class::Predicate));
        let sources = [value, from, lane, zero].map(Source::word);
        self.emit(Instr {
            dests,
            ..Instr::on(Op::Shuffle, &sources)
        });
    }
}

//! Operations of lanes together.
//!
//! The lanes that the IR counts are fewer than those of a wave: each run of them is a part of the wave, and lanes are found
//! by their number in it.  Facts: hardware/ir3-isa.md 13.

use eitri_ir3_isa::device::WAVE;
use smallvec::smallvec;

use super::Selector;
use crate::ir::{InstData, LaneOp};
use crate::ir3::mir::{Class, Instr, Op, Source, Words};

impl Selector<'_> {
    pub(super) fn lanes(&mut self, lanes: LaneOp, data: &InstData) {
        let lane = self.lane_in_wave();
        match lanes {
            LaneOp::Ballot => self.ballot(lane, data),
            LaneOp::Shuffle => {
                // The first lane of the run, then the number in it.
                let run = self.compute(Op::AndB, &[lane, Source::constant(!self.ir.lanes.last())]);
                let number = self.plain(data.args[1]);
                let from = self.compute(Op::OrB, &[run, number]);
                self.shuffle(lane, from, data);
            }
            LaneOp::ShuffleXor => match self.ir.as_word(data.args[1]) {
                Some(flip @ 1..=3) if self.parts.lane_ops => {
                    let op = [Op::QuadX, Op::QuadY, Op::QuadXY][flip as usize - 1];
                    let value = self.in_register(data.args[0]);
                    self.define(data.results[0], Instr::on(op, &[Source::word(value)]));
                }
                _ => {
                    let flip = self.plain(data.args[1]);
                    let from = self.compute(Op::XorB, &[lane, flip]);
                    self.shuffle(lane, from, data);
                }
            },
        }
    }

    /// The lane's number in its wave: waves are filled in the order of invocations.
    fn lane_in_wave(&mut self) -> Source {
        let index = self.linear_id();
        self.compute(Op::AndB, &[index, Source::constant(WAVE - 1)])
    }

    /// Both words of the wave's mask; then the bits of the lane's own run.
    fn ballot(&mut self, lane: Source, data: &InstData) {
        let words: Words = (0..2).map(|_| self.new_word(Class::Full)).collect();
        let condition = self.in_register(data.args[0]);
        let zero = self.register(Source::constant(0));
        let [low, high] = [words[0], words[1]].map(Source::word);
        let predicate = self.new_word(Class::Predicate);
        self.emit(Instr {
            dests: words.into_iter().chain([predicate]).collect(),
            ..Instr::on(Op::Ballot, &[Source::word(condition), Source::word(zero)])
        });
        let upper = self.compute(Op::AndB, &[lane, Source::constant(32)]);
        let word = self.compute(Op::SelB32, &[high, upper, low]);
        let first = self.compute(
            Op::AndB,
            &[lane, Source::constant(31 & !self.ir.lanes.last())],
        );
        let own = self.compute(Op::ShrB, &[word, first]);
        let mask = Source::constant(self.ir.lanes.mask());
        self.define(data.results[0], Instr::on(Op::AndB, &[own, mask]));
    }

    /// What lane `from` of the wave has.
    fn shuffle(&mut self, lane: Source, from: Source, data: &InstData) {
        let value = self.in_register(data.args[0]);
        let [lane, from] = [lane, from].map(|source| self.register(source));
        let zero = self.register(Source::constant(0));
        let result = crate::ir3::mir::Word::Value(self.word(data.results[0]));
        // The lanes that still wait, the lane that is served, what it has; and what branches ask.
        let own = [(); 3].map(|()| self.new_word(Class::Full));
        let predicate = self.new_word(Class::Predicate);
        let mut dests: Words = smallvec![result];
        dests.extend(own);
        dests.push(predicate);
        let sources = [value, from, lane, zero].map(Source::word);
        self.emit(Instr {
            dests,
            ..Instr::on(Op::Shuffle, &sources)
        });
    }
}

//! Control flow of random functions: statements, branches, switches and loops.

use super::compute::INVOCATIONS;
use super::{DEPTH, Generator, Together};
use eitri_shaderc::ir::{
    Alu, BlockId, Combine, LaneOp, Op, ScanForm, SysVal, Terminator, Type, Value,
};

impl Generator<'_> {
    /// Statements in a scope: what they define is forgotten afterwards.
    pub(super) fn scope(&mut self, depth: u32) {
        let marks = self.marks();
        let count = 1 + self.random.below(6);
        self.statements(depth, count);
        self.forget(marks);
    }

    pub(super) fn statements(&mut self, depth: u32, count: u32) {
        for _ in 0..count {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.halves();
            if self.quads.is_some() && self.in_quads(depth) {
                continue;
            }
            let subgroups = matches!(self.abilities.together, Together::Subgroup(_));
            if subgroups && depth == DEPTH && self.random.below(8) == 0 {
                self.lanes();
                continue;
            }
            match self.random.below(if depth == 0 { 12 } else { 16 }) {
                0..=5 => self.alu(),
                6 => self.division(),
                7 => self.bit_field(),
                8 | 9 => self.variable(),
                10 => self.memory(),
                11 => self.neighbours(),
                12 => self.branch(depth - 1),
                13 => self.counted_loop(depth - 1),
                14 => self.open_loop(depth - 1),
                _ => self.switch(depth - 1),
            }
        }
    }

    /// What lanes do together. Only where all of them are: elsewhere the source must say which are together.
    pub(super) fn lanes(&mut self) {
        let own = self.b.sys_val(SysVal::LaneId);
        // Two in five are what only some targets have.
        let has_scans = self.abilities.together == Together::Subgroup(true);
        let kinds = if has_scans { 5 } else { 3 };
        let op = match self.random.below(kinds) {
            0 => Op::Ballot(self.b.function.lanes.mask_words()),
            1 => Op::Lanes(LaneOp::Shuffle),
            2 => Op::Lanes(LaneOp::ShuffleXor),
            3 => Op::Lanes(LaneOp::First),
            _ => {
                let combines = Combine::ALL.iter().copied();
                let whole = combines.filter(|combine| !combine.alu().result().is_float());
                let combine = self.random.pick(&whole.collect::<Vec<_>>());
                let (form, _) = self.random.pick(&ScanForm::ALL);
                Op::Scan(combine, form)
            }
        };
        let args = match op {
            Op::Ballot(_) => vec![self.bool()],
            Op::Scan(..) => vec![self.word()],
            Op::Lanes(LaneOp::First) => {
                let ty = self.width(|_| true);
                vec![self.value(ty)]
            }
            _ => {
                let ty = self.width(|_| true);
                vec![self.value(ty), self.masked(INVOCATIONS - 1)]
            }
        };
        let results = self.b.inst(op, &args);
        self.words.push(own);
        for result in results {
            self.keep(result);
        }
    }

    pub(super) fn jump(&mut self, to: BlockId) {
        self.b.terminate(Terminator::Jump(to));
    }

    pub(super) fn branch(&mut self, depth: u32) {
        let condition = self.bool();
        self.branch_on(condition, depth);
    }

    pub(super) fn branch_on(&mut self, condition: Value, depth: u32) {
        let [then, otherwise, join] = [(); 3].map(|()| self.b.function.new_block());
        self.b.terminate(Terminator::Branch {
            condition,
            then,
            otherwise,
        });
        let types = [Type::W32, Type::Bool, self.width(|_| true)];
        let mut sources = vec![];
        for side in [then, otherwise] {
            self.b.block = side;
            let marks = self.marks();
            let count = self.random.below(5);
            self.statements(depth, count);
            let values = types.map(|ty| self.value(ty));
            sources.push((self.b.block, values));
            self.forget(marks);
            self.jump(join);
        }
        self.b.block = join;
        for (number, ty) in types.into_iter().enumerate() {
            let value = self.b.function.new_phi(join, ty);
            let phis = &mut self.b.function.block_mut(join).phis;
            let sources = sources.iter().map(|(from, values)| (*from, values[number]));
            phis[number].sources = sources.collect();
            self.keep(value);
        }
    }

    /// A loop with a constant number of rounds.
    pub(super) fn counted_loop(&mut self, depth: u32) {
        let rounds = self.random.below(6);
        let limit = self.b.word(rounds);
        self.a_loop(depth, limit);
    }

    /// A loop whose number of rounds comes from data.
    pub(super) fn open_loop(&mut self, depth: u32) {
        let limit = self.masked(7);
        self.a_loop(depth, limit);
    }

    pub(super) fn a_loop(&mut self, depth: u32, limit: Value) {
        let [header, body, next, exit] = [(); 4].map(|()| self.b.function.new_block());
        let entering = (self.b.block, self.word());
        self.jump(header);
        self.b.block = header;
        let counter = self.b.function.new_phi(header, Type::W32);
        let carried = self.b.function.new_phi(header, Type::W32);
        self.words.extend([counter, carried]);
        let go = self.b.alu(Alu::ULt, &[counter, limit]);
        self.b.terminate(Terminator::Branch {
            condition: go,
            then: body,
            otherwise: exit,
        });
        self.b.block = body;
        let marks = self.marks();
        let count = 1 + self.random.below(5);
        self.statements(depth, count);
        let value = self.word();
        let mut latches = vec![(self.b.block, value)];
        if self.random.below(2) == 0 {
            // A break, after what may be a continue.
            let condition = self.bool();
            let after = self.b.function.new_block();
            let leave = if self.random.below(2) == 0 {
                exit
            } else {
                next
            };
            self.b.terminate(Terminator::Branch {
                condition,
                then: after,
                otherwise: leave,
            });
            if leave == exit {
                latches.clear();
            }
            self.b.block = after;
            self.scope(depth);
            latches.push((self.b.block, value));
        }
        self.forget(marks);
        self.jump(next);
        self.b.block = next;
        let carry = self.b.function.new_phi(next, Type::W32);
        self.b.function.block_mut(next).phis[0].sources = latches;
        let more = self.b.alu_word(Alu::IAdd, counter, 1);
        self.jump(header);
        let zero = self.b.word(0);
        let phis = &mut self.b.function.block_mut(header).phis;
        phis[0].sources = vec![(entering.0, zero), (next, more)];
        phis[1].sources = vec![entering, (next, carry)];
        self.b.block = exit;
    }

    /// Three targets of few values or of many, and a default; one may fall into the next.
    pub(super) fn switch(&mut self, depth: u32) {
        let many = self.random.below(2) == 0;
        let masked = self.masked(if many { 15 } else { 3 });
        let selector = match self.width(|_| true) {
            Type::W8 => self.b.alu(Alu::U2U8, &[masked]),
            Type::W16 => self.b.alu(Alu::U2U16, &[masked]),
            Type::W64 => self.b.alu(Alu::U2U64, &[masked]),
            _ => masked,
        };
        let blocks = [(); 5].map(|()| self.b.function.new_block());
        let [first, second, third, default, join] = blocks;
        let mut cases = vec![(0, first), (1, second), (5, second), (2, third)];
        if many {
            let more = [
                (10, third),
                (4, first),
                (12, second),
                (6, default),
                (13, second),
            ];
            cases.extend(more);
        }
        self.b.terminate(Terminator::Switch {
            selector,
            cases,
            default,
        });
        for (number, block) in [first, second, third, default].into_iter().enumerate() {
            self.b.block = block;
            self.scope(depth);
            let next = match self.random.below(3) {
                0 => blocks[number + 1],
                _ => join,
            };
            self.jump(next);
        }
        self.b.block = join;
    }
}

//! Where each invocation knows what its slots hold: a data flow over the function.

use super::slots::{Slot, effect};
use crate::ir::cfg::Cfg;
use crate::ir::{BlockId, Function, Inst, Op};

/// What is known of slots at a place: sets of them.
///
/// Invocations that took another way may have written this one's word. Since the last barrier that would be a race with an
/// access of its own; behind the barrier the word holds what they wrote, until its invocation stores there again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    /// Those that the invocation has stored, whichever way it came.
    stored: u64,
    /// Those that somebody may have written through another address since the last barrier.
    fresh: u64,
    /// Those that somebody may have written so before it.
    old: u64,
}

impl State {
    /// At the start of the function.
    const ENTRY: State = State {
        stored: 0,
        fresh: 0,
        old: 0,
    };
    /// Of a block that nothing is known to lead to yet.
    const UNREACHED: State = State {
        stored: u64::MAX,
        ..State::ENTRY
    };

    fn meet(self, other: State) -> State {
        State {
            stored: self.stored & other.stored,
            fresh: self.fresh | other.fresh,
            old: self.old | other.old,
        }
    }

    fn after(self, step: Step) -> State {
        match step {
            Step::Barrier => State {
                fresh: 0,
                old: self.old | self.fresh,
                ..self
            },
            Step::Write { stores, forgets } => State {
                stored: self.stored & !forgets | stores,
                fresh: self.fresh | forgets,
                old: self.old & !stores,
            },
        }
    }

    /// The slots whose value is what their invocation stored last.
    pub(super) fn known(self) -> u64 {
        self.stored & !self.fresh & !self.old
    }
}

/// What an instruction does to a state.
#[derive(Clone, Copy)]
enum Step {
    Barrier,
    Write { stores: u64, forgets: u64 },
}

/// The states of a function.
pub(super) struct Flow<'f> {
    function: &'f Function,
    slots: &'f [Slot],
    /// By block.
    at_start: Vec<State>,
}

impl<'f> Flow<'f> {
    pub(super) fn new(function: &'f Function, cfg: &Cfg, slots: &'f [Slot]) -> Flow<'f> {
        let mut flow = Flow {
            function,
            slots,
            at_start: vec![State::UNREACHED; function.block_count()],
        };
        let mut steps: Vec<Vec<Step>> = vec![vec![]; function.block_count()];
        for block in cfg.rpo() {
            let insts = function.block(*block).insts.iter();
            steps[block.index()] = insts.filter_map(|inst| flow.step(*inst)).collect();
        }
        let mut at_end = vec![State::UNREACHED; function.block_count()];
        // What is stored only becomes less, what may be written only more.
        let mut changed = true;
        while changed {
            changed = false;
            for block in cfg.rpo() {
                let before = cfg.predecessors(*block).iter();
                let before = before.map(|from| at_end[from.index()]);
                let start = match *block == function.entry() {
                    true => State::ENTRY,
                    false => before.reduce(State::meet).unwrap_or(State::ENTRY),
                };
                flow.at_start[block.index()] = start;
                let steps = steps[block.index()].iter();
                let end = steps.fold(start, |state, step| state.after(*step));
                changed |= std::mem::replace(&mut at_end[block.index()], end) != end;
            }
        }
        flow
    }

    fn step(&self, inst: Inst) -> Option<Step> {
        let data = self.function.inst(inst);
        if data.op == Op::Barrier {
            return Some(Step::Barrier);
        }
        let effect = effect(self.function, self.slots, data);
        (effect.stores | effect.forgets != 0).then_some(Step::Write {
            stores: effect.stores,
            forgets: effect.forgets,
        })
    }

    /// The instructions of a block, each with the slots that are known in front of it.
    pub(super) fn walk(&self, block: BlockId) -> impl Iterator<Item = (Inst, u64)> {
        let insts = self.function.block(block).insts.iter();
        let mut state = self.at_start[block.index()];
        insts.map(move |inst| {
            let known = state.known();
            state = self.step(*inst).map_or(state, |step| state.after(step));
            (*inst, known)
        })
    }
}

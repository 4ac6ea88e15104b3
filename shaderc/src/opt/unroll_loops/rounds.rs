//! Which loops are unrolled: how many rounds they make, and what that may cost.

use rustc_hash::FxHashMap as HashMap;

use crate::interp::eval::eval;
use crate::ir::cfg::Cfg;
use crate::ir::loops::{Body, Loop, Loops};
use crate::ir::range::upper_bound;
use crate::ir::{Alu, BlockId, Function, Op, Terminator, Value};

/// What a loop may become. The round in which it is left counts.
struct Budget {
    rounds: u32,
    instructions: usize,
}

/// Of an ordinary loop: where the loop's own cost weighs, and neighbouring accesses may merge.
const ORDINARY: Budget = Budget {
    rounds: 33,
    instructions: 768,
};
/// Of a loop that loads from places which are then constant: neighbours merge, and what they have in common is loaded once.
const LOADING: Budget = Budget {
    rounds: 33,
    instructions: 2048,
};
/// Of a loop that indexes a variable: with constant indices that costs nothing, else selects or memory. Only if no other
/// access keeps the variable in memory all the same.
const INDEXING: Budget = Budget {
    rounds: 129,
    instructions: 4096,
};

/// Of a loop whose counter begins somewhere else in each lane, though all make as many rounds.
const BY_LANE: Budget = Budget {
    rounds: 9,
    instructions: 256,
};
/// Of a loop that indexes a variable, and may end in any of its rounds.
const UP_TO: Budget = Budget {
    rounds: 17,
    instructions: 768,
};
/// The largest number at which such a counter begins.
const LAST_START: u32 = 0xffff;

/// What is known of a number of rounds.
enum Rounds {
    /// It is this.
    Known,
    /// It is this, wherever the counter begins.
    ByLane,
    /// It is at most this.
    UpTo,
}

/// Instructions and terminators of a loop.
pub(super) fn size(function: &Function, body: &Body) -> usize {
    let blocks = body.blocks().iter();
    blocks
        .map(|block| function.block(*block).insts.len() + 1)
        .sum()
}

/// How often the loop's body begins, if that is known and worth the code.
pub(super) fn rounds(
    function: &Function,
    cfg: &Cfg,
    own: Loop<'_>,
    body: &Body,
    indexed_by_induction: &[bool],
) -> Option<u32> {
    let &[latch] = own.latches() else {
        return None;
    };
    let insts = || {
        let blocks = body.blocks().iter();
        blocks.flat_map(|block| &function.block(*block).insts)
    };
    let counted = own.natural().iter().find_map(|block| {
        let Terminator::Branch {
            condition,
            then,
            otherwise,
        } = function.block(*block).terminator
        else {
            return None;
        };
        let stays = own.goes_round(then);
        if stays == own.goes_round(otherwise) || !cfg.dominates(*block, latch) {
            return None;
        }
        let test = Test {
            function,
            header: own.header(),
            latch,
            condition,
            stays,
        };
        let constant = test.simulate(test.start(), INDEXING.rounds, None);
        let known = constant.map(|rounds| (rounds, Rounds::Known));
        let by_lane = || Some((test.rounds_from_any_start()?, Rounds::ByLane));
        let up_to = || Some((test.most_rounds()?, Rounds::UpTo));
        known.or_else(by_lane).or_else(up_to)
    })?;
    let (counted, sort) = counted;
    // Whether a variable is indexed by what is then constant.
    let mut known = start(function, own.header(), latch);
    let indexing = insts().any(|inst| {
        let data = function.inst(*inst);
        let (Op::LoadVar(var) | Op::StoreVar(var)) = data.op else {
            return false;
        };
        indexed_by_induction[var.index()]
            && function.as_word(data.args[0]).is_none()
            && evaluate(function, &mut known, data.args[0], DEPTH).is_some()
    });
    let mut loading = || {
        insts().any(|inst| {
            let data = function.inst(*inst);
            let Op::Load(access) = data.op else {
                return false;
            };
            let offset = data.args[access.address_operands() - 1];
            function.as_word(offset).is_none()
                && evaluate(function, &mut known, offset, DEPTH).is_some()
        })
    };
    let budget = match sort {
        Rounds::ByLane => BY_LANE,
        Rounds::UpTo if indexing => UP_TO,
        Rounds::UpTo => return None,
        Rounds::Known if indexing => INDEXING,
        Rounds::Known if loading() => LOADING,
        Rounds::Known => ORDINARY,
    };
    let size = size(function, body);
    let fits = counted <= budget.rounds && counted as usize * size <= budget.instructions;
    fits.then_some(counted)
}

/// By variable: whether every index of it is constant or follows from counters of the loops around it.
pub(super) fn vars_indexed_by_induction(
    function: &Function,
    loops: &Loops<'_>,
    cfg: &Cfg,
) -> Vec<bool> {
    let mut indexed_by_induction = vec![true; function.vars().count()];
    for (block, inst) in function.placed_insts() {
        let data = function.inst(inst);
        let (Op::LoadVar(var) | Op::StoreVar(var)) = data.op else {
            continue;
        };
        if !indexed_by_induction[var.index()] || function.as_word(data.args[0]).is_some() {
            continue;
        }
        let mut known = HashMap::default();
        let mut around = cfg.innermost_loop(block);
        while let Some(number) = around {
            let own = loops.get(number);
            if let &[latch] = own.latches() {
                known.extend(start(function, own.header(), latch));
            }
            around = cfg.loops[number].parent;
        }
        indexed_by_induction[var.index()] =
            evaluate(function, &mut known, data.args[0], DEPTH).is_some();
    }
    indexed_by_induction
}

/// The header's phis that are constant in the first round.
fn start(function: &Function, header: BlockId, latch: BlockId) -> HashMap<Value, u64> {
    let mut known = HashMap::default();
    for phi in &function.block(header).phis {
        let mut entering = phi.sources.iter().filter(|(from, _)| *from != latch);
        if let (Some((_, value)), None) = (entering.next(), entering.next())
            && let Some(bits) = function.as_bits(*value)
        {
            known.insert(phi.result, bits);
        }
    }
    known
}

/// A test that a loop is left by.
struct Test<'f> {
    function: &'f Function,
    header: BlockId,
    latch: BlockId,
    condition: Value,
    /// What the condition is while the loop goes on.
    stays: bool,
}

impl Test<'_> {
    fn start(&self) -> HashMap<Value, u64> {
        start(self.function, self.header, self.latch)
    }

    /// The most rounds that the loop makes, if its counter is compared with the smaller one of a constant and something else.
    fn most_rounds(&self) -> Option<u32> {
        let data = self.function.def_inst(self.condition)?;
        let less = match data.op {
            Op::Alu(Alu::ULt | Alu::SLt) => true,
            Op::Alu(Alu::UGe | Alu::SGe) => false,
            _ => return None,
        };
        // The loop goes on as long as the counter is below.
        let bound = data.args[usize::from(less == self.stays)];
        let smaller = self.function.def_inst(bound)?;
        let is_smaller = matches!(smaller.op, Op::Alu(Alu::UMin | Alu::SMin));
        let most = self.function.as_bits(*smaller.args.get(1)?)?;
        let given = is_smaller.then_some((bound, most))?;
        self.simulate(self.start(), UP_TO.rounds, Some(given))
    }

    /// Counts rounds until the condition leaves the loop, at most so many. Each round takes the same `given`.
    fn simulate(
        &self,
        mut known: HashMap<Value, u64>,
        most: u32,
        given: Option<(Value, u64)>,
    ) -> Option<u32> {
        for round in 1..=most {
            let mut memo = known.clone();
            memo.extend(given);
            let stays = evaluate(self.function, &mut memo, self.condition, DEPTH)? != 0;
            if stays != self.stays {
                return Some(round);
            }
            let mut next = HashMap::default();
            for phi in &self.function.block(self.header).phis {
                let source = phi.sources.iter().find(|(from, _)| *from == self.latch);
                let bits =
                    source.and_then(|(_, value)| evaluate(self.function, &mut memo, *value, DEPTH));
                if let Some(bits) = bits {
                    next.insert(phi.result, bits);
                }
            }
            known = next;
        }
        None
    }

    /// Counts the rounds of a loop whose counter begins at any number up to a known one and grows by a constant, if it makes as
    /// many from all of them: those that it makes from the first and the last.
    fn rounds_from_any_start(&self) -> Option<u32> {
        let (counter, last) = self.counter()?;
        let rounds = |from: u32| {
            let mut known = self.start();
            known.insert(counter, from.into());
            self.simulate(known, BY_LANE.rounds, None)
        };
        let most = rounds(0)?;
        (rounds(last)? == most).then_some(most)
    }

    /// The counter that is compared with a constant, and the last number at which it may begin.
    fn counter(&self) -> Option<(Value, u32)> {
        let data = self.function.def_inst(self.condition)?;
        let Op::Alu(Alu::ULt | Alu::SLt) = data.op else {
            return None;
        };
        let bound = self.function.as_word(data.args[1])?;
        let counter = data.args[0];
        let mut phis = self.function.block(self.header).phis.iter();
        let phi = phis.find(|phi| phi.result == counter)?;
        let source = |back: bool| {
            let mut sources = phi.sources.iter();
            let mut found = sources
                .by_ref()
                .filter(|(from, _)| (*from == self.latch) == back);
            match (found.next(), found.next()) {
                (Some((_, value)), None) => Some(*value),
                _ => None,
            }
        };
        let next = self.function.def_inst(source(true)?)?;
        let step = self.function.as_word(*next.args.get(1)?)?;
        let last = upper_bound(self.function, source(false)?);
        let grows = next.op == Op::Alu(Alu::IAdd) && next.args[0] == counter;
        let small = step != 0
            && [step, last, bound]
                .into_iter()
                .all(|word| word <= LAST_START);
        (grows && self.stays && small).then_some((counter, last))
    }
}

/// Deepest expression that is evaluated.
const DEPTH: u32 = 32;

/// The bits of a value, if they follow from what is known.
fn evaluate(
    function: &Function,
    known: &mut HashMap<Value, u64>,
    value: Value,
    depth: u32,
) -> Option<u64> {
    if let Some(bits) = function.as_bits(value).or(known.get(&value).copied()) {
        return Some(bits);
    }
    let data = function.def_inst(value)?;
    let Op::Alu(alu) = data.op else { return None };
    let mut args = [0; 4];
    for (arg, value) in args.iter_mut().zip(&data.args) {
        *arg = evaluate(function, known, *value, depth.checked_sub(1)?)?;
    }
    let bits = eval(alu, function.width(data), args);
    known.insert(value, bits);
    Some(bits)
}

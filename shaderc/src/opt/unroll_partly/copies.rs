//! The copies of a loop's rounds, and the blocks that choose between them and the loop.

use super::{Candidate, WIDEST};
use crate::ir::cfg::{Cfg, inst_blocks};
use crate::ir::copy::copy_body;
use crate::ir::layout::order_blocks;
use crate::ir::rewrite::Replaced;
use crate::ir::{Alu, BlockId, Builder, Function, Op, Terminator, Value, Var};
use crate::opt::loop_counter::Counter;
use crate::opt::loop_steps::{Invariants, enter_through};
use crate::opt::loop_variables::demote_bodies;

/// The block before a loop, with what it has computed.
struct Entry {
    block: BlockId,
    /// What the counter is compared with for so many rounds at once.
    bound: Value,
    /// Whether the copies may run.
    enter: Value,
}

/// Unrolls loops together: what looks through the whole function does so once.
pub(super) fn unroll(function: &mut Function, candidates: &[Candidate]) {
    let places = inst_blocks(function);
    let entries: Vec<Entry> = candidates
        .iter()
        .map(|candidate| enter(function, candidate, &places))
        .collect();
    // The counter's place among the phis.
    let phis: Vec<usize> = candidates
        .iter()
        .map(|candidate| {
            let phis = &function.block(candidate.header).phis;
            let own = phis
                .iter()
                .position(|phi| phi.result == candidate.counter.phi);
            // The counter is one of them.
            own.unwrap_or(0)
        })
        .collect();
    let loops: Vec<_> = candidates
        .iter()
        .map(|candidate| (candidate.header, &candidate.body))
        .collect();
    let cfg = Cfg::of(function);
    demote_bodies(function, &cfg, &loops);
    let mut values = Replaced::default();
    for ((candidate, entry), phi) in candidates.iter().zip(&entries).zip(phis) {
        // The loads that took the places of the phis come first, in their order.
        let insts = function.block(candidate.header).insts.iter();
        let mut loads = insts.filter_map(|inst| match function.inst(*inst).op {
            Op::LoadVar(var) => Some(var),
            _ => None,
        });
        if let Some(var) = loads.nth(phi) {
            copy_rounds(function, candidate, entry, var, &mut values);
        }
    }
    order_blocks(function);
}

/// Puts a block before a loop, and computes there what the copies need.
fn enter(function: &mut Function, candidate: &Candidate, places: &[Option<BlockId>]) -> Entry {
    let Candidate {
        header, entering, ..
    } = *candidate;
    let block = enter_through(function, header, entering);
    let mut invariants = Invariants::new(places, candidate.body.blocks());
    let position = function.block(header).position;
    let mut builder = Builder::new(function, block);
    builder.position = position;
    let (bound, mut enter) = bound(&mut builder, candidate, &mut invariants);
    for requirement in &candidate.requirements {
        let value = invariants.copy(&mut builder, requirement.value, &|_| None);
        let rest = builder.alu_word(Alu::IAnd, value, requirement.multiple - 1);
        let aligned = builder.alu_word(Alu::IEq, rest, 0);
        enter = builder.alu(Alu::BAnd, &[enter, aligned]);
    }
    Entry {
        block,
        bound,
        enter,
    }
}

/// What the counter is compared with if it is followed by so many rounds more, and whether that is a number.
fn bound(
    builder: &mut Builder<'_>,
    candidate: &Candidate,
    invariants: &mut Invariants<'_>,
) -> (Value, Value) {
    let Counter { step, bound, .. } = candidate.counter;
    let bound = invariants.copy(builder, bound, &|_| None);
    let more = (candidate.rounds - 1).wrapping_mul(step);
    let far = builder.alu_word(Alu::ISub, bound, more);
    let (signed, below) = (
        candidate.counter.is_signed(),
        candidate.counter.stays_below(),
    );
    // It must not go round the ends of its range.
    let fits = match (signed, below) {
        (false, true) => builder.alu_word(Alu::UGe, bound, more),
        (true, true) => builder.alu_word(Alu::SGe, bound, more.wrapping_add(1 << 31)),
        (false, false) => builder.alu(Alu::UGe, &[far, bound]),
        (true, false) => {
            let most = i32::MAX.cast_unsigned().wrapping_add(more);
            let most = builder.word(most);
            builder.alu(Alu::SGe, &[most, bound])
        }
    };
    (far, fits)
}

/// Puts the copies in front of the loop: a block asks whether there are so many rounds more, and goes to the first copy or
/// to the loop.
fn copy_rounds(
    function: &mut Function,
    candidate: &Candidate,
    entry: &Entry,
    var: Var,
    values: &mut Replaced,
) {
    let Candidate { header, body, .. } = candidate;
    let counter = &candidate.counter;
    let copies: Vec<Vec<BlockId>> = (0..candidate.rounds)
        .map(|_| copy_body(function, body, values))
        .collect();
    let places = |wanted: BlockId| body.blocks().iter().position(|block| *block == wanted);
    let test = function.new_block();
    for (round, blocks) in copies.iter().enumerate() {
        function.block_mut(blocks[0]).merge = None;
        if let Some(place) = places(counter.block) {
            // The loop goes on in a block of its body.
            let stays = places(counter.stays).map_or(counter.stays, |stays| blocks[stays]);
            function.block_mut(blocks[place]).terminator = Terminator::Jump(stays);
        }
        let next = copies.get(round + 1).map_or(test, |next| next[0]);
        for block in blocks {
            let terminator = &mut function.block_mut(*block).terminator;
            terminator.map_targets(|target| if target == blocks[0] { next } else { target });
        }
    }
    for aligned in &candidate.aligned {
        let insts = &function.block(aligned.block).insts;
        let at = insts.iter().position(|inst| *inst == aligned.inst);
        let (Some(at), Some(place)) = (at, places(aligned.block)) else {
            continue;
        };
        for (round, blocks) in (0..).zip(&copies) {
            let inst = function.block(blocks[place]).insts[at];
            let offset = aligned
                .offset
                .wrapping_add(aligned.step.wrapping_mul(round));
            let whole = candidate.rounds * aligned.step;
            let align = (1 << offset.trailing_zeros().min(4)).min(whole.min(WIDEST));
            if let Op::Load(access) | Op::Store(access) = &mut function.inst_mut(inst).op {
                access.align = access.align.max(align as u8);
            }
        }
    }
    let zero = function.word(0);
    let mut builder = Builder::new(function, test);
    builder.position = builder.function.block(*header).position;
    let now = builder.load_var(var, zero);
    let now = builder.alu_word(Alu::IAdd, now, counter.ahead);
    let operands = match counter.counter_first {
        true => [now, entry.bound],
        false => [entry.bound, now],
    };
    let condition = builder.alu(counter.compare, &operands);
    let (then, otherwise) = match counter.while_true {
        true => (copies[0][0], *header),
        false => (*header, copies[0][0]),
    };
    builder.terminate(Terminator::Branch {
        condition,
        then,
        otherwise,
    });
    function.block_mut(entry.block).terminator = Terminator::Branch {
        condition: entry.enter,
        then: test,
        otherwise: *header,
    };
}

//! Demoting branches: where lanes only part so that some are demoted and go to the end, those go on with the others.
//!
//! A lane that was demoted on its way to the end changes nothing any more, so it may compute what it likes; and the quads of those
//! beside it stay whole for their derivatives. It may not go where it would never come out of a loop, nor where a subgroup's lanes do
//! something together: it has left them. One that goes on anyway has values of its own, which others of its quad see.
//! Needs: nothing.  Guarantees: no lane goes into a loop that it didn't go into before.
//! Facts: hardware/graphics-compiler.md 5 (who is demoted goes on as a helper).
use crate::ir::cfg::Cfg;
use crate::ir::lanes::Among;
use crate::ir::layout::order_blocks;
use crate::ir::{Alu, BlockId, Builder, Function, Op, Stage, Terminator, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "demote_branches",
    what: "lanes that are demoted on their way to the end go on with the others",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let Stage::Fragment(_) = function.stage else {
        return Changed::No;
    };
    let mut changed = Changed::No;
    let together = function
        .placed_insts()
        .any(|(_, inst)| is_of_subgroup(function.inst(inst).op));
    // From the end: what a branch leads to has become straight by then.
    for block in function.layout.clone().into_iter().rev() {
        let cfg = Cfg::of(function);
        if !cfg.loops.is_empty() {
            return changed;
        }
        if let Some((condition, demoted, on)) = candidate(function, &cfg, block, together) {
            flatten(function, block, condition, (demoted, on));
            changed = Changed::Yes;
        }
    }
    if changed == Changed::Yes {
        order_blocks(function);
    }
    changed
}

/// When lanes are demoted.
enum When {
    True(Value),
    False(Value),
}

/// Whether lanes of a subgroup, not of a quad alone, do it together.
fn is_of_subgroup(op: Op) -> bool {
    match op {
        Op::Lanes(lanes) => lanes.among() == Among::Subgroup,
        Op::Ballot(_) | Op::Scan(..) => true,
        _ => false,
    }
}

/// A branch of which one side does nothing but to demote; `together` says that a subgroup's lanes do something together.
fn candidate(
    function: &Function,
    cfg: &Cfg,
    block: BlockId,
    together: bool,
) -> Option<(When, BlockId, BlockId)> {
    let Terminator::Branch {
        condition,
        then,
        otherwise,
    } = function.block(block).terminator
    else {
        return None;
    };
    let demotes = |side: BlockId| {
        let data = function.block(side);
        let mut insts = data.insts.iter();
        let only = insts.len() == 1 && insts.all(|inst| function.inst(*inst).op == Op::Demote);
        only && data.phis.is_empty() && cfg.predecessors(side).len() == 1
    };
    let ends = |side: BlockId, on: BlockId| match function.block(side).terminator {
        // Lanes that the demotion leaves as they are go where the others go.
        Terminator::Jump(target) if target == on => true,
        // To where the others come too, else nobody stores what these have.
        Terminator::Jump(target) => {
            !together && cfg.predecessors(target).len() > 1 && demotes_all(function, side)
        }
        _ => false,
    };
    if demotes(then) && ends(then, otherwise) {
        Some((When::True(condition), then, otherwise))
    } else if demotes(otherwise) && ends(otherwise, then) {
        Some((When::False(condition), otherwise, then))
    } else {
        None
    }
}

/// Whether a block that demotes does so to all lanes.
fn demotes_all(function: &Function, block: BlockId) -> bool {
    let mut insts = function.block(block).insts.iter();
    insts.any(|inst| function.as_bool(function.inst(*inst).args[0]) == Some(true))
}

fn flatten(function: &mut Function, block: BlockId, when: When, (demoted, on): (BlockId, BlockId)) {
    let all = demotes_all(function, demoted);
    let inst = function.block(demoted).insts[0];
    let always = function.inst(inst).args[0];
    let target = function.block(demoted).terminator.targets();
    let mut b = Builder::new(function, block);
    b.position = b.function.inst(inst).position;
    let when = match when {
        When::True(condition) => condition,
        When::False(condition) => b.alu(Alu::BNot, &[condition]),
    };
    let condition = match all {
        true => when,
        false => b.alu(Alu::BAnd, &[when, always]),
    };
    b.inst(Op::Demote, &[condition]);
    choose_in_phis(&mut b, on, when, demoted);
    b.terminate(Terminator::Jump(on));
    for target in target {
        for phi in &mut function.block_mut(target).phis {
            phi.sources.retain(|(from, _)| *from != demoted);
        }
    }
    function.layout.retain(|other| *other != demoted);
}

/// Lanes whose way led over the side that demotes keep what phis of the block behind had for it.
fn choose_in_phis(b: &mut Builder<'_>, on: BlockId, when: Value, demoted: BlockId) {
    for number in 0..b.function.block(on).phis.len() {
        let sources = b.function.block(on).phis[number].sources.clone();
        let from = |block: BlockId| {
            let mut sources = sources.iter();
            Some(sources.find(|(from, _)| *from == block)?.1)
        };
        if let (Some(own), Some(other)) = (from(demoted), from(b.block))
            && own != other
        {
            let chosen = b.select(when, own, other);
            let mut sources = b.function.block_mut(on).phis[number].sources.iter_mut();
            if let Some((_, value)) = sources.find(|(from, _)| *from == b.block) {
                *value = chosen;
            }
        }
    }
}

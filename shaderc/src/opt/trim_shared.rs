//! Trimming: stores to shared memory that nobody loads, and barriers that order nothing.
//!
//! Needs: nothing.  Guarantees: what a barrier orders stays ordered.
//! How: who loads what another invocation stored does so behind a barrier that both pass, so where the load stands is reached
//! from the store. A barrier without any access of memory between it and the barrier before, or the start, orders nothing that
//! that one doesn't.  Facts: hardware/compiler-correctness.md 5.10.

use crate::ir::cfg::Cfg;
use crate::ir::{Function, InstData, Memory, Op, Space};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "trim_shared",
    what: "stores to shared memory that nobody loads and barriers that order nothing go",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    if function.shared_bytes == 0 {
        return Changed::No;
    }
    let cfg = Cfg::of(function);
    let stores = drop_stores(function, &cfg);
    let barriers = drop_barriers(function, &cfg);
    Changed::from_bool(stores | barriers)
}

/// Whether an instruction may load from shared memory.
fn may_load(data: &InstData) -> bool {
    match (data.op, data.op.access()) {
        (Op::Store(access), _) => access.memory.is_volatile(),
        (_, Some(access)) => access.space.meets(Space::Shared),
        (_, None) => false,
    }
}

/// Removes stores from which no load is reached.
fn drop_stores(function: &mut Function, cfg: &Cfg) -> bool {
    let mut loads = vec![false; function.block_count()];
    for block in cfg.rpo() {
        let insts = &function.block(*block).insts;
        loads[block.index()] = insts.iter().any(|inst| may_load(function.inst(*inst)));
    }
    // By block: whether a load is reached from its start.
    let mut reached = loads;
    let reached_behind = |function: &Function, reached: &[bool], block| {
        let targets = function.block(block).terminator.targets();
        targets.into_iter().any(|target| reached[target.index()])
    };
    let mut changed = true;
    while changed {
        changed = false;
        for block in cfg.rpo().iter().rev() {
            if !reached[block.index()] && reached_behind(function, &reached, *block) {
                reached[block.index()] = true;
                changed = true;
            }
        }
    }
    let mut dropped = false;
    for block in cfg.rpo() {
        let mut is_loaded = reached_behind(function, &reached, *block);
        let insts = std::mem::take(&mut function.block_mut(*block).insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts.into_iter().rev() {
            let data = function.inst(inst);
            let is_dead = matches!(data.op, Op::Store(access) if access.space == Space::Shared && !is_loaded)
                && !may_load(data);
            is_loaded |= may_load(data);
            if is_dead {
                dropped = true;
            } else {
                kept.push(inst);
            }
        }
        kept.reverse();
        function.block_mut(*block).insts = kept;
    }
    dropped
}

/// Whether an instruction accesses memory that other invocations may change.
fn accesses(data: &InstData) -> bool {
    let effects = data.op.effects();
    match data.op.access() {
        Some(access) => {
            access.memory != Memory::Constant
                && !matches!(access.space, Space::Scratch | Space::Data)
        }
        None => match data.op {
            Op::LoadVar(_) | Op::StoreVar(_) | Op::Barrier | Op::Fence(_) => false,
            _ => effects.reads || effects.writes,
        },
    }
}

/// Removes barriers with no access since the barrier before or the start, whichever way was taken.
fn drop_barriers(function: &mut Function, cfg: &Cfg) -> bool {
    let mut steps = vec![vec![]; function.block_count()];
    for block in cfg.rpo() {
        for inst in &function.block(*block).insts {
            let data = function.inst(*inst);
            if data.op == Op::Barrier {
                steps[block.index()].push(true);
            } else if accesses(data) {
                steps[block.index()].push(false);
            }
        }
    }
    // By block: whether there was none at its end.
    let mut quiet = vec![true; function.block_count()];
    let quiet_before = |quiet: &[bool], block| {
        let mut before = cfg.predecessors(block).iter();
        before.all(|from| quiet[from.index()])
    };
    let mut changed = true;
    while changed {
        changed = false;
        for block in cfg.rpo() {
            let last = steps[block.index()].last().copied();
            let now = last.unwrap_or_else(|| quiet_before(&quiet, *block));
            changed |= std::mem::replace(&mut quiet[block.index()], now) != now;
        }
    }
    let mut dropped = false;
    for block in cfg.rpo() {
        let mut is_quiet = quiet_before(&quiet, *block);
        let mut insts = std::mem::take(&mut function.block_mut(*block).insts);
        insts.retain(|inst| {
            let data = function.inst(*inst);
            let goes = data.op == Op::Barrier && is_quiet;
            is_quiet = data.op == Op::Barrier || is_quiet && !accesses(data);
            dropped |= goes;
            !goes
        });
        function.block_mut(*block).insts = insts;
    }
    dropped
}

//! Own words: what an invocation alone writes in shared memory, it need not load to know.
//!
//! Needs: no variables but those that `promote_variables` takes.  Guarantees: all stores stay, for others to read.
//! How: where each invocation of the workgroup stores to `x + constant` and has another `x`, it finds there what it has
//! stored last, whatever barriers lie between, unless a store that may go there stands on a way from its own store to the
//! load. All invocations pass the same barriers, and without a barrier between them two accesses of one word would be a data
//! race; so no other store counts. What is stored last is kept in variables. Sums and scans by trees load half as often.
//! Facts: hardware/memory-model.md: an invocation sees its own stores in order.

use std::ops::Range;

use smallvec::SmallVec;

use crate::ir::alias::Extent;
use crate::ir::cfg::Cfg;
use crate::ir::range::upper_bound;
use crate::ir::rewrite::rewrite;
use crate::ir::{
    Access, Alu, BlockId, Builder, Function, Held, InstData, Memory, Op, Space, SysVal, Type,
    Value, Var, VarData,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "keep_own_words",
    what: "words of shared memory that one invocation alone writes are kept by it",
    run,
};

/// Most slots that are followed: a bit each.
const MOST: usize = 64;

/// Words that each invocation has for itself, at a distance from an address of its own.
struct Slot {
    own: Value,
    offset: i32,
    access: Access,
    /// The bytes that the slots of all invocations lie in.
    all: Range<i64>,
    vars: SmallVec<[Var; 4]>,
}

/// What an access does to slots: sets of them.
#[derive(Clone, Copy, Default)]
struct Effect {
    /// The slot that is stored, of which the value is known behind it.
    stores: u64,
    /// Slots of which nothing is known behind it.
    forgets: u64,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    if function.shared_bytes == 0 {
        return Changed::No;
    }
    let mut slots = slots(function);
    if slots.is_empty() {
        return Changed::No;
    }
    let known = known_loads(function, &slots);
    if !known.contains(&true) {
        return Changed::No;
    }
    for slot in &mut slots {
        slot.vars = (0..slot.access.count)
            .map(|_| {
                function.new_var(VarData {
                    ty: Type::W32,
                    len: 1,
                    name: String::new(),
                })
            })
            .collect();
    }
    let mut number = 0;
    let changed = rewrite(function, |b, data| {
        let slot = &slots[slot_of(b.function, &slots, data)?];
        match data.op {
            Op::Load(_) => {
                number += 1;
                known[number - 1].then(|| loads(b, slot))
            }
            _ => {
                store(b, slot, data);
                Some(vec![])
            }
        }
    });
    Changed::from_bool(changed)
}

/// An access of shared memory.
fn shared_access(data: &InstData) -> Option<Access> {
    data.op
        .access()
        .filter(|access| access.space == Space::Shared)
}

/// Whether an access takes whole words that are as values are.
fn is_whole(access: &Access) -> bool {
    access.elem == Type::W32 && access.held == Held::Own && access.memory == Memory::Plain
}

/// The slots that are stored to.
fn slots(function: &Function) -> Vec<Slot> {
    let mut slots: Vec<Slot> = vec![];
    for (_, inst) in function.placed_insts() {
        let data = function.inst(inst);
        let Some(access) = shared_access(data).filter(is_whole) else {
            continue;
        };
        let (Op::Store(_), Some(extent)) = (data.op, Extent::of(function, data)) else {
            continue;
        };
        let Some(own) = extent.base.dynamic else {
            continue;
        };
        let known = slot_of(function, &slots, data).is_some();
        if known || extent.offset < 0 || slots.len() == MOST {
            continue;
        }
        let first = i64::from(extent.offset);
        let most = i64::from(upper_bound(function, own));
        let all = first..first + most + i64::from(extent.bytes);
        let has_room = spacing(function, own).is_some_and(|spacing| spacing >= extent.bytes);
        if has_room && all.end <= i64::from(function.shared_bytes) {
            slots.push(Slot {
                own,
                offset: extent.offset,
                access,
                all,
                vars: SmallVec::new(),
            });
        }
    }
    slots
}

/// The number of the slot that an access is of, all of it.
fn slot_of(function: &Function, slots: &[Slot], data: &InstData) -> Option<usize> {
    let (Op::Load(access) | Op::Store(access)) = data.op else {
        return None;
    };
    if access.space != Space::Shared || !is_whole(&access) {
        return None;
    }
    let extent = Extent::of(function, data)?;
    slots.iter().position(|slot| {
        Some(slot.own) == extent.base.dynamic
            && slot.offset == extent.offset
            && slot.access.count == access.count
    })
}

/// What an instruction does to slots.
fn effect(function: &Function, slots: &[Slot], data: &InstData) -> Effect {
    let Some(access) = shared_access(data).filter(|_| !matches!(data.op, Op::Load(_))) else {
        return Effect::default();
    };
    let own = slot_of(function, slots, data);
    let stores = own.map_or(0, |number| 1 << number);
    let written = match (own, Extent::of(function, data)) {
        (Some(number), _) => Some(slots[number].all.clone()),
        (None, Some(extent)) if extent.base.dynamic.is_none() => {
            let first = i64::from(extent.offset);
            Some(first..first + i64::from(access.bytes()))
        }
        _ => None,
    };
    let is_apart = |slot: &Slot| {
        let written = written.as_ref();
        written.is_some_and(|own| own.end <= slot.all.start || own.start >= slot.all.end)
    };
    let others = slots.iter().enumerate();
    let others = others.filter(|(number, slot)| own != Some(*number) && !is_apart(slot));
    Effect {
        stores,
        forgets: others.fold(0, |set, (number, _)| set | 1 << number),
    }
}

/// Of the loads of slots, in order: whether the invocation has stored there before, whichever way it came, and nobody may
/// have stored there since.
fn known_loads(function: &mut Function, slots: &[Slot]) -> Vec<bool> {
    let cfg = Cfg::of(function);
    let step = |known: u64, data: &InstData| {
        let effect = effect(function, slots, data);
        known & !effect.forgets | effect.stores
    };
    let through = |block: BlockId| {
        let insts = function.block(block).insts.iter();
        // What it leaves of what is known, and what is known behind it in any case.
        insts.fold((u64::MAX, 0), |(keeps, gives), inst| {
            let effect = effect(function, slots, function.inst(*inst));
            let keeps = keeps & !effect.forgets | effect.stores;
            (keeps, gives & !effect.forgets | effect.stores)
        })
    };
    let mut transfer = vec![(0, 0); function.block_count()];
    for block in cfg.rpo() {
        transfer[block.index()] = through(*block);
    }
    let mut at_end = vec![u64::MAX; function.block_count()];
    let at_start = |block: BlockId, at_end: &[u64]| {
        let before = cfg.predecessors(block).iter();
        let before = before.map(|from| at_end[from.index()]);
        let reached = before.reduce(|a, b| a & b).unwrap_or(0);
        if block == function.entry() {
            0
        } else {
            reached
        }
    };
    // Sets only shrink.
    let mut changed = true;
    while changed {
        changed = false;
        for block in cfg.rpo() {
            let (keeps, gives) = transfer[block.index()];
            let now = at_start(*block, &at_end) & keeps | gives;
            changed |= std::mem::replace(&mut at_end[block.index()], now) != now;
        }
    }
    let mut known = vec![];
    for block in &function.layout {
        let mut now = at_start(*block, &at_end);
        for inst in &function.block(*block).insts {
            let data = function.inst(*inst);
            if let (Op::Load(_), Some(number)) = (data.op, slot_of(function, slots, data)) {
                known.push(now & 1 << number != 0);
            }
            now = step(now, data);
        }
    }
    known
}

fn loads(b: &mut Builder<'_>, slot: &Slot) -> Vec<Value> {
    let zero = b.word(0);
    let vars = slot.vars.iter();
    vars.map(|var| b.load_var(*var, zero)).collect()
}

fn store(b: &mut Builder<'_>, slot: &Slot, data: &InstData) {
    b.inst(data.op, &data.args);
    let zero = b.word(0);
    let values = &data.args[slot.access.address_operands()..];
    for (var, value) in slot.vars.iter().zip(values) {
        b.store_var(*var, zero, *value);
    }
}

/// How far apart the values are at least that the invocations of a workgroup have; none if two may have the same.
fn spacing(function: &Function, value: Value) -> Option<u32> {
    let mut factors = [0u64; 3];
    add_factors(function, value, 1, &mut factors, 8)?;
    let size = function.workgroup_size.map(u64::from);
    let mut axes: Vec<(u64, u64)> = factors.into_iter().zip(size).collect();
    // An axis of one invocation has one number.
    axes.retain(|(_, size)| *size > 1);
    axes.sort();
    // As digits of a number: each place counts for more than all below it together.
    let mut reach = 0;
    for (factor, size) in &axes {
        if *factor <= reach {
            return None;
        }
        reach += factor.checked_mul(size - 1)?;
    }
    let least = axes.first().map_or(0, |(factor, _)| *factor);
    // Sums of products that leave 32 bits are no such number.
    (reach <= u64::from(u32::MAX)).then_some(u32::try_from(least).unwrap_or(0))
}

/// Adds a value's factors of the numbers of an invocation in its workgroup, times `times`.
fn add_factors(
    function: &Function,
    value: Value,
    times: u64,
    factors: &mut [u64; 3],
    depth: u32,
) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let data = function.def_inst(value)?;
    let constant = || data.args.get(1).and_then(|arg| function.as_word(*arg));
    match data.op {
        Op::SysVal(SysVal::LocalId(axis)) => {
            let factor = &mut factors[axis as usize];
            *factor = factor.checked_add(times)?;
            Some(())
        }
        Op::Alu(Alu::IShl) => {
            let times = times.checked_mul(1 << (constant()? & 31))?;
            add_factors(function, data.args[0], times, factors, depth)
        }
        Op::Alu(Alu::IMul) => {
            let times = times.checked_mul(constant()?.into())?;
            add_factors(function, data.args[0], times, factors, depth)
        }
        Op::Alu(Alu::IAdd) if constant().is_none() => {
            add_factors(function, data.args[0], times, factors, depth)?;
            add_factors(function, data.args[1], times, factors, depth)
        }
        _ => None,
    }
}

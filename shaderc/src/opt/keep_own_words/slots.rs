//! Slots: words of shared memory that each invocation has for itself.

use std::ops::Range;

use smallvec::SmallVec;

use crate::ir::alias::Extent;
use crate::ir::range::{Tested, upper_bound};
use crate::ir::{
    Access, Alu, Function, Held, InstData, Memory, Op, Space, SysVal, Type, Value, Var,
};

/// Most slots that are followed: a bit each.
const MOST: usize = 64;

/// Words that each invocation has for itself, at a distance from an address of its own.
pub(super) struct Slot {
    pub(super) own: Value,
    pub(super) offset: i32,
    pub(super) access: Access,
    /// The bytes that the slots of all invocations lie in.
    all: Range<i64>,
    pub(super) vars: SmallVec<[Var; 4]>,
}

/// What an access does to slots: sets of them.
#[derive(Clone, Copy, Default)]
pub(super) struct Effect {
    /// The slot that is stored, of which the value is known behind it.
    pub(super) stores: u64,
    /// Slots that it may write for any invocation.
    pub(super) forgets: u64,
}

/// An access of shared memory.
fn shared_access(data: &InstData) -> Option<Access> {
    data.op
        .access()
        .filter(|access| access.space == Space::Shared)
}

/// Whether an access takes whole words that are as values are.
pub(super) fn is_whole(access: &Access) -> bool {
    access.elem == Type::W32 && access.held == Held::Own && access.memory == Memory::Plain
}

/// The slots that are stored to.
pub(super) fn slots(function: &Function) -> Vec<Slot> {
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
pub(super) fn slot_of(function: &Function, slots: &[Slot], data: &InstData) -> Option<usize> {
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

/// The slot of the first invocation that a load with a constant address reads, where no other invocation comes: what
/// `tested` says.
pub(super) fn slot_of_first(
    function: &Function,
    slots: &[Slot],
    data: &InstData,
    tested: impl FnOnce() -> Tested,
) -> Option<usize> {
    let Op::Load(access) = data.op else {
        return None;
    };
    if access.space != Space::Shared || !is_whole(&access) {
        return None;
    }
    let extent = Extent::of(function, data)?;
    if extent.base.dynamic.is_some() {
        return None;
    }
    let tested = tested();
    slots.iter().position(|slot| {
        slot.offset == extent.offset
            && slot.access.count == access.count
            && tested.upper_bound(function, slot.own) == 0
    })
}

/// What an instruction does to slots.
pub(super) fn effect(function: &Function, slots: &[Slot], data: &InstData) -> Effect {
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

/// Whether a value is the index of the invocation in its workgroup, by which invocations fill warps.
pub(super) fn number_of_invocations(function: &Function, value: Value) -> bool {
    let mut factors = [0u64; 3];
    if add_factors(function, value, 1, &mut factors, 8).is_none() {
        return false;
    }
    let mut before = 1;
    factors
        .iter()
        .zip(function.workgroup_size)
        .all(|(factor, size)| {
            // An axis of one invocation has one number.
            let fits = size == 1 || *factor == before;
            before *= u64::from(size);
            fits
        })
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

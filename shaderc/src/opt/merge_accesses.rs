//! Access merging: neighbouring loads, and neighbouring stores, of a block become wider ones.
//!
//! Needs: addresses as `x + constant`.  Guarantees: a merged access is aligned to its size; a load never moves over a
//! store that may write what it reads, a store over no other access of its memory but those it joins.
//! Facts: hardware/compiler-ir.md 4.12; hardware/compiler-lowering.md 5.3.
use std::collections::HashMap;

use crate::ir::rewrite::replace_uses;
use crate::ir::verify::aligned;
use crate::ir::{
    Access, Alu, BlockId, Builder, Function, Inst, InstData, Memory, Op, Space, Value,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "merge_accesses",
    what: "neighbouring loads and stores become wider ones",
    run,
};

/// Most words of an access.
const MAX_WORDS: u32 = 4;

/// What accesses must have in common to be merged.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Place {
    load: bool,
    space: Space,
    memory: Memory,
    handle: Option<Value>,
    base: Option<Value>,
}

/// An access of a group.
#[derive(Clone, Debug)]
struct Member {
    inst: Inst,
    /// Constant part of the byte offset.
    offset: u32,
    count: u32,
    align: u32,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut replaced = HashMap::new();
    let mut changed = Changed::No;
    for block in function.layout.clone() {
        for (place, members) in groups(function, block) {
            for run in runs(function, &place, members) {
                merge(function, block, &place, &run, &mut replaced);
                changed = Changed::Yes;
            }
        }
    }
    replace_uses(function, &replaced);
    changed
}

/// Accesses that may be merged as far as order goes, in order.
fn groups(function: &Function, block: BlockId) -> Vec<(Place, Vec<Member>)> {
    let mut done = vec![];
    let mut open: Vec<(Place, Vec<Member>)> = vec![];
    for inst in &function.block(block).insts {
        let data = function.inst(*inst);
        close(&mut open, &mut done, function, data);
        let Some((place, member)) = member(function, *inst) else {
            continue;
        };
        match open.iter_mut().find(|(other, _)| *other == place) {
            Some((_, members)) => members.push(member),
            None => open.push((place, vec![member])),
        }
    }
    done.extend(open);
    done.retain(|(_, members)| members.len() > 1);
    done
}

/// Closes the groups that nothing may join across this instruction.
fn close(
    open: &mut Vec<(Place, Vec<Member>)>,
    done: &mut Vec<(Place, Vec<Member>)>,
    function: &Function,
    data: &InstData,
) {
    let own = place_of(function, data).map(|(place, _)| place);
    let ends = |place: &Place| -> bool {
        if place.memory == Memory::Constant {
            return false;
        }
        match data.op {
            // A load may read what an open group of stores will write.
            Op::Load(access) => access.space == place.space && !place.load,
            Op::Store(access) => access.space == place.space && own.as_ref() != Some(place),
            Op::Atomic(_, access) => access.space == place.space,
            Op::Barrier | Op::Fence => place.space != Space::Scratch,
            _ => false,
        }
    };
    let (closed, kept) = std::mem::take(open)
        .into_iter()
        .partition(|(place, _)| ends(place));
    *open = kept;
    done.extend::<Vec<(Place, Vec<Member>)>>(closed);
}

fn place_of(function: &Function, data: &InstData) -> Option<(Place, u32)> {
    let (load, access) = match data.op {
        Op::Load(access) => (true, access),
        Op::Store(access) => (false, access),
        _ => return None,
    };
    if access.memory == Memory::Volatile {
        return None;
    }
    let operands = access.address_operands();
    let (base, offset) = split(function, data.args[operands - 1]);
    let place = Place {
        load,
        space: access.space,
        memory: access.memory,
        handle: (operands == 2).then(|| data.args[0]),
        base,
    };
    Some((place, offset))
}

fn member(function: &Function, inst: Inst) -> Option<(Place, Member)> {
    let data = function.inst(inst);
    let (place, offset) = place_of(function, data)?;
    let access = data.op.access()?;
    let member = Member {
        inst,
        offset,
        count: access.count.into(),
        align: access.align.into(),
    };
    Some((place, member))
}

/// Dynamic and constant part of an offset.
fn split(function: &Function, offset: Value) -> (Option<Value>, u32) {
    if let Some(constant) = function.as_word(offset) {
        return (None, constant);
    }
    if let Some(data) = function.def_inst(offset)
        && data.op == Op::Alu(Alu::IAdd)
        && let Some(constant) = function.as_word(data.args[1])
    {
        return (Some(data.args[0]), constant);
    }
    (Some(offset), 0)
}

/// The largest power of two up to 16 that surely divides a value.
fn known_align(function: &Function, value: Value, depth: u32) -> u32 {
    const MOST: u32 = 16;
    let power = |word: u32| match word {
        0 => MOST,
        word => (1 << word.trailing_zeros()).min(MOST),
    };
    if let Some(word) = function.as_word(value) {
        return power(word);
    }
    let Some(data) = function.def_inst(value) else {
        return 1;
    };
    let Op::Alu(alu) = data.op else { return 1 };
    if depth == 0 {
        return 1;
    }
    let of = |index: usize| known_align(function, data.args[index], depth - 1);
    match alu {
        Alu::IAdd | Alu::ISub | Alu::IOr | Alu::IXor => of(0).min(of(1)),
        Alu::IMul => (of(0) * of(1)).min(MOST),
        Alu::IAnd => of(0).max(of(1)),
        Alu::Select => of(1).min(of(2)),
        Alu::UMin | Alu::UMax | Alu::SMin | Alu::SMax => of(0).min(of(1)),
        Alu::IShl => match function.as_word(data.args[1]) {
            Some(by) => of(0).checked_shl(by & 31).unwrap_or(MOST).clamp(1, MOST),
            None => of(0),
        },
        _ => 1,
    }
}

/// Runs of neighbours that make one access each.
fn runs(function: &Function, place: &Place, mut members: Vec<Member>) -> Vec<Vec<Member>> {
    const DEPTH: u32 = 8;
    let base = place
        .base
        .map_or(16, |base| known_align(function, base, DEPTH));
    for member in &mut members {
        let offset = match member.offset {
            0 => 16,
            offset => 1 << offset.trailing_zeros(),
        };
        member.align = member.align.max(base.min(offset).min(16));
    }
    // The earlier of two at one place stays first: sorting is stable.
    members.sort_by_key(|member| member.offset);
    let mut found = vec![];
    let mut at = 0;
    while at < members.len() {
        let first = &members[at];
        let (mut end, mut best) = (first.offset.wrapping_add(4 * first.count), 1);
        for (number, next) in members[at + 1..].iter().enumerate() {
            let words = end.wrapping_sub(first.offset) / 4;
            if next.offset != end || words + next.count > MAX_WORDS {
                break;
            }
            end = end.wrapping_add(4 * next.count);
            let merged = Access {
                space: place.space,
                count: (words + next.count) as u8,
                align: first.align as u8,
                memory: place.memory,
            };
            if aligned(merged) {
                best = number + 2;
            }
        }
        if best > 1 {
            found.push(members[at..at + best].to_vec());
        }
        at += best;
    }
    found
}

fn merge(
    function: &mut Function,
    block: BlockId,
    place: &Place,
    run: &[Member],
    replaced: &mut HashMap<Value, Value>,
) {
    let insts = function.block(block).insts.clone();
    let is_member = |inst: &Inst| run.iter().any(|member| member.inst == *inst);
    // Loads go up to the first of them, stores down to the last.
    let at = match place.load {
        true => insts.iter().position(is_member),
        false => insts.iter().rposition(is_member),
    };
    let (Some(at), Some(first)) = (at, run.first()) else {
        return;
    };
    let access = Access {
        space: place.space,
        count: run.iter().map(|member| member.count as u8).sum(),
        align: first.align as u8,
        memory: place.memory,
    };
    let kept = |list: &[Inst]| -> Vec<Inst> {
        list.iter()
            .copied()
            .filter(|inst| !is_member(inst))
            .collect()
    };
    let (before, after) = (kept(&insts[..at]), kept(&insts[at..]));
    function.block_mut(block).insts = before;
    let position = function.inst(insts[at]).position;
    let mut builder = Builder::new(function, block);
    builder.position = position;
    let offset = match place.base {
        None => builder.word(first.offset),
        Some(base) if first.offset == 0 => base,
        Some(base) => builder.alu_word(Alu::IAdd, base, first.offset),
    };
    let address: Vec<Value> = place.handle.into_iter().chain([offset]).collect();
    if place.load {
        let mut results = builder.load(access, &address).into_iter();
        for member in run {
            let old = function.inst(member.inst).results.clone();
            replaced.extend(old.into_iter().zip(&mut results));
        }
    } else {
        let operands = access.address_operands();
        let words: Vec<Value> = run
            .iter()
            .flat_map(|member| builder.function.inst(member.inst).args[operands..].to_vec())
            .collect();
        builder.store(access, &address, &words);
    }
    function.block_mut(block).insts.extend(after);
}

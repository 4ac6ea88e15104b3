//! Robust access: what a shader writes outside of a buffer or of shared memory stays away from other memory.
//!
//! Needs: short branches flattened; before `merge_accesses`, which makes wide stores of those that are guarded together.
//! Guarantees: a store or an atomic to a buffer is executed only if all of it lies inside, else an atomic gives 0; an
//! access of shared memory lies inside what the workgroup has. Loads of buffers need nothing: the hardware checks them.
//! What provably lies inside is left alone.
//! How: accesses whose results nobody reads, with nothing in between that must stay there, are guarded together by one branch,
//! with one comparison for each base; only if not all of them lie inside, each is looked at alone. They stay in their order, so
//! this relies on nothing about other lanes. The size is read where all that need it are reached from, outside of loops.
//! Facts: hardware/compiler-lowering.md 3.9; hardware/compiler-correctness.md 3.

mod groups;
mod shared;

use rustc_hash::FxHashMap as HashMap;

use self::groups::{Group, Part, Read, bytes, groups};
use self::shared::clamp_shared;
use super::switches::retarget;
use crate::ir::cfg::Cfg;
use crate::ir::layout::order_blocks;
use crate::ir::rewrite::Replaced;
use crate::ir::{Alu, BlockId, Builder, Function, Inst, Op, Terminator, Type, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "robust_access",
    what: "accesses outside of their memory are dropped or moved inside",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let clamped = clamp_shared(function);
    let cfg = Cfg::of(function);
    let read = Read::of(function);
    let groups: Vec<(BlockId, Vec<Group>)> = function
        .layout
        .iter()
        .map(|block| (*block, groups(function, &cfg, *block, &read)))
        .filter(|(_, groups)| !groups.is_empty())
        .collect();
    if groups.is_empty() {
        return Changed::from_bool(clamped);
    }
    let limits = read_limits(function, &groups);
    let mut replaced = Replaced::default();
    for (block, groups) in &groups {
        guard_all(function, *block, groups, &limits, &read, &mut replaced);
    }
    replaced.everywhere(function);
    order_blocks(function);
    Changed::Yes
}

/// The first offset at which so many bytes don't fit into a buffer any more.
#[derive(Default)]
struct Limits(HashMap<(Value, u32), Value>);

/// Reads the sizes of buffers, for each where all blocks that need it are reached from, and computes the limits there.
fn read_limits(function: &mut Function, groups: &[(BlockId, Vec<Group>)]) -> Limits {
    let cfg = Cfg::of(function);
    // By buffer: the block, and for how many bytes a limit is wanted.
    let mut wanted: Vec<(Value, BlockId, Vec<u32>)> = vec![];
    for (block, groups) in groups {
        for group in groups {
            let alone = group.insts.iter();
            let alone = alone.map(|inst| (function.inst(*inst).args[0], bytes(function, *inst)));
            let parts = group.parts.iter();
            let parts = parts.filter_map(|part| Some((part.base.resource?, part.bytes)));
            for (resource, size) in alone.chain(parts) {
                match wanted.iter_mut().find(|(other, ..)| *other == resource) {
                    Some((_, at, sizes)) => {
                        *at = cfg.meet(*at, *block);
                        sizes.push(size);
                    }
                    None => wanted.push((resource, *block, vec![size])),
                }
            }
        }
    }
    let places = crate::ir::cfg::inst_blocks(function);
    let mut limits = Limits::default();
    for (resource, block, mut sizes) in wanted {
        sizes.sort();
        sizes.dedup();
        let mut at = block;
        while let Some(natural) = cfg.innermost_loop(at)
            && let Some(before) = cfg.idom(cfg.loops[natural].header)
        {
            at = before;
        }
        // Not before the resource itself.
        if let Some(defined) = cfg.block_of(function, &places, resource)
            && !cfg.dominates(defined, at)
        {
            at = defined;
        }
        let here = groups.iter().find(|(other, _)| *other == at);
        let first = here.and_then(|(_, groups)| {
            let has = |part: &Part| part.base.resource == Some(resource);
            let mut own = groups.iter().filter(|group| group.parts.iter().any(has));
            own.next()?.insts.first().copied()
        });
        let insts = std::mem::take(&mut function.block_mut(at).insts);
        let split = first.and_then(|first| insts.iter().position(|inst| *inst == first));
        let (before, after) = insts.split_at(split.unwrap_or(insts.len()));
        function.block_mut(at).insts = before.to_vec();
        let mut builder = Builder::new(function, at);
        let size = builder.inst(Op::BufferSize, &[resource])[0];
        for bytes in sizes {
            // `max` first, so that `size - bytes` cannot wrap for a buffer smaller than the access.
            let most = builder.alu_word(Alu::UMax, size, bytes - 1);
            let limit = builder.alu_word(Alu::ISub, most, bytes - 1);
            limits.0.insert((resource, bytes), limit);
        }
        function.block_mut(at).insts.extend(after);
    }
    limits
}

/// Puts each group of a block behind its comparison. The rest of the block goes on behind it in one of its own.
fn guard_all(
    function: &mut Function,
    block: BlockId,
    groups: &[Group],
    limits: &Limits,
    read: &Read,
    replaced: &mut Replaced,
) {
    let data = function.block_mut(block);
    let mut insts = std::mem::take(&mut data.insts).into_iter();
    let (terminator, position) = (data.terminator.clone(), data.position);
    let mut at = block;
    for group in groups {
        // What stands between them is pure: it can be computed before them.
        let mut own = group.insts.iter().peekable();
        while own.peek().is_some()
            && let Some(inst) = insts.next()
        {
            if own.next_if(|own| **own == inst).is_none() {
                function.block_mut(at).insts.push(inst);
            }
        }
        at = guard(function, at, group, limits, read, replaced);
        function.block_mut(at).position = position;
    }
    for target in terminator.targets() {
        retarget(function, target, block, at);
    }
    let data = function.block_mut(at);
    data.insts.extend(insts);
    data.terminator = terminator;
}

/// Ends a block by the comparison of a group. Returns the block behind it.
fn guard(
    function: &mut Function,
    block: BlockId,
    group: &Group,
    limits: &Limits,
    read: &Read,
    replaced: &mut Replaced,
) -> BlockId {
    let rest = function.new_block();
    let condition = all_inside(function, block, &group.parts, limits);
    let inside = function.new_block();
    function.block_mut(inside).terminator = Terminator::Jump(rest);
    let outside = match group.insts.as_slice() {
        [_] => rest,
        several => each_alone(function, several, rest, limits),
    };
    function.block_mut(block).terminator = Terminator::Branch {
        condition,
        then: inside,
        otherwise: outside,
    };
    match *group.insts.as_slice() {
        [inst] if read.result_of(function.inst(inst)) => {
            atomic(function, inst, [block, inside], rest, replaced);
        }
        _ => function.block_mut(inside).insts = group.insts.clone(),
    }
    rest
}

/// Computes at the end of a block whether all parts lie inside of their buffers. Those at the same offset are compared with the
/// least of their limits, which a loop mostly leaves alone.
fn all_inside(function: &mut Function, block: BlockId, parts: &[Part], limits: &Limits) -> Value {
    let mut builder = Builder::new(function, block);
    let mut compared: Vec<(Option<Value>, i32, Value)> = vec![];
    for part in parts {
        let Some(limit) = part.limit(limits, part.bytes) else {
            return builder.function.bool(false);
        };
        let same = |(dynamic, low, _): &&mut (Option<Value>, i32, Value)| {
            (*dynamic, *low) == (part.base.dynamic, part.low)
        };
        match compared.iter_mut().find(same) {
            Some((.., least)) => *least = builder.alu(Alu::UMin, &[*least, limit]),
            None => compared.push((part.base.dynamic, part.low, limit)),
        }
    }
    let mut all: Option<Value> = None;
    for (dynamic, low, limit) in compared {
        let low = low.cast_unsigned();
        let offset = match dynamic {
            None => builder.function.word(low),
            Some(base) if low == 0 => base,
            Some(base) => builder.alu_word(Alu::IAdd, base, low),
        };
        let inside = builder.alu(Alu::ULt, &[offset, limit]);
        all = Some(match all {
            Some(all) => builder.alu(Alu::BAnd, &[all, inside]),
            None => inside,
        });
    }
    match all {
        Some(all) => all,
        None => builder.function.bool(true),
    }
}

/// Accesses that don't all lie inside, one after the other. Returns the first of the blocks.
fn each_alone(function: &mut Function, insts: &[Inst], rest: BlockId, limits: &Limits) -> BlockId {
    let mut next = rest;
    for inst in insts.iter().rev() {
        let (check, store) = (function.new_block(), function.new_block());
        let data = function.inst(*inst).clone();
        let (resource, offset) = (data.args[0], data.args[1]);
        let copied = function.new_inst(data.op, data.args, data.exact, data.position);
        function.block_mut(store).insts.push(copied);
        function.block_mut(store).terminator = Terminator::Jump(next);
        let limit = limits.0.get(&(resource, bytes(function, *inst))).copied();
        let mut builder = Builder::new(function, check);
        let condition = match limit {
            Some(limit) => builder.alu(Alu::ULt, &[offset, limit]),
            None => builder.function.bool(false),
        };
        builder.terminate(Terminator::Branch {
            condition,
            then: store,
            otherwise: next,
        });
        next = check;
    }
    next
}

/// An atomic that stands inside of its guard; its result is 0 where it isn't done.
fn atomic(
    function: &mut Function,
    inst: Inst,
    [block, inside]: [BlockId; 2],
    rest: BlockId,
    replaced: &mut Replaced,
) {
    let data = function.inst(inst).clone();
    let old = data.results[0];
    let done = function.new_inst(data.op, data.args, data.exact, data.position);
    function.block_mut(inside).insts.push(done);
    let result = function.inst(done).results[0];
    // Words of 64 bits can't be chosen between: their halves are.
    let parts = match function.ty(result) {
        Type::W64 => {
            let mut builder = Builder::new(function, inside);
            [Alu::Low64, Alu::High64]
                .map(|half| builder.alu(half, &[result]))
                .to_vec()
        }
        _ => vec![result],
    };
    let phi = |part: Value| {
        let ty = function.ty(part);
        let phi = function.new_phi(rest, ty);
        let zero = function.constant_of(ty, 0);
        let made = function.block_mut(rest).phis.iter_mut();
        for made in made.filter(|made| made.result == phi) {
            made.sources = vec![(inside, part), (block, zero)];
        }
        phi
    };
    let phis: Vec<Value> = parts.into_iter().map(phi).collect();
    let new = match phis.as_slice() {
        &[phi] => phi,
        halves => {
            let pack = Op::Alu(Alu::Pack64);
            let whole = function.new_inst(pack, halves.to_vec(), false, data.position);
            function.block_mut(rest).insts.push(whole);
            function.inst(whole).results[0]
        }
    };
    replaced.insert(old, new);
}

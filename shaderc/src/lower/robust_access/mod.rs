//! Robust access: what a shader writes outside of a buffer or of shared memory stays away from other memory.
//!
//! Needs: short branches flattened; before `merge_accesses`, which makes wide stores of those that are guarded together.
//! Guarantees: a store or an atomic to a buffer is executed only if all of it lies inside, else an atomic gives 0; an
//! access of shared memory lies inside what the workgroup has. Loads of buffers need nothing: the hardware checks them.
//! What provably lies inside is left alone.
//! How: stores from one base with nothing in between that orders them are guarded by one comparison; only if not all of
//! them lie inside, each is looked at alone. The size is read where all that need it are reached from, outside of loops.
//! Facts: hardware/compiler-lowering.md 3.9; hardware/compiler-correctness.md 3.

mod shared;

use rustc_hash::FxHashMap as HashMap;

use self::shared::clamp_shared;
use super::switches::retarget;
use crate::ir::alias::{Base, Extent};
use crate::ir::cfg::Cfg;
use crate::ir::layout::order_blocks;
use crate::ir::range::upper_bound;
use crate::ir::rewrite::Replaced;
use crate::ir::{
    Access, Alu, BlockId, Builder, Function, Inst, InstData, Op, Space, Terminator, Type, Value,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "robust_access",
    what: "accesses outside of their memory are dropped or moved inside",
    run,
};

/// Most accesses that are guarded together: each stands twice in the code.
const MAX_TOGETHER: usize = 16;

/// Accesses of a block that follow one another, from one base.
struct Group {
    insts: Vec<Inst>,
    base: Base,
    /// Constant part of the lowest offset, and bytes from there to the end of the highest.
    low: i32,
    bytes: u32,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let clamped = clamp_shared(function);
    let groups: Vec<(BlockId, Vec<Group>)> = function
        .layout
        .iter()
        .map(|block| (*block, groups(function, *block)))
        .filter(|(_, groups)| !groups.is_empty())
        .collect();
    if groups.is_empty() {
        return Changed::from_bool(clamped);
    }
    let limits = read_limits(function, &groups);
    let mut replaced = Replaced::default();
    for (block, groups) in &groups {
        guard_all(function, *block, groups, &limits, &mut replaced);
    }
    replaced.everywhere(function);
    order_blocks(function);
    Changed::Yes
}

/// Bytes that a buffer surely has.
fn least_bytes(function: &Function, resource: Value) -> u32 {
    let binding = function.binding_of(resource);
    let binding = binding.and_then(|id| function.binding(id));
    binding.map_or(0, |binding| binding.min_bytes)
}

/// Whether an access needs a guard, and where it goes.
fn guarded(function: &Function, data: &InstData) -> Option<(Base, Extent)> {
    let (Op::Store(access) | Op::Atomic(_, access)) = data.op else {
        return None;
    };
    if access.space != Space::Buffer {
        return None;
    }
    let extent = Extent::of(function, data)?;
    let end = u64::from(upper_bound(function, data.args[1])) + u64::from(extent.bytes);
    let inside = end <= u64::from(least_bytes(function, data.args[0]));
    (!inside).then_some((extent.base, extent))
}

/// The groups of a block, in order.
fn groups(function: &Function, block: BlockId) -> Vec<Group> {
    let mut groups: Vec<Group> = vec![];
    // Whether the last group can still grow.
    let mut open = false;
    for inst in &function.block(block).insts {
        let data = function.inst(*inst);
        let Some((base, extent)) = guarded(function, data) else {
            // What is pure can be computed before them.
            open &= data.op.is_pure();
            continue;
        };
        let store = matches!(data.op, Op::Store(_));
        let own = Group {
            insts: vec![*inst],
            base,
            low: extent.offset,
            bytes: extent.bytes,
        };
        let joined = groups
            .last_mut()
            .is_some_and(|last| open && store && last.take(&own));
        if !joined {
            groups.push(own);
        }
        open = store;
    }
    groups
}

impl Group {
    /// Takes an access from the same base that is not far away.
    fn take(&mut self, other: &Group) -> bool {
        const FAR: i64 = 1 << 12;
        let low = i64::from(self.low.min(other.low));
        let end = |group: &Group| i64::from(group.low) + i64::from(group.bytes);
        let bytes = end(self).max(end(other)) - low;
        let fits = self.base == other.base && self.insts.len() < MAX_TOGETHER && bytes <= FAR;
        if fits {
            self.low = self.low.min(other.low);
            self.bytes = bytes as u32;
            self.insts.extend(&other.insts);
        }
        fits
    }

    /// The first offset at which so many bytes don't fit any more into the buffer.
    fn limit(&self, limits: &Limits, bytes: u32) -> Option<Value> {
        limits.0.get(&(self.base.resource?, bytes)).copied()
    }
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
            let mut sizes: Vec<u32> = group
                .insts
                .iter()
                .map(|inst| bytes(function, *inst))
                .collect();
            sizes.push(group.bytes);
            let Some(resource) = group.base.resource else {
                continue;
            };
            match wanted.iter_mut().find(|(other, ..)| *other == resource) {
                Some((_, at, all)) => {
                    *at = cfg.meet(*at, *block);
                    all.extend(sizes);
                }
                None => wanted.push((resource, *block, sizes)),
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
            let own = groups
                .iter()
                .filter(|group| group.base.resource == Some(resource));
            own.flat_map(|group| &group.insts).next().copied()
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

/// Bytes of an access.
fn bytes(function: &Function, inst: Inst) -> u32 {
    let access = function.inst(inst).op.access();
    access.map_or(4, Access::bytes)
}

/// Puts each group of a block behind its comparison. The rest of the block goes on behind it in one of its own.
fn guard_all(
    function: &mut Function,
    block: BlockId,
    groups: &[Group],
    limits: &Limits,
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
        at = guard(function, at, group, limits, replaced);
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
    replaced: &mut Replaced,
) -> BlockId {
    let rest = function.new_block();
    let low = match group.base.dynamic {
        None => function.word(group.low.cast_unsigned()),
        Some(base) if group.low == 0 => base,
        Some(base) => {
            let mut builder = Builder::new(function, block);
            builder.alu_word(Alu::IAdd, base, group.low.cast_unsigned())
        }
    };
    let inside = function.new_block();
    function.block_mut(inside).terminator = Terminator::Jump(rest);
    let outside = match group.insts.as_slice() {
        [_] => rest,
        several => each_alone(function, several, group, rest, limits),
    };
    let limit = group.limit(limits, group.bytes);
    branch(function, block, low, limit, [inside, outside]);
    match *group.insts.as_slice() {
        [inst] if !function.inst(inst).results.is_empty() => {
            atomic(function, inst, [block, inside], rest, replaced);
        }
        _ => function.block_mut(inside).insts = group.insts.clone(),
    }
    rest
}

/// Ends a block by whether an offset is less than a limit.
fn branch(
    function: &mut Function,
    block: BlockId,
    offset: Value,
    limit: Option<Value>,
    [then, otherwise]: [BlockId; 2],
) {
    let mut builder = Builder::new(function, block);
    let condition = match limit {
        Some(limit) => builder.alu(Alu::ULt, &[offset, limit]),
        None => builder.function.bool(false),
    };
    builder.terminate(Terminator::Branch {
        condition,
        then,
        otherwise,
    });
}

/// Stores that don't all lie inside, one after the other. Returns the first of the blocks.
fn each_alone(
    function: &mut Function,
    insts: &[Inst],
    group: &Group,
    rest: BlockId,
    limits: &Limits,
) -> BlockId {
    let mut next = rest;
    for inst in insts.iter().rev() {
        let (check, store) = (function.new_block(), function.new_block());
        let data = function.inst(*inst).clone();
        let offset = data.args[1];
        let copied = function.new_inst(data.op, data.args, data.exact, data.position);
        function.block_mut(store).insts.push(copied);
        function.block_mut(store).terminator = Terminator::Jump(next);
        let limit = group.limit(limits, bytes(function, *inst));
        branch(function, check, offset, limit, [store, next]);
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

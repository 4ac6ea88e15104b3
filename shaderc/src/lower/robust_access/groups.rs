//! Groups: accesses of a block that are guarded together, and what of memory they touch.

use super::Limits;
use crate::ir::alias::{Base, Extent};
use crate::ir::cfg::Cfg;
use crate::ir::range::Tested;
use crate::ir::{Access, BlockId, Function, Inst, InstData, Op, Space, Value};

/// Most accesses that are guarded together: each stands twice in the code.
const MAX_TOGETHER: usize = 16;

/// Most comparisons that are made for a group.
const MAX_PARTS: usize = 4;

/// Accesses of a block that follow one another.
pub(super) struct Group {
    pub(super) insts: Vec<Inst>,
    /// What they touch.
    pub(super) parts: Vec<Part>,
}

/// What accesses touch that are from one base.
pub(super) struct Part {
    pub(super) base: Base,
    /// Constant part of the lowest offset, and bytes from there to the end of the highest.
    pub(super) low: i32,
    pub(super) bytes: u32,
}

/// Values that are read.
pub(super) struct Read(Vec<bool>);

impl Read {
    pub(super) fn of(function: &mut Function) -> Read {
        let mut read = vec![false; function.value_count()];
        function.map_uses(|value| {
            read[value.index()] = true;
            value
        });
        Read(read)
    }

    /// Whether anybody reads a result of an instruction.
    pub(super) fn result_of(&self, data: &InstData) -> bool {
        // One that is newer than this was made by a guard, and is read there.
        let read = |value: &Value| self.0.get(value.index()) != Some(&false);
        data.results.iter().any(read)
    }
}

/// Bytes that a buffer surely has.
fn least_bytes(function: &Function, resource: Value) -> u32 {
    let binding = function.binding_of(resource);
    let binding = binding.and_then(|id| function.binding(id));
    binding.map_or(0, |binding| binding.min_bytes)
}

/// Where an access goes that needs a guard.
fn guarded(function: &Function, data: &InstData, tested: &Tested) -> Option<Part> {
    let (Op::Store(access) | Op::Atomic(_, access)) = data.op else {
        return None;
    };
    if access.space != Space::Buffer {
        return None;
    }
    let extent = Extent::of(function, data)?;
    let least = least_bytes(function, data.args[0]);
    let end = u64::from(tested.upper_bound(function, data.args[1])) + u64::from(extent.bytes);
    let inside = end <= u64::from(least);
    (!inside).then_some(Part {
        base: extent.base,
        low: extent.offset,
        bytes: extent.bytes,
    })
}

/// The groups of a block, in order.
pub(super) fn groups(function: &Function, cfg: &Cfg, block: BlockId, read: &Read) -> Vec<Group> {
    let insts = &function.block(block).insts;
    let mut ops = insts.iter().map(|inst| function.inst(*inst).op);
    if !ops.any(|op| matches!(op, Op::Store(_) | Op::Atomic(..))) {
        return vec![];
    }
    let tested = Tested::at(function, cfg, block);
    let mut groups: Vec<Group> = vec![];
    // Whether the last group can still grow.
    let mut open = false;
    for inst in insts {
        let data = function.inst(*inst);
        let Some(part) = guarded(function, data, &tested) else {
            // What is pure can be computed before them.
            open &= data.op.is_pure();
            continue;
        };
        // What an atomic gives is chosen behind its guard.
        let alone = read.result_of(data);
        match groups.last_mut() {
            Some(last) if open && !alone && last.has_room(&part) => last.take(*inst, part),
            _ => groups.push(Group {
                insts: vec![*inst],
                parts: vec![part],
            }),
        }
        open = !alone;
    }
    groups
}

impl Part {
    /// Both together, if they are from one base and not far from each other.
    fn with(&self, other: &Part) -> Option<Part> {
        const FAR: i64 = 1 << 12;
        let low = self.low.min(other.low);
        let end = |part: &Part| i64::from(part.low) + i64::from(part.bytes);
        let bytes = end(self).max(end(other)) - i64::from(low);
        (self.base == other.base && bytes <= FAR).then_some(Part {
            base: self.base,
            low,
            bytes: bytes as u32,
        })
    }

    /// The first offset at which so many bytes don't fit any more into the buffer.
    pub(super) fn limit(&self, limits: &Limits, bytes: u32) -> Option<Value> {
        limits.0.get(&(self.base.resource?, bytes)).copied()
    }
}

impl Group {
    fn has_room(&self, part: &Part) -> bool {
        let joins = self.parts.iter().any(|own| own.with(part).is_some());
        self.insts.len() < MAX_TOGETHER && (joins || self.parts.len() < MAX_PARTS)
    }

    fn take(&mut self, inst: Inst, part: Part) {
        self.insts.push(inst);
        for own in &mut self.parts {
            if let Some(both) = own.with(&part) {
                *own = both;
                return;
            }
        }
        self.parts.push(part);
    }
}

/// Bytes of an access.
pub(super) fn bytes(function: &Function, inst: Inst) -> u32 {
    let access = function.inst(inst).op.access();
    access.map_or(4, Access::bytes)
}

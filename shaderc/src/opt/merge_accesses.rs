//! Access merging: loads, and stores, of a block that stand beside one another or at one place become fewer and wider.
//!
//! Needs: addresses as `x + constant`.  Guarantees: a merged access is aligned to its size; a load moves up over nothing
//! that may write what it reads, a store down over nothing that may touch what it writes (`ir::alias` says what may).
//! A word that was loaded already isn't loaded again; a store whose words are all written again before anybody could look
//! goes. Checked by: tests/all/random.rs.  Facts: hardware/compiler-ir.md 4.12; hardware/compiler-lowering.md 5.3.
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::ir::alias::{Base, Extent, MemoryObject, may_alias};
use crate::ir::rewrite::Replaced;
use crate::ir::verify::aligned;
use crate::ir::{
    Access, Alu, BlockId, Builder, Function, Inst, Memory, Op, Space, Spaces, Type, Value,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "merge_accesses",
    what: "neighbouring loads and stores become wider ones",
    run,
};

/// Most words of an access.
const MAX_WORDS: usize = 4;
/// The largest alignment that helps.
pub(super) const MAX_ALIGN: u32 = 16;

/// Accesses that may be merged as far as order goes: all loads or all stores, from one base.
pub(super) struct Group {
    /// In the order in which they begin.
    number: usize,
    load: bool,
    memory: Memory,
    pub(super) base: Base,
    /// Byte offset and alignment of each member.
    pub(super) members: Vec<(Inst, Access)>,
    /// The address at this offset is a multiple of `MAX_ALIGN`, or of as much as is known.
    aligned_at: (i32, u32),
    words: BTreeMap<i32, Word>,
    /// Where in the block the first and the last member stand.
    pub(super) first: usize,
    pub(super) last: usize,
    /// Of loads: the bytes that have been written since the first.
    written: HashSet<i32>,
}

/// A word that a group reads or writes.
struct Word {
    /// Index in the block of the first load, of the last store.
    at: usize,
    /// Of a load: all results that it gives. Of a store: what it writes.
    values: Vec<Value>,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut replaced = Replaced::default();
    let mut changed = Changed::No;
    for block in function.layout.clone() {
        let groups = groups(function, block);
        let merged: Vec<(Group, Vec<Vec<i32>>)> = groups
            .into_iter()
            .filter_map(|group| pieces(&group).map(|pieces| (group, pieces)))
            .collect();
        if !merged.is_empty() {
            rebuild(function, block, &merged, &mut replaced);
            changed = Changed::Yes;
        }
    }
    replaced.everywhere(function);
    changed
}

/// Runs of accesses to one memory object that may still grow, by base.
#[derive(Default)]
struct PendingRuns {
    loads: HashMap<Base, Group>,
    stores: HashMap<Base, Group>,
}

/// A walk of a block, forward. A group is closed where something may not be moved over.
#[derive(Default)]
struct BlockWalk {
    open: HashMap<(MemoryObject, Memory), PendingRuns>,
    closed: Vec<Group>,
    begun: usize,
}

/// The groups of a block.
pub(super) fn groups(function: &Function, block: BlockId) -> Vec<Group> {
    let mut walk = BlockWalk::default();
    for (at, inst) in function.block(block).insts.iter().enumerate() {
        let data = function.inst(*inst);
        walk.close_all_of(match data.op {
            Op::Image(image) if image.touches_buffers() => Spaces::BUFFERS,
            op => op.effects().orders,
        });
        let (Some(extent), Some(access)) = (Extent::of(function, data), data.op.access()) else {
            continue;
        };
        let load = match data.op {
            Op::Load(_) => Some(true),
            Op::Store(_) => Some(false),
            _ => None,
        };
        // Only words are joined.
        let words = access.elem == Type::W32 && access.space != Space::Global;
        let joins = load.filter(|_| words && !access.memory.is_volatile());
        walk.flush_conflicting(&extent, load, joins);
        if let Some(load) = joins {
            walk.join(function, *inst, at, load, &extent);
        }
        if load != Some(true) {
            walk.note_write(&extent);
        }
    }
    walk.finish()
}

impl BlockWalk {
    /// Everything in these memories is in order here but what is constant.
    fn close_all_of(&mut self, spaces: Spaces) {
        for (((space, _), memory), open) in &mut self.open {
            if *memory != Memory::Constant && spaces.contains(*space) {
                self.closed
                    .extend(std::mem::take(&mut open.loads).into_values());
                self.closed
                    .extend(std::mem::take(&mut open.stores).into_values());
            }
        }
    }

    /// Closes what an access may not move over: a load or a store or (none) both, that joins a group or not.
    fn flush_conflicting(&mut self, extent: &Extent, load: Option<bool>, joins: Option<bool>) {
        if extent.memory == Memory::Constant {
            return;
        }
        let mut stores: Vec<Group> = vec![];
        for ((object, memory), open) in &mut self.open {
            if *memory == Memory::Constant || !may_alias(*object, extent.base.object()) {
                continue;
            }
            // From the same base it is known what is written; from another anything may be meant.
            if load != Some(true) {
                let own = open.loads.remove(&extent.base);
                self.closed
                    .extend(std::mem::take(&mut open.loads).into_values());
                open.loads.extend(own.map(|own| (extent.base, own)));
            }
            let own = open.stores.remove(&extent.base);
            stores.extend(std::mem::take(&mut open.stores).into_values());
            let joined = joins == Some(false) && *memory == extent.memory;
            match own {
                Some(own) if joined || !own.has_word_in(extent) => {
                    open.stores.insert(extent.base, own);
                }
                own => stores.extend(own),
            }
        }
        // What it holds may come to stand as late as its last member.
        for group in stores {
            for loads in self.loads_from(&group.base) {
                if loads.first < group.last {
                    let bytes = group.words.keys().flat_map(|offset| bytes(*offset, 4));
                    loads.written.extend(bytes);
                }
            }
            self.closed.push(group);
        }
    }

    /// The groups of loads from a base that somebody may write to.
    fn loads_from(&mut self, base: &Base) -> impl Iterator<Item = &mut Group> {
        let own = self.open.iter_mut().filter(|((object, memory), _)| {
            *memory != Memory::Constant && *object == base.object()
        });
        own.filter_map(|(_, open)| open.loads.get_mut(base))
    }

    /// Adds an access to the group that it belongs to.
    fn join(&mut self, function: &Function, inst: Inst, at: usize, load: bool, extent: &Extent) {
        let open = self
            .open
            .entry((extent.base.object(), extent.memory))
            .or_default();
        let groups = match load {
            true => &mut open.loads,
            false => &mut open.stores,
        };
        if let Some(group) = groups.remove(&extent.base) {
            match group.cannot_take(extent) {
                true => self.closed.push(group),
                false => {
                    groups.insert(extent.base, group);
                }
            }
        }
        let group = groups.entry(extent.base).or_insert_with(|| {
            self.begun += 1;
            Group::new(function, self.begun, at, load, extent)
        });
        group.push(inst, at, extent, function);
    }

    fn note_write(&mut self, extent: &Extent) {
        for group in self.loads_from(&extent.base) {
            group.written.extend(bytes(extent.offset, extent.bytes));
        }
    }

    fn finish(mut self) -> Vec<Group> {
        for open in self.open.into_values() {
            self.closed.extend(open.loads.into_values());
            self.closed.extend(open.stores.into_values());
        }
        self.closed.sort_by_key(|group| group.number);
        self.closed
    }
}

/// The bytes of a stretch.
fn bytes(offset: i32, count: u32) -> impl Iterator<Item = i32> {
    (0..count).map(move |number| offset.wrapping_add_unsigned(number))
}

impl Group {
    fn new(function: &Function, number: usize, at: usize, load: bool, extent: &Extent) -> Group {
        const DEPTH: u32 = 8;
        let dynamic = extent.base.dynamic;
        Group {
            number,
            load,
            memory: extent.memory,
            base: extent.base,
            members: vec![],
            aligned_at: (
                0,
                dynamic.map_or(MAX_ALIGN, |base| known_align(function, base, DEPTH)),
            ),
            words: BTreeMap::new(),
            first: at,
            last: at,
            written: HashSet::default(),
        }
    }

    /// Whether an access from the same base touches a word of this group.
    fn has_word_in(&self, extent: &Extent) -> bool {
        // A word may begin before it and end in it.
        let first = extent.offset.wrapping_sub(3);
        bytes(first, extent.bytes + 3).any(|offset| self.words.contains_key(&offset))
    }

    /// Whether a load would read what was written since the first of this group.
    fn cannot_take(&self, extent: &Extent) -> bool {
        bytes(extent.offset, extent.bytes).any(|byte| self.written.contains(&byte))
    }

    fn push(&mut self, inst: Inst, at: usize, extent: &Extent, function: &Function) {
        let Some(access) = function.inst(inst).op.access() else {
            return;
        };
        self.members.push((inst, access));
        self.last = at;
        let align = u32::from(access.align);
        if align > self.aligned_at.1 {
            self.aligned_at = (extent.offset, align);
        }
        let data = function.inst(inst);
        let values = match self.load {
            true => &data.results[..],
            false => &data.args[access.address_operands()..],
        };
        for (number, value) in values.iter().enumerate() {
            let offset = extent.offset.wrapping_add(4 * number as i32);
            let word = self
                .words
                .entry(offset)
                .or_insert(Word { at, values: vec![] });
            if !self.load {
                // The last value counts, and nobody has looked at the one before.
                *word = Word { at, values: vec![] };
            }
            word.values.push(*value);
        }
    }

    /// What the address at an offset is surely a multiple of.
    fn align(&self, offset: i32) -> u32 {
        let (at, align) = self.aligned_at;
        match offset.wrapping_sub(at).cast_unsigned() {
            0 => align,
            apart => align.min(1 << apart.trailing_zeros()),
        }
    }

    fn access(&self, offset: i32, count: usize) -> Access {
        Access {
            align: self.align(offset).min(MAX_ALIGN) as u8,
            memory: self.memory,
            ..Access::words(self.base.space, count as u8)
        }
    }
}

/// How many fewer accesses a group becomes if the part of its address that isn't constant is a multiple of [`MAX_ALIGN`].
pub(super) fn saved_if_aligned(group: &Group) -> usize {
    let accesses = |aligned_at: (i32, u32)| {
        let aligned = Group {
            members: group.members.clone(),
            words: group
                .words
                .keys()
                .map(|offset| {
                    (
                        *offset,
                        Word {
                            at: 0,
                            values: vec![],
                        },
                    )
                })
                .collect(),
            written: HashSet::default(),
            aligned_at,
            ..*group
        };
        pieces(&aligned).map_or(group.members.len(), |pieces| pieces.len())
    };
    accesses(group.aligned_at).saturating_sub(accesses((0, MAX_ALIGN)))
}

/// The largest power of two up to [`MAX_ALIGN`] that surely divides a value.
pub(super) fn known_align(function: &Function, value: Value, depth: u32) -> u32 {
    let power = |word: u32| match word {
        0 => MAX_ALIGN,
        word => (1 << word.trailing_zeros()).min(MAX_ALIGN),
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
        Alu::IMul => (of(0) * of(1)).min(MAX_ALIGN),
        Alu::IAnd => of(0).max(of(1)),
        Alu::Select => of(1).min(of(2)),
        Alu::UMin | Alu::UMax | Alu::SMin | Alu::SMax => of(0).min(of(1)),
        Alu::IShl => match function.as_word(data.args[1]) {
            Some(by) => of(0)
                .checked_shl(by & 31)
                .unwrap_or(MAX_ALIGN)
                .clamp(1, MAX_ALIGN),
            None => of(0),
        },
        _ => 1,
    }
}

/// The words of a group as aligned accesses, by offset. None if that makes no fewer of them.
fn pieces(group: &Group) -> Option<Vec<Vec<i32>>> {
    let offsets: Vec<i32> = group.words.keys().copied().collect();
    let mut pieces = vec![];
    let mut at = 0;
    while let Some(&first) = offsets.get(at) {
        let follows = |(number, offset): &(usize, &i32)| {
            first.checked_add(4 * *number as i32) == Some(**offset)
        };
        let list = offsets[at..].iter().enumerate();
        let neighbours = list.take(MAX_WORDS).take_while(follows).count();
        let count = (2..=neighbours)
            .rev()
            .find(|count| aligned(group.access(first, *count)))
            .unwrap_or(1);
        pieces.push(offsets[at..at + count].to_vec());
        at += count;
    }
    // One that isn't aligned to its size will be taken apart.
    let cost = |(_, access): &(Inst, Access)| match aligned(*access) {
        true => 1,
        false => usize::from(access.count),
    };
    let before: usize = group.members.iter().map(cost).sum();
    (pieces.len() < before).then_some(pieces)
}

/// Puts the pieces in the place of the members: loads at the first of their words, stores at the last.
fn rebuild(
    function: &mut Function,
    block: BlockId,
    merged: &[(Group, Vec<Vec<i32>>)],
    replaced: &mut Replaced,
) {
    let mut gone: HashSet<Inst> = HashSet::default();
    let mut made: HashMap<usize, Vec<(&Group, &[i32])>> = HashMap::default();
    for (group, pieces) in merged {
        gone.extend(group.members.iter().map(|(inst, _)| *inst));
        for piece in pieces {
            let places = piece.iter().map(|offset| group.words[offset].at);
            let at = match group.load {
                true => places.min(),
                false => places.max(),
            };
            made.entry(at.unwrap_or(0))
                .or_default()
                .push((group, piece));
        }
    }
    let insts = std::mem::take(&mut function.block_mut(block).insts);
    let mut builder = Builder::new(function, block);
    for (at, inst) in insts.into_iter().enumerate() {
        builder.position = builder.function.inst(inst).position;
        for (group, piece) in made.get(&at).into_iter().flatten() {
            build(&mut builder, group, piece, replaced);
        }
        if !gone.contains(&inst) {
            builder.function.block_mut(block).insts.push(inst);
        }
    }
}

fn build(builder: &mut Builder<'_>, group: &Group, piece: &[i32], replaced: &mut Replaced) {
    let access = group.access(piece[0], piece.len());
    let constant = piece[0].cast_unsigned();
    let offset = match group.base.dynamic {
        None => builder.word(constant),
        Some(base) if constant == 0 => base,
        Some(base) => builder.alu_word(Alu::IAdd, base, constant),
    };
    let address: Vec<Value> = group.base.resource.into_iter().chain([offset]).collect();
    if group.load {
        for (offset, result) in piece.iter().zip(builder.load(access, &address)) {
            replaced.extend(group.words[offset].values.iter().map(|old| (*old, result)));
        }
    } else {
        let words: Vec<Value> = piece
            .iter()
            .filter_map(|offset| group.words[offset].values.last().copied())
            .collect();
        builder.store(access, &address, &words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::random_expression::expressions;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn every_value_is_a_multiple_of_its_known_alignment(made in expressions()) {
            for (value, bits) in &made.values {
                if made.function.ty(*value) == Type::W32 {
                    let align = known_align(&made.function, *value, 8);
                    prop_assert!(
                        bits % u64::from(align) == 0,
                        "{value} is {bits:#x}, which is no multiple of {align}\n{}",
                        made.function
                    );
                }
            }
        }
    }
}

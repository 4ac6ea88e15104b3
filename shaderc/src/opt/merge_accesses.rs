//! Access merging: loads, and stores, of a block that stand beside one another or at one place become fewer and wider.
//!
//! Needs: addresses as `x + constant`.  Guarantees: a merged access is aligned to its size; a load moves up over nothing
//! that may write what it reads, a store down over nothing that may touch what it writes (`ir::alias` says what may).
//! A word that was loaded already isn't loaded again; a store whose words are all written again before anybody could look
//! goes. Checked by: tests/all/random.rs.  Facts: hardware/compiler-ir.md 4.12; hardware/compiler-lowering.md 5.3.
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::ir::alias::{Base, Extent, overlap};
use crate::ir::rewrite::replace_uses;
use crate::ir::verify::aligned;
use crate::ir::{Access, Alu, BlockId, Builder, Function, Inst, Memory, Op, Space, Type, Value};
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
const MAX_ALIGN: u32 = 16;

/// Accesses that may be merged as far as order goes: all loads or all stores, from one base.
struct Group {
    load: bool,
    memory: Memory,
    base: Base,
    /// Byte offset and alignment of each member.
    members: Vec<(Inst, Access)>,
    /// The address at this offset is a multiple of `MAX_ALIGN`, or of as much as is known.
    aligned_at: (i32, u32),
    words: BTreeMap<i32, Word>,
    /// Of loads: what has been written since the first.
    written: Vec<(i32, u32)>,
}

/// A word that a group reads or writes.
struct Word {
    /// Index in the block of the first load, of the last store.
    at: usize,
    /// Of a load: all results that it gives. Of a store: what it writes.
    values: Vec<Value>,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut replaced = HashMap::new();
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
    replace_uses(function, &replaced);
    changed
}

/// Walks a block forward. A group is closed where something may not be moved over.
fn groups(function: &Function, block: BlockId) -> Vec<Group> {
    let mut done = vec![];
    let mut open: Vec<Group> = vec![];
    for (at, inst) in function.block(block).insts.iter().enumerate() {
        let data = function.inst(*inst);
        let orders = match data.op {
            Op::Barrier | Op::Fence => true,
            Op::Image(image) => image.touches_buffers(),
            _ => false,
        };
        if orders {
            let ordered = |group: &mut Group| {
                group.memory != Memory::Constant && group.base.space != Space::Scratch
            };
            done.extend(open.extract_if(.., ordered));
        }
        let (Some(extent), Some(access)) = (Extent::of(function, data), data.op.access()) else {
            continue;
        };
        let reads = !matches!(data.op, Op::Store(_));
        let writes = !matches!(data.op, Op::Load(_));
        let joins = data.op == Op::Load(access) || data.op == Op::Store(access);
        // Only words are joined.
        let words = access.elem == Type::W32 && access.space != Space::Global;
        let joins = joins && words && access.memory != Memory::Volatile;
        let ends = |group: &mut Group| {
            let own = joins && group.is_for(!writes, &extent);
            match group.load {
                true => writes && group.may_be_written(&extent),
                false => (reads || !own) && group.touches(&extent),
            }
        };
        done.extend(open.extract_if(.., ends));
        let mut own = open
            .iter()
            .position(|group| joins && group.is_for(!writes, &extent));
        if let Some(number) = own
            && open[number].cannot_take(&extent)
        {
            done.push(open.swap_remove(number));
            own = None;
        }
        if joins {
            let number = own.unwrap_or_else(|| {
                open.push(Group::new(function, !writes, &extent));
                open.len() - 1
            });
            open[number].push(*inst, at, access, &extent, function);
        }
        if writes {
            // Whatever stands in a group of stores may come to stand as late as here.
            let mut late = vec![(extent.offset, extent.bytes)];
            let stores = open
                .iter()
                .filter(|group| joins && group.is_for(false, &extent));
            late.extend(stores.flat_map(|group| group.words.keys().map(|offset| (*offset, 4))));
            for group in &mut open {
                if group.load && group.base == extent.base && group.memory != Memory::Constant {
                    group.written.extend(&late);
                }
            }
        }
    }
    done.extend(open);
    done
}

impl Group {
    fn new(function: &Function, load: bool, extent: &Extent) -> Group {
        const DEPTH: u32 = 8;
        let dynamic = extent.base.dynamic;
        Group {
            load,
            memory: extent.memory,
            base: extent.base,
            members: vec![],
            aligned_at: (
                0,
                dynamic.map_or(MAX_ALIGN, |base| known_align(function, base, DEPTH)),
            ),
            words: BTreeMap::new(),
            written: vec![],
        }
    }

    /// Whether such an access belongs here.
    fn is_for(&self, load: bool, extent: &Extent) -> bool {
        self.load == load && self.base == extent.base && self.memory == extent.memory
    }

    /// Whether an access may touch a word of this group.
    fn touches(&self, extent: &Extent) -> bool {
        let same_memory = self.base.meets(&extent.base)
            && self.memory != Memory::Constant
            && extent.memory != Memory::Constant;
        let stretch = (extent.offset, extent.bytes);
        same_memory
            && (self.base != extent.base
                || self
                    .words
                    .keys()
                    .any(|offset| overlap((*offset, 4), stretch)))
    }

    /// Whether a write may be one to anything that later joins this group of loads. From the same base it is known
    /// what is written.
    fn may_be_written(&self, extent: &Extent) -> bool {
        self.base.meets(&extent.base) && self.memory != Memory::Constant && self.base != extent.base
    }

    /// Whether a load would read what was written since the first of this group.
    fn cannot_take(&self, extent: &Extent) -> bool {
        let stretch = (extent.offset, extent.bytes);
        self.written
            .iter()
            .any(|written| overlap(*written, stretch))
    }

    fn push(
        &mut self,
        inst: Inst,
        at: usize,
        access: Access,
        extent: &Extent,
        function: &Function,
    ) {
        self.members.push((inst, access));
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

/// The largest power of two up to [`MAX_ALIGN`] that surely divides a value.
fn known_align(function: &Function, value: Value, depth: u32) -> u32 {
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
    replaced: &mut HashMap<Value, Value>,
) {
    let mut gone: HashSet<Inst> = HashSet::new();
    let mut made: HashMap<usize, Vec<(&Group, &[i32])>> = HashMap::new();
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

fn build(
    builder: &mut Builder<'_>,
    group: &Group,
    piece: &[i32],
    replaced: &mut HashMap<Value, Value>,
) {
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

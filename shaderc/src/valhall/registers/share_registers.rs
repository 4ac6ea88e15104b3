//! Sharing of registers: values of which 16 or 8 bits are all that anybody reads take a half or a byte of a register.
//!
//! Needs: SSA, legal sources.  Guarantees: a value becomes a half or a byte only if what makes it can write any of a
//! register alone, and all that read it can select any. Which it is, allocation finds; `pack` then names it.
//! Arithmetic on two halves that makes one does the same in both lanes, of which one is written. Only loads write a byte,
//! and nothing moves one.
//! Two halves that are computed and joined to a word are made where the word will be, which saves the joining. Others
//! share a register only where there are too few: what uses or writes the one waits for a load of the other.
//! Facts: hardware/compiler-backend.md 5.5, 5.6 and 7.4, hardware/valhall-isa.md 3, 7.3 and 11.

use eitri_isa::row::{DestKind, Kind, Source as SourceRow, Type};
use eitri_isa::{Arch, Lanes, Select};

use crate::lists::Lists;
use crate::valhall::mir::{
    Function, Instr, Instruction as _, Modifier, Op, Operand, Part, Source, Value, Width, Word,
};

/// How an instruction makes less than a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Makes {
    /// It does the same in both lanes, and each is written alone.
    Lanes,
    /// It converts the words that it reads, of which the first is enough.
    Narrowed,
    /// It has one result for both halves, which may go to one.
    Replicated,
    /// It loads a half.
    LoadedHalf,
    /// It loads a byte, to there or widened to a half.
    LoadedByte,
}

/// Makes halves of those that are computed and joined to words. True if there are any.
pub(crate) fn join_halves(function: &mut Function) -> bool {
    let computed = |how| !matches!(how, Makes::LoadedHalf | Makes::LoadedByte);
    change(function, computed, |function, around, widths| {
        let mut wanted = vec![false; widths.len()];
        let mut found: Vec<Value> = Vec::new();
        for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            let parts = instr.as_gather().into_iter().flat_map(|(_, parts)| parts);
            let parts: Vec<Value> = parts.filter_map(Word::value).collect();
            if parts.iter().all(|part| widths[part.index()] == Width::Half) {
                found.extend(parts);
            }
        }
        // What a phi chooses between is all of one kind.
        while let Some(value) = found.pop() {
            if !std::mem::replace(&mut wanted[value.index()], true) {
                found.extend(around.of(value.index()));
            }
        }
        for (width, wanted) in widths.iter_mut().zip(wanted) {
            if !wanted {
                *width = Width::Word;
            }
        }
        widen(function, around, widths);
    })
}

/// Makes halves and bytes of all that can be. True if there are any.
pub(crate) fn share_registers(function: &mut Function) -> bool {
    change(function, |_| true, |_, _, _| {})
}

/// Finds widths of what is made in ways that may be, chooses among those that all readers can read, and changes what makes
/// them. True if any is not a word.
fn change(
    function: &mut Function,
    may: impl Fn(Makes) -> bool,
    choose: impl Fn(&Function, &Lists<Value>, &mut [Width]),
) -> bool {
    let arch = function.extra.arch;
    let mut widths = vec![Width::Word; function.values.len()];
    for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
        if let &[Word::Value(dest)] = instr.dests.as_slice()
            && let Some(how) = makes(instr, arch).filter(|&how| may(how))
        {
            widths[dest.index()] = match how {
                Makes::LoadedByte => Width::Byte,
                _ => Width::Half,
            };
        }
    }
    let are_words = |widths: &[Width]| widths.iter().all(|width| *width == Width::Word);
    if are_words(&widths) {
        return false;
    }
    for phi in function.blocks.iter().flat_map(|block| &block.phis) {
        widths[phi.dest.index()] = Width::Half;
    }
    let around = find_around(function);
    widen(function, &around, &mut widths);
    choose(function, &around, &mut widths);
    if are_words(&widths) {
        return false;
    }
    for instr in function.blocks.iter_mut().flat_map(|b| &mut b.instrs) {
        if let &[Word::Value(dest)] = instr.dests.as_slice()
            && widths[dest.index()] != Width::Word
            && let Some(how) = makes(instr, arch)
        {
            make_part(instr, how);
        }
    }
    function.values = widths;
    true
}

/// By value: its phis, and what it chooses between if it is one.
fn find_around(function: &Function) -> Lists<Value> {
    let mut around = Vec::new();
    for phi in function.blocks.iter().flat_map(|block| &block.phis) {
        let sources = phi.sources.iter().flat_map(|(_, from)| from.words());
        for source in sources.filter_map(Word::value) {
            around.extend([(source.index(), phi.dest), (phi.dest.index(), source)]);
        }
    }
    Lists::gather(function.values.len(), around.into_iter())
}

/// Widens values until all that read them can.
fn widen(function: &Function, around: &Lists<Value>, widths: &mut [Width]) {
    let arch = function.extra.arch;
    let mut makers: Vec<Option<&Instr>> = vec![None; widths.len()];
    for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
        let dests = instr.written_values();
        dests.for_each(|dest| makers[dest.index()] = Some(instr));
    }
    let mut widened: Vec<Value> = Vec::new();
    let preloaded = function.preloaded_values();
    let asked = function.blocks.iter().map(|block| &block.terminator);
    let asked = asked.filter_map(|terminator| terminator.read()?.value());
    for value in preloaded.chain(asked) {
        at_least(Width::Word, value, widths, &mut widened);
    }
    // A phi and what it chooses between are all of one kind, that can be moved; but constants are put where it is.
    for value in (0..widths.len() as u32).map(Value) {
        if !around.of(value.index()).is_empty() {
            at_least(Width::Half, value, widths, &mut widened);
            widened.push(value);
        }
    }
    for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
        widen_sources(instr, arch, widths, &mut widened);
    }
    while let Some(value) = widened.pop() {
        if let Some(maker) = makers[value.index()] {
            widen_sources(maker, arch, widths, &mut widened);
        }
        for &other in around.of(value.index()) {
            at_least(widths[value.index()], other, widths, &mut widened);
        }
    }
}

fn at_least(width: Width, value: Value, widths: &mut [Width], widened: &mut Vec<Value>) {
    if widths[value.index()] < width {
        widths[value.index()] = width;
        widened.push(value);
    }
}

/// Widens what an instruction reads until it can.
fn widen_sources(instr: &Instr, arch: Arch, widths: &mut [Width], widened: &mut Vec<Value>) {
    let narrow = |value: Value| widths[value.index()] != Width::Word;
    let how = makes(instr, arch).filter(|_| instr.written_values().any(narrow));
    for number in 0..instr.sources.len() {
        let source = &instr.sources[number];
        for value in source.operand.words().filter_map(Word::value) {
            let fits = |&width: &Width| reads(instr, how, number, width, arch);
            let least = [Width::Byte, Width::Half].into_iter().find(fits);
            at_least(least.unwrap_or(Width::Word), value, widths, widened);
        }
    }
    let least = match instr.op {
        Op::Store8 => Width::Byte,
        Op::Store16 => Width::Half,
        _ => Width::Word,
    };
    for value in instr.staging.iter().filter_map(|word| word.value()) {
        at_least(least, value, widths, widened);
    }
}

/// Whether an instruction, which makes less than a word if it is said how, can read a source from any part of that width.
fn reads(instr: &Instr, how: Option<Makes>, number: usize, width: Width, arch: Arch) -> bool {
    let source = &instr.sources[number];
    let select = match how {
        Some(Makes::Lanes) => both_lanes(source.select),
        _ => Some(source.select),
    };
    let row = instr.op.isa().and_then(|op| op.row().sources.get(number));
    let (Some(row), Some(select), Operand::Word(_)) = (row, select, source.operand) else {
        return false;
    };
    Part::of_width(width).all(|part| {
        let there = part.select(select);
        there.is_some_and(|select| can_select(row, select, arch))
    })
}

/// Whether a source has a selection.
fn can_select(row: &SourceRow, select: Select, arch: Arch) -> bool {
    row.select.is_some_and(|field| {
        let row = field.table.by_select(select);
        row.is_some_and(|row| field.legal.allows(row.value, arch))
    })
}

/// What gives both lanes what a selection gives the first.
fn both_lanes(select: Select) -> Option<Select> {
    match select.lanes() {
        Lanes::Identity => Some(Select::H00),
        Lanes::Halves([first, _]) => Some([Select::H00, Select::H11][usize::from(first)]),
        Lanes::Bytes2([first, _]) => {
            let same = [Select::B00, Select::B11, Select::B22, Select::B33];
            Some(same[usize::from(first)])
        }
        _ => None,
    }
}

/// How an instruction could make less than a word, if it can.
fn makes(instr: &Instr, arch: Arch) -> Option<Makes> {
    let row = instr.op.isa()?.row();
    if instr.dests.len() != 1 {
        return None;
    }
    match instr.op {
        Op::LdBuffer16 | Op::Load16 => return Some(Makes::LoadedHalf),
        Op::LdBuffer8 | Op::Load8 => return Some(Makes::LoadedByte),
        // Its halves come from two words.
        Op::MkVec => return None,
        Op::V2F32ToV2F16 => return Some(Makes::Narrowed),
        _ if instr.modifiers.contains(&Modifier::Narrow) => return Some(Makes::Replicated),
        _ => {}
    }
    let lanes = matches!(
        row.ty,
        Type::V2u16 | Type::V2s16 | Type::V2i16 | Type::V2f16
    ) && row.kind == Kind::Alu
        && row.dest == DestKind::Word;
    let same = |(source, row): (&Source, &SourceRow)| match source.operand {
        // What is the same in both halves, as it is.
        Operand::Table(0) => true,
        _ => both_lanes(source.select).is_some_and(|select| can_select(row, select, arch)),
    };
    let all = instr.sources.iter().zip(row.sources).all(same);
    (lanes && all).then_some(Makes::Lanes)
}

/// Changes an instruction to make less than a word.
fn make_part(instr: &mut Instr, how: Makes) {
    match how {
        Makes::Lanes => {
            for source in &mut instr.sources {
                if source.operand != Operand::Table(0) {
                    source.select = both_lanes(source.select).unwrap_or(source.select);
                }
            }
        }
        Makes::Narrowed => {
            if let [first, second] = instr.sources.as_mut_slice() {
                *second = *first;
            }
        }
        Makes::Replicated => {}
        // The rest of the register stays; only a byte that becomes a half is widened.
        Makes::LoadedByte => instr.modifiers.retain(|it| *it != Modifier::ToWord),
        Makes::LoadedHalf => {
            instr.modifiers.retain(|it| *it != Modifier::ToWord);
            instr.add_modifier(Modifier::Unsigned);
        }
    }
}

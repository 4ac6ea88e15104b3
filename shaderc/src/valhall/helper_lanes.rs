//! Helper lanes: those that run so that others in their quad can look at them, and fragments that were discarded.
//!
//! What looks at the quad are textures whose level comes of differences, and exchanges of lanes. Textures that none of these
//! needs are skipped by helpers; behind the last of these helpers end.
//! Facts: hardware/compiler-backend.md 8.5.

use rustc_hash::FxHashMap as HashMap;
use rustc_hash::FxHashSet as HashSet;

use super::mir::{
    Block, Flow, Function, Instr, Instruction as _, Message, Modifier, Op, Operand, Space,
    Terminator, Value,
};
use crate::machine::Reads as _;
use eitri_isa::preload::Stage;

/// Whether a fragment program's quads must be whole.
pub(super) fn are_needed(function: &Function) -> bool {
    let mut instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    function.extra.stage == Stage::Fragment && instrs.any(looks_at_quad)
}

/// Whether a lane looks at others of its quad.
fn looks_at_quad(instr: &Instr) -> bool {
    let has = |modifier| instr.modifiers.contains(&modifier);
    match instr.op {
        Op::Clper | Op::Wmask => true,
        Op::TexSingle => has(Modifier::LodComputed) || has(Modifier::LodBiased),
        // Without derivatives of its own it takes those of the quad.
        Op::TexGradient => !has(Modifier::Derivative),
        _ => false,
    }
}

/// Whether helpers may skip it: the hardware can say so of textures alone.
fn may_be_skipped(op: Op) -> bool {
    matches!(
        op,
        Op::TexSingle | Op::TexFetch | Op::TexGather | Op::TexGradient
    )
}

/// Marks the textures that helpers need not execute. True when there are any. Needs SSA.
pub(super) fn skip_textures(function: &mut Function) -> bool {
    if !are_needed(function) {
        return false;
    }
    let needed = needed_by_helpers(function);
    let mut changed = false;
    let instrs = function
        .blocks
        .iter_mut()
        .flat_map(|block| &mut block.instrs);
    for instr in instrs.filter(|instr| may_be_skipped(instr.op)) {
        if !instr.written_values().any(|value| needed.contains(&value)) {
            instr.add_modifier(Modifier::Skip);
            changed = true;
        }
    }
    changed
}

/// The values that decide what others of a quad see: what is looked at, what says which way lanes go, what they keep in their own
/// memory, and all that these come of.
fn needed_by_helpers(function: &Function) -> HashSet<Value> {
    let mut work: Vec<Value> = vec![];
    let mut made_of: HashMap<Value, Vec<Value>> = HashMap::default();
    for block in &function.blocks {
        for phi in &block.phis {
            let sources = phi.sources.iter();
            let sources = sources.flat_map(|(_, operand)| values(operand));
            made_of.entry(phi.dest).or_default().extend(sources);
        }
        for instr in &block.instrs {
            let own = matches!(instr.space, Some(Space::Scratch | Space::Spill));
            if looks_at_quad(instr) || own && instr.op.message() != Message::Load {
                work.extend(instr.read_values());
            }
            for written in instr.written_values() {
                let read = instr.read_values();
                made_of.entry(written).or_default().extend(read);
            }
        }
        if let Terminator::Branch { condition, .. } = &block.terminator {
            work.extend(values(&condition.operand));
        }
    }
    let mut needed = HashSet::default();
    while let Some(value) = work.pop() {
        if needed.insert(value) {
            work.extend(made_of.get(&value).into_iter().flatten());
        }
    }
    needed
}

fn values(operand: &Operand) -> impl Iterator<Item = Value> {
    operand.words().filter_map(|word| word.value())
}

/// Ends helpers where none is needed any more. Needs final waits and flow, and takes an instruction that has no flow yet.
pub(super) fn end_helpers(function: &mut Function) {
    if function.extra.stage != Stage::Fragment {
        return;
    }
    let last_uses: Vec<Option<usize>> = function
        .blocks
        .iter()
        .map(|block| block.instrs.iter().rposition(looks_at_quad))
        .collect();
    if last_uses.iter().all(Option::is_none) {
        if let Some(entry) = function.blocks.first_mut() {
            end_from(entry, 0);
        }
        return;
    }
    // By block: whether a block that may come after it needs them.
    let mut later = vec![false; function.blocks.len()];
    loop {
        let mut changed = false;
        for (index, block) in function.blocks.iter().enumerate().rev() {
            let mut next = block.terminator.successors();
            let needs = next.any(|to| later[to.index()] || last_uses[to.index()].is_some());
            changed |= needs && !std::mem::replace(&mut later[index], needs);
        }
        if !changed {
            break;
        }
    }
    for ((block, last), later) in function.blocks.iter_mut().zip(last_uses).zip(later) {
        if let Some(last) = last.filter(|_| !later) {
            end_from(block, last);
        }
    }
}

/// Ends helpers behind the first instruction from `from` on that can say so, if it comes before the test of the fragment: there
/// helpers end with all the others.
fn end_from(block: &mut Block, from: usize) {
    let rest = block.instrs.iter_mut().skip(from);
    let mut rest = rest.take_while(|instr| {
        !matches!(instr.op.message(), Message::Test | Message::Pixel) && instr.op != Op::Branchz
    });
    if let Some(instr) = rest.find(|instr| instr.flow == Flow::None) {
        instr.flow = Flow::Discard;
    }
}

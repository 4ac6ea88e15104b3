//! Repeats: the same operation on registers that follow one another is one instruction that runs several times.
//!
//! Needs: registers, waits.  Guarantees: no step reads what an earlier step of the same instruction writes, since there is
//! no time between them.  Facts: hardware/ir3-isa.md 6.

use super::mir::{Class, Function, Instr, Operand, Register, Shape, Source, Sync, Word};
use super::units::Units;
use crate::machine::Instruction;

/// Most times that an instruction runs again.
const MOST_REPEATS: u8 = 3;

/// Folds runs of instructions. True if there were any.
pub(super) fn fold_repeats(function: &mut Function) -> bool {
    let mut changed = false;
    for block in &mut function.blocks {
        let mut out: Vec<Instr> = Vec::with_capacity(block.instrs.len());
        // The instruction that ran last of those that the last one of `out` stands for.
        let mut last: Option<Instr> = None;
        for instr in std::mem::take(&mut block.instrs) {
            let folded = match (out.last_mut(), &last) {
                (Some(run), Some(last)) => fold(run, last, &instr),
                _ => false,
            };
            changed |= folded;
            last = Some(instr.clone());
            if !folded {
                out.push(instr);
            }
        }
        block.instrs = out;
    }
    changed
}

/// Adds `next`, which follows `last`, to what `run` does. False if it is something else.
fn fold(run: &mut Instr, last: &Instr, next: &Instr) -> bool {
    let steps = matches!(
        next.op.shape(),
        Shape::Move | Shape::Integer | Shape::Float | Shape::Three | Shape::Shift
    );
    let bare = |instr: &Instr| Instr {
        dests: Default::default(),
        sources: Default::default(),
        sync: Sync::default(),
        location: Default::default(),
        ..instr.clone()
    };
    if !steps
        || run.repeat == MOST_REPEATS
        || next.sync != Sync::default()
        || bare(last) != bare(next)
        || !follows_all(&last.dests, &next.dests)
        || last.sources.len() != next.sources.len()
    {
        return false;
    }
    // How each source goes on must be how it has gone on so far.
    let mut moves = Vec::with_capacity(next.sources.len());
    for (number, (from, to)) in last.sources.iter().zip(&next.sources).enumerate() {
        let step = match moves_on(from, to) {
            Some(step) => step,
            None => return false,
        };
        if run.repeat > 0 && run.sources[number].steps != step {
            return false;
        }
        moves.push(step);
    }
    // What the steps so far have written: each wrote one register.
    let first = run.dests.iter().filter_map(|word| word.register());
    let written = first.fold(Units::default(), |units, register| {
        (0..=run.repeat).fold(units, |units, step| {
            let number = register.number().saturating_add(step);
            units.with(Register::new(register.class(), number))
        })
    });
    let read = next.reads().filter_map(Word::register);
    let read = read.fold(Units::default(), |units, register| units.with(register));
    if read.meets(written) {
        return false;
    }
    run.repeat += 1;
    for (source, step) in run.sources.iter_mut().zip(moves) {
        source.steps = step;
    }
    true
}

/// Whether each word is the register behind the other, of a kind that repeats step through.
fn follows_all(from: &[Word], to: &[Word]) -> bool {
    let normal = |word: &Word| {
        word.register()
            .is_some_and(|register| matches!(register.class(), Class::Full | Class::Half))
    };
    from.len() == to.len()
        && !from.is_empty()
        && from.iter().all(normal)
        && from.iter().zip(to).all(|(from, to)| follows(*from, *to))
}

fn follows(from: Word, to: Word) -> bool {
    let (Some(from), Some(to)) = (from.register(), to.register()) else {
        return false;
    };
    from.class() == to.class() && from.number().checked_add(1) == Some(to.number())
}

/// Whether a source goes on to the next register or constant, or stays; none if it does neither.
fn moves_on(from: &Source, to: &Source) -> Option<bool> {
    let same = Source {
        operand: from.operand,
        ..*to
    };
    if same != *from {
        return None;
    }
    match (from.operand, to.operand) {
        (a, b) if a == b => Some(false),
        (Operand::Word(a), Operand::Word(b)) => follows(a, b).then_some(true),
        (Operand::Const(a), Operand::Const(b)) => (a.checked_add(1) == Some(b)).then_some(true),
        _ => None,
    }
}

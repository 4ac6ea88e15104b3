//! Delayed sources: what a phi takes in the next round is computed behind the last reader of what it gives in this one.
//!
//! Then both may have one register, and no copy is needed at the end of the round.
//! Needs: SSA.  Guarantees: only what may stand anywhere in its block moves, and at most one value lives longer for it.
//! Facts: hardware/compiler-backend.md 7.2 (1).

use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

use super::function::{Block, Function, Value, Word};
use super::interface::{Instruction, Machine, Reads};
use super::liveness::live_at_ends;

/// Phis that a value goes through on its way to another one, at most.
const MOST_PHIS: usize = 4;
/// Instructions that one moves behind, at most.
const FAR: usize = 64;

/// Moves what it can. True if anything moved.
pub(crate) fn delay_sources<M: Machine>(function: &mut Function<M>) -> bool {
    // By value: the phis that may take it.
    let mut taken_by: HashMap<Value, SmallVec<[Value; 2]>> = HashMap::default();
    for phi in function.blocks.iter().flat_map(|block| &block.phis) {
        let values = phi.sources.iter().flat_map(|(_, source)| source.words());
        for value in values.filter_map(Word::value) {
            taken_by.entry(value).or_default().push(phi.dest);
        }
    }
    if taken_by.is_empty() {
        return false;
    }
    let live = live_at_ends(function);
    let mut changed = false;
    for (number, block) in function.blocks.iter_mut().enumerate() {
        let at_end = live.of(number);
        let at_end = |value: Value| {
            let decides = block_reads(block, value);
            decides || at_end.contains(&value)
        };
        let moves = moves(block, &taken_by, at_end);
        for (from, to) in moves {
            block.instrs[from..=to].rotate_left(1);
            changed = true;
        }
    }
    changed
}

/// Whether the end of a block reads a value.
fn block_reads<M: Machine>(block: &Block<M>, value: Value) -> bool {
    block.terminator.read() == Some(Word::Value(value))
}

/// What moves in a block, the last first: from which place to which.
fn moves<M: Machine>(
    block: &Block<M>,
    taken_by: &HashMap<Value, SmallVec<[Value; 2]>>,
    at_end: impl Fn(Value) -> bool,
) -> Vec<(usize, usize)> {
    // What stands at each place by now.
    let mut order: Vec<usize> = (0..block.instrs.len()).collect();
    let mut moves = vec![];
    for number in (0..block.instrs.len()).rev() {
        let instr = &block.instrs[number];
        let mut written = instr.written_values();
        let (Some(value), None) = (written.next(), written.next()) else {
            continue;
        };
        if !instr.may_move() || !taken_by.contains_key(&value) {
            continue;
        }
        // Those before it have not moved.
        let behind = &order[number + 1..];
        let behind = &behind[..behind.len().min(FAR)];
        let last_read = |value: Value| {
            let mut places = behind.iter().enumerate().rev();
            let found =
                places.find(|(_, at)| block.instrs[**at].read_values().any(|read| read == value));
            found.map(|(place, _)| place)
        };
        let phis = reached(taken_by, value).into_iter();
        let phis = phis.filter(|phi| *phi != value && !at_end(*phi));
        let Some((phi, last)) = phis
            .filter_map(|phi| Some((phi, last_read(phi)?)))
            .min_by_key(|(_, last)| *last)
        else {
            continue;
        };
        let is_read = behind[..=last]
            .iter()
            .any(|at| block.instrs[*at].read_values().any(|read| read == value));
        let longer = instr.read_values().filter(|read| {
            let later = last_read(*read).is_some_and(|place| place >= last);
            *read != phi && !later && !at_end(*read)
        });
        if !is_read && longer.count() <= 1 {
            order[number..=number + 1 + last].rotate_left(1);
            moves.push((number, number + 1 + last));
        }
    }
    moves
}

/// The phis that a value may reach through others.
fn reached(taken_by: &HashMap<Value, SmallVec<[Value; 2]>>, value: Value) -> SmallVec<[Value; 4]> {
    let mut reached: SmallVec<[Value; 4]> = SmallVec::new();
    let mut at = [value].into_iter().collect::<SmallVec<[Value; 4]>>();
    while let Some(next) = at.pop() {
        for phi in taken_by.get(&next).into_iter().flatten() {
            if !reached.contains(phi) && reached.len() < MOST_PHIS {
                reached.push(*phi);
                at.push(*phi);
            }
        }
    }
    reached
}

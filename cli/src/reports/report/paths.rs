//! The shortest and the longest way through a program, by the cycles of all units together.
//!
//! Guarantees: time in proportion to the length of the program, but for sorting.

use super::Cycles;
use eitri_isa::{Flag, ImmId, Instr, Op};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A way from the entry to an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Path {
    /// With these cycles.
    Cycles(Cycles),
    /// No bound: there is a loop on the way.
    Unbounded,
    /// No end can be reached, or a branch goes where the program doesn't say.
    Unknown,
}

/// Where an instruction leads: the next one, a branch's target, both, or nowhere.
enum Next {
    To(Vec<usize>),
    Unknown,
}

fn next(code: &[Instr], index: usize) -> Next {
    let Some(instr) = code.get(index) else {
        return Next::Unknown;
    };
    let target = match instr.op() {
        Op::Branchz => {
            let offset = instr.imm(ImmId::Offset).unwrap_or(0) as i32;
            match (index + 1).checked_add_signed(offset as isize) {
                Some(target) if target < code.len() => Some(target),
                _ => return Next::Unknown,
            }
        }
        Op::Branchzi | Op::JumpEx => return Next::Unknown,
        _ => None,
    };
    let mut places: Vec<usize> = target.into_iter().collect();
    // A branch on a constant zero is a jump.
    let always = target.is_some() && is_zero(instr) && instr.flag(Flag::Eq);
    if !always && !instr.flow.ends_thread() {
        places.push(index + 1);
    }
    Next::To(places)
}

fn is_zero(instr: &Instr) -> bool {
    let zero = eitri_isa::Operand::Constant(eitri_isa::Constant::ZERO);
    instr.source(0).is_some_and(|source| source.operand == zero)
}

/// What ways are compared by: cycles of all units together, in 64ths, so that sums are exact.
fn weight(cycles: &Cycles) -> u64 {
    let sum =
        cycles.fma + cycles.cvt + cycles.sfu + cycles.load_store + cycles.varying + cycles.texture;
    (sum * 64.0) as u64
}

/// Where a way came from, to add its cycles up.
fn collect(costs: &[Cycles], from: &[Option<usize>], end: usize) -> Cycles {
    let mut cycles = Cycles::default();
    let mut at = Some(end);
    while let Some(index) = at {
        if let Some(cost) = costs.get(index) {
            cycles.add(cost);
        }
        at = from.get(index).copied().flatten();
    }
    cycles
}

/// The cheapest way.
pub(super) fn shortest(code: &[Instr], costs: &[Cycles]) -> Path {
    let mut best = vec![u64::MAX; code.len()];
    let mut from = vec![None; code.len()];
    let mut open = BinaryHeap::new();
    let cost = |index: usize| costs.get(index).map_or(0, weight);
    if let Some(first) = best.first_mut() {
        *first = cost(0);
        open.push(Reverse((cost(0), 0)));
    }
    while let Some(Reverse((far, index))) = open.pop() {
        if best.get(index) != Some(&far) {
            continue;
        }
        let places = match next(code, index) {
            Next::Unknown => return Path::Unknown,
            Next::To(places) if places.is_empty() => {
                return Path::Cycles(collect(costs, &from, index));
            }
            Next::To(places) => places,
        };
        for place in places {
            let there = far + cost(place);
            if let (Some(best), Some(from)) = (best.get_mut(place), from.get_mut(place))
                && there < *best
            {
                *best = there;
                *from = Some(index);
                open.push(Reverse((there, place)));
            }
        }
    }
    Path::Unknown
}

/// The dearest way, if no loop can be reached.
pub(super) fn longest(code: &[Instr], costs: &[Cycles]) -> Path {
    let order = match reverse_postorder(code) {
        Ok(order) => order,
        Err(path) => return path,
    };
    let mut best = vec![0; code.len()];
    let mut from = vec![None; code.len()];
    let mut end: Option<(u64, usize)> = None;
    for index in order {
        let far = best.get(index).copied().unwrap_or(0) + costs.get(index).map_or(0, weight);
        let Next::To(places) = next(code, index) else {
            return Path::Unknown;
        };
        if places.is_empty() && end.is_none_or(|(most, _)| far > most) {
            end = Some((far, index));
        }
        for place in places {
            if let (Some(best), Some(from)) = (best.get_mut(place), from.get_mut(place))
                && (from.is_none() || far > *best)
            {
                *best = far;
                *from = Some(index);
            }
        }
    }
    match end {
        Some((_, end)) => Path::Cycles(collect(costs, &from, end)),
        None => Path::Unknown,
    }
}

/// Instructions that can be reached, each before those that it leads to; a loop is the error.
fn reverse_postorder(code: &[Instr]) -> Result<Vec<usize>, Path> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; code.len()];
    let mut order = Vec::new();
    // Each entry: an instruction, and those after it that have not been looked at.
    let mut stack: Vec<(usize, Vec<usize>)> = Vec::new();
    let enter =
        |index: usize, marks: &mut Vec<Mark>| match (next(code, index), marks.get_mut(index)) {
            (Next::To(places), Some(mark)) => {
                *mark = Mark::Open;
                Ok((index, places))
            }
            _ => Err(Path::Unknown),
        };
    stack.push(enter(0, &mut marks)?);
    while let Some((index, places)) = stack.last_mut() {
        match places.pop() {
            Some(place) => match marks.get(place) {
                Some(Mark::New) => stack.push(enter(place, &mut marks)?),
                Some(Mark::Open) => return Err(Path::Unbounded),
                Some(Mark::Done) => {}
                None => return Err(Path::Unknown),
            },
            None => {
                order.push(*index);
                if let Some(mark) = marks.get_mut(*index) {
                    *mark = Mark::Done;
                }
                stack.pop();
            }
        }
    }
    order.reverse();
    Ok(order)
}

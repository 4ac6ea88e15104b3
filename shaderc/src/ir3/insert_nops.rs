//! Idle slots: what reads a result of arithmetic keeps its distance.
//!
//! Needs: waits.  Guarantees: on every path there are as many issue slots between an instruction and what reads its result
//! as the table of `eitri_ir3_isa::timing` asks for.
//! How: what was issued last flows along the edges, with the slots since; where they are too few, idle slots are added to the
//! instruction before, then to the `nop` before, then as a new one. Slots are only ever added, so it ends.
//! Facts: hardware/ir3-isa.md 8.

use eitri_ir3_isa::Instr as Timed;
use eitri_ir3_isa::timing::MOST_SLOTS;

use super::mark_joins::successors;
use super::mir::{Function, Instr, Op, Shape};
use super::pack::{GENERATION, build};

/// Most idle slots that an instruction carries, and most repetitions of a `nop`.
const MOST_CARRIED: u8 = 3;
const MOST_REPEATED: u8 = 5;

/// What was issued lately: each instruction with the slots since its end.
#[derive(Clone, PartialEq, Eq, Default)]
struct Recent(Vec<(Timed, u8)>);

impl Recent {
    /// So many slots pass.
    fn pass(&mut self, slots: u8) {
        for (_, since) in &mut self.0 {
            *since = since.saturating_add(slots);
        }
        self.0.retain(|(_, since)| *since < MOST_SLOTS);
    }

    /// An instruction is issued.
    fn issue(&mut self, timed: Timed) {
        self.pass(timed.issue_slots());
        // What it carries behind it has passed, too.
        self.0.push((timed, timed.nop()));
    }

    /// Slots that are missing before an instruction.
    fn missing(&self, timed: &Timed) -> u8 {
        let missing = self.0.iter().map(|(producer, since)| {
            producer
                .slots_before(timed, GENERATION)
                .saturating_sub(*since)
        });
        missing.max().unwrap_or(0)
    }

    /// Adds what may have been issued on another path. True if that is news.
    fn join(&mut self, other: &Recent) -> bool {
        let mut news = false;
        for (timed, since) in &other.0 {
            match self.0.iter_mut().find(|(known, _)| known == timed) {
                Some((_, known)) if *known <= *since => {}
                Some((_, known)) => {
                    *known = *since;
                    news = true;
                }
                None => {
                    self.0.push((*timed, *since));
                    news = true;
                }
            }
        }
        news
    }
}

/// The instruction of the tables. What can't be encoded is told by `pack`; here it counts for nothing.
fn timed(instr: &Instr) -> Option<Timed> {
    build(instr, instr.target.map(|_| 1)).ok()
}

/// Adds the slots.
pub(super) fn insert_nops(function: &mut Function) {
    loop {
        let entries = entries(function);
        let mut changed = false;
        for (block, mut recent) in function.blocks.iter_mut().zip(entries) {
            let mut out: Vec<Instr> = Vec::with_capacity(block.instrs.len());
            for mut instr in std::mem::take(&mut block.instrs) {
                let Some(timed) = timed(&instr) else {
                    out.push(instr);
                    continue;
                };
                let missing = recent.missing(&timed);
                if missing > 0 {
                    changed = true;
                    idle(&mut out, missing, &mut instr);
                    recent.pass(missing);
                }
                recent.issue(timed);
                out.push(instr);
            }
            block.instrs = out;
        }
        if !changed {
            return;
        }
    }
}

/// What may have been issued lately at the start of each block.
fn entries(function: &Function) -> Vec<Recent> {
    let successors = successors(function);
    let blocks: Vec<Vec<Timed>> = function
        .blocks
        .iter()
        .map(|block| block.instrs.iter().filter_map(timed).collect())
        .collect();
    let mut entries = vec![Recent::default(); blocks.len()];
    let mut work: Vec<usize> = (0..blocks.len()).rev().collect();
    while let Some(index) = work.pop() {
        let mut recent = entries[index].clone();
        blocks[index].iter().for_each(|timed| recent.issue(*timed));
        for &to in &successors[index] {
            if entries[to].join(&recent) {
                work.push(to);
            }
        }
    }
    entries
}

/// Adds idle slots at the end of what stands before. A new `nop` takes over what the next instruction waits for, which may
/// have to follow a barrier at once.
fn idle(out: &mut Vec<Instr>, mut slots: u8, next: &mut Instr) {
    if let Some(last) = out.last_mut().filter(|last| carries(last)) {
        let more = slots.min(MOST_CARRIED - last.nops);
        last.nops += more;
        slots -= more;
    }
    if let Some(last) = out.last_mut().filter(|last| last.is_nop()) {
        let more = slots.min(MOST_REPEATED - last.repeat);
        last.repeat += more;
        slots -= more;
    }
    if slots > 0 {
        out.push(Instr {
            repeat: slots - 1,
            sync: std::mem::take(&mut next.sync),
            location: next.location,
            ..Instr::new(Op::Nop)
        });
    }
}

/// Whether an instruction can have idle slots behind it.
fn carries(instr: &Instr) -> bool {
    let shape = matches!(
        instr.op.shape(),
        Shape::Integer | Shape::Float | Shape::Three | Shape::Shift
    );
    shape && instr.repeat == 0
}

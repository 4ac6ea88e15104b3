//! Idle slots: what reads a result of arithmetic keeps its distance.
//!
//! Needs: waits.  Guarantees: on every path there are as many issue slots between an instruction and what reads its result
//! as the table of `eitri_ir3_isa::timing` asks for.
//! How: what was issued last flows along the edges, with the slots since; where they are too few, idle slots are added to the
//! instruction before, then to the `nop` before, then as a new one. Slots are only ever added, so it ends.
//! Facts: hardware/ir3-isa.md 8.

use std::collections::BTreeSet;

use eitri_ir3_isa::timing::MOST_SLOTS;
use eitri_ir3_isa::{Access, Instr as Timed, Latency, Op as Isa};
use smallvec::SmallVec;

use super::mir::{BlockId, Function, Instr, Op, Shape};
use super::pack::{GENERATION, build};

/// Most idle slots that an instruction carries, and most repetitions of a `nop`.
const MOST_CARRIED: u8 = 3;
const MOST_REPEATED: u8 = 5;

/// An instruction that writes results of arithmetic, as far as the distance to their readers depends on it.
#[derive(Clone, PartialEq, Eq)]
struct Producer {
    writes: SmallVec<[Access; 2]>,
    steps: u8,
    /// Which multiple move it is, if it is one: their steps differ.
    multiple: Option<Isa>,
}

impl Producer {
    /// None for an instruction whose results are not waited for by slots.
    fn of(timed: &Timed) -> Option<Producer> {
        let slow = |write: &Access| timed.latency(write) == Latency::Slots;
        let writes: SmallVec<[Access; 2]> = timed.writes().filter(slow).collect();
        let op = timed.op();
        let multiple = matches!(op, Isa::Swz | Isa::Gat | Isa::Sct | Isa::Movmsk);
        (!writes.is_empty()).then(|| Producer {
            writes,
            steps: timed.steps(),
            multiple: multiple.then_some(op),
        })
    }
}

/// An instruction that was issued lately.
#[derive(Clone, PartialEq, Eq)]
struct Issued {
    producer: Producer,
    /// One of those that are such a producer.
    timed: Timed,
    /// Slots since its end.
    since: u8,
}

/// What was issued lately: each kind of producer once, so that where many paths meet there are no more than registers allow.
#[derive(Clone, PartialEq, Eq, Default)]
struct Recent(Vec<Issued>);

impl Recent {
    /// So many slots pass.
    fn pass(&mut self, slots: u8) {
        if slots == 0 {
            return;
        }
        for issued in &mut self.0 {
            issued.since = issued.since.saturating_add(slots);
        }
        self.0.retain(|issued| issued.since < MOST_SLOTS);
    }

    /// An instruction is issued.
    fn issue(&mut self, timed: Timed) {
        self.pass(timed.issue_slots());
        if let Some(producer) = Producer::of(&timed) {
            // Idle slots that it carries have passed, too.
            let since = timed.nop();
            self.add(Issued {
                producer,
                timed,
                since,
            });
        }
    }

    /// Adds what may have been issued. True if that is news.
    fn add(&mut self, issued: Issued) -> bool {
        let mut known = self.0.iter_mut();
        match known.find(|known| known.producer == issued.producer) {
            Some(known) if known.since <= issued.since => false,
            Some(known) => {
                known.since = issued.since;
                true
            }
            None => {
                self.0.push(issued);
                true
            }
        }
    }

    /// Slots that are missing before an instruction.
    fn missing(&self, timed: &Timed) -> u8 {
        let missing = self.0.iter().map(|issued| {
            let needed = issued.timed.slots_before(timed, GENERATION);
            needed.saturating_sub(issued.since)
        });
        missing.max().unwrap_or(0)
    }

    /// Adds what may have been issued on another path. True if that is news.
    fn join(&mut self, other: &Recent) -> bool {
        let news = other.0.iter().map(|issued| self.add(issued.clone()));
        news.fold(false, |any, news| any | news)
    }
}

/// What a block does to what was issued before it: so many slots pass, and then this was issued, too.
struct Passage {
    slots: u8,
    own: Recent,
}

impl Passage {
    fn of(block: &[Instr]) -> Passage {
        let mut passage = Passage {
            slots: 0,
            own: Recent::default(),
        };
        for timed in block.iter().filter_map(timed) {
            passage.slots = passage.slots.saturating_add(timed.issue_slots());
            passage.own.issue(timed);
        }
        passage
    }

    /// What was issued lately at the block's end.
    fn after(&self, entry: &Recent) -> Recent {
        let mut recent = entry.clone();
        recent.pass(self.slots);
        recent.join(&self.own);
        recent
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
    let blocks = function.blocks.iter();
    let blocks: Vec<Passage> = blocks.map(|block| Passage::of(&block.instrs)).collect();
    let mut entries = vec![Recent::default(); blocks.len()];
    let mut work: BTreeSet<usize> = (0..blocks.len()).collect();
    // The first in program order first: what comes together is followed once.
    while let Some(index) = work.pop_first() {
        let recent = blocks[index].after(&entries[index]);
        let successors = function.blocks[index].terminator.successors();
        for to in successors.map(BlockId::index) {
            if entries[to].join(&recent) {
                work.insert(to);
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

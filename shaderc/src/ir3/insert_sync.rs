//! Waits: (ss) and (sy) stand before what uses a result that may still be outstanding.
//!
//! Needs: branches.  Guarantees: on every path, what reads or writes a register that an instruction will still write waits
//! for that, and what writes one that an instruction will still read; what comes after a barrier waits for everything.
//! How: what is outstanding flows along the edges to a fixpoint. A shared register is the wave's, so what is known of it
//! also flows from each block to the one behind it.  Facts: hardware/ir3-isa.md 9.

use eitri_ir3_isa::Latency;

use super::mark_joins::successors;
use super::mir::{Class, Function, Instr, Op, Sync, Word};
use super::units::Units;
use crate::machine::Instruction;

/// What is outstanding before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct State {
    /// Written by instructions of short latency.
    short: Units,
    /// Written by instructions of long latency.
    long: Units,
    /// Still to be read.
    reads: Units,
    /// A barrier stands before.
    barrier: bool,
}

impl State {
    fn join(self, other: State) -> State {
        State {
            short: self.short | other.short,
            long: self.long | other.long,
            reads: self.reads | other.reads,
            barrier: self.barrier | other.barrier,
        }
    }

    /// What the wave has in common.
    fn shared(self) -> State {
        State {
            short: self.short & Units::of_class(Class::Shared),
            ..State::default()
        }
    }

    /// What an instruction has to wait for.
    fn needed(&self, instr: &Instr) -> Sync {
        let (reads, writes) = (units(instr.reads()), units(instr.writes()));
        let uses = reads | writes;
        Sync {
            ss: self.barrier || uses.meets(self.short) || writes.meets(self.reads),
            sy: self.barrier || uses.meets(self.long),
        }
    }

    /// The instruction waits, and then runs.
    fn step(&mut self, instr: &Instr, sync: Sync) {
        if sync.ss {
            (self.short, self.reads) = (Units::default(), Units::default());
        }
        if sync.sy {
            self.long = Units::default();
        }
        self.barrier = category(instr) == 7;
        let (reads, writes) = (units(instr.reads()), units(instr.writes()));
        match instr.op.isa(instr.atomic).row().layout.latency {
            Latency::None => {}
            Latency::Slots => self.short = self.short | (writes & Units::of_class(Class::Shared)),
            Latency::Ss => self.short = self.short | writes,
            // The vector of an atomic on a buffer is one: its data are not to be touched either.
            Latency::Sy if instr.op.is_descriptor_atomic() => {
                self.long = self.long | writes | units(instr.data.iter().copied());
            }
            Latency::Sy => self.long = self.long | writes,
            Latency::SsAndSy => {
                self.short = self.short | writes;
                self.long = self.long | writes;
            }
        }
        if matches!(category(instr), 4..=6) {
            self.reads = self.reads | reads;
        }
        if waits_at_once(instr) {
            (self.short, self.reads) = (Units::default(), Units::default());
        }
    }
}

/// The category of an instruction, 0 to 7.
pub(super) fn category(instr: &Instr) -> u8 {
    instr.op.isa(instr.atomic).row().category()
}

/// Whether a wait follows directly, as the known compiler has it behind sizes.
fn waits_at_once(instr: &Instr) -> bool {
    matches!(instr.op, Op::BufferSize | Op::ImageSize)
}

fn units(words: impl Iterator<Item = Word>) -> Units {
    words
        .filter_map(Word::register)
        .fold(Units::default(), |units, register| units.with(register))
}

/// Adds the waits.
pub(super) fn insert_sync(function: &mut Function) {
    let entries = entries(function);
    for (block, mut state) in function.blocks.iter_mut().zip(entries) {
        let mut out = Vec::with_capacity(block.instrs.len());
        for mut instr in std::mem::take(&mut block.instrs) {
            let sync = state.needed(&instr);
            state.step(&instr, sync);
            // Accesses have no place for (ss), and barriers are given none.
            if sync.ss && category(&instr) >= 5 {
                out.push(Instr {
                    sync,
                    location: instr.location,
                    ..Instr::new(Op::Nop)
                });
            } else {
                instr.sync = sync;
            }
            let waits = waits_at_once(&instr);
            out.push(instr);
            if waits {
                out.push(Instr {
                    sync: Sync {
                        ss: true,
                        sy: false,
                    },
                    ..Instr::new(Op::Nop)
                });
            }
        }
        block.instrs = out;
    }
}

/// What is outstanding at the start of each block, at most.
fn entries(function: &Function) -> Vec<State> {
    let successors = successors(function);
    let count = function.blocks.len();
    let mut entries = vec![State::default(); count];
    let mut work: Vec<usize> = (0..count).rev().collect();
    while let Some(index) = work.pop() {
        let mut state = entries[index];
        for instr in &function.blocks[index].instrs {
            let sync = state.needed(instr);
            state.step(instr, sync);
        }
        let mut reach = |to: usize, state: State| {
            let joined = entries[to].join(state);
            if joined != entries[to] {
                entries[to] = joined;
                work.push(to);
            }
        };
        successors[index].iter().for_each(|&to| reach(to, state));
        if index + 1 < count {
            reach(index + 1, state.shared());
        }
    }
    entries
}

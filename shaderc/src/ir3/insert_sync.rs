//! Waits: (ss) and (sy) stand before what uses a result that may still be outstanding.
//!
//! Needs: branches.  Guarantees: on every path, what reads or writes a register that an instruction will still write waits
//! for that, and what writes one that an instruction will still read; what comes after a barrier waits for everything.
//! How: what is outstanding flows along the edges to a fixpoint. A shared register is the wave's, so what is outstanding in it
//! also flows from each edge to the reconvergence points that it jumps over, where other lanes may go on.
//! Facts: hardware/ir3-isa.md 7 (physical edges), 9.

use std::collections::{BTreeMap, BTreeSet};

use eitri_ir3_isa::Latency;

use super::mir::{Class, Function, Instr, Op, Sync, Word};
use super::reconvergence::{Reconvergence, Runs, Successors, jumped_over};
use super::units::Units;
use crate::machine::Instruction;
use crate::min_tree::MinTree;

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
    /// Adds what may be outstanding on another path. True if that is news.
    fn join(&mut self, other: State) -> bool {
        let joined = State {
            short: self.short | other.short,
            long: self.long | other.long,
            reads: self.reads | other.reads,
            barrier: self.barrier | other.barrier,
        };
        std::mem::replace(self, joined) != joined
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
    let runs = Runs::of(function);
    let entries = entries(function, &runs);
    let mut entries = runs.starts.iter().zip(entries).peekable();
    let mut state = State::default();
    let mut number = 0;
    for block in &mut function.blocks {
        let mut out = Vec::with_capacity(block.instrs.len());
        for mut instr in std::mem::take(&mut block.instrs) {
            if let Some((_, entry)) = entries.next_if(|(start, _)| **start == number) {
                state = entry;
            }
            number += 1;
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

/// What may be outstanding at the start of each run.
fn entries(function: &Function, runs: &Runs) -> Vec<State> {
    let instrs: Vec<&Instr> = function
        .blocks
        .iter()
        .flat_map(|block| &block.instrs)
        .collect();
    let count = runs.starts.len();
    let mut entries = vec![State::default(); count];
    let mut resumed = Resumed::new(&runs.successors);
    let mut work: BTreeSet<usize> = (0..count).collect();
    // The first in program order first: what comes together is followed once.
    while let Some(run) = work.pop_first() {
        let mut state = entries[run];
        let end = runs.starts.get(run + 1).copied().unwrap_or(instrs.len());
        for instr in &instrs[runs.starts[run]..end] {
            let sync = state.needed(instr);
            state.step(instr, sync);
        }
        for &to in &runs.successors[run] {
            if entries[to].join(state) {
                work.insert(to);
            }
        }
        for (to, unit) in resumed.reach(
            run,
            &runs.successors[run],
            state.short & Units::of_class(Class::Shared),
        ) {
            let short = Units::default().with_unit(unit);
            let of_wave = State {
                short,
                ..State::default()
            };
            if entries[to].join(of_wave) {
                work.insert(to);
            }
        }
    }
    entries
}

/// Where the wave goes on with other lanes: all that ran have jumped over a point where some wait. What is outstanding in
/// shared registers is outstanding there too.
struct Resumed {
    /// By run: the place from which on lanes may wait there.
    opened: MinTree,
    /// By unit of a shared register: the same without the points that know already that it is outstanding.
    unknown: BTreeMap<usize, MinTree>,
}

impl Resumed {
    fn new(successors: &[Successors]) -> Resumed {
        Resumed {
            opened: MinTree::new(Reconvergence::find(successors).opened()),
            unknown: BTreeMap::new(),
        }
    }

    /// The points that may run after a run, each with a unit that is outstanding at the run's end: each pair once.
    fn reach(
        &mut self,
        run: usize,
        successors: &[usize],
        outstanding: Units,
    ) -> Vec<(usize, usize)> {
        let mut reached = Vec::new();
        for unit in outstanding.iter() {
            let unknown = self.unknown.entry(unit);
            let unknown = unknown.or_insert_with(|| self.opened.clone());
            for &to in successors {
                let (between, limit) = jumped_over(run, to);
                while let Some(point) = unknown.first_below(between.clone(), limit) {
                    unknown.set(point, u32::MAX);
                    reached.push((point, unit));
                }
            }
        }
        reached
    }
}

//! The data flow: what is in flight before each instruction, to a fixed point, and then the rules.

use crate::finding::{Finding, Kind, Report};
use crate::in_flight::{
    BARRIER, DEPTH, GENERAL, InFlight, fragment_order, is_interpolated, replaces_coordinates, slot,
};
use crate::memory::MemoryAccess;
use crate::origin::{Graph, Origin, Step};
use crate::program::{Code, Stage, mask, next};
use eitri_isa::meaning::Operation;
use eitri_isa::{Flow, Instr};
use std::collections::{BTreeMap, BTreeSet};

/// Checks the waits of a program.
pub fn check(code: &Code<'_>) -> Report {
    let mut flow = DataFlow {
        graph: Graph {
            code,
            instrs: BTreeMap::new(),
            predecessors: BTreeMap::new(),
        },
        before: BTreeMap::new(),
        findings: vec![],
        unfollowed: vec![],
    };
    flow.solve();
    let indices: Vec<usize> = flow.graph.instrs.keys().copied().collect();
    for index in indices {
        flow.judge(index);
    }
    flow.findings
        .sort_by_key(|finding| (finding.index, finding.kind));
    flow.unfollowed.sort_unstable();
    Report {
        stage: code.stage,
        reached: flow.graph.instrs.len(),
        findings: flow.findings,
        unfollowed: flow.unfollowed,
    }
}

struct DataFlow<'c> {
    graph: Graph<'c>,
    /// By instruction: what may be in flight when it is issued.
    before: BTreeMap<usize, InFlight>,
    findings: Vec<Finding>,
    unfollowed: Vec<u64>,
}

impl DataFlow<'_> {
    /// Decodes what control flow reaches, and finds what is in flight before each instruction.
    fn solve(&mut self) {
        let stage = self.graph.code.stage;
        if self.graph.code.words.is_empty() {
            return;
        }
        self.before.insert(0, InFlight::at_start(stage));
        let mut work = BTreeSet::from([0]);
        while let Some(index) = work.pop_first() {
            if !self.graph.instrs.contains_key(&index) && !self.reach(index) {
                continue;
            }
            let (Some(instr), Some(before)) =
                (self.graph.instrs.get(&index), self.before.get(&index))
            else {
                continue;
            };
            let after = before.after(instr);
            for to in next(instr, index, stage).to {
                let Some(to) = self.inside(to) else { continue };
                let known = self.before.get_mut(&to);
                let changed = match known {
                    Some(known) => known.join(&after),
                    None => {
                        self.before.insert(to, after);
                        true
                    }
                };
                if changed {
                    work.insert(to);
                }
            }
        }
    }

    /// An index of a word, unless it is outside of the program or among the zeros behind it.
    fn inside(&self, index: i64) -> Option<usize> {
        let index = usize::try_from(index).ok()?;
        let word = *self.graph.code.words.get(index)?;
        let rest = self.graph.code.words.get(index..)?;
        (word != 0 || rest.iter().any(|word| *word != 0)).then_some(index)
    }

    /// Decodes an instruction that control flow reaches for the first time. False if it is none.
    fn reach(&mut self, index: usize) -> bool {
        let code = self.graph.code;
        let Some(word) = code.words.get(index).copied() else {
            return false;
        };
        let Ok(instr) = Instr::decode_text(word, code.arch) else {
            self.report(Kind::NoInstruction { word }, index, None);
            return false;
        };
        let next = next(&instr, index, code.stage);
        self.graph.instrs.insert(index, instr);
        if next.unknown {
            self.unfollowed.push(code.address(index));
        }
        let mut leaves = false;
        for to in next.to {
            match self.inside(to) {
                Some(to) => {
                    let predecessors = self.graph.predecessors.entry(to).or_default();
                    if !predecessors.contains(&index) {
                        predecessors.push(index);
                    }
                }
                None => leaves = true,
            }
        }
        if leaves && !next.may_end {
            self.report(Kind::NoEnd, index, None);
        }
        true
    }

    fn report(&mut self, kind: Kind, index: usize, origin: Option<Origin>) {
        let message = origin.as_ref().and_then(|origin| origin.index);
        let code = self.graph.code;
        self.findings.push(Finding {
            kind,
            address: code.address(index),
            index,
            message: message.map(|index| code.address(index)),
            message_index: message,
            path: origin.map_or(vec![], |origin| origin.path),
        });
    }

    /// Applies every rule to an instruction.
    fn judge(&mut self, index: usize) {
        let (Some(instr), Some(before)) = (
            self.graph.instrs.get(&index).cloned(),
            self.before.get(&index).copied(),
        ) else {
            return;
        };
        self.judge_registers(index, &instr, &before);
        self.judge_memory(index, &instr, before.slots & GENERAL);
        if replaces_coordinates(&instr) {
            for slot in bits(before.varyings) {
                let origin = self.sent_on(index, slot, |_, instr| is_interpolated(instr));
                self.report(Kind::VaryingBeforeWait { slot }, index, origin);
            }
        }
        if self.graph.code.stage == Stage::Fragment {
            let missing = fragment_order(&instr) & before.slots & (DEPTH | BARRIER);
            for slot in bits(missing) {
                let origin = self.not_drained_since_start(index, slot);
                self.report(Kind::FragmentOrder { slot }, index, origin);
            }
        } else {
            self.judge_barrier(index, &instr, &before);
        }
    }

    fn judge_registers(&mut self, index: usize, instr: &Instr, before: &InFlight) {
        let (reads, writes) = (mask(instr.reads()), mask(instr.writes()));
        for register in registers(reads | writes) {
            for slot in before.writers(register) {
                let kind = match reads >> register & 1 != 0 {
                    true => Kind::ReadBeforeWait { register, slot },
                    false => Kind::WriteBeforeWait { register, slot },
                };
                let origin = self.sent_on(index, slot, |_, instr| {
                    mask(instr.writes()) >> register & 1 != 0
                });
                self.report(kind, index, origin);
            }
        }
    }

    /// Looks back from an access to one of the same bytes that was not waited for.
    fn judge_memory(&mut self, index: usize, instr: &Instr, slots: u8) {
        let Some(access) = MemoryAccess::of(instr) else {
            return;
        };
        let address = access.address_registers();
        for slot in bits(slots) {
            let origin = self.graph.origin(index, false, |_, earlier| {
                // A new address, or a wait for the slot: what came before is of no interest.
                if earlier.flow.waits_for() >> slot & 1 != 0
                    || mask(earlier.writes()) & address != 0
                {
                    return Step::Stop;
                }
                let conflicts = self::slot(earlier) == Some(slot)
                    && MemoryAccess::of(earlier).is_some_and(|earlier| access.conflicts(&earlier));
                if conflicts { Step::Found } else { Step::On }
            });
            if origin.is_some() {
                self.report(Kind::MemoryBeforeWait { slot }, index, origin);
            }
        }
    }

    fn judge_barrier(&mut self, index: usize, instr: &Instr, before: &InFlight) {
        let is_barrier = instr.row().operation() == Operation::Barrier;
        if is_barrier {
            for slot in bits(before.slots & GENERAL) {
                let origin = self.sent_on(index, slot, |_, _| true);
                self.report(Kind::BarrierBeforeWait { slot }, index, origin);
            }
        }
        let goes_on = instr.row().kind.is_message() || instr.flow == Flow::End;
        if before.slots & BARRIER != 0 && goes_on {
            let origin = self.sent_on(index, 7, |_, _| true);
            self.report(Kind::AfterBarrier, index, origin);
        } else if is_barrier && instr.flow == Flow::End {
            self.report(Kind::AfterBarrier, index, None);
        }
    }

    /// The nearest message on a slot, of those that `wanted` takes, that no path to an instruction waits for.
    fn sent_on(
        &self,
        index: usize,
        slot: u8,
        wanted: impl Fn(usize, &Instr) -> bool,
    ) -> Option<Origin> {
        self.graph.origin(index, false, |at, instr| {
            if instr.flow.waits_for() >> slot & 1 != 0 {
                Step::Stop
            } else if self::slot(instr) == Some(slot) && wanted(at, instr) {
                Step::Found
            } else {
                Step::On
            }
        })
    }

    fn not_drained_since_start(&self, index: usize, slot: u8) -> Option<Origin> {
        self.graph.origin(index, true, |_, instr| {
            match instr.flow.waits_for() >> slot & 1 != 0 {
                true => Step::Stop,
                false => Step::On,
            }
        })
    }
}

fn bits(slots: u8) -> impl Iterator<Item = u8> {
    (0..8u8).filter(move |slot| slots >> slot & 1 != 0)
}

fn registers(mask: u64) -> impl Iterator<Item = u8> {
    (0..64u8).filter(move |register| mask >> register & 1 != 0)
}

//! Traces: the instructions of a ring in order, calls followed, with the registers that they certainly hold.
//!
//! Only what instructions set to constants is known. What is loaded from memory, or depends on a branch, is not: memory may have
//! changed since. So a value that is shown was in the register whenever the instruction ran after the ring's oldest that is
//! left. Behind a branch over instructions that set a register, that is one of two values, if both are known.  Guarantees: bounded by [`MOST_STEPS`], whatever calls what.  Facts: hardware/command-stream.md 1 and 3.

use super::View;
use super::map::Map;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use eitri_cs::instr::Instr;
use eitri_cs::{Arch, Pair, Reg, RegSet};

/// Instructions that are followed.
pub(super) const MOST_STEPS: usize = 1 << 15;
/// Frames that a stream has, the ring's included.
const MOST_FRAMES: usize = 8;
/// Registers that an instruction can name.
const REGISTERS: usize = 256;

/// What registers hold, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Registers {
    values: Box<[Option<u32>; REGISTERS]>,
    /// Of registers that hold one of two values, by a branch: with the instructions between, and without.
    either: BTreeMap<u8, [u32; 2]>,
}

impl Registers {
    fn unknown() -> Registers {
        Registers {
            values: Box::new([None; REGISTERS]),
            either: BTreeMap::new(),
        }
    }

    pub(super) fn get(&self, register: Reg) -> Option<u32> {
        self.values[usize::from(register.number())]
    }

    pub(super) fn pair(&self, pair: Pair) -> Option<u64> {
        let high = self.get(pair.high())?;
        Some(u64::from(high) << 32 | u64::from(self.get(pair.low())?))
    }

    /// The two values of which a branch decides.
    pub(super) fn either(&self, pair: Pair) -> Option<[u64; 2]> {
        let word = |register: Reg| {
            let both = self.get(register).map(|value| [value; 2]);
            both.or_else(|| self.either.get(&register.number()).copied())
        };
        let (low, high) = (word(pair.low())?, word(pair.high())?);
        let value = |index: usize| u64::from(high[index]) << 32 | u64::from(low[index]);
        Some([value(0), value(1)])
    }

    /// Those that are known.
    pub(super) fn known(&self) -> impl Iterator<Item = (usize, u32)> {
        let values = self.values.iter().enumerate();
        values.filter_map(|(number, value)| Some((number, (*value)?)))
    }

    fn set(&mut self, register: Reg, value: Option<u32>) {
        self.values[usize::from(register.number())] = value;
        self.either.remove(&register.number());
    }

    fn set_pair(&mut self, pair: Pair, value: Option<u64>) {
        self.set(pair.low(), value.map(|value| value as u32));
        self.set(pair.high(), value.map(|value| (value >> 32) as u32));
    }

    fn forget(&mut self, set: RegSet) {
        for register in set.iter() {
            self.set(register, None);
        }
        if set.reaches_beyond() {
            *self = Registers::unknown();
        }
    }

    /// Where an instruction may be reached in several ways; `before` is what registers held at a branch to it.
    fn join(&mut self, join: &Join, before: Option<Registers>) {
        match (join, before) {
            (Join::None, _) => {}
            (Join::Some(set), Some(before)) => self.meet(*set, &before),
            (Join::Some(set), None) => self.forget(*set),
            (Join::All, _) => *self = Registers::unknown(),
        }
    }

    /// Behind a branch over instructions that write `set`: it may have been taken with what registers held `before`.
    fn meet(&mut self, set: RegSet, before: &Registers) {
        let now = self.clone();
        self.forget(set);
        if set.reaches_beyond() {
            return;
        }
        for register in set.iter() {
            match (now.get(register), before.get(register)) {
                (Some(with), Some(without)) if with == without => self.set(register, Some(with)),
                (Some(with), Some(without)) => {
                    self.either.insert(register.number(), [with, without]);
                }
                _ => {}
            }
        }
    }

    /// The effect of an instruction that is no call, no jump and no branch.
    fn apply(&mut self, instr: &Instr, arch: Arch) {
        match instr {
            Instr::Move32(i) => self.set(i.destination, Some(i.immediate)),
            Instr::Move48(i) => self.set_pair(i.destination, Some(i.immediate)),
            Instr::AddImm32(i) => {
                let sum = self.get(i.source);
                let sum = sum.map(|value| value.wrapping_add_signed(i.immediate));
                self.set(i.destination, sum);
            }
            Instr::AddImm64(i) => {
                let sum = self.pair(i.source);
                let sum = sum.map(|value| value.wrapping_add_signed(i.immediate.into()));
                self.set_pair(i.destination, sum);
            }
            Instr::Umin32(i) => {
                let values = self.get(i.source_0).zip(self.get(i.source_1));
                self.set(i.destination, values.map(|(a, b)| a.min(b)));
            }
            other => match other.usage(arch) {
                Ok(usage) => self.forget(usage.writes),
                Err(_) => *self = Registers::unknown(),
            },
        }
    }
}

/// An instruction of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// GPU address.
    pub(super) address: u64,
    pub(super) word: u64,
    /// Frames below the ring's.
    pub(super) depth: u8,
    /// The ring's position: of the instruction, or of the one in the ring that called it.
    pub(super) position: u64,
}

/// A trace that was taken.
pub(super) struct Trace {
    pub(super) steps: Vec<Step>,
    /// What could not be followed: the number of the step behind it, and why.
    pub(super) gaps: Vec<(usize, String)>,
    /// The registers before the step that was asked for.
    pub(super) here: Option<Registers>,
    /// The last jobs, by their step, with the registers before them.
    pub(super) jobs: VecDeque<(usize, Registers)>,
}

/// What a trace is taken of.
pub(super) struct Tracer<'v, 'd> {
    pub(super) view: &'v View<'d>,
    pub(super) map: &'v Map,
    pub(super) arch: Arch,
    /// GPU address of the ring, and its bytes, a power of two.
    pub(super) ring: (u64, u64),
    /// Positions in the ring: the first and the one behind the last.
    pub(super) positions: (u64, u64),
}

/// Which registers a trace keeps.
pub(super) enum Keep {
    /// None.
    Nothing,
    /// Those before a step, and before the last jobs in front of another, which is not before it.
    Before {
        /// The step.
        step: usize,
        /// The step that may be the last.
        last: usize,
        /// How many jobs.
        jobs: usize,
    },
}

struct Run<'t, 'v, 'd> {
    tracer: &'t Tracer<'v, 'd>,
    trace: Trace,
    registers: Registers,
    keep: Keep,
}

impl Tracer<'_, '_> {
    /// Follows the ring.
    pub(super) fn trace(&self, keep: Keep) -> Trace {
        let mut run = Run {
            tracer: self,
            trace: Trace {
                steps: Vec::new(),
                gaps: Vec::new(),
                here: None,
                jobs: VecDeque::new(),
            },
            registers: Registers::unknown(),
            keep,
        };
        let (base, bytes) = self.ring;
        let (first, last) = self.positions;
        let mut code = Vec::new();
        for position in (first..last).step_by(8).take(MOST_STEPS) {
            let address = base.wrapping_add(position & bytes.wrapping_sub(1));
            let (words, gap) = self.view.words(&self.map.space, address, 1);
            if let Some(why) = gap {
                run.gap(why);
                break;
            }
            code.extend(words.into_iter().map(|word| (address, word, position)));
        }
        run.buffer(&code, 0);
        run.trace
    }
}

/// Whether an instruction starts a job: what it takes from registers has a staging map.
pub(super) fn starts_job(instr: &Instr) -> bool {
    instr.info().staging.is_some()
}

impl Run<'_, '_, '_> {
    fn gap(&mut self, why: String) {
        let step = self.trace.steps.len();
        self.trace.gaps.push((step, why));
    }

    fn is_full(&self) -> bool {
        self.trace.steps.len() >= MOST_STEPS
    }

    /// Follows a buffer of instructions: address, word, position.
    fn buffer(&mut self, code: &[(u64, u64, u64)], depth: usize) {
        let arch = self.tracer.arch;
        let forgotten = joins(code, arch);
        let mut taken: BTreeMap<usize, Registers> = BTreeMap::new();
        for (index, &(address, word, position)) in code.iter().enumerate() {
            if self.is_full() {
                return;
            }
            self.registers.join(&forgotten[index], taken.remove(&index));
            let instr = Instr::decode(word, arch).ok();
            self.keep_registers(instr.as_ref());
            self.trace.steps.push(Step {
                address,
                word,
                depth: depth as u8,
                position,
            });
            match instr {
                Some(Instr::Call(call)) => {
                    let target = (
                        self.registers.pair(call.address),
                        self.registers.get(call.length),
                    );
                    self.follow(target, position, depth + 1);
                }
                Some(Instr::Jump(jump)) => {
                    let target = (
                        self.registers.pair(jump.address),
                        self.registers.get(jump.length),
                    );
                    // It does not come back: what follows it runs only where a branch leads there.
                    self.follow(target, position, depth);
                    self.registers = Registers::unknown();
                }
                Some(branch @ Instr::Branch(_)) => {
                    note_branch(&mut taken, index, &branch, &self.registers);
                }
                None => {}
                Some(other) => self.registers.apply(&other, arch),
            }
        }
    }

    fn keep_registers(&mut self, instr: Option<&Instr>) {
        let Keep::Before { step, last, jobs } = self.keep else {
            return;
        };
        let here = self.trace.steps.len();
        if here == step {
            self.trace.here = Some(self.registers.clone());
        }
        if here <= last && instr.is_some_and(starts_job) {
            let kept = &mut self.trace.jobs;
            if kept.len() == jobs {
                kept.pop_front();
            }
            kept.push_back((here, self.registers.clone()));
        }
    }

    fn follow(&mut self, target: (Option<u64>, Option<u32>), position: u64, depth: usize) {
        let (Some(address), Some(bytes)) = target else {
            self.gap(String::from("not followed: the registers are not known"));
            self.registers = Registers::unknown();
            return;
        };
        if depth >= MOST_FRAMES {
            self.gap(String::from("not followed: deeper than a stream can call"));
            self.registers = Registers::unknown();
            return;
        }
        let room = MOST_STEPS - self.trace.steps.len().min(MOST_STEPS);
        let count = (bytes as usize / 8).min(room);
        let space = &self.tracer.map.space;
        let (words, gap) = self.tracer.view.words(space, address, count);
        let code: Vec<_> = (address..)
            .step_by(8)
            .zip(words)
            .map(|(address, word)| (address, word, position))
            .collect();
        self.buffer(&code, depth);
        if let Some(why) = gap {
            self.gap(why);
            self.registers = Registers::unknown();
        }
    }
}

/// Notes what registers hold where a branch forward is taken. With several to one place nothing more is known there.
fn note_branch(
    taken: &mut BTreeMap<usize, Registers>,
    index: usize,
    instr: &Instr,
    registers: &Registers,
) {
    let Instr::Branch(branch) = instr else {
        return;
    };
    let target = (index + 1).checked_add_signed(branch.offset.into());
    let Some(target) = target.filter(|target| *target > index) else {
        return;
    };
    let before = match taken.contains_key(&target) {
        true => Registers::unknown(),
        false => registers.clone(),
    };
    taken.insert(target, before);
}

/// What is not known any more where an instruction may be reached in several ways.
#[derive(Clone, Copy)]
enum Join {
    None,
    Some(RegSet),
    All,
}

/// For each instruction of a buffer, what branches to it make unknown: everything that is written between branch and target may
/// have been written or not, and between the target of a loop and its branch so far or not yet.
fn joins(code: &[(u64, u64, u64)], arch: Arch) -> Vec<Join> {
    let mut joins = alloc::vec![Join::None; code.len()];
    let mut work = code.len().saturating_mul(4);
    for (from, (_, word, _)) in code.iter().enumerate() {
        let Ok(Instr::Branch(branch)) = Instr::decode(*word, arch) else {
            continue;
        };
        let Some(target) = (from + 1).checked_add_signed(branch.offset.into()) else {
            continue;
        };
        if target >= code.len() {
            continue;
        }
        let between = target.min(from)..target.max(from);
        // Many branches far apart would take the square of the buffer's length.
        work = work.saturating_sub(between.len());
        joins[target] = match joins[target] {
            _ if work == 0 => Join::All,
            Join::All => Join::All,
            Join::None => written(&code[between], arch, RegSet::EMPTY),
            Join::Some(set) => written(&code[between], arch, set),
        };
    }
    joins
}

fn written(code: &[(u64, u64, u64)], arch: Arch, mut set: RegSet) -> Join {
    for (_, word, _) in code {
        match Instr::decode(*word, arch) {
            Ok(Instr::Call(_) | Instr::Jump(_)) | Err(_) => return Join::All,
            Ok(instr) => match instr.usage(arch) {
                Ok(usage) => set = set.union(usage.writes),
                Err(_) => return Join::All,
            },
        }
    }
    Join::Some(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use eitri_cs::text::{LabelSlot, assemble};

    /// What is known at the end of a stream.
    fn ended(text: &str) -> Registers {
        let mut labels = [LabelSlot::default(); 4];
        let words = assemble(text, Arch::V10, &mut labels).expect("legal");
        let code: Vec<_> = words
            .map(|word| word.expect("legal"))
            .enumerate()
            .map(|(index, word)| (8 * index as u64, word, 0))
            .collect();
        let joins = joins(&code, Arch::V10);
        let mut registers = Registers::unknown();
        let mut taken = BTreeMap::new();
        for (index, (_, word, _)) in code.iter().enumerate() {
            registers.join(&joins[index], taken.remove(&index));
            let instr = Instr::decode(*word, Arch::V10).expect("legal");
            note_branch(&mut taken, index, &instr, &registers);
            registers.apply(&instr, Arch::V10);
        }
        registers
    }

    /// What is known of r66 at the end of a stream.
    #[track_caller]
    fn check(text: &str, expected: Option<u32>) {
        assert_eq!(ended(text).get(Reg::new(66)), expected, "{text}");
    }

    #[test]
    fn behind_a_branch_one_of_two_values_is_known() {
        let either = |text| ended(text).either(Pair::new(66).expect("even"));
        let set = "MOVE48 d66, #0x5\nBRANCH.eq r70, over\nMOVE48 d66, #0x7\nover:\nNOP";
        assert_eq!(either(set), Some([7, 5]));
        let loaded = "BRANCH.eq r70, over\nMOVE48 d66, #0x7\nover:\nNOP";
        assert_eq!(either(loaded), None);
        let written = "LOAD_MULTIPLE r66, [d68]";
        assert_eq!(either(&format!("{set}\n{written}")), None);
    }

    #[test]
    fn constants_are_known_and_what_depends_on_a_branch_is_not() {
        check("MOVE32 r66, #0x5", Some(5));
        check(
            "MOVE48 d66, #0x500000007\nADD_IMMEDIATE32 r66, r66, #-1",
            Some(6),
        );
        check("MOVE32 r66, #0x5\nLOAD_MULTIPLE r66, [d68]", None);
        let skip = "MOVE32 r66, #0x1\nBRANCH.eq r68, over\nMOVE32 r66, #0x2\nover:\nNOP";
        check(skip, None);
        let skip = "MOVE32 r66, #0x1\nBRANCH.eq r68, over\nMOVE32 r70, #0x2\nover:\nNOP";
        check(skip, Some(1));
        let again = "MOVE32 r66, #0x5\nagain:\nADD_IMMEDIATE32 r66, r66, #-1\nBRANCH.gt r66, again";
        check(again, None);
    }
}

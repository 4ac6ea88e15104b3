//! Waits that are removed from finished programs: the checker complains, or no path of the program needed them.
//!
//! Whether a path needs one says a walk along it that knows messages alone: each is in flight from where it is sent until an
//! instruction waits for its slot.  Facts: hardware/compiler-backend.md 8.2.

use std::ops::Range;

use super::{Fences, Unsafe, check_waits};
use crate::valhall::mir::{Flow, Function, Instr, Instruction as _, Message, Op, Space, Word};
use crate::valhall::registers::allocate::AllocateOptions;
use crate::valhall::tests::random_function::{Random, allocate_all};
use crate::valhall::tests::waits::finish;

/// Numbers from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A message in flight.
struct Sent {
    slot: u8,
    writes: Vec<u8>,
    space: Option<Space>,
    /// Of thread-local memory for spilled words.
    bytes: Range<i64>,
    stores: bool,
    is_atomic_load: bool,
}

fn registers(words: impl Iterator<Item = Word>) -> Vec<u8> {
    let registers = words.filter_map(Word::register);
    registers.map(|register| register.number()).collect()
}

impl Sent {
    fn of(instr: &Instr) -> Option<Sent> {
        let offset = instr.immediate.unwrap_or(0);
        let size = match instr.op {
            Op::Load8 | Op::Store8 => 1,
            Op::Load16 | Op::Store16 => 2,
            _ => 4,
        };
        Some(Sent {
            slot: instr.slot?,
            writes: registers(instr.writes()),
            space: instr.space.filter(|space| *space != Space::Constant),
            bytes: offset..offset + size,
            stores: matches!(instr.op.message(), Message::Store | Message::Atomic),
            is_atomic_load: instr.op.message() == Message::Load && instr.atomic,
        })
    }

    /// Whether it must have arrived before an instruction is issued.
    fn hinders(&self, instr: &Instr, next: Option<&Sent>) -> bool {
        let touched = registers(instr.reads().chain(instr.writes()));
        let results = touched
            .iter()
            .any(|register| self.writes.contains(register));
        let accesses = next.is_some_and(|next| {
            let same = self.space.is_some() && self.space == next.space;
            let apart = self.space == Some(Space::Spill)
                && (self.bytes.end <= next.bytes.start || next.bytes.end <= self.bytes.start);
            let ordered =
                self.stores || next.stores || (self.is_atomic_load && next.is_atomic_load);
            same && !apart && ordered
        });
        results || accesses
    }
}

/// Walks one path; the first instruction that is issued too early.
fn walk(function: &Function, numbers: &mut Numbers) -> Option<String> {
    let mut in_flight: Vec<Sent> = Vec::new();
    let mut block = function.block_ids().next()?;
    for _ in 0..60 {
        for instr in &function.block(block).instrs {
            let next = Sent::of(instr);
            if in_flight
                .iter()
                .any(|sent| sent.hinders(instr, next.as_ref()))
            {
                return Some(instr.to_string());
            }
            in_flight.extend(next);
            let drained = instr.flow.drained();
            in_flight.retain(|sent| drained >> sent.slot & 1 == 0);
        }
        let successors: Vec<_> = function.block(block).terminator.successors().collect();
        block = *successors.get(numbers.below(successors.len().max(1) as u64) as usize)?;
    }
    None
}

/// The program with another flow on one instruction.
fn with_flow(function: &Function, (block, at): (usize, usize), flow: Flow) -> Function {
    let mut changed = function.clone();
    changed.blocks[block].instrs[at].flow = flow;
    changed
}

/// Where instructions with a flow stand, and which.
fn flows(function: &Function) -> Vec<((usize, usize), Flow)> {
    let blocks = function.blocks.iter().enumerate();
    let all = blocks.flat_map(|(block, data)| {
        let instrs = data.instrs.iter().enumerate();
        instrs.map(move |(at, instr)| ((block, at), instr.flow))
    });
    all.filter(|(_, flow)| *flow != Flow::None).collect()
}

#[test]
fn each_wait_of_random_functions_is_missed_or_was_not_needed() {
    let (mut missed, mut idle) = (0, 0);
    let mut numbers = Numbers(1);
    let count = if eitri_testdata::long() { 400 } else { 40 };
    for _ in 0..count {
        let length = 50 + numbers.below(300);
        let choices: Vec<u8> = (0..length).map(|_| numbers.below(256) as u8).collect();
        let mut function = Random::function(&choices);
        let limit = (numbers.below(2) == 0).then_some(12);
        let options = AllocateOptions {
            limit,
            ..AllocateOptions::default()
        };
        allocate_all(&mut function, options).expect("there are registers enough");
        let fences = finish(&mut function);
        assert_eq!(check_waits(&function, &fences), Ok(()), "{function}");
        for (place, flow) in flows(&function) {
            let Flow::Wait(mask) = flow else {
                let verdict = check_waits(&with_flow(&function, place, Flow::None), &fences);
                let told = matches!(verdict, Err(Unsafe::Flow { .. }));
                assert!(
                    told,
                    "{flow:?} at {place:?} is not missed: {verdict:?}\n{function}"
                );
                continue;
            };
            for slot in (0..3).filter(|slot| mask >> slot & 1 != 0) {
                let changed = with_flow(&function, place, Flow::Wait(mask & !(1 << slot)));
                if check_waits(&changed, &fences).is_err() {
                    missed += 1;
                    continue;
                }
                idle += 1;
                for _ in 0..20 {
                    let early = walk(&changed, &mut numbers);
                    assert_eq!(
                        early, None,
                        "slot {slot} at {place:?} is needed\n{function}"
                    );
                }
            }
        }
    }
    assert!(
        missed > 10 * idle && missed > 100,
        "{missed} missed, {idle} not needed"
    );
}

#[test]
fn a_message_in_the_slot_of_another_is_found() {
    let text = |slot: u8| {
        format!(
            "b0:
              r0 = LD_BUFFER.i32.wait0 r4, u0, space:buffer, slot:{slot}
              r1 = IADD.u32.end r0, r0
              end"
        )
    };
    let judge = |slot: u8| {
        let function = Function::parse(&text(slot)).expect("text is MIR");
        check_waits(&function, &Fences::default()).err()
    };
    assert_eq!(judge(0), None);
    assert!(matches!(judge(1), Some(Unsafe::NoWait { slots: 2, .. })));
    assert!(
        matches!(judge(7), Some(Unsafe::Message { .. })),
        "slot 7 is for barriers"
    );
}

#[test]
fn what_a_fence_or_a_barrier_waits_for_is_missed() {
    for fence in ["FENCE", "FENCE space:buffer", "BARRIER"] {
        let text = format!(
            "b0:
              STORE.i32 @r2, [r8:r9], imm:0, space:buffer
              {fence}
              r0 = LOAD.i32 [r8:r9], imm:0, space:shared
              end"
        );
        let mut function = Function::parse(&text).expect("text is MIR");
        let fences = finish(&mut function);
        assert_eq!(check_waits(&function, &fences), Ok(()), "{function}");
        let waits = flows(&function);
        let waits: Vec<_> = waits
            .iter()
            .filter(|(_, flow)| matches!(flow, Flow::Wait(_)))
            .collect();
        assert!(!waits.is_empty(), "{function}");
        for (place, _) in waits {
            let changed = with_flow(&function, *place, Flow::None);
            assert!(
                check_waits(&changed, &fences).is_err(),
                "{fence}: {changed}"
            );
        }
    }
}

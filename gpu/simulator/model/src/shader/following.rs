//! Following values that are not exact through a warp's instructions: what each rests on before it, and what its results do after.
//!
//! Needs: [`crate::fidelity`], which says what is followed and what is not. Nothing here runs unless it was asked for.

use super::environment::{Environment, Place};
use super::instruction::{Instruction, Operation};
use super::lanes::{Lanes, WARP};
use super::message::{Action, Message};
use super::registers::{read, written_range};
use super::warp::{Warp, bits};
use crate::fabric::Fabric;
use crate::fidelity::{Inexact, InexactSet, by_values};
use eitri_isa::{Arch, Instr};

/// An instruction that is about to be executed.
pub(super) struct Followed {
    address: u64,
    lanes: u16,
    all: bool,
    /// What the values rest on that it reads.
    sources: InexactSet,
    /// What its own meaning rests on.
    own: InexactSet,
    /// What decodes to it, and its sources' values: for what rests on values.
    values: Option<(Instr, [Lanes; 4])>,
}

/// Notes an instruction before it is executed; `None` unless values are followed.
#[inline]
pub(super) fn begin(
    fabric: &mut Fabric,
    around: (&Environment, Place, Arch),
    warp: &Warp,
    instruction: &Instruction,
) -> Option<Followed> {
    fabric
        .fidelity
        .is_on()
        .then(|| note(fabric, around, warp, instruction))
}

fn note(
    fabric: &mut Fabric,
    (environment, place, arch): (&Environment, Place, Arch),
    warp: &Warp,
    instruction: &Instruction,
) -> Followed {
    let (mut own, instr) = fabric.fidelity.rests_on(instruction.word, arch);
    let sources = warp.marks.of(instruction.reads);
    match instruction.operation {
        Operation::Branch { .. } | Operation::BranchTo { .. } | Operation::Discard(_) => {
            fabric
                .fidelity
                .reach(sources, |reached| reached.branch = true);
        }
        Operation::Message(message) => {
            if matches!(message.action, Action::Clock { .. }) {
                own.add(InexactSet::of(Inexact::Clocks));
            }
            begin_message(fabric, warp, instruction, (&message, own));
        }
        Operation::NotModelled => fabric.fidelity.refused(),
        _ => {}
    }
    let values = match (instruction.operation, instr) {
        (Operation::Alu(_), Some(instr)) => {
            let mut values = [[0; WARP]; 4];
            let used = &instruction.sources[..usize::from(instruction.source_count)];
            for (value, source) in values.iter_mut().zip(used) {
                *value = read(fabric, environment, place, warp, source);
            }
            Some((instr, values))
        }
        _ => None,
    };
    fabric.fidelity.executed(instruction.word, warp.pc, own);
    Followed {
        address: warp.pc,
        lanes: warp.lanes,
        all: warp.lanes == warp.live,
        sources,
        own,
        values,
    }
}

/// Where the values go that a message takes along.
fn begin_message(
    fabric: &mut Fabric,
    warp: &Warp,
    instruction: &Instruction,
    (message, own): (&Message, InexactSet),
) {
    let staged = written_range(message.read);
    let named = warp.marks.of(instruction.reads & !staged);
    let all = warp.marks.of(instruction.reads);
    match message.action {
        Action::Load { .. }
        | Action::Store { .. }
        | Action::LoadBuffer { .. }
        | Action::ByteAddress
        | Action::ElementAddress { .. }
        | Action::LoadConverted { .. }
        | Action::StoreConverted { .. }
        | Action::TexelAddress { .. }
        | Action::LoadTexel { .. }
        | Action::FetchTexel(_)
        | Action::RequestTexture(_)
        | Action::Atomic { .. }
        | Action::LoadAttribute { .. } => {
            fabric
                .fidelity
                .reach(named, |reached| reached.address = true);
        }
        Action::Atest | Action::ZsEmit { .. } | Action::Blend { .. } | Action::StoreTile(_) => {
            fabric.fidelity.reach(all, |reached| reached.pixel = true);
        }
        Action::LoadVarying(_) | Action::LoadTile(_) | Action::Barrier | Action::Clock { .. } => {}
    }
    let is_atomic = matches!(message.action, Action::Atomic { .. });
    fabric.fidelity.begin_message(all.union(own), is_atomic);
}

/// Notes what an instruction has left behind.
pub(super) fn end(
    fabric: &mut Fabric,
    warp: &mut Warp,
    instruction: &Instruction,
    followed: Followed,
) {
    let mut marks = followed.sources.union(followed.own);
    if let Operation::Message(_) = instruction.operation {
        let met = fabric.fidelity.end_message();
        fabric
            .fidelity
            .met_at(met, instruction.word, followed.address);
        marks.add(met);
    }
    if let Some((instr, values)) = &followed.values {
        let result = &warp.registers[usize::from(instruction.dest & 63)];
        let mut met = InexactSet::EMPTY;
        for lane in bits(followed.lanes) {
            let sources = values.map(|value| value[lane]);
            met.add(by_values(instr, sources, result[lane]));
        }
        fabric
            .fidelity
            .met_by_values(met, instruction.word, followed.address);
        marks.add(met);
    }
    // A narrower result leaves the other half of its register.
    let whole = instruction.mask == u32::MAX || instruction.mask == 0;
    warp.marks
        .set(instruction.writes, marks, followed.all && whole);
}

//! Execution: a warp runs until it ends, waits, stalls, faults, or has had its turn.
//!
//! Facts: hardware/valhall-isa.md 8 (values), 12 (control flow).

use super::alu::{Alu, Wide};
use super::decode::{Trouble, refusal};
use super::environment::{Environment, Place};
use super::flow::{Next, branch, finish, go_on_after_blend, taken};
use super::following;
use super::host_code::STRIDE;
use super::instruction::{Instruction, Operation, Test};
use super::lanes::{Lanes, WARP};
use super::late;
use super::messages::{Memory, Sent};
use super::others;
use super::program::Program;
use super::registers::{
    check_registers, note_registers, operand, read, write, write_wide, written_range,
};
use super::stage::Stage;
use super::stopped::{JobFault, Stopped, exception};
use super::warp::{Warp, bits};
use crate::defect::{Defects, ShaderDefect};
use crate::diagnosis::{Misuse, ShaderMisuse};
use crate::fabric::Fabric;
use crate::memory::PhysicalMemory;
use crate::trace::{Event, PixelStepKind};
use eitri_isa::Flow;
use eitri_isa::row::Unit;

/// What a source reads that an operation does not use.
static NOTHING: Lanes = [0; WARP];

/// What executes warps: the program and what is around it.
pub(crate) struct Executor<'a> {
    pub(crate) program: &'a mut Program,
    pub(crate) environment: &'a Environment,
    pub(crate) memory_unit: &'a mut Memory,
    pub(crate) place: Place,
    pub(crate) fabric: &'a mut Fabric,
    pub(crate) memory: &'a mut dyn PhysicalMemory,
}

/// How many instructions a warp executes before another has its turn.
///
/// A turn ends behind a branch, a message, an instruction that waits, or before an instruction whose number in its page is a multiple
/// of [`STRIDE`]. So what executes many instructions at once need not stop within them, and warps take turns alike by every engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WarpTurn {
    /// From so many on it ends where it may.
    pub(crate) wanted: u64,
    /// No more, wherever that is.
    pub(crate) most: u64,
}

impl WarpTurn {
    /// Exactly so many.
    pub(crate) fn of(instructions: u64) -> WarpTurn {
        WarpTurn {
            wanted: instructions,
            most: instructions,
        }
    }

    /// One of drawn length where turns are reordered: a power of two whose exponent is below `exponents`, and at most `most`.
    pub(crate) fn drawn(fabric: &mut Fabric, exponents: u64, most: u64) -> Option<WarpTurn> {
        let exponent = fabric.draw(exponents)?;
        Some(WarpTurn::of((1 << exponent).min(most)))
    }

    /// Whether it is over after `used` instructions.
    #[inline]
    pub(super) fn is_over(self, used: u64, may_end: bool) -> bool {
        used >= self.most || (used >= self.wanted && may_end)
    }

    /// What is left of it.
    fn rest(self, used: u64) -> WarpTurn {
        WarpTurn {
            wanted: self.wanted.saturating_sub(used),
            most: self.most.saturating_sub(used),
        }
    }
}

/// Whether a turn may end before the instruction at `pc`, whatever is before it.
#[inline]
pub(super) fn begins_stride(pc: u64) -> bool {
    pc.is_multiple_of(8 * STRIDE as u64)
}

impl Executor<'_> {
    /// Runs a warp for a turn; how many instructions it were, and why it stopped.
    pub(crate) fn run(&mut self, warp: &mut Warp, turn: WarpTurn) -> (u64, Stopped) {
        let (mut used, mut may_end) = (0, true);
        let mut buffers = [[0; WARP]; 4];
        while !turn.is_over(used, may_end) {
            if !warp.late.is_empty() {
                match self.catch_up(warp) {
                    Ok(false) => {}
                    // As long as an instruction, so that others come between.
                    Ok(true) => return (used + 1, Stopped::Turn),
                    Err(stopped) => return (used, stopped),
                }
            }
            if warp.lanes == 0 && !warp.choose() {
                let stopped = if warp.has_ended() {
                    Stopped::Ended
                } else {
                    Stopped::Barrier
                };
                return (used, stopped);
            }
            let straight = self.run_straight(warp, turn.rest(used), &mut buffers);
            if straight.executed != 0 {
                used += straight.executed;
                may_end = straight.may_end;
                continue;
            }
            used += 1;
            self.memory_unit.issued = used;
            let address = warp.pc;
            let next = self.step(warp, &mut buffers);
            may_end = self.program.ends_block(address) || begins_stride(warp.pc);
            match next {
                Ok(Next::Following) => {}
                Ok(Next::Choose) => warp.park(),
                Err(stopped) => return (used, stopped),
            }
        }
        (used, Stopped::Turn)
    }

    fn step(&mut self, warp: &mut Warp, buffers: &mut [Lanes; 4]) -> Result<Next, Stopped> {
        let address = warp.pc;
        let next = self.execute(warp, buffers)?;
        if let Some(slots) = warp.times.as_mut().and_then(|times| times.wait()) {
            self.fabric.journal.trace(Event::Waited { address, slots });
        }
        Ok(next)
    }

    fn execute(&mut self, warp: &mut Warp, buffers: &mut [Lanes; 4]) -> Result<Next, Stopped> {
        if !warp.pc.is_multiple_of(8) {
            return Err(fault(exception::INSTR_INVALID_PC, warp.pc));
        }
        let (space, arch) = (self.environment.space, self.program.arch());
        let (instruction, trouble) =
            self.program
                .fetch(self.fabric, self.memory, space, warp.pc)?;
        let address = warp.pc;
        let report = |fabric: &mut Fabric, misuse| {
            fabric.journal.report(Misuse::Shader { address, misuse });
        };
        if let Some(trouble) = trouble {
            let word = instruction.word;
            report(
                self.fabric,
                match trouble {
                    Trouble::Undefined => ShaderMisuse::Undefined { word },
                    Trouble::FauRules => ShaderMisuse::FauRules { word },
                    Trouble::OddPair => ShaderMisuse::OddPair { word },
                    Trouble::HalfBits => ShaderMisuse::HalfBits { word },
                },
            );
        }
        if self.fabric.journal.traces_instructions() {
            let waits =
                (warp.outstanding_slots() | instruction.sends_to()) & instruction.flow.waits_for();
            warp.times.get_or_insert_default().issue(waits);
            self.fabric.journal.trace(Event::Shader {
                address,
                word: instruction.word,
                lanes: warp.lanes,
                live: warp.live,
                waits,
            });
        }
        let core = self.fabric.activity.core(self.place.core);
        match instruction.unit {
            Unit::Fma => core.fma += u64::from(instruction.cycles),
            Unit::Cvt => core.cvt += u64::from(instruction.cycles),
            Unit::Sfu => core.sfu += u64::from(instruction.cycles),
            Unit::V | Unit::Vt => core.interpolated += u64::from(instruction.interpolated),
            Unit::Ls | Unit::T | Unit::None => {}
        }
        core.diverged += u64::from(warp.lanes != warp.live);
        check_registers(self.fabric, self.environment, warp, instruction);
        let around = (self.environment, self.place, arch);
        let followed = following::begin(self.fabric, around, warp, instruction);
        let around = (self.environment, self.place);
        let depends = others::begin(self.fabric, around, warp, instruction);
        let (flow, running) = (instruction.flow, warp.lanes);
        let (writes, last_use) = (instruction.writes, instruction.last_use);
        let mut next = Next::Following;
        match instruction.operation {
            Operation::Nop => {}
            Operation::Alu(alu) => {
                let around = (self.environment, self.place);
                compute(self.fabric, around, warp, instruction, alu, buffers);
            }
            Operation::Wide(wide) => {
                let around = (self.environment, self.place);
                compute_wide(self.fabric, around, warp, instruction, wide);
            }
            Operation::LaneMask { .. } | Operation::OtherLane { .. } => {
                let around = (self.environment, self.place);
                of_lanes(self.fabric, around, warp, instruction);
            }
            Operation::Branch {
                test,
                if_zero,
                offset,
            } => {
                if test == Test::LowBits {
                    let word = instruction.word;
                    report(self.fabric, ShaderMisuse::UnknownBranchTest { word });
                }
                let value = read(
                    self.fabric,
                    self.environment,
                    self.place,
                    warp,
                    &instruction.sources[0],
                );
                let taken = taken(warp, test, if_zero, &value) & !deaf_lanes(&self.fabric.defects);
                warp.waited(flow.waits_for());
                let target = warp
                    .pc
                    .wrapping_add(8)
                    .wrapping_add_signed(8 * i64::from(offset));
                next = branch(warp, taken, flow, |_| target);
            }
            Operation::BranchTo {
                test,
                if_zero,
                absolute,
            } => {
                let value = read(
                    self.fabric,
                    self.environment,
                    self.place,
                    warp,
                    &instruction.sources[0],
                );
                let target = read(
                    self.fabric,
                    self.environment,
                    self.place,
                    warp,
                    &instruction.sources[1],
                );
                let taken = taken(warp, test, if_zero, &value) & !deaf_lanes(&self.fabric.defects);
                warp.waited(flow.waits_for());
                let base = warp.pc;
                next = branch(warp, taken, flow, |lane| {
                    if absolute {
                        base & !0xffff_ffff | u64::from(target[lane])
                    } else {
                        base.wrapping_add(8)
                            .wrapping_add_signed((target[lane] as i32).into())
                    }
                });
            }
            Operation::Message(message) => {
                if !message.counts_fit {
                    let word = instruction.word;
                    report(self.fabric, ShaderMisuse::StagingCount { word });
                }
                let sent = if self.fabric.reorders() && late::may_be_late(&message.action) {
                    late::keep(warp, instruction, message);
                    Sent::Done
                } else {
                    self.memory_unit.send(
                        self.fabric,
                        self.memory,
                        (self.environment, self.place, arch),
                        warp,
                        instruction,
                        &message,
                    )?
                };
                match sent {
                    Sent::Done => warp.send(message.slot, written_range(message.write)),
                    Sent::Barrier => {
                        return Ok(self.barrier(warp, address, flow));
                    }
                    Sent::Blended { done, skip } => {
                        warp.send(message.slot, 0);
                        note_registers(warp, running, writes, last_use);
                        warp.waited(flow.waits_for());
                        return Ok(go_on_after_blend(warp, done, skip, flow));
                    }
                }
            }
            Operation::Discard(condition) => {
                let [left, right] = [0, 1].map(|index: usize| {
                    let source = &instruction.sources[index];
                    read(self.fabric, self.environment, self.place, warp, source)
                });
                let Stage::Fragment(stage) = &mut self.memory_unit.stage else {
                    let word = instruction.word;
                    report(self.fabric, ShaderMisuse::WrongStage { word });
                    return Err(fault(exception::INSTR_INVALID_ENC, address));
                };
                let discarded = bits(warp.lanes)
                    .filter(|lane| condition.singles(left[*lane], right[*lane]))
                    .fold(0, |mask, lane| mask | 1 << lane);
                let mut all = bits(discarded);
                let followed = all.find_map(|lane| stage.before(self.fabric, lane));
                stage.discard(discarded);
                if let Some(before) = followed {
                    stage.tell_step(self.fabric, before, None, PixelStepKind::Discarded);
                }
                warp.helpers |= discarded;
            }
            Operation::Kaboom => return Err(fault(exception::KABOOM, address)),
            Operation::Invalid => return Err(fault(exception::INSTR_INVALID_ENC, address)),
            Operation::NotModelled => {
                report(self.fabric, refusal(instruction.word, arch));
                return Err(fault(exception::INSTR_INVALID_ENC, address));
            }
        }
        if self.fabric.defects.in_shader {
            let (core, defects) = (self.place.core, &self.fabric.defects);
            defects.wear_registers(core, &mut warp.registers, writes);
        }
        if let Some(followed) = followed {
            following::end(self.fabric, warp, instruction, followed);
        }
        others::finish(warp, instruction, running, depends);
        note_registers(warp, running, writes, last_use);
        Ok(finish(warp, next, flow))
    }

    fn barrier(&mut self, warp: &mut Warp, address: u64, flow: Flow) -> Next {
        let mut report = |misuse| {
            self.fabric
                .journal
                .report(Misuse::Shader { address, misuse });
        };
        if flow.waits_for() & 1 << 7 == 0 {
            report(ShaderMisuse::BarrierWithoutWait);
        }
        if let Some(slot) = warp.outstanding_slot() {
            report(ShaderMisuse::BarrierOutstanding { slot });
        }
        if warp.lanes != warp.live & !warp.waiting {
            report(ShaderMisuse::BarrierDiverged {
                lanes: warp.lanes.into(),
            });
        }
        warp.waited(0xff);
        warp.pc = warp.pc.wrapping_add(8);
        if flow.ends_thread() {
            warp.end();
        } else if self.fabric.defects.shader_has(ShaderDefect::BarrierIgnored) {
            warp.park();
        } else {
            warp.wait_at_barrier();
        }
        Next::Choose
    }
}

/// Lanes that never branch, on broken hardware.
fn deaf_lanes(defects: &Defects) -> u16 {
    if !defects.in_shader {
        return 0;
    }
    let lanes = defects.in_shader().map(|defect| match defect {
        ShaderDefect::BranchLane { lane } => 1 << (lane & 15),
        _ => 0,
    });
    lanes.fold(0, |all, lane| all | lane)
}

/// Executes an operation on 32-bit registers. `buffers` are for sources that are not registers as they stand.
#[inline(never)]
pub(super) fn compute(
    fabric: &mut Fabric,
    (environment, place): (&Environment, Place),
    warp: &mut Warp,
    instruction: &Instruction,
    alu: Alu,
    buffers: &mut [Lanes; 4],
) {
    let mut sources = [&NOTHING; 4];
    let used = &instruction.sources[..usize::from(instruction.source_count)];
    for ((source, place_of), buffer) in used.iter().zip(&mut sources).zip(buffers) {
        *place_of = operand(fabric, environment, place, warp, source, buffer);
    }
    let mut result = [0; WARP];
    let worn = fabric.defects.in_shader;
    let done = if worn {
        fabric.defects.operation(place.core, alu)
    } else {
        alu
    };
    done.run(sources, &mut result, environment.policy);
    if worn {
        fabric.defects.damage(place.core, alu, &mut result);
    }
    write(warp, instruction.dest, instruction.mask, &result);
}

/// Executes an operation on pairs of registers.
pub(super) fn compute_wide(
    fabric: &mut Fabric,
    (environment, place): (&Environment, Place),
    warp: &mut Warp,
    instruction: &Instruction,
    wide: Wide,
) {
    let mut sources = [[0; WARP]; 3];
    let used = instruction
        .wide
        .iter()
        .take(instruction.source_count.into());
    for (value, source) in sources.iter_mut().zip(used) {
        let one_word = source.select.reads_one_word();
        let journal = &mut fabric.journal;
        *value = environment.fetch_wide(journal, warp, place, source.from, one_word);
        source.select.apply_all(value);
        if source.not {
            value.iter_mut().for_each(|bits| *bits = !*bits);
        }
    }
    let mut result = [0; WARP];
    wide.run([&sources[0], &sources[1], &sources[2]], &mut result);
    if fabric.defects.shader_has(ShaderDefect::WideCarry) {
        result = result.map(|value| value & !(1 << 32));
    }
    write_wide(warp, instruction.dest, &result);
}

/// Executes an operation whose result depends on what other lanes hold.
pub(super) fn of_lanes(
    fabric: &mut Fabric,
    around: (&Environment, Place),
    warp: &mut Warp,
    instruction: &Instruction,
) {
    match instruction.operation {
        Operation::LaneMask { subgroup } => {
            debug_assert_eq!(usize::from(subgroup), WARP);
            lane_mask(fabric, around, warp, instruction);
        }
        Operation::OtherLane {
            subgroup,
            xor,
            inactive,
        } => {
            let way = (subgroup, xor, inactive);
            other_lane(fabric, around, warp, instruction, way);
        }
        _ => {}
    }
}

/// Sets a register to the mask of the running lanes in which the source is not zero.
pub(super) fn lane_mask(
    fabric: &mut Fabric,
    (environment, place): (&Environment, Place),
    warp: &mut Warp,
    instruction: &Instruction,
) {
    let value = read(fabric, environment, place, warp, &instruction.sources[0]);
    let set = bits(warp.lanes)
        .filter(|lane| value[*lane] != 0)
        .fold(0u32, |mask, lane| mask | 1 << lane);
    let wrong = fabric.defects.shader_has(ShaderDefect::LaneMask);
    let set = if wrong { set | 1 << 4 } else { set };
    write(warp, instruction.dest, instruction.mask, &[set; WARP]);
}

/// Sets a register to the value of another lane of the subgroup.
pub(super) fn other_lane(
    fabric: &mut Fabric,
    (environment, place): (&Environment, Place),
    warp: &mut Warp,
    instruction: &Instruction,
    (subgroup, xor, inactive): (u8, bool, u32),
) {
    let [value, lane] = [0, 1].map(|index: usize| {
        let source = &instruction.sources[index];
        read(fabric, environment, place, warp, source)
    });
    let within = usize::from(subgroup) - 1;
    let wrong = fabric.defects.shader_has(ShaderDefect::LaneSelect);
    let result = core::array::from_fn(|own| {
        let wanted = lane[own] as usize & 0xff;
        let wanted = if xor { (own & within) ^ wanted } else { wanted };
        let from = own & !within | wanted & within;
        let from = if wrong { (from + 1) % WARP } else { from };
        let there = warp.lanes >> from & 1 != 0 && wanted <= within;
        if there { value[from] } else { inactive }
    });
    write(warp, instruction.dest, instruction.mask, &result);
}

fn fault(exception: u8, address: u64) -> Stopped {
    JobFault { exception, address }.into()
}

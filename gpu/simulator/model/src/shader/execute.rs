//! Execution: a warp runs until it ends, waits, stalls, faults, or has had its turn.
//!
//! Facts: hardware/valhall-isa.md 6 (flow), 8 (values), 12 (control flow).

use super::decode::Trouble;
use super::environment::{Environment, Place};
use super::instruction::{Instruction, Operation, Source, Test};
use super::lanes::{Lanes, WARP, WideLanes};
use super::messages::{Memory, Sent};
use super::program::Program;
use super::stage::Stage;
use super::warp::{Warp, bits};
use crate::defect::ShaderDefect;
use crate::diagnosis::{Misuse, ShaderMisuse};
use crate::fabric::Fabric;
use crate::memory::PhysicalMemory;
use crate::mmu::{Refusal, Refused};
use crate::trace::Event;
use eitri_isa::Flow;
use eitri_isa::row::Unit;

/// A job's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobFault {
    pub(crate) exception: u8,
    pub(crate) address: u64,
}

/// Exceptions that shaders raise; their table is `eitri_csf::fault`.
pub(crate) mod exception {
    pub(crate) const KABOOM: u8 = 0x05;
    pub(crate) const INSTR_INVALID_PC: u8 = 0x50;
    pub(crate) const INSTR_INVALID_ENC: u8 = 0x51;
    pub(crate) const INSTR_BARRIER_FAULT: u8 = 0x55;
    pub(crate) const DATA_INVALID_FAULT: u8 = 0x58;
    pub(crate) const IMPRECISE_FAULT: u8 = 0x5B;
}

/// Why a warp stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It has had its turn.
    Turn,
    /// Its threads have ended.
    Ended,
    /// Its live threads wait at a barrier.
    Barrier,
    /// A memory access waits, or the job has failed.
    Refused(Refused<JobFault>),
}

impl From<Refusal> for Refused<JobFault> {
    fn from(refusal: Refusal) -> Refused<JobFault> {
        let (exception, address) = match refusal {
            Refusal::Stalled(stall) => return Refused::Stalled(stall),
            Refusal::Fault(fault) => (fault.exception, fault.address),
            Refusal::Bus(error) => (exception::IMPRECISE_FAULT, error.address),
        };
        Refused::Failed(JobFault { exception, address })
    }
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Stopped {
        Stopped::Refused(refusal.into())
    }
}

impl From<JobFault> for Stopped {
    fn from(fault: JobFault) -> Stopped {
        Stopped::Refused(Refused::Failed(fault))
    }
}

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

/// What follows an instruction.
enum Next {
    /// The instruction after it.
    Following,
    /// The running lanes have gone apart, or stopped: choose again.
    Choose,
}

impl Executor<'_> {
    /// Runs a warp for at most `turn` instructions; how many it were, and why it stopped.
    pub(crate) fn run(&mut self, warp: &mut Warp, turn: u64) -> (u64, Stopped) {
        let mut used = 0;
        while used < turn {
            if warp.lanes == 0 && !warp.choose() {
                let stopped = if warp.has_ended() {
                    Stopped::Ended
                } else {
                    Stopped::Barrier
                };
                return (used, stopped);
            }
            used += 1;
            self.memory_unit.issued = used;
            match self.step(warp) {
                Ok(Next::Following) => {}
                Ok(Next::Choose) => warp.park(),
                Err(stopped) => return (used, stopped),
            }
        }
        (used, Stopped::Turn)
    }

    fn step(&mut self, warp: &mut Warp) -> Result<Next, Stopped> {
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
            self.fabric.journal.trace(Event::Shader {
                address,
                word: instruction.word,
                lanes: warp.lanes,
            });
        }
        let core = self.fabric.activity.core(self.place.core);
        match instruction.unit {
            Unit::Fma => core.fma += u64::from(instruction.cycles),
            Unit::Cvt => core.cvt += u64::from(instruction.cycles),
            Unit::Sfu => core.sfu += u64::from(instruction.cycles),
            Unit::Ls | Unit::V | Unit::Vt | Unit::T | Unit::None => {}
        }
        core.diverged += u64::from(warp.lanes != warp.live);
        check_registers(self.fabric, self.environment, warp, instruction);
        let (flow, running) = (instruction.flow, warp.lanes);
        let (writes, last_use) = (instruction.writes, instruction.last_use);
        let mut next = Next::Following;
        match instruction.operation {
            Operation::Nop => {}
            Operation::Alu(alu) => {
                let mut buffers = [[0; WARP]; 4];
                let mut sources = [&NOTHING; 4];
                let used = &instruction.sources[..usize::from(instruction.source_count)];
                for ((source, place), buffer) in used.iter().zip(&mut sources).zip(&mut buffers) {
                    *place = match source.plain_register() {
                        Some(register) => &warp.registers[usize::from(register & 63)],
                        None => {
                            *buffer = read(self.fabric, self.environment, self.place, warp, source);
                            buffer
                        }
                    };
                }
                let mut result = [0; WARP];
                let worn = self.fabric.defects.in_shader;
                let (core, defects) = (self.place.core, &self.fabric.defects);
                let done = if worn {
                    defects.operation(core, alu)
                } else {
                    alu
                };
                done.run(sources, &mut result, self.environment.policy);
                if worn {
                    defects.damage(core, alu, &mut result);
                }
                write(warp, instruction.dest, instruction.mask, &result);
            }
            Operation::Wide(wide) => {
                let mut sources = [[0; WARP]; 3];
                for (value, source) in sources.iter_mut().zip(&instruction.wide) {
                    let one_word = source.select.reads_one_word();
                    let journal = &mut self.fabric.journal;
                    let raw = self.environment.fetch_wide(
                        journal,
                        warp,
                        self.place,
                        source.from,
                        one_word,
                    );
                    let flip = if source.not { u64::MAX } else { 0 };
                    *value = raw.map(|bits| source.select.apply(bits) ^ flip);
                }
                let mut result = [0; WARP];
                wide.run([&sources[0], &sources[1], &sources[2]], &mut result);
                if self.fabric.defects.shader_has(ShaderDefect::WideCarry) {
                    result = result.map(|value| value & !(1 << 32));
                }
                write_wide(warp, instruction.dest, &result);
            }
            Operation::LaneMask { subgroup } => {
                let value = read(
                    self.fabric,
                    self.environment,
                    self.place,
                    warp,
                    &instruction.sources[0],
                );
                let set = bits(warp.lanes)
                    .filter(|lane| value[*lane] != 0)
                    .fold(0u32, |mask, lane| mask | 1 << lane);
                debug_assert_eq!(usize::from(subgroup), WARP);
                let wrong = self.fabric.defects.shader_has(ShaderDefect::LaneMask);
                let set = if wrong { set | 1 << 4 } else { set };
                write(warp, instruction.dest, instruction.mask, &[set; WARP]);
            }
            Operation::OtherLane {
                subgroup,
                xor,
                inactive,
            } => {
                let value = read(
                    self.fabric,
                    self.environment,
                    self.place,
                    warp,
                    &instruction.sources[0],
                );
                let lane = read(
                    self.fabric,
                    self.environment,
                    self.place,
                    warp,
                    &instruction.sources[1],
                );
                let within = usize::from(subgroup) - 1;
                let wrong = self.fabric.defects.shader_has(ShaderDefect::LaneSelect);
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
                let taken = taken(warp, test, if_zero, &value) & !self.deaf_lanes();
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
                let taken = taken(warp, test, if_zero, &value) & !self.deaf_lanes();
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
                let sent = self.memory_unit.send(
                    self.fabric,
                    self.memory,
                    (self.environment, self.place, arch),
                    warp,
                    instruction,
                    &message,
                )?;
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
                stage.discard(discarded);
                warp.helpers |= discarded;
            }
            Operation::Kaboom => return Err(fault(exception::KABOOM, address)),
            Operation::Invalid => return Err(fault(exception::INSTR_INVALID_ENC, address)),
            Operation::NotModelled => {
                let word = instruction.word;
                report(self.fabric, ShaderMisuse::NotModelled { word });
                return Err(fault(exception::INSTR_INVALID_ENC, address));
            }
        }
        if self.fabric.defects.in_shader {
            let (core, defects) = (self.place.core, &self.fabric.defects);
            defects.wear_registers(core, &mut warp.registers, writes);
        }
        note_registers(warp, running, writes, last_use);
        Ok(finish(warp, next, flow))
    }

    /// Lanes that never branch, on broken hardware.
    fn deaf_lanes(&self) -> u16 {
        if !self.fabric.defects.in_shader {
            return 0;
        }
        let lanes = self.fabric.defects.in_shader().map(|defect| match defect {
            ShaderDefect::BranchLane { lane } => 1 << (lane & 15),
            _ => 0,
        });
        lanes.fold(0, |all, lane| all | lane)
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

/// Lanes of which no blend shader follows skip instructions or end; the others go on behind the BLEND, whose end they ignore.
fn go_on_after_blend(warp: &mut Warp, done: u16, skip: u32, flow: Flow) -> Next {
    let following = warp.pc.wrapping_add(8);
    for lane in bits(warp.lanes) {
        let skips = done >> lane & 1 != 0;
        let behind = following.wrapping_add(8 * u64::from(skip));
        warp.pcs[lane] = if skips { behind } else { following };
    }
    let lanes = warp.lanes;
    warp.forget_running();
    if flow.ends_thread() {
        warp.live &= !(lanes & done);
    }
    if flow == Flow::Discard {
        warp.live &= !(lanes & warp.helpers);
    }
    Next::Choose
}

/// Flow control takes effect, and the running lanes move on.
fn finish(warp: &mut Warp, next: Next, flow: Flow) -> Next {
    if let Next::Choose = next {
        // A branch has placed its lanes already.
        return Next::Choose;
    }
    warp.pc = warp.pc.wrapping_add(8);
    match flow {
        Flow::None | Flow::WaitResource | Flow::Continue => Next::Following,
        Flow::Discard => {
            warp.end_helpers();
            Next::Following
        }
        Flow::End => {
            warp.end();
            Next::Choose
        }
        Flow::Reconverge => Next::Choose,
        _ => {
            warp.waited(flow.waits_for());
            Next::Following
        }
    }
}

/// Notes which registers hold something after an instruction.
#[inline]
fn note_registers(warp: &mut Warp, lanes: u16, writes: u64, last_use: u64) {
    if last_use != 0 {
        warp.invalidate(lanes, last_use);
    }
    warp.written |= writes;
    if lanes == warp.all {
        warp.valid_everywhere |= writes;
    } else if writes & !warp.valid_everywhere != 0 {
        warp.validate(lanes, writes & !warp.valid_everywhere);
    }
}

fn fault(exception: u8, address: u64) -> Stopped {
    JobFault { exception, address }.into()
}

/// The registers of a written range, a bit a register.
fn written_range((first, count): (u8, u8)) -> u64 {
    (0..count).fold(0, |mask, index| mask | 1 << ((first + index) & 63))
}

/// The selected value of a 32-bit source.
#[inline]
fn read(
    fabric: &mut Fabric,
    environment: &Environment,
    place: Place,
    warp: &Warp,
    source: &Source,
) -> Lanes {
    let mut lanes = environment.fetch(&mut fabric.journal, warp, place, source.from);
    source.select.apply_all(&mut lanes);
    if source.keep != u32::MAX || source.flip != 0 {
        for bits in &mut lanes {
            *bits = (*bits & source.keep) ^ source.flip;
        }
    }
    lanes
}

/// Writes a result to the running lanes.
#[inline]
fn write(warp: &mut Warp, register: u8, mask: u32, result: &Lanes) {
    let lanes = warp.lanes;
    let target = &mut warp.registers[usize::from(register & 63)];
    if lanes == u16::MAX && mask == u32::MAX {
        *target = *result;
        return;
    }
    for (lane, (target, result)) in target.iter_mut().zip(result).enumerate() {
        let mask = if lanes >> lane & 1 != 0 { mask } else { 0 };
        *target = *target & !mask | result & mask;
    }
}

fn write_wide(warp: &mut Warp, register: u8, result: &WideLanes) {
    write(warp, register, u32::MAX, &result.map(|value| value as u32));
    let high = result.map(|value| (value >> 32) as u32);
    write(warp, register.wrapping_add(1), u32::MAX, &high);
}

/// The running lanes that take a branch.
fn taken(warp: &Warp, test: Test, if_zero: bool, value: &Lanes) -> u16 {
    bits(warp.lanes)
        .filter(|lane| {
            let value = value[*lane];
            let holds = match test {
                Test::Word => value != 0,
                Test::Half(half) => super::select::half(value, half) != 0,
                Test::AllOnes => value == u32::MAX,
                Test::LowBits => !matches!(value >> 3 & 0x3_ffff, 0 | 0x3_ffff),
            };
            holds != if_zero
        })
        .fold(0, |mask, lane| mask | 1 << lane)
}

/// Sends the lanes in `taken` elsewhere and the others on, or ends those if the branch carries the end (valhall-isa.md 12.5).
fn branch(warp: &mut Warp, taken: u16, flow: Flow, target: impl Fn(usize) -> u64) -> Next {
    let following = warp.pc.wrapping_add(8);
    for lane in bits(warp.lanes) {
        let goes = taken >> lane & 1 != 0;
        warp.pcs[lane] = if goes { target(lane) } else { following };
    }
    let others = warp.lanes & !taken;
    // The places are noted: parking must not write them over.
    warp.forget_running();
    if flow.ends_thread() {
        warp.live &= !others;
    }
    Next::Choose
}

/// Reports registers that are used before their messages were waited for, or that hold nothing.
#[inline]
fn check_registers(
    fabric: &mut Fabric,
    environment: &Environment,
    warp: &mut Warp,
    instruction: &Instruction,
) {
    let used = instruction.reads | instruction.writes;
    if used & warp.pending != 0 || used & !environment.allocated != 0 {
        report_use(fabric, environment, warp, instruction);
    }
    if instruction.reads & !warp.valid_everywhere == 0 {
        return;
    }
    let lanes = warp.lanes;
    let mut rest = instruction.reads & !warp.valid_everywhere;
    while rest != 0 {
        let register = rest.trailing_zeros();
        rest &= rest - 1;
        if warp.valid[register as usize] & lanes != lanes {
            report_invalid(fabric, warp, register as u8);
        }
    }
}

#[cold]
fn report_use(
    fabric: &mut Fabric,
    environment: &Environment,
    warp: &Warp,
    instruction: &Instruction,
) {
    let address = warp.pc;
    let mut report = |misuse| fabric.journal.report(Misuse::Shader { address, misuse });
    if let Some((register, slot)) = warp.awaited(instruction.reads) {
        report(ShaderMisuse::OutstandingRead { register, slot });
    }
    if let Some((register, slot)) = warp.awaited(instruction.writes & !instruction.reads) {
        report(ShaderMisuse::OutstandingWrite { register, slot });
    }
    let absent = (instruction.reads | instruction.writes) & !environment.allocated;
    if absent != 0 {
        let register = absent.trailing_zeros() as u8;
        report(ShaderMisuse::RegisterNotAllocated { register });
    }
}

#[cold]
fn report_invalid(fabric: &mut Fabric, warp: &Warp, register: u8) {
    let misuse = if warp.written >> register & 1 != 0 {
        ShaderMisuse::ReadAfterLastUse { register }
    } else {
        ShaderMisuse::NeverWritten { register }
    };
    let address = warp.pc;
    fabric.journal.report(Misuse::Shader { address, misuse });
}

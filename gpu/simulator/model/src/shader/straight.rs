//! Straight execution: arithmetic and branches between messages, with nothing looked up, counted or reported for each instruction.
//!
//! Instructions mean what `execute` makes of them: both call the same functions. What may be reported, faults, sends a message or is
//! not decoded yet is left to a single step. A GPU that is traced by instructions, whose shader cores are broken, or whose messages
//! come late, takes single steps only.
//!
//! Guarantees: registers, lanes, counters and time are those of as many single steps.

use super::engine::Engine;
use super::execute::{Executor, WarpTurn, begins_stride, compute, compute_wide, of_lanes};
use super::flow::{branch, taken};
use super::host_code::Running;
use super::instruction::{Instruction, Operation, Source, Test};
use super::lanes::Lanes;
use super::messages::Around;
use super::registers::{has_trouble, note_registers, operand};
use super::warp::Warp;
use crate::activity::CoreActivity;
use crate::memory::PAGE;
use eitri_isa::Flow;
use eitri_isa::row::Unit;

/// Cycles of issue of several instructions by unit: FMA, CVT and SFU, in 21 bits each, so that one addition counts all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Issued(u64);

/// Bits of a unit's count.
const COUNT_BITS: u32 = 21;
/// Most instructions of a run, so that no count overflows, whatever cycles one takes.
const LONGEST: u64 = 1 << (COUNT_BITS - 8);

impl Issued {
    /// Those of one instruction. Branches and what does nothing are of no unit; messages are not executed here.
    pub(super) fn of(unit: Unit, cycles: u8) -> Issued {
        let place = match unit {
            Unit::Fma => 0,
            Unit::Cvt => 1,
            Unit::Sfu => 2,
            Unit::V | Unit::Vt | Unit::Ls | Unit::T | Unit::None => return Issued(0),
        };
        Issued(u64::from(cycles) << (place * COUNT_BITS))
    }

    /// As a number, sums of which are those of several instructions.
    pub(super) fn bits(self) -> u64 {
        self.0
    }

    fn add_to(self, core: &mut CoreActivity) {
        let count = |place: u32| self.0 >> (place * COUNT_BITS) & ((1 << COUNT_BITS) - 1);
        core.fma += count(0);
        core.cvt += count(1);
        core.sfu += count(2);
    }
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ran {
    /// Instructions executed; 0: the next one takes a single step.
    pub(super) executed: u64,
    /// Whether the warp's turn may end behind them.
    pub(super) may_end: bool,
}

impl Executor<'_> {
    /// Runs a warp for at most a turn, as long as instructions are of the plain kind.
    pub(super) fn run_straight(
        &mut self,
        warp: &mut Warp,
        turn: WarpTurn,
        buffers: &mut [Lanes; 4],
    ) -> Ran {
        let steps_only = self.fabric.defects.in_shader
            || self.fabric.journal.traces_instructions()
            || self.fabric.fidelity.is_on()
            || self.fabric.reorders()
            || warp.others.is_some();
        if steps_only || !warp.pc.is_multiple_of(8) {
            return Ran::default();
        }
        let turn = WarpTurn {
            wanted: turn.wanted,
            most: turn.most.min(LONGEST),
        };
        self.program.go_on_at(warp.pc);
        let translates = match &self.fabric.config.engine {
            Engine::Interpret => return Ran::default(),
            Engine::Simd => false,
            Engine::Jit(_) => true,
        };
        if translates {
            self.seek_host_code(0);
            let ran = self.run_host_code(warp, turn, buffers);
            if ran.executed != 0 {
                return ran;
            }
        }
        let ran = self.run_decoded(warp, turn, buffers);
        if translates {
            self.seek_host_code(ran.executed);
        }
        ran
    }

    /// Asks for host code if the page has become hot enough by so many instructions.
    #[inline]
    fn seek_host_code(&mut self, executed: u64) {
        if !self.program.wants_host_code(executed) {
            return;
        }
        if let Engine::Jit(translator) = &self.fabric.config.engine {
            let policy = self.environment.policy;
            self.program.ask_for_host_code(&**translator, policy);
        }
    }

    /// Runs a warp by host code, if there is some for its place.
    fn run_host_code(&mut self, warp: &mut Warp, turn: WarpTurn, buffers: &mut [Lanes; 4]) -> Ran {
        let Some(code) = self.program.host_code(warp.pc) else {
            return Ran::default();
        };
        if !code.begins_at((warp.pc % PAGE / 8) as usize) {
            return Ran::default();
        }
        let mut running = Running {
            page: warp.pc / PAGE * PAGE,
            warp,
            wanted: turn.wanted,
            most: turn.most,
            executed: 0,
            diverged: 0,
            issued: 0,
            sends: self.fabric.allows_direct_messages(),
            around: Around {
                fabric: self.fabric,
                memory: self.memory,
                environment: self.environment,
                place: self.place,
            },
            memory_unit: self.memory_unit,
            buffers,
        };
        let may_end = code.run(&mut running);
        let (executed, diverged) = (running.executed, running.diverged);
        let issued = Issued(running.issued);
        let core = self.fabric.activity.core(self.place.core);
        issued.add_to(core);
        core.diverged += diverged;
        Ran { executed, may_end }
    }

    /// Runs a warp by what was decoded.
    fn run_decoded(&mut self, warp: &mut Warp, turn: WarpTurn, buffers: &mut [Lanes; 4]) -> Ran {
        let direct = self.fabric.allows_direct_messages();
        let mut around = Around {
            fabric: self.fabric,
            memory: self.memory,
            environment: self.environment,
            place: self.place,
        };
        let mut issued = Issued::default();
        let (mut executed, mut diverged) = (0, 0);
        let mut may_end = false;
        let Some(page) = self.program.page(warp.pc) else {
            return Ran::default();
        };
        let code = self.program.host_code(warp.pc);
        while !turn.is_over(executed, may_end) {
            // Host code takes over where it can.
            let place = (warp.pc % PAGE / 8) as usize;
            if executed != 0 && code.is_some_and(|code| code.begins_at(place)) {
                break;
            }
            let Some(instruction) = page.decoded(warp.pc) else {
                break;
            };
            let is_known = instruction.is_straight || (direct && instruction.may_be_direct);
            if !is_known || has_trouble(around.environment, warp, instruction) {
                break;
            }
            let running = warp.lanes;
            if !instruction.is_straight
                && !self
                    .memory_unit
                    .send_directly(&mut around, warp, instruction)
            {
                break;
            }
            issued.0 += instruction.issued.0;
            diverged += u64::from(running != warp.live);
            executed += 1;
            match instruction.operation {
                Operation::Alu(alu) => {
                    let Around {
                        fabric,
                        environment,
                        place,
                        ..
                    } = &mut around;
                    let surroundings = (*environment, *place);
                    compute(fabric, surroundings, warp, instruction, alu, buffers);
                }
                Operation::Wide(wide) => {
                    let surroundings = (around.environment, around.place);
                    compute_wide(around.fabric, surroundings, warp, instruction, wide);
                }
                Operation::Branch {
                    test,
                    if_zero,
                    offset,
                } => {
                    let source = &instruction.sources[0];
                    let way = (test, if_zero, offset, instruction.flow);
                    let goes_on = around.branch(warp, source, way, &mut buffers[0]);
                    note_registers(warp, running, instruction.writes, instruction.last_use);
                    may_end = true;
                    if !goes_on && !warp.choose() {
                        break;
                    }
                    continue;
                }
                Operation::LaneMask { .. } | Operation::OtherLane { .. } => {
                    let surroundings = (around.environment, around.place);
                    of_lanes(around.fabric, surroundings, warp, instruction);
                }
                // What is left is a message, which was sent, or does nothing.
                _ => {}
            }
            note_registers(warp, running, instruction.writes, instruction.last_use);
            warp.pc = warp.pc.wrapping_add(8);
            may_end = !instruction.is_straight || begins_stride(warp.pc);
            if instruction.flow == Flow::None {
                continue;
            }
            may_end |= instruction.ends_block();
            match instruction.flow {
                Flow::None | Flow::WaitResource | Flow::Continue => {}
                Flow::Reconverge => {
                    // With nobody elsewhere, the same lanes go on at the same place.
                    if warp.candidates() != running && !warp.choose() {
                        break;
                    }
                }
                flow => warp.waited(flow.waits_for()),
            }
        }
        let core = around.fabric.activity.core(around.place.core);
        issued.add_to(core);
        core.diverged += diverged;
        Ran { executed, may_end }
    }
}

impl Around<'_> {
    /// Branches; whether the same lanes run on at the warp's new place. If not, it is to be decided who runs.
    #[inline]
    fn branch(
        &mut self,
        warp: &mut Warp,
        source: &Source,
        (test, if_zero, offset, flow): (Test, bool, i32, Flow),
        buffer: &mut Lanes,
    ) -> bool {
        let value = operand(
            self.fabric,
            self.environment,
            self.place,
            warp,
            source,
            buffer,
        );
        let taken = taken(warp, test, if_zero, value);
        warp.waited(flow.waits_for());
        let following = warp.pc.wrapping_add(8);
        let target = following.wrapping_add_signed(8 * i64::from(offset));
        let all = warp.lanes;
        if warp.candidates() == all {
            if taken == all {
                warp.pc = target;
                return true;
            }
            if taken == 0 && !flow.ends_thread() {
                warp.pc = following;
                return true;
            }
        }
        branch(warp, taken, flow, |_| target);
        false
    }
}

impl Instruction {
    /// Whether a turn may end behind it, wherever it stands: it decides who runs, waits, or is no plain instruction.
    pub(super) fn ends_block(&self) -> bool {
        let acts = !matches!(self.flow, Flow::None | Flow::WaitResource | Flow::Continue);
        acts || !self.is_straight || matches!(self.operation, Operation::Branch { .. })
    }

    /// Whether a run of instructions may execute it: it computes, branches or does nothing, and no thread ends by it.
    pub(super) fn can_run_straight(&self) -> bool {
        let operation = match self.operation {
            Operation::Nop | Operation::Alu(_) | Operation::Wide(_) => true,
            Operation::LaneMask { .. } | Operation::OtherLane { .. } => true,
            // A test that is not established is reported.
            Operation::Branch { test, .. } => test != Test::LowBits,
            _ => false,
        };
        let flow = match self.operation {
            Operation::Branch { .. } => true,
            _ => !matches!(self.flow, Flow::End | Flow::Discard),
        };
        operation && flow
    }
}

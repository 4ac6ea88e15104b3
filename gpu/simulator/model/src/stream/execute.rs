//! One instruction of a stream: fetch, decode, check, execute by the family that it belongs to.
//!
//! Facts: hardware/command-stream.md 3 (what each does) and 8 (what is checked).

use super::deferred::{Issue, Operation};
use super::registers::NoSuchRegister;
use super::{Blocked, LOOP_LIMIT, Outcome, Stream, exception};
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use crate::memory::PhysicalMemory;
use crate::mmu::{Refusal, Refused};
use crate::trace::Event;
use eitri_cs::enums::DeferMode;
use eitri_cs::{Instr, Slot, SlotMask};

/// What becomes of an instruction.
pub(super) enum Step {
    /// It is done: go to the next.
    Done,
    /// It waits and is executed again when the wait is over.
    Blocked(Blocked),
    /// It waits, and counts as done when the wait is over.
    DoneAfter(Blocked),
    /// It has set the place to go on itself.
    Moved,
    /// It cannot be executed.
    Fatal(u8),
    /// It failed and is dropped.
    Fault(u8, u64),
}

impl From<Refused<u64>> for Step {
    fn from(hindrance: Refused<u64>) -> Step {
        match hindrance {
            Refused::Stalled(stall) => Step::Blocked(Blocked::Memory(stall)),
            Refused::Failed(address) => Step::Fault(exception::CS_BUS_FAULT, address),
        }
    }
}

/// The instruction that is being executed, and what it may act on.
pub(super) struct Current<'a> {
    pub(super) fabric: &'a mut Fabric,
    pub(super) memory: &'a mut dyn PhysicalMemory,
    pub(super) word: u64,
    pub(super) outcome: &'a mut Outcome,
}

/// What becomes of an instruction that a family knows; `None` if it belongs to another family.
pub(super) type Known = Result<Option<Step>, NoSuchRegister>;

impl Stream {
    /// Executes the next instruction, or ends the frame that has none left.
    pub(crate) fn step(&mut self, fabric: &mut Fabric, memory: &mut dyn PhysicalMemory) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(frame) = self.frames.last()
            && frame.next >= frame.end
        {
            self.end_link(fabric);
            self.frames.pop();
            if self.handler_depth == Some(self.frames.len()) {
                self.handler_depth = None;
            }
            self.leave_region();
            outcome.effects.extract_moved = self.frames.is_empty();
            return outcome;
        }
        if self.frames.is_empty() && self.ring.is_empty() {
            self.blocked = Blocked::Empty;
            outcome.effects.extract_moved = true;
            return outcome;
        }
        let address = self.address();
        let word = match fabric.read64(memory, self.fetch_access(address)) {
            Ok(word) => word,
            Err(Refusal::Stalled(stall)) => {
                self.blocked = Blocked::Memory(stall);
                return outcome;
            }
            Err(Refusal::Fault(_) | Refusal::Bus(_)) => {
                self.fatal(exception::CS_BUS_FAULT, address);
                return outcome;
            }
        };
        if fabric.journal.traces_instructions() {
            fabric.journal.trace(Event::Instruction {
                group: self.identity.group,
                stream: self.identity.stream,
                address,
                word,
            });
        }
        let arch = fabric.config.product.arch();
        let step = match Instr::decode_ignoring_reserved(word, arch) {
            Ok((instr, reserved)) => {
                if reserved != 0 {
                    self.report(fabric, word, StreamMisuse::ReservedBits { bits: reserved });
                }
                self.idle_instructions += 1;
                if self.idle_instructions > LOOP_LIMIT {
                    self.report(fabric, word, StreamMisuse::EndlessLoop);
                    self.idle_instructions = 0;
                }
                self.check_link(fabric, &instr);
                let executed = self.execute(fabric, memory, word, &instr, &mut outcome);
                executed.unwrap_or_else(|NoSuchRegister(register)| {
                    self.report(fabric, word, StreamMisuse::RegisterOutOfRange { register });
                    Step::Fatal(exception::CS_INSTR_INVALID)
                })
            }
            Err(error) => {
                self.report(fabric, word, undecodable(error));
                Step::Fatal(exception::CS_INSTR_INVALID)
            }
        };
        if !matches!(step, Step::Blocked(_)) {
            self.note_executed(fabric, word);
        }
        match step {
            Step::Done => self.advance(),
            Step::Moved => {}
            Step::Blocked(why) => {
                self.blocked = why;
                self.idle_instructions = 0;
            }
            Step::DoneAfter(why) => {
                self.advance();
                self.blocked = why;
                self.idle_instructions = 0;
            }
            Step::Fatal(exception) => self.fatal(exception, address),
            Step::Fault(exception, info) => {
                self.advance();
                self.fault(exception, info);
            }
        }
        self.leave_region();
        outcome.effects.extract_moved |= self.frames.is_empty();
        outcome
    }

    /// Notes an instruction for who asks how far results can be trusted.
    fn note_executed(&self, fabric: &mut Fabric, word: u64) {
        if !fabric.fidelity.is_on() {
            return;
        }
        let arch = fabric.config.product.arch();
        if let Ok((instr, _)) = Instr::decode_ignoring_reserved(word, arch) {
            fabric.fidelity.stream(instr.info().mnemonic(arch));
        }
    }

    pub(super) fn advance(&mut self) {
        match self.frames.last_mut() {
            Some(frame) => frame.next = frame.next.wrapping_add(8),
            None => self.ring.position = self.ring.position.wrapping_add(8),
        }
    }

    /// Executes an instruction: asks each family in turn, the first that knows it answers.
    fn execute(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        word: u64,
        instr: &Instr,
        outcome: &mut Outcome,
    ) -> Result<Step, NoSuchRegister> {
        if self.compute(fabric, word, instr)? {
            return Ok(Step::Done);
        }
        // What may be deferred or outstanding has a limit; reaching it is a wait, not an error.
        if !self.has_room() {
            return Ok(Step::Blocked(Blocked::Full));
        }
        let mut current = Current {
            fabric,
            memory,
            word,
            outcome,
        };
        let families = [
            Stream::access_memory,
            Stream::control_flow,
            Stream::use_scoreboards,
            Stream::synchronise,
            Stream::use_progress,
            Stream::start_jobs,
            Stream::draw,
        ];
        for family in families {
            if let Some(step) = family(self, &mut current, instr)? {
                return Ok(step);
            }
        }
        self.report(current.fabric, word, StreamMisuse::NotModelled);
        Ok(Step::Fatal(exception::CS_INSTR_INVALID))
    }

    /// Issues an operation that is deferred if it waits for slots.
    pub(super) fn defer(
        &mut self,
        current: &mut Current<'_>,
        (wait, slot, mode): (SlotMask, Slot, DeferMode),
        operation: Operation,
    ) -> Step {
        let Current {
            fabric,
            memory,
            word,
            outcome,
        } = current;
        let word = *word;
        let indirect = mode == DeferMode::Indirect;
        let (wait, slot) = if indirect {
            (self.mask_wait, self.deferred_slot)
        } else {
            (wait.bits(), slot.number())
        };
        if wait == 0 && slot != 0 && !indirect {
            let slot = slot.into();
            self.report(fabric, word, StreamMisuse::SlotWithoutWait { slot });
        }
        self.check_mask(fabric, word, wait);
        let slot = Some(self.slot(fabric, word, slot.into()));
        let issue = Issue {
            word,
            wait,
            slot,
            always_counted: indirect,
            operation,
        };
        match self.issue(fabric, *memory, issue) {
            Ok(effects) => {
                outcome.effects.join(effects);
                Step::Done
            }
            Err(hindrance) => hindrance.into(),
        }
    }

    pub(super) fn check_aligned(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        address: u64,
        alignment: u64,
    ) {
        if !address.is_multiple_of(alignment) {
            let misuse = StreamMisuse::DataAlignment { address, alignment };
            self.report(fabric, word, misuse);
        }
    }

    pub(super) fn count_progress(&mut self, fabric: &mut Fabric, word: u64, increment: bool) {
        if increment {
            self.report(fabric, word, StreamMisuse::Progress);
            self.progress = self.progress.wrapping_add(1);
        }
    }
}

fn undecodable(error: eitri_cs::instr::DecodeError) -> StreamMisuse {
    use eitri_cs::instr::{DecodeError, FieldFault};
    match error {
        DecodeError::BadField {
            value,
            fault: FieldFault::OddPair,
            ..
        } => StreamMisuse::OddPair {
            register: value as u32,
        },
        _ => StreamMisuse::Undefined,
    }
}

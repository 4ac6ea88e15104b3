//! One instruction of a stream: fetch, decode, check, execute.
//!
//! Facts: hardware/command-stream.md 3 (what each does) and 8 (what is checked).

use super::deferred::{Issue, Operation};
use super::registers::NoSuchRegister;
use super::{Blocked, IssuedJob, LOOP_LIMIT, Outcome, Stream, Tasks, Work, exception};
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use crate::memory::PhysicalMemory;
use crate::mmu::{Refusal, Refused};
use crate::trace::Event;
use eitri_cs::enums::{
    DeferMode, FlushMode, OtherFlushMode, SlotFormat, SlotSelection, TaskAxis, WaitMode,
};
use eitri_cs::{Instr, Slot};
use eitri_csf::command::{CacheFlush, FlushMode as CacheMode};
use eitri_csf::registers::identity::gpu_features;

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

    pub(super) fn advance(&mut self) {
        match self.frames.last_mut() {
            Some(frame) => frame.next = frame.next.wrapping_add(8),
            None => self.ring.position = self.ring.position.wrapping_add(8),
        }
    }

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
        macro_rules! defer {
            ($i:expr, $operation:expr) => {
                self.defer(
                    fabric,
                    memory,
                    word,
                    ($i.wait_mask.bits(), $i.signal_slot, $i.defer_mode),
                    $operation,
                    outcome,
                )
            };
        }
        macro_rules! sync {
            ($i:expr, $data:expr, $wide:literal, $add:literal) => {{
                let address = self.read64(fabric, word, $i.address)?;
                let value = $data;
                self.check_aligned(fabric, word, address, if $wide { 16 } else { 8 });
                let operation = Operation::Sync {
                    address,
                    value,
                    wide: $wide,
                    add: $add,
                    propagate: $i.error_propagate,
                    scope: $i.scope,
                };
                defer!($i, operation)
            }};
        }
        Ok(match instr {
            Instr::LoadMultiple(i) => {
                let address = self.read64(fabric, word, i.address)?;
                self.load(
                    fabric,
                    memory,
                    word,
                    address,
                    i.offset,
                    i.base_register,
                    i.mask,
                )?
            }
            Instr::StoreMultiple(i) => {
                let address = self.read64(fabric, word, i.address)?;
                self.store(
                    fabric,
                    memory,
                    word,
                    address,
                    i.offset,
                    i.base_register,
                    i.mask,
                )?
            }
            Instr::StoreState(i) => {
                let base = self.read64(fabric, word, i.address)?;
                let address = base.wrapping_add_signed(i.offset.into());
                self.check_aligned(fabric, word, address, 8);
                defer!(
                    i,
                    Operation::StoreState {
                        address,
                        state: i.state
                    }
                )
            }
            Instr::Branch(i) => self.branch(fabric, word, i.condition, i.value, i.offset)?,
            Instr::Call(i) => self.call(fabric, word, i.address, i.length, true)?,
            Instr::Jump(i) => self.call(fabric, word, i.address, i.length, false)?,
            Instr::SetExceptionHandler(i) => {
                let address = self.read64(fabric, word, i.address)?;
                let length = self.read32(fabric, word, i.length)?;
                if self.handler_depth.is_some() {
                    self.report(fabric, word, StreamMisuse::HandlerInHandler);
                }
                let installs = address != 0 && length != 0;
                self.handler = installs.then_some((address, length.into()));
                Step::Done
            }
            Instr::ErrorBarrier(_) => {
                self.error = 0;
                Step::Done
            }
            Instr::ProtRegion(i) => self.prot_region(fabric, word, i.size.bytes().into()),
            Instr::Wait(i) => {
                let mask = match i.wait_mode {
                    WaitMode::Immediate => i.wait_mask.bits(),
                    WaitMode::Indirect => self.mask_wait,
                };
                let step = self.wait(fabric, word, mask);
                if let Step::Done = step {
                    self.count_progress(fabric, word, i.progress_increment);
                }
                step
            }
            Instr::SetSbEntry(i) => {
                self.endpoint_slot = self.slot(fabric, word, i.endpoint_entry.number().into());
                self.other_slot = self.slot(fabric, word, i.other_entry.number().into());
                Step::Done
            }
            Instr::SetState(i) => {
                let value = self.read32(fabric, word, i.source)?;
                self.set_state(fabric, word, i.state, value)
            }
            Instr::SetStateImm32(i) => self.set_state(fabric, word, i.state, i.value),
            Instr::NextSbEntry(i) => {
                let Some(slot) = self.choose_slot() else {
                    return Ok(Step::Blocked(Blocked::SlotChoice));
                };
                let result = match i.format {
                    SlotFormat::Index => u32::from(slot),
                    SlotFormat::Mask => 1 << slot,
                };
                self.write32(fabric, word, i.destination, result)?;
                self.last_choice = slot;
                match i.sb_type {
                    SlotSelection::NoChange => {}
                    SlotSelection::Endpoint => self.endpoint_slot = slot,
                    SlotSelection::Other => self.other_slot = slot,
                    SlotSelection::Deferred => self.deferred_slot = slot,
                }
                Step::Done
            }
            Instr::SyncAdd32(i) => sync!(i, self.read32(fabric, word, i.data)?.into(), false, true),
            Instr::SyncSet32(i) => {
                sync!(i, self.read32(fabric, word, i.data)?.into(), false, false)
            }
            Instr::SyncAdd64(i) => sync!(i, self.read64(fabric, word, i.data)?, true, true),
            Instr::SyncSet64(i) => sync!(i, self.read64(fabric, word, i.data)?, true, false),
            Instr::SyncWait32(i) => {
                let reference = self.read32(fabric, word, i.data)?.into();
                self.sync_wait(
                    fabric,
                    memory,
                    word,
                    i.address,
                    i.condition,
                    i.error_reject,
                    (reference, false),
                )?
            }
            Instr::SyncWait64(i) => {
                let reference = self.read64(fabric, word, i.data)?;
                self.sync_wait(
                    fabric,
                    memory,
                    word,
                    i.address,
                    i.condition,
                    i.error_reject,
                    (reference, true),
                )?
            }
            Instr::RunCompute(i) => {
                let increment = u32::from(i.task_increment);
                if increment == 0 {
                    let misuse = StreamMisuse::StagingInvalid {
                        register: 0,
                        value: 0,
                    };
                    self.report(fabric, word, misuse);
                }
                let axis = match i.task_axis {
                    TaskAxis::X => 0,
                    TaskAxis::Y => 1,
                    TaskAxis::Z => 2,
                };
                let tasks = Tasks::Along { axis, increment };
                let selects = [i.srt_select, i.fau_select, i.spd_select, i.tsd_select];
                let progress = i.progress_increment;
                self.run_compute(fabric, word, selects, (tasks, progress), outcome)?
            }
            Instr::RunComputeIndirect(i) => {
                let tasks = Tasks::Of(i.workgroups_per_task.into());
                let selects = [i.srt_select, i.fau_select, i.spd_select, i.tsd_select];
                let progress = i.progress_increment;
                self.run_compute(fabric, word, selects, (tasks, progress), outcome)?
            }
            Instr::ReqResource(i) => {
                let bits = [i.compute, i.fragment, i.tiler, i.idvs, i.rt];
                let asked = bits.iter().enumerate();
                self.resources = asked.fold(0, |set, (bit, on)| set | u8::from(*on) << bit);
                let permits = Work::ALL.iter().zip(self.permits);
                let mut refused = permits.filter(|(_, permitted)| *permitted == 0);
                match refused.find(|(work, _)| work.resources() & self.resources != 0) {
                    // FACT: inferred (hardware/command-stream.md 8, 30). Settled by REQ_RESOURCE in a group without
                    // cores, on any board.
                    Some(_) => Step::Fatal(exception::CS_ENDPOINT_FAULT),
                    None => Step::Done,
                }
            }
            Instr::FlushCache2(i) => {
                let id = self.read32(fabric, word, i.latest_flush_id)?;
                let (wait, slot) = match i.defer_mode {
                    DeferMode::Immediate => (i.wait_mask.bits(), i.signal_slot.number()),
                    DeferMode::Indirect => (self.mask_wait, self.deferred_slot),
                };
                let slot = Some(self.slot(fabric, word, slot.into()));
                let issue = Issue {
                    word,
                    wait,
                    slot,
                    always_counted: true,
                    operation: Operation::Flush {
                        id,
                        flush: CacheFlush {
                            l2: mode(i.l2_flush_mode),
                            load_store: mode(i.lsc_flush_mode),
                            other: match i.other_flush_mode {
                                OtherFlushMode::None => CacheMode::None,
                                OtherFlushMode::Invalidate => CacheMode::Invalidate,
                            },
                        },
                    },
                };
                match self.issue(fabric, memory, issue) {
                    Ok(effects) => {
                        outcome.effects.join(effects);
                        Step::Done
                    }
                    Err(hindrance) => hindrance.into(),
                }
            }
            Instr::HeapSet(i) => {
                self.heap_context = self.read64(fabric, word, i.address)?;
                Step::Done
            }
            Instr::HeapOperation(i) => {
                // vt_start, vt_end, frag_end are numbers 0, 1 and 3.
                let counter = (i.operation as u8).min(2);
                defer!(i, Operation::Heap { counter })
            }
            Instr::ProgressStore(i) => {
                self.report(fabric, word, StreamMisuse::Progress);
                self.progress = self.read64(fabric, word, i.source)?;
                Step::Done
            }
            Instr::ProgressLoad(i) => {
                self.report(fabric, word, StreamMisuse::Progress);
                let value = self.progress;
                self.write64(fabric, word, i.destination, value)?;
                Step::Done
            }
            Instr::ProgressWait(i) => {
                self.report(fabric, word, StreamMisuse::Progress);
                let value = self.read64(fabric, word, i.source)?;
                Step::DoneAfter(Blocked::Progress {
                    queue: i.queue,
                    value,
                })
            }
            Instr::TracePoint(i) => {
                self.check_tuple(
                    i.base_register,
                    u32::from(i.register_count).saturating_sub(1),
                )?;
                defer!(i, Operation::Nothing)
            }
            Instr::FinishFragment(i) => {
                let first = self.read64(fabric, word, i.first_heap_chunk)?;
                let last = self.read64(fabric, word, i.last_heap_chunk)?;
                let done = i.increment_fragment_completed;
                defer!(i, Operation::FinishFragment { first, last, done })
            }
            Instr::SharedSbInc(i) => {
                self.check_shared_scoreboards(fabric, word);
                self.count_progress(fabric, word, i.progress_increment);
                let (wait, indirect) = match i.defer_mode {
                    DeferMode::Immediate => (i.sb_mask.bits(), false),
                    DeferMode::Indirect => (self.mask_wait, true),
                };
                self.check_mask(fabric, word, wait);
                let issue = Issue {
                    word,
                    wait,
                    slot: None,
                    always_counted: indirect,
                    operation: Operation::SharedIncrement {
                        entry: i.shared_entry,
                    },
                };
                match self.issue(fabric, memory, issue) {
                    Ok(effects) => {
                        outcome.effects.join(effects);
                        Step::Done
                    }
                    Err(hindrance) => hindrance.into(),
                }
            }
            Instr::SharedSbDec(i) => {
                self.check_shared_scoreboards(fabric, word);
                self.count_progress(fabric, word, i.progress_increment);
                // The counters are the group's: it lets the stream go on.
                Step::Blocked(Blocked::Shared(i.shared_entry))
            }
            // Graphics.
            _ => {
                self.report(fabric, word, StreamMisuse::NotModelled);
                Step::Fatal(exception::CS_INSTR_INVALID)
            }
        })
    }

    /// Issues an operation that is deferred if it waits for slots.
    fn defer(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        word: u64,
        (wait, slot, mode): (u16, Slot, DeferMode),
        operation: Operation,
        outcome: &mut Outcome,
    ) -> Step {
        let indirect = mode == DeferMode::Indirect;
        let (wait, slot) = if indirect {
            (self.mask_wait, self.deferred_slot)
        } else {
            (wait, slot.number())
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
        match self.issue(fabric, memory, issue) {
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

    fn check_shared_scoreboards(&mut self, fabric: &mut Fabric, word: u64) {
        if !gpu_features::SHARED_SCOREBOARDS.get(fabric.config.product.gpu_features) {
            self.report(fabric, word, StreamMisuse::WithoutSharedScoreboards);
        }
    }

    fn count_progress(&mut self, fabric: &mut Fabric, word: u64, increment: bool) {
        if increment {
            self.report(fabric, word, StreamMisuse::Progress);
            self.progress = self.progress.wrapping_add(1);
        }
    }

    fn run_compute(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        selects: [u8; 4],
        (tasks, progress): (Tasks, bool),
        outcome: &mut Outcome,
    ) -> Result<Step, NoSuchRegister> {
        let needed = Work::Compute.resources();
        if self.resources & needed == 0 {
            let needed = needed.into();
            self.report(fabric, word, StreamMisuse::WithoutResource { needed });
        }
        let mut staging = [0; 40];
        let [srt, fau, spd, tsd] = selects.map(|select| 2 * u32::from(select & 3));
        let pairs = [srt, 8 + fau, 16 + spd, 24 + tsd];
        let read = pairs
            .iter()
            .flat_map(|&pair| [pair, pair + 1])
            .chain(32..40);
        for register in read {
            staging[register as usize] = self.read(fabric, word, register)?;
        }
        if progress {
            self.report(fabric, word, StreamMisuse::Progress);
        }
        let slot = self.endpoint_slot;
        self.count_up(slot);
        self.idle_instructions = 0;
        outcome.job = Some(IssuedJob {
            tasks,
            staging,
            selects,
            slot,
            progress,
        });
        Ok(Step::Done)
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

/// What FLUSH_CACHE2 does to a cache, in the words of GPU_COMMAND.
fn mode(mode: FlushMode) -> CacheMode {
    match mode {
        FlushMode::None => CacheMode::None,
        FlushMode::Clean => CacheMode::Clean,
        FlushMode::CleanAndInvalidate => CacheMode::CleanInvalidate,
    }
}

//! Compute jobs, resources and heaps.
//!
//! Facts: hardware/command-stream.md 3.

use super::deferred::Operation;
use super::execute::{Current, Known, Step};
use super::registers::NoSuchRegister;
use super::{Dispatch, Issued, IssuedJob, Outcome, Stream, Tasks, Work, exception};
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use eitri_cs::Instr;
use eitri_cs::enums::TaskAxis;

impl Stream {
    /// Compute jobs, resources and heaps.
    pub(super) fn start_jobs(&mut self, current: &mut Current<'_>, instr: &Instr) -> Known {
        let Current {
            fabric,
            word,
            outcome,
            ..
        } = current;
        let word = *word;
        Ok(Some(match instr {
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
            Instr::HeapSet(i) => {
                self.heap_context = self.read64(fabric, word, i.address)?;
                Step::Done
            }
            Instr::HeapOperation(i) => {
                // vt_start, vt_end, frag_end are numbers 0, 1 and 3.
                let counter = (i.operation as u8).min(2);
                let operation = Operation::Heap { counter };
                self.defer(
                    current,
                    (i.wait_mask, i.signal_slot, i.defer_mode),
                    operation,
                )
            }
            Instr::FinishFragment(i) => {
                let first = self.read64(fabric, word, i.first_heap_chunk)?;
                let last = self.read64(fabric, word, i.last_heap_chunk)?;
                let done = i.increment_fragment_completed;
                let operation = Operation::FinishFragment { first, last, done };
                self.defer(
                    current,
                    (i.wait_mask, i.signal_slot, i.defer_mode),
                    operation,
                )
            }
            _ => return Ok(None),
        }))
    }

    fn run_compute(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        selects: [u8; 4],
        (tasks, progress): (Tasks, bool),
        outcome: &mut Outcome,
    ) -> Result<Step, NoSuchRegister> {
        self.check_job(fabric, word, Work::Compute, progress);
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
        let dispatch = Dispatch {
            tasks,
            staging,
            selects,
        };
        self.issue_job(Issued::Compute(dispatch), progress, outcome);
        Ok(Step::Done)
    }

    /// Reports a job whose endpoints are not held, or that moves the progress value.
    pub(super) fn check_job(&self, fabric: &mut Fabric, word: u64, work: Work, progress: bool) {
        let needed = work.resources();
        if self.resources & needed == 0 {
            let needed = needed.into();
            self.report(fabric, word, StreamMisuse::WithoutResource { needed });
        }
        if progress {
            self.report(fabric, word, StreamMisuse::Progress);
        }
    }

    /// Issues a job, counted on the endpoint slot.
    pub(super) fn issue_job(&mut self, issued: Issued, progress: bool, outcome: &mut Outcome) {
        let slot = self.endpoint_slot;
        self.count_up(slot);
        self.idle_instructions = 0;
        outcome.job = Some(IssuedJob {
            issued,
            slot,
            progress,
        });
    }
}

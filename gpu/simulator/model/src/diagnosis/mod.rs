//! Diagnoses: what the driver under test did wrong, as typed values.
//!
//! Each names the register, word or instruction, the value, and the section of the facts that has the rule. Guarantees:
//! bounded, whatever the driver does: of those of one kind and subject the first is kept and the others are counted, so a
//! loop over addresses is one entry; beyond a limit only their number is kept.

#[macro_use]
mod table;
mod registers;
mod shader;
mod streams;
mod teller;

pub use registers::{FirmwareMisuse, MmuMisuse, RegisterMisuse};
pub use shader::{FragmentPlace, ShaderMisuse, WarpPlace};
pub use streams::{StreamMisuse, StreamPlace};
pub use teller::{News, Teller};

use crate::clock::Nanoseconds;
use crate::trace::{Event, PixelStep, Sink, WorkgroupPlace, WorkgroupStep};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// Diagnoses of different kinds or subjects that are kept.
pub const KEPT_DIAGNOSES: usize = 256;

/// Something the driver did wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Misuse {
    /// Of a register.
    Register(RegisterMisuse),
    /// Of an address space.
    Mmu(MmuMisuse),
    /// Of the firmware: its image, its interface in memory, groups and streams from outside.
    Firmware(FirmwareMisuse),
    /// By an instruction of a stream.
    Stream {
        /// Where.
        place: StreamPlace,
        /// What.
        misuse: StreamMisuse,
    },
    /// By a shader.
    Shader {
        /// GPU address of the instruction.
        address: u64,
        /// What.
        misuse: ShaderMisuse,
    },
}

/// A misuse, when it happened first and how often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diagnosis {
    /// Virtual time of the first occurrence.
    pub time: Nanoseconds,
    /// The host's program counter at the access, where the host told it.
    pub pc: Option<u64>,
    /// What was done.
    pub misuse: Misuse,
    /// How often.
    pub count: u64,
    /// Virtual time of the last occurrence.
    pub last: Nanoseconds,
}

impl Misuse {
    /// Whether it is worth a word to a person, and wrong by no rule.
    pub fn is_note(&self) -> bool {
        matches!(
            self,
            Misuse::Firmware(FirmwareMisuse::JobGivenUp { .. })
                | Misuse::Shader {
                    misuse: ShaderMisuse::FragmentFault { .. } | ShaderMisuse::WarpFault { .. },
                    ..
                }
                | Misuse::Stream {
                    misuse: StreamMisuse::WaitOnUnusedSlot { .. } | StreamMisuse::Unwritten { .. },
                    ..
                }
        )
    }

    /// Whether both are of one kind and one subject (register, space, slot, instruction).
    fn is_same(&self, other: &Misuse) -> bool {
        match (self, other) {
            // What drivers do in each of their buffers is one note.
            (
                Misuse::Stream {
                    misuse: StreamMisuse::WaitOnUnusedSlot { slot },
                    ..
                },
                Misuse::Stream {
                    misuse: StreamMisuse::WaitOnUnusedSlot { slot: other },
                    ..
                },
            ) => slot == other,
            (Misuse::Register(one), Misuse::Register(other)) => one.is_same(other),
            (Misuse::Mmu(one), Misuse::Mmu(other)) => one.is_same(other),
            (Misuse::Firmware(one), Misuse::Firmware(other)) => one.is_same(other),
            (
                Misuse::Stream { place, misuse },
                Misuse::Stream {
                    place: other_place,
                    misuse: other,
                },
            ) => place == other_place && misuse.is_same(other),
            (
                Misuse::Shader { address, misuse },
                Misuse::Shader {
                    address: other_address,
                    misuse: other,
                },
            ) => address == other_address && misuse.is_same(other),
            _ => false,
        }
    }

    /// GPU address of the shader's instruction that did it.
    pub fn shader_address(&self) -> Option<u64> {
        match self {
            Misuse::Shader { address, .. } => Some(*address),
            _ => None,
        }
    }

    /// The section of the facts that has the rule.
    pub fn rule(&self) -> &'static str {
        match self {
            Misuse::Register(misuse) => misuse.rule(),
            Misuse::Mmu(misuse) => misuse.rule(),
            Misuse::Firmware(misuse) => misuse.rule(),
            Misuse::Stream { misuse, .. } => misuse.rule(),
            Misuse::Shader { misuse, .. } => misuse.rule(),
        }
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misuse::Register(misuse) => write!(f, "{misuse}")?,
            Misuse::Mmu(misuse) => write!(f, "{misuse}")?,
            Misuse::Firmware(misuse) => write!(f, "{misuse}")?,
            Misuse::Stream { place, misuse } => write!(f, "{place}: {misuse}")?,
            Misuse::Shader { address, misuse } => write!(f, "shader at {address:#x}: {misuse}")?,
        }
        write!(f, " ({})", self.rule())
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns: {}", self.time, self.misuse)?;
        if let Some(pc) = self.pc {
            write!(f, ", by the code at {pc:#x}")?;
        }
        if self.count > 1 {
            write!(f, ", {} times", self.count)?;
        }
        Ok(())
    }
}

impl From<RegisterMisuse> for Misuse {
    fn from(misuse: RegisterMisuse) -> Misuse {
        Misuse::Register(misuse)
    }
}

impl From<MmuMisuse> for Misuse {
    fn from(misuse: MmuMisuse) -> Misuse {
        Misuse::Mmu(misuse)
    }
}

impl From<FirmwareMisuse> for Misuse {
    fn from(misuse: FirmwareMisuse) -> Misuse {
        Misuse::Firmware(misuse)
    }
}

/// Where diagnoses and traces go.
#[derive(Default)]
pub(crate) struct Journal {
    entries: Vec<Diagnosis>,
    notes: Vec<Diagnosis>,
    /// Diagnoses beyond the limit.
    dropped: u64,
    sink: Option<Box<dyn Sink>>,
    /// Whether the sink wants to hear of instructions.
    traces_instructions: bool,
    traces_shading: bool,
    traces_accesses: bool,
    /// The job whose turn it is, and its workgroup that runs; for who wants to hear of accesses.
    job: u64,
    workgroup: Option<WorkgroupPlace>,
    /// The pixel whose history the sink wants.
    pixel: Option<[u32; 2]>,
    /// Faults that the device has reported to the host.
    faults: u64,
    time: Nanoseconds,
    pc: Option<u64>,
}

impl Clone for Journal {
    /// What was reported; who is told of what happens stays with the original.
    fn clone(&self) -> Journal {
        Journal {
            entries: self.entries.clone(),
            notes: self.notes.clone(),
            dropped: self.dropped,
            sink: None,
            traces_instructions: false,
            traces_shading: false,
            traces_accesses: false,
            job: self.job,
            workgroup: self.workgroup,
            pixel: None,
            faults: self.faults,
            time: self.time,
            pc: self.pc,
        }
    }
}

impl Journal {
    /// Who is looking at the device, and when, for what is reported next.
    pub(crate) fn set_context(&mut self, time: Nanoseconds, pc: Option<u64>) {
        self.time = time;
        self.pc = pc;
    }

    /// Now.
    pub(crate) fn time(&self) -> Nanoseconds {
        self.time
    }

    /// When what is traced next happens.
    pub(crate) fn set_time(&mut self, time: Nanoseconds) {
        self.time = time;
    }

    pub(crate) fn set_sink(&mut self, sink: Option<Box<dyn Sink>>) {
        self.traces_instructions = sink.as_ref().is_some_and(|sink| sink.wants_instructions());
        self.traces_shading = sink.as_ref().is_some_and(|sink| sink.wants_shading());
        self.traces_accesses = sink.as_ref().is_some_and(|sink| sink.wants_accesses());
        self.pixel = sink.as_ref().and_then(|sink| sink.pixel());
        self.sink = sink;
    }

    /// The device reports a fault to the host.
    pub(crate) fn count_fault(&mut self) {
        self.faults = self.faults.saturating_add(1);
    }

    pub(crate) fn faults(&self) -> u64 {
        self.faults
    }

    pub(crate) fn report(&mut self, misuse: impl Into<Misuse>) {
        let misuse = misuse.into();
        let entries = match misuse.is_note() {
            true => &mut self.notes,
            false => &mut self.entries,
        };
        if let Some(known) = entries.iter_mut().find(|it| it.misuse.is_same(&misuse)) {
            known.count += 1;
            known.last = self.time;
        } else if entries.len() < KEPT_DIAGNOSES {
            entries.push(Diagnosis {
                time: self.time,
                pc: self.pc,
                misuse,
                count: 1,
                last: self.time,
            });
        } else {
            self.dropped += 1;
        }
    }

    /// Whether nothing was reported, neither to a person nor to the host.
    pub(crate) fn is_silent(&self) -> bool {
        self.entries.is_empty() && self.notes.is_empty() && self.dropped == 0 && self.faults == 0
    }

    #[inline]
    pub(crate) fn traces_instructions(&self) -> bool {
        self.traces_instructions
    }

    /// The sink, if it wants to hear of vertices and fragments.
    pub(crate) fn shading_sink(&mut self) -> Option<&mut dyn Sink> {
        match &mut self.sink {
            Some(sink) if self.traces_shading => Some(&mut **sink),
            _ => None,
        }
    }

    /// Whether the sink wants to hear of accesses to memory.
    #[inline]
    pub(crate) fn traces_accesses(&self) -> bool {
        self.traces_accesses
    }

    /// Whether the warp that runs is one whose accesses the sink hears of.
    #[inline]
    pub(crate) fn observes_accesses(&self) -> bool {
        self.traces_accesses && self.workgroup.is_some()
    }

    /// Number of the job whose turn it is.
    pub(crate) fn job(&self) -> u64 {
        self.job
    }

    /// It is the turn of the job of this number.
    pub(crate) fn turn_to(&mut self, job: u64) {
        self.job = job;
    }

    /// A workgroup of the job whose turn it is, by number and id.
    pub(crate) fn place(&self, number: u64, id: [u32; 3]) -> WorkgroupPlace {
        WorkgroupPlace {
            job: self.job,
            number,
            id,
        }
    }

    /// The warps of this workgroup run from now on.
    pub(crate) fn run_workgroup(&mut self, workgroup: Option<WorkgroupPlace>) {
        self.workgroup = workgroup;
    }

    /// The sink and the workgroup that runs, if the sink wants to hear of its accesses.
    #[inline]
    pub(crate) fn access_sink(&mut self) -> Option<(&mut dyn Sink, WorkgroupPlace)> {
        if !self.traces_accesses {
            return None;
        }
        Some((&mut **self.sink.as_mut()?, self.workgroup?))
    }

    /// Tells of a step of a workgroup who wants to hear of accesses.
    pub(crate) fn trace_workgroup(&mut self, workgroup: WorkgroupPlace, step: WorkgroupStep) {
        if let Some(sink) = self.sink.as_mut().filter(|_| self.traces_accesses) {
            sink.workgroup(workgroup, step);
        }
    }

    /// Whether the sink wants the history of this pixel.
    #[inline]
    pub(crate) fn follows_pixel(&self, (x, y): (u16, u16)) -> bool {
        self.pixel == Some([x.into(), y.into()])
    }

    /// Tells of what a fragment of the pixel did.
    pub(crate) fn trace_pixel(&mut self, step: PixelStep) {
        if let Some(sink) = &mut self.sink {
            sink.pixel_step(step);
        }
    }

    pub(crate) fn is_traced(&self) -> bool {
        self.sink.is_some()
    }

    #[inline]
    pub(crate) fn trace(&mut self, event: Event) {
        if let Some(sink) = &mut self.sink {
            sink.event(self.time, event);
        }
    }

    pub(crate) fn diagnoses(&self) -> &[Diagnosis] {
        &self.entries
    }

    pub(crate) fn notes(&self) -> &[Diagnosis] {
        &self.notes
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.notes.clear();
        self.dropped = 0;
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("entries", &self.entries)
            .field("dropped", &self.dropped)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_over_addresses_is_one_diagnosis_and_another_subject_is_another() {
        let mut journal = Journal::default();
        for address in 0..1000 {
            journal.report(MmuMisuse::WaitsForLock { space: 1, address });
        }
        journal.report(MmuMisuse::WaitsForLock {
            space: 2,
            address: 0,
        });
        let found: Vec<_> = journal.diagnoses().iter().map(|it| it.count).collect();
        assert_eq!(found, [1000, 1]);
        let first = MmuMisuse::WaitsForLock {
            space: 1,
            address: 0,
        };
        assert_eq!(journal.diagnoses()[0].misuse, Misuse::Mmu(first));
        assert_eq!(journal.dropped(), 0);
    }
}

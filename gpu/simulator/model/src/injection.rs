//! Faults on request: everything that hardware can do wrong, so that a driver's answer to it can be tested.
//!
//! Facts: the time-outs of hardware/csf-mmio.md 16 and the duties in csf-mmio.md 18, csf-firmware.md 14, csf-scheduling.md 11.

mod units;

pub use units::{GraphicsUnit, MemoryUnit};

use crate::clock::Nanoseconds;
use alloc::vec::Vec;
use units::{number, numbered};

/// Something that goes wrong. Each stays in force until it is taken back, unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Injection {
    /// A reset never completes.
    ResetNeverCompletes,
    /// Power changes of the L2 never complete.
    L2PowerStuck,
    /// Power changes of shader cores never complete: jobs wait for ever.
    ShaderPowerStuck,
    /// A cache flush never completes.
    FlushNeverCompletes,
    /// Commands to this address space never complete.
    AddressSpaceStuck {
        /// Its number.
        space: u8,
    },
    /// The microcontroller starts but never raises the boot interrupt.
    BootNeverCompletes,
    /// The microcontroller goes fatal instead of booting.
    BootFails,
    /// A halt request is ignored.
    HaltIgnored,
    /// The microcontroller goes fatal at a doorbell; once.
    McuCrash,
    /// Pings are not answered.
    PingIgnored,
    /// A suspend request is not acknowledged.
    SuspendIgnored,
    /// A terminate request is not acknowledged.
    TerminateIgnored,
    /// An interrupt of the JOB line is not raised; once.
    JobInterruptLost,
    /// A SYNC_UPDATE event without a cause at a doorbell; once.
    SpuriousSyncUpdate,
    /// A stream that executes an instruction reports this recoverable fault; once.
    StreamFault {
        /// Exception code.
        exception: u8,
    },
    /// A stream that executes an instruction reports this fatal fault; once.
    StreamFatal {
        /// Exception code.
        exception: u8,
    },
    /// A compute job fails with this exception; once.
    JobFault {
        /// Exception code.
        exception: u8,
    },
    /// A step of a draw or of a render pass fails with this exception: a fetch of vertices, an allocation, the begin of a warp, a
    /// primitive, a frame shader, a write-back, the results of queries; once.
    DrawStepFault {
        /// Exception code.
        exception: u8,
    },
    /// A unit of the graphics pipeline fails at what it does next, and its job with it: the stream reports
    /// [`GraphicsUnit::exception`], and the address of the instruction if the unit works for a shader; once.
    UnitFault {
        /// Which.
        unit: GraphicsUnit,
    },
    /// An access to memory by this unit faults as if unmapped: the host sees it as the source of the fault; once.
    UnitPageFault {
        /// Which.
        unit: MemoryUnit,
    },
    /// Compute jobs never finish.
    JobsHang,
    /// An access of a stream or shader through this address space faults as if unmapped; once.
    PageFault {
        /// Its number.
        space: u8,
    },
    /// The tiler finds no memory in its heap, while a stream has a render pass open; once.
    TilerOutOfMemory,
    /// PRFCNT_ENABLE is not acknowledged.
    CountersIgnored,
    /// A sample of the counters is taken that nobody asked for, just before one that was; once.
    ExtraSample,
    /// A sample of the counters is lost as if the ring were full; once.
    SampleLost,
    /// An access of a stream or shader through this address space meets nothing on the bus; once.
    BusError {
        /// Its number.
        space: u8,
    },
    /// A fault of the GPU with this exception is recorded at a command; once.
    GpuFault {
        /// Exception code.
        exception: u8,
    },
}

impl Injection {
    /// One of every kind, with an example of its data.
    pub const ALL: [Injection; 28] = [
        Injection::ResetNeverCompletes,
        Injection::L2PowerStuck,
        Injection::ShaderPowerStuck,
        Injection::FlushNeverCompletes,
        Injection::AddressSpaceStuck { space: 0 },
        Injection::BootNeverCompletes,
        Injection::BootFails,
        Injection::HaltIgnored,
        Injection::McuCrash,
        Injection::PingIgnored,
        Injection::SuspendIgnored,
        Injection::TerminateIgnored,
        Injection::JobInterruptLost,
        Injection::SpuriousSyncUpdate,
        Injection::StreamFault { exception: 0x4b },
        Injection::StreamFatal { exception: 0x40 },
        Injection::JobFault { exception: 0x58 },
        Injection::JobsHang,
        Injection::PageFault { space: 1 },
        Injection::BusError { space: 1 },
        Injection::GpuFault { exception: 0x80 },
        Injection::TilerOutOfMemory,
        Injection::CountersIgnored,
        Injection::ExtraSample,
        Injection::SampleLost,
        Injection::DrawStepFault { exception: 0x58 },
        Injection::UnitFault {
            unit: GraphicsUnit::Tiler,
        },
        Injection::UnitPageFault {
            unit: MemoryUnit::Tiler,
        },
    ];

    /// The address space, the exception or the number of the unit that it is about, if it is about one.
    pub fn subject(self) -> Option<u8> {
        match self {
            Injection::AddressSpaceStuck { space }
            | Injection::PageFault { space }
            | Injection::BusError { space } => Some(space),
            Injection::StreamFault { exception }
            | Injection::StreamFatal { exception }
            | Injection::JobFault { exception }
            | Injection::DrawStepFault { exception }
            | Injection::GpuFault { exception } => Some(exception),
            Injection::UnitFault { unit } => Some(number(&GraphicsUnit::ALL, &unit)),
            Injection::UnitPageFault { unit } => Some(number(&MemoryUnit::ALL, &unit)),
            _ => None,
        }
    }

    /// The same about another one. What is about none stays as it is.
    #[must_use]
    pub fn about(mut self, subject: u8) -> Injection {
        match &mut self {
            Injection::AddressSpaceStuck { space }
            | Injection::PageFault { space }
            | Injection::BusError { space } => *space = subject,
            Injection::StreamFault { exception }
            | Injection::StreamFatal { exception }
            | Injection::JobFault { exception }
            | Injection::DrawStepFault { exception }
            | Injection::GpuFault { exception } => *exception = subject,
            Injection::UnitFault { unit } => *unit = numbered(&GraphicsUnit::ALL, subject, *unit),
            Injection::UnitPageFault { unit } => {
                *unit = numbered(&MemoryUnit::ALL, subject, *unit);
            }
            _ => {}
        }
        self
    }

    /// Whether it is used up when it has struck.
    fn is_once(self) -> bool {
        match self {
            Injection::McuCrash
            | Injection::JobInterruptLost
            | Injection::SpuriousSyncUpdate
            | Injection::StreamFault { .. }
            | Injection::StreamFatal { .. }
            | Injection::JobFault { .. }
            | Injection::DrawStepFault { .. }
            | Injection::UnitFault { .. }
            | Injection::UnitPageFault { .. }
            | Injection::PageFault { .. }
            | Injection::TilerOutOfMemory
            | Injection::ExtraSample
            | Injection::SampleLost
            | Injection::BusError { .. }
            | Injection::GpuFault { .. } => true,
            Injection::ResetNeverCompletes
            | Injection::L2PowerStuck
            | Injection::ShaderPowerStuck
            | Injection::FlushNeverCompletes
            | Injection::AddressSpaceStuck { .. }
            | Injection::BootNeverCompletes
            | Injection::BootFails
            | Injection::HaltIgnored
            | Injection::PingIgnored
            | Injection::SuspendIgnored
            | Injection::CountersIgnored
            | Injection::TerminateIgnored
            | Injection::JobsHang => false,
        }
    }
}

/// When and where an injection strikes. Each occasion on which it could do so counts: an instruction of a stream for
/// `StreamFault`, an access for `PageFault`, a job for `JobFault`, a doorbell for `McuCrash`, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Aim {
    not_before: Nanoseconds,
    nth: u32,
    slot: Option<u8>,
    stream: Option<u8>,
}

impl Aim {
    /// At the next occasion, wherever it is.
    pub const NOW: Aim = Aim {
        not_before: 0,
        nth: 1,
        slot: None,
        stream: None,
    };

    /// At the `nth` occasion from now on that the rest of the aim fits; the first is 1.
    #[must_use]
    pub const fn nth(self, nth: u32) -> Aim {
        Aim { nth, ..self }
    }

    /// At no occasion before this virtual time.
    #[must_use]
    pub const fn not_before(self, time: Nanoseconds) -> Aim {
        Aim {
            not_before: time,
            ..self
        }
    }

    /// Only where a group on this slot is concerned. What concerns no group is never hit.
    #[must_use]
    pub const fn slot(self, slot: u8) -> Aim {
        Aim {
            slot: Some(slot),
            ..self
        }
    }

    /// Only where this stream is concerned.
    #[must_use]
    pub const fn stream(self, slot: u8, stream: u8) -> Aim {
        Aim {
            slot: Some(slot),
            stream: Some(stream),
            ..self
        }
    }

    fn fits(&self, occasion: Occasion) -> bool {
        let concerns = |wanted: Option<u8>, there| wanted.is_none() || wanted == there;
        occasion.now >= self.not_before
            && concerns(self.slot, occasion.slot)
            && concerns(self.stream, occasion.stream)
    }
}

/// A moment at which something could go wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occasion {
    pub(crate) now: Nanoseconds,
    pub(crate) slot: Option<u8>,
    pub(crate) stream: Option<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Armed {
    injection: Injection,
    aim: Aim,
    /// Occasions that fitted so far.
    seen: u32,
}

/// The injections in force.
#[derive(Clone, Debug, Default)]
pub(crate) struct Injections {
    armed: Vec<Armed>,
}

impl Injections {
    pub(crate) fn new(active: &[Injection]) -> Injections {
        let mut injections = Injections::default();
        for injection in active {
            injections.add(*injection, Aim::NOW);
        }
        injections
    }

    pub(crate) fn add(&mut self, injection: Injection, aim: Aim) {
        let known = |armed: &Armed| armed.injection == injection && armed.aim == aim;
        if !self.armed.iter().any(known) {
            self.armed.push(Armed {
                injection,
                aim,
                seen: 0,
            });
        }
    }

    pub(crate) fn remove(&mut self, injection: Injection) {
        self.armed.retain(|armed| armed.injection != injection);
    }

    /// What the first injection that strikes on this occasion has to say by `pick`, which tells those that could.
    pub(crate) fn strike<T>(
        &mut self,
        occasion: Occasion,
        pick: impl Fn(Injection) -> Option<T>,
    ) -> Option<T> {
        for index in 0..self.armed.len() {
            let armed = &mut self.armed[index];
            let Some(answer) = pick(armed.injection).filter(|_| armed.aim.fits(occasion)) else {
                continue;
            };
            armed.seen = armed.seen.saturating_add(1);
            if armed.seen < armed.aim.nth {
                continue;
            }
            if armed.injection.is_once() {
                self.armed.remove(index);
            }
            return Some(answer);
        }
        None
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.armed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(aim: Aim, occasions: &[(Nanoseconds, Option<u8>, Option<u8>)], struck: &[usize]) {
        let mut injections = Injections::default();
        injections.add(Injection::StreamFatal { exception: 0x40 }, aim);
        let pick = |injection| matches!(injection, Injection::StreamFatal { .. }).then_some(());
        let hits = occasions.iter().enumerate().filter(|(_, occasion)| {
            let (now, slot, stream) = **occasion;
            let occasion = Occasion { now, slot, stream };
            injections.strike(occasion, pick).is_some()
        });
        let hits: Vec<usize> = hits.map(|(index, _)| index).collect();
        assert_eq!(hits, struck, "{aim:?}");
    }

    #[test]
    fn an_injection_is_about_what_it_was_told() {
        for injection in Injection::ALL {
            let other = injection.about(2);
            assert_eq!(other.subject(), injection.subject().map(|_| 2));
            assert_eq!(
                injection.subject().map(|it| other.about(it)),
                injection.subject().map(|_| injection)
            );
        }
    }

    #[test]
    fn every_unit_has_a_number() {
        for (number, unit) in (0..).zip(GraphicsUnit::ALL) {
            assert_eq!(Injection::UnitFault { unit }.subject(), Some(number));
        }
        for (number, unit) in (0..).zip(MemoryUnit::ALL) {
            assert_eq!(Injection::UnitPageFault { unit }.subject(), Some(number));
        }
        // A number that no unit has changes nothing.
        let unit = MemoryUnit::Texture;
        let injection = Injection::UnitPageFault { unit };
        assert_eq!(injection.about(200), injection);
    }

    #[test]
    fn an_injection_strikes_when_and_where_it_is_aimed() {
        let occasions = [
            (10, Some(0), Some(0)),
            (20, Some(1), Some(0)),
            (30, Some(1), Some(2)),
            (40, None, None),
            (50, Some(1), Some(2)),
        ];
        check(Aim::NOW, &occasions, &[0]);
        check(Aim::NOW.nth(3), &occasions, &[2]);
        check(Aim::NOW.not_before(35), &occasions, &[3]);
        check(Aim::NOW.slot(1), &occasions, &[1]);
        check(Aim::NOW.stream(1, 2), &occasions, &[2]);
        check(Aim::NOW.stream(1, 2).nth(2), &occasions, &[4]);
        check(Aim::NOW.slot(1).nth(4), &occasions, &[]);
    }
}

//! Faults on request: everything that hardware can do wrong, so that a driver's answer to it can be tested.
//!
//! Facts: the time-outs of hardware/csf-mmio.md 16 and the duties in csf-mmio.md 18, csf-firmware.md 14, csf-scheduling.md 11.

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
    /// The microcontroller goes fatal at its next doorbell; once.
    McuCrash,
    /// Pings are not answered.
    PingIgnored,
    /// A suspend request is not acknowledged.
    SuspendIgnored,
    /// A terminate request is not acknowledged.
    TerminateIgnored,
    /// The next interrupt of the JOB line is not raised; once.
    JobInterruptLost,
    /// A SYNC_UPDATE event without a cause at the next doorbell; once.
    SpuriousSyncUpdate,
    /// The next stream that executes an instruction reports this recoverable fault; once.
    StreamFault {
        /// Exception code.
        exception: u8,
    },
    /// The next stream that executes an instruction reports this fatal fault; once.
    StreamFatal {
        /// Exception code.
        exception: u8,
    },
    /// The next compute job fails with this exception; once.
    JobFault {
        /// Exception code.
        exception: u8,
    },
    /// Compute jobs never finish.
    JobsHang,
    /// The next access of a stream or shader through this address space faults as if unmapped; once.
    PageFault {
        /// Its number.
        space: u8,
    },
    /// A fault of the GPU with this exception is recorded at the next command; once.
    GpuFault {
        /// Exception code.
        exception: u8,
    },
}

impl Injection {
    /// One of every kind, with an example of its data.
    pub const ALL: [Injection; 20] = [
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
        Injection::GpuFault { exception: 0x80 },
    ];
}

/// The injections in force.
#[derive(Clone, Debug, Default)]
pub(crate) struct Injections {
    active: alloc::vec::Vec<Injection>,
}

impl Injections {
    pub(crate) fn new(active: alloc::vec::Vec<Injection>) -> Injections {
        Injections { active }
    }

    pub(crate) fn add(&mut self, injection: Injection) {
        if !self.holds(injection) {
            self.active.push(injection);
        }
    }

    pub(crate) fn remove(&mut self, injection: Injection) {
        self.active.retain(|active| *active != injection);
    }

    pub(crate) fn holds(&self, injection: Injection) -> bool {
        self.active.contains(&injection)
    }

    /// Whether `injection` is in force; it is used up.
    pub(crate) fn take(&mut self, injection: Injection) -> bool {
        let held = self.holds(injection);
        self.remove(injection);
        held
    }

    /// The first injection that `pick` gives an answer for; it is used up.
    pub(crate) fn take_map<T>(&mut self, pick: impl Fn(Injection) -> Option<T>) -> Option<T> {
        let index = self.active.iter().position(|it| pick(*it).is_some())?;
        pick(self.active.swap_remove(index))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }
}

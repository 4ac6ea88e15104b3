//! Defects: things of the hardware that are broken for good, so that a test suite for hardware can be tested.
//!
//! An injection is an event that a driver must survive; a defect is a part that does its work wrong, which a driver can't know
//! and a test must find. Each is a change of one place in the model; without any nothing costs more than a look at a flag.
//! [`SEEDED`] is the list of broken GPUs that a suite has to tell from a good one.
//!
//! Never: chosen so that some driver or suite notices them; they are what goes wrong with silicon, boards and their set-up.

mod draw;
mod seeded;
mod shader;
mod state;

pub use draw::DrawDefect;
pub(crate) use draw::PassDefects;
pub use seeded::{Broken, SEEDED, Seeded};
pub use shader::{Damage, Family, ShaderDefect};
pub use state::State;

use crate::clock::Nanoseconds;
use crate::config::Config;
use crate::mmu::AccessKind;
use alloc::vec::Vec;
use eitri_csf::registers::power::Domain;

/// An interrupt line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// JOB.
    Job,
    /// MMU.
    Mmu,
    /// GPU.
    Gpu,
}

/// Something that is slower than it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slow {
    /// Power changes take a second.
    Power,
    /// Cache flushes do.
    Flush,
    /// Resets do.
    Reset,
    /// Commands of address spaces do.
    AddressSpace,
    /// The GPU's clock runs at a fortieth of its rate.
    Clock,
    /// The timestamp runs at half its rate.
    Timestamp,
    /// The timestamp stands still.
    NoTimestamp,
}

/// A part that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A bit of the register word at this offset is always read so.
    RegisterBit {
        /// Offset of the word.
        offset: u32,
        /// The bit.
        bit: u8,
        /// What is read.
        value: bool,
    },
    /// Writes to the register word at this offset get lost.
    WriteLost {
        /// Offset of the word.
        offset: u32,
    },
    /// An interrupt line is always at this level at the CPU.
    LineStuck {
        /// Which.
        line: Line,
        /// High or low.
        high: bool,
    },
    /// Sources of a line are never latched.
    SourceLost {
        /// Which line.
        line: Line,
        /// The sources.
        bits: u32,
    },
    /// Something is slow.
    Slow(Slow),
    /// Units never get power.
    NoPower {
        /// Their domain.
        domain: Domain,
        /// A bit a unit.
        units: u64,
    },
    /// Units never lose power.
    StaysOn {
        /// Their domain.
        domain: Domain,
        /// A bit a unit.
        units: u64,
    },
    /// A reset leaves power as it is.
    ResetKeepsPower,
    /// A flush ends, and does nothing.
    FlushDoesNothing,
    /// A flush does not count.
    FlushNotCounted,
    /// Of every eight lines, one is never written back.
    CleanMissesLines,
    /// Of every eight lines, one is never invalidated: the GPU goes on with what it has read once.
    InvalidateMissesLines,
    /// An invalidation of the OTHER caches does nothing: cores go on with texels and descriptors that they have read once.
    OthersNotInvalidated,
    /// The L2 loses what is written to this byte of a line.
    LineByteLost {
        /// Byte of the line.
        byte: u8,
    },
    /// The MMU takes this bit of a virtual address for 0, but in the firmware's space.
    AddressBitIgnored {
        /// The bit.
        bit: u8,
    },
    /// The MMU allows accesses of this kind that page tables forbid.
    PermissionIgnored {
        /// Of which kind.
        kind: AccessKind,
    },
    /// The MMU takes a block of 1 GiB for nothing.
    NoGibibytes,
    /// Translations once cached stay, whatever the host invalidates.
    StaleTranslations,
    /// Accesses of one space go through the tables of another.
    SpacesMixed {
        /// Whose accesses.
        from: u8,
        /// Whose tables.
        to: u8,
    },
    /// Jobs never end on a core.
    CoreHangs {
        /// Its number.
        core: u8,
    },
    /// A core takes workgroups and does not run one in so many.
    CoreSkipsWorkgroups {
        /// Its number.
        core: u8,
        /// One in so many.
        every: u64,
    },
    /// The cores that a group asks for are not the ones that it gets: all are.
    EndpointsIgnored,
    /// Priorities of groups count for nothing.
    PrioritiesIgnored,
    /// A stream's wait for its scoreboard does not wait.
    ScoreboardWaitIgnored,
    /// A stream's wait for a sync object does not wait.
    SyncWaitIgnored,
    /// A stream's wait for a sync object never ends.
    SyncWaitNeverEnds,
    /// A bit of a register of streams is always 0.
    StreamRegisterBit {
        /// The register.
        register: u8,
        /// The bit.
        bit: u8,
    },
    /// A performance counter never counts.
    CounterStandsStill {
        /// Its name.
        name: &'static str,
    },
    /// A performance counter grows by one with every sample.
    CounterDrifts {
        /// Its name.
        name: &'static str,
    },
    /// Something in the shader cores.
    Shader(ShaderDefect),
    /// Something that draws go wrong by.
    Draw(DrawDefect),
    /// A bit of the state of draws is stuck.
    StateBit {
        /// The word.
        of: State,
        /// The bit.
        bit: u8,
        /// What it is taken for.
        value: bool,
    },
}

/// The defects of a GPU.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defects {
    all: Vec<Defect>,
    /// Whether there is one in the shader cores: looked at with every instruction.
    pub(crate) in_shader: bool,
}

/// A second, which nobody waits for.
const LONG: Nanoseconds = 1_000_000_000;

impl Defects {
    pub(crate) fn new(defects: &[Defect]) -> Defects {
        Defects {
            all: defects.to_vec(),
            in_shader: defects
                .iter()
                .any(|defect| matches!(defect, Defect::Shader(_))),
        }
    }

    /// Whether the GPU has this defect.
    pub(crate) fn has(&self, defect: Defect) -> bool {
        self.all.contains(&defect)
    }

    /// What one of the defects has to say by `pick`.
    pub(crate) fn find<T>(&self, pick: impl FnMut(Defect) -> Option<T>) -> Option<T> {
        self.all.iter().copied().find_map(pick)
    }

    pub(crate) fn in_shader(&self) -> impl Iterator<Item = ShaderDefect> + '_ {
        self.all.iter().filter_map(|defect| match defect {
            Defect::Shader(defect) => Some(*defect),
            _ => None,
        })
    }

    /// What the host reads of a register word.
    pub(crate) fn read(&self, offset: u32, value: u32) -> u32 {
        self.all.iter().fold(value, |value, defect| match *defect {
            Defect::RegisterBit {
                offset: at,
                bit,
                value: set,
            } if at == offset => value & !(1 << (bit & 31)) | u32::from(set) << (bit & 31),
            _ => value,
        })
    }

    /// Whether what the host writes to a register word gets lost.
    pub(crate) fn loses_write(&self, offset: u32) -> bool {
        self.has(Defect::WriteLost { offset })
    }

    /// The level of a line at the CPU.
    pub(crate) fn level(&self, line: Line, level: bool) -> bool {
        let stuck = self.find(|defect| match defect {
            Defect::LineStuck { line: of, high } if of == line => Some(high),
            _ => None,
        });
        stuck.unwrap_or(level)
    }

    /// Sources of a line that are never latched.
    pub(crate) fn lost_sources(&self, line: Line) -> u32 {
        let lost = self.find(|defect| match defect {
            Defect::SourceLost { line: of, bits } if of == line => Some(bits),
            _ => None,
        });
        lost.unwrap_or(0)
    }

    /// Units of a domain that do not do what they are told: those that never get power, and those that never lose it.
    pub(crate) fn deaf_units(&self, domain: Domain) -> (u64, u64) {
        let mut deaf = (0, 0);
        for defect in &self.all {
            match *defect {
                Defect::NoPower { domain: of, units } if of == domain => deaf.0 |= units,
                Defect::StaysOn { domain: of, units } if of == domain => deaf.1 |= units,
                _ => {}
            }
        }
        deaf
    }

    /// What a performance counter has counted.
    pub(crate) fn counted(&self, name: &str, counted: u64) -> u64 {
        self.all
            .iter()
            .fold(counted, |counted, defect| match *defect {
                Defect::CounterStandsStill { name: of } if of == name => 0,
                Defect::CounterDrifts { name: of } if of == name => counted + 1,
                _ => counted,
            })
    }

    /// The configuration with what is slow.
    pub(crate) fn slowed(&self, mut config: Config) -> Config {
        for defect in &self.all {
            let latencies = &mut config.latencies;
            match *defect {
                Defect::Slow(Slow::Power) => latencies.power = LONG,
                Defect::Slow(Slow::Flush) => latencies.flush = LONG,
                Defect::Slow(Slow::Reset) => latencies.reset = LONG,
                Defect::Slow(Slow::AddressSpace) => latencies.address_space = LONG,
                Defect::Slow(Slow::Clock) => config.clock_hz = (config.clock_hz / 40).max(1),
                Defect::Slow(Slow::Timestamp) => config.timestamp_hz /= 2,
                Defect::Slow(Slow::NoTimestamp) => config.timestamp_hz = 1,
                _ => {}
            }
        }
        config
    }
}

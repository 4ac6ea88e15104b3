//! Faults: what went wrong with a job, a group or the GPU, as values that say which job, which address, what to do.
//!
//! Facts: hardware/csf-scheduling.md section 6, csf-mmio.md section 8, gpu-mmu.md section 8.

use crate::error::Thing;
use crate::graphics::FailedPass;
use crate::handle::{Fence, Queue};
use crate::mmu::MmuFault;
use crate::vm::GpuAddress;
use core::fmt;
use eitri_cs::SubQueue;
use eitri_csf::Arch;
use eitri_csf::fault::fault_access::AccessKind;
use eitri_csf::fault::{Exception, FaultSource};
use eitri_csf::interface::stream::{
    BlockedReason, CS_STATUS_BLOCKED_REASON, CS_STATUS_WAIT, blocked_reason,
};
use eitri_csf::registers::control::gpu_faultstatus;
use thiserror::Error;

/// What has to be done before work can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recovery {
    /// Nothing: the job has failed, the queue goes on.
    Continue,
    /// The queue is dead: destroy it and make another. Its group was terminated, alone.
    NewQueue,
    /// The queue is dead, and the GPU is reset and started again, by itself. Other queues go on.
    Reset,
    /// The device was given up: only [`crate::Device::restart`] may help.
    Restart,
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Recovery::Continue => "the queue goes on",
            Recovery::NewQueue => "the queue was stopped: make another",
            Recovery::Reset => "the GPU is started again; the queue was stopped: make another",
            Recovery::Restart => "the GPU must be restarted",
        })
    }
}

/// What a stream reports in `CS_FAULT` or `CS_FATAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamException {
    /// The code.
    pub exception: Exception,
    /// Its 24 bits of data, undocumented.
    pub data: u32,
    /// Its 64 bits of information, usually an address.
    pub info: u64,
    /// Whether the stream can go on.
    pub fatal: bool,
}

/// What is to be seen of a stream that does not get on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamStatus {
    /// Address of the current instruction.
    pub command_pointer: u64,
    /// `CS_STATUS_BLOCKED_REASON`.
    pub blocked: u32,
    /// `CS_STATUS_WAIT`.
    pub wait: u32,
    /// `CS_STATUS_SCOREBOARDS`: entries in use.
    pub scoreboards: u32,
    /// Bytes that the host has put into the ring, ever.
    pub insert: u64,
    /// Bytes that were consumed, ever.
    pub extract: u64,
    /// Whether the words above are fresh: the firmware answered when asked for them.
    pub fresh: bool,
}

impl StreamStatus {
    /// Why the stream does not go on, if the number has a meaning.
    pub fn blocked_reason(&self) -> Option<BlockedReason> {
        blocked_reason::REASON.get(self.blocked)
    }
}

impl fmt::Display for StreamStatus {
    /// Indented lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StreamStatus {
            insert,
            extract,
            command_pointer,
            scoreboards,
            ..
        } = *self;
        writeln!(f, "  ring: {insert:#x} bytes filled, {extract:#x} consumed")?;
        if !self.fresh {
            writeln!(f, "  the firmware did not refresh the status of the stream")?;
        }
        writeln!(
            f,
            "  instruction at {command_pointer:#x}, scoreboards in use {scoreboards:#x}"
        )?;
        writeln!(
            f,
            "  {}",
            CS_STATUS_BLOCKED_REASON.decode(u64::from(self.blocked))
        )?;
        write!(f, "  {}", CS_STATUS_WAIT.decode(u64::from(self.wait)))?;
        match self.blocked_reason() {
            Some(reason) => write!(f, "\n  {}", reason.about()),
            None => Ok(()),
        }
    }
}

/// Why a job failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its stream reports an exception.
    Exception(StreamException),
    /// Its address space reports a fault.
    Mmu(MmuFault),
    /// The GPU reported a fault of an access in its address space while it ran.
    Gpu(GpuFault),
    /// The firmware saw no progress for too long.
    NoProgress,
    /// Its owner cancelled the queue.
    Cancelled,
    /// Its group had to leave its slot and did not let itself be saved in time: the job keeps a core for too long.
    NotSuspended,
    /// It needs a tiler heap that there is not, or that makes no sense.
    TilerMemory,
    /// It needs protected mode, and there is none.
    ProtectedMode,
    /// It was lost with the queue, through no fault of its own.
    Lost,
    /// It had begun when the GPU was lost, and could not be saved ([`crate::Device::last_loss`]), nor could what it wrote if it
    /// ended before the reset; or the device was given up.
    LostWithGpu,
    /// The sync object carries an error, and no fault was reported.
    Unreported {
        /// Status of the sync object.
        status: u32,
    },
}

/// What a faulting address lies in, else what is mapped nearest to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// What it is.
    pub what: Thing,
    /// The number of its place.
    pub number: u16,
    /// Where it begins.
    pub address: GpuAddress,
    /// Its length in bytes, as it was asked for.
    pub bytes: u64,
    /// The faulting address.
    pub fault: GpuAddress,
}

impl Neighbour {
    /// Where the faulting address lies, seen from it.
    pub fn side(&self) -> Side {
        Side::of(self.fault, self.address, self.bytes)
    }
}

/// Where an address lies, seen from an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before its first byte.
    Before {
        /// How many bytes before.
        bytes: u64,
    },
    /// In it: what failed is how it was accessed.
    Inside {
        /// Bytes from its start on.
        offset: u64,
    },
    /// Past its last byte.
    Past {
        /// Bytes from its end on; 0 of the first byte that is not its own.
        bytes: u64,
    },
}

impl Side {
    /// Where `address` lies, seen from `length` bytes at `start`.
    fn of(GpuAddress(address): GpuAddress, GpuAddress(start): GpuAddress, length: u64) -> Side {
        match address.checked_sub(start) {
            None => Side::Before {
                bytes: start.wrapping_sub(address),
            },
            Some(offset) if offset < length => Side::Inside { offset },
            Some(offset) => Side::Past {
                bytes: offset.saturating_sub(length),
            },
        }
    }

    /// Bytes between the object and the address.
    pub(crate) fn distance(self) -> u64 {
        match self {
            Side::Before { bytes } => bytes,
            Side::Inside { .. } => 0,
            // The first byte past the end is one that the object does not have.
            Side::Past { bytes } => bytes.saturating_add(1),
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Side::Before { bytes } => write!(f, "{bytes:#x} bytes before the start of"),
            Side::Inside { offset: 0 } => f.write_str("at the start of"),
            Side::Inside { offset } => write!(f, "{offset:#x} bytes into"),
            Side::Past { bytes: 0 } => f.write_str("right past the end of"),
            Side::Past { bytes } => write!(f, "{bytes:#x} bytes past the end of"),
        }
    }
}

impl fmt::Display for Neighbour {
    /// `0x40 bytes past the end of buffer 3, which has 0x100 bytes at 0x2000000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Neighbour {
            what,
            number,
            address,
            bytes,
            ..
        } = self;
        let side = self.side();
        write!(
            f,
            "{side} {what} {number}, which has {bytes:#x} bytes at {address}"
        )
    }
}

/// A job, or a whole queue, that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobFault {
    /// The queue.
    pub queue: Queue,
    /// The sub-queue.
    pub sub_queue: SubQueue,
    /// The point on the stream's timeline that the job was to reach; `None` if no job could be named.
    pub job: Option<u64>,
    /// Why.
    pub cause: Cause,
    /// The fault of the address space behind a stream's bus fault, if there was one.
    pub mmu: Option<MmuFault>,
    /// What the address of that fault lies in, or missed.
    pub near: Option<Neighbour>,
    /// What has to be done.
    pub recovery: Recovery,
    /// Where in the render passes of its submission it failed, if it has some and that could be found out. Without the feature `draw`
    /// always `None`.
    pub pass: Option<FailedPass>,
}

impl fmt::Display for JobFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (queue, sub_queue) = (self.queue, self.sub_queue);
        match self.job {
            Some(point) => {
                let fence = Fence {
                    queue,
                    sub_queue,
                    point,
                };
                write!(f, "{fence} ")?;
            }
            None => write!(f, "a job of {queue} ")?,
        }
        match self.cause {
            Cause::Exception(it) => {
                let kind = if it.fatal {
                    "failed for good"
                } else {
                    "failed"
                };
                write!(f, "{kind}: {} ({:#04x})", it.exception, it.exception.0)?;
                if let Some(row) = it.exception.explained() {
                    write!(f, ": {}", row.about)?;
                }
                write!(f, "\n  information {:#x}, data {:#x}", it.info, it.data)?;
            }
            Cause::Mmu(fault) => write!(f, "failed: {fault}")?,
            Cause::Gpu(fault) => write!(f, "failed: {fault}")?,
            Cause::NoProgress => {
                f.write_str("failed: the firmware saw no progress for too long")?
            }
            Cause::Cancelled => f.write_str("was cancelled with its queue")?,
            Cause::NotSuspended => {
                f.write_str("was stopped: it had to make room for others and could not be saved")?;
            }
            Cause::TilerMemory => {
                f.write_str("failed: it needs memory of a tiler heap that is none of its space's")?
            }
            Cause::ProtectedMode => {
                f.write_str("failed: it needs protected mode, and there is none")?
            }
            Cause::Lost => f.write_str("was lost with its queue")?,
            Cause::LostWithGpu => f.write_str("was lost with the GPU")?,
            Cause::Unreported { status } => {
                write!(
                    f,
                    "failed: its sync object carries status {status:#x}, no fault was reported"
                )?;
            }
        }
        if let Some(fault) = self.mmu {
            write!(f, "\n  {fault}")?;
        }
        if let Some(near) = self.near {
            write!(f, "\n  the address lies {near}")?;
        }
        if let Some(pass) = &self.pass {
            write!(f, "\n  {pass}")?;
        }
        let row = match (self.mmu, self.cause) {
            (Some(fault), _) | (None, Cause::Mmu(fault)) => fault.exception.row(),
            (None, Cause::Exception(it)) => it.exception.row(),
            (None, _) => None,
        };
        match row.map(|row| row.help) {
            Some(help) if !help.is_empty() => write!(f, "\n  help: {help}")?,
            _ => {}
        }
        write!(f, "\n  {}", self.recovery)
    }
}

impl core::error::Error for JobFault {}

/// A fault of the GPU as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub struct GpuFault {
    /// The code.
    pub exception: Exception,
    /// What kind of access.
    pub access: AccessKind,
    /// The address, if it is known.
    pub address: Option<u64>,
    /// The address space, if it is known.
    pub space: Option<u32>,
    /// Which unit made the access.
    pub unit: FaultSource,
    /// Whether it happened in protected mode, which hides all else.
    pub protected: bool,
}

impl GpuFault {
    pub(crate) fn decode(arch: Arch, status: u32, address: u64, protected: bool) -> GpuFault {
        use gpu_faultstatus as field;
        // Two bits, four kinds: every number has one.
        let access = field::ACCESS.get(status).unwrap_or(AccessKind::Read);
        GpuFault {
            exception: Exception(field::EXCEPTION.get(status) as u8),
            access,
            address: field::ADDRESS_VALID.get(status).then_some(address),
            space: field::JASID_VALID
                .get(status)
                .then_some(field::JASID.get(status)),
            unit: FaultSource {
                arch,
                id: field::SOURCE.get(status) as u16,
                access,
            },
            protected,
        }
    }
}

impl fmt::Display for GpuFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.protected {
            return f.write_str("the GPU reports a fault in protected mode, without details");
        }
        write!(
            f,
            "the GPU reports {}: {}",
            self.exception,
            self.access.about()
        )?;
        if let Some(address) = self.address {
            write!(f, " of {address:#x}")?;
        }
        if let Some(space) = self.space {
            write!(f, " in address space {space}")?;
        }
        write!(f, " by {}", self.unit)?;
        match self.exception.explained() {
            Some(row) => write!(f, "\n  {}\n  help: {}", row.about, row.help),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Side;
    use crate::vm::GpuAddress;
    use std::string::ToString as _;

    /// The byte at the end is the first that an object does not have: the neighbour whose first byte it is has it.
    #[test]
    fn an_address_lies_before_in_or_past_an_object() {
        let of = |address, start, bytes| Side::of(GpuAddress(address), GpuAddress(start), bytes);
        let side = |address| of(address, 0x1000, 0x100);
        for (address, words) in [
            (0xFFF, "0x1 bytes before the start of"),
            (0x1000, "at the start of"),
            (0x10FF, "0xff bytes into"),
            (0x1100, "right past the end of"),
            (0x1140, "0x40 bytes past the end of"),
        ] {
            assert_eq!(side(address).to_string(), words, "{address:#x}");
        }
        assert!(side(0x1100).distance() > of(0x1100, 0x1100, 1).distance());
        assert_eq!(side(0x10FF).distance(), 0);
        let last = of(u64::MAX, 0, u64::MAX);
        assert_eq!(last, Side::Past { bytes: 0 });
    }
}

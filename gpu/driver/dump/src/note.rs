//! Notes: what hardware and its firmware interface say, beside memory. docs/core-dumps.md is the format for others.
//!
//! Everything is 32-bit little-endian words; a 64-bit number is two, the low one first. Interface words are pairs of an
//! offset in their block and a value, so that neither side needs the other's structures.
//! Never: holds anything that is Eitri's own.

/// The owner of the notes, as ELF wants it: with the zero that ends it.
pub const OWNER: &[u8] = b"Mali-CSF\0";

/// A slot, stream or address space that is not known.
pub const NONE: u32 = u32::MAX;

/// Types of notes. They lie where no other owner's types do, since tools look at the type alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// Registers: pairs of MMIO offset and value.
    Registers = 0x4D41_0001,
    /// The firmware's control, input and output words.
    Firmware = 0x4D41_0002,
    /// A group on a slot.
    Group = 0x4D41_0003,
    /// A stream of a group.
    Stream = 0x4D41_0004,
    /// Work that was submitted to a stream.
    Submission = 0x4D41_0005,
    /// A fault as the driver saw it.
    Fault = 0x4D41_0006,
    /// What is not in the dump.
    Incomplete = 0x4D41_0007,
    /// Who wrote the dump: text.
    Producer = 0x4D41_0008,
    /// What the driver calls a range of addresses.
    Label = 0x4D41_0009,
    /// The source lines of code, which is recognised by its words: `eitri_program_file::CodeLines`.
    Lines = 0x4D41_000A,
    /// What the driver has concluded from a fault: text.
    Remark = 0x4D41_000B,
}

impl Kind {
    /// All, by number.
    pub const ALL: [Kind; 11] = [
        Kind::Registers,
        Kind::Firmware,
        Kind::Group,
        Kind::Stream,
        Kind::Submission,
        Kind::Fault,
        Kind::Incomplete,
        Kind::Producer,
        Kind::Label,
        Kind::Lines,
        Kind::Remark,
    ];

    /// The type with this number.
    pub fn from_number(number: u32) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u32 == number)
    }
}

/// Who reported a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reporter {
    /// An address space: the status is `AS_FAULTSTATUS`.
    AddressSpace = 0,
    /// The GPU: the status is `GPU_FAULTSTATUS`.
    Gpu = 1,
    /// A stream that can go on: the status is `CS_FAULT`, the address `CS_FAULT_INFO`.
    StreamFault = 2,
    /// A stream that is dead: the status is `CS_FATAL`, the address `CS_FATAL_INFO`.
    StreamFatal = 3,
    /// The driver: work took longer than allowed. Status and address are 0.
    Timeout = 4,
    /// The driver: the firmware no longer answers. The status is `MCU_STATUS`.
    Firmware = 5,
}

impl Reporter {
    /// All, by number.
    pub const ALL: [Reporter; 6] = [
        Reporter::AddressSpace,
        Reporter::Gpu,
        Reporter::StreamFault,
        Reporter::StreamFatal,
        Reporter::Timeout,
        Reporter::Firmware,
    ];

    /// The reporter with this number.
    pub fn from_number(number: u32) -> Option<Reporter> {
        Reporter::ALL
            .into_iter()
            .find(|reporter| *reporter as u32 == number)
    }
}

/// A fault as the driver saw it. What registers and interface words say need not be repeated; what was cleared since does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Who reported it.
    pub reporter: Reporter,
    /// The group slot, or [`NONE`].
    pub slot: u32,
    /// The stream of the group, or [`NONE`].
    pub stream: u32,
    /// The address space, or [`NONE`].
    pub space: u32,
    /// The status word of the reporter.
    pub status: u32,
    /// The address that goes with it.
    pub address: u64,
}

/// Work that was submitted to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The group slot.
    pub slot: u32,
    /// The stream of the group.
    pub stream: u32,
    /// The driver's number for it: grows with each submission to a stream.
    pub sequence: u64,
    /// Byte offset in the ring at which its instructions begin, as `CS_INSERT` counts: never wrapped.
    pub position: u64,
    /// Bytes of its instructions in the ring.
    pub bytes: u64,
    /// GPU address of the first instructions that are its own: where the ring calls to, or the place in the ring.
    pub start: u64,
}

/// What the driver calls a range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label<'n> {
    /// The address space.
    pub space: u32,
    /// The driver's number for it, or [`NONE`].
    pub number: u32,
    /// Its first address.
    pub start: u64,
    /// Its length, as it was asked for: mappings are whole pages.
    pub bytes: u64,
    /// What it is, without the number.
    pub name: &'n str,
}

/// A ring buffer and how far it is filled and consumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    /// GPU address (`CS_BASE`).
    pub address: u64,
    /// Bytes (`CS_SIZE`).
    pub bytes: u64,
    /// `CS_INSERT`: filled up to here.
    pub insert: u64,
    /// `CS_EXTRACT`: consumed up to here.
    pub extract: u64,
}

/// What is not in the dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Incomplete {
    /// Bytes of mapped memory for which the writer had no room.
    pub no_room: u64,
    /// Bytes that page tables map, and at which there is no memory.
    pub unreadable: u64,
    /// Tables that were not walked, because there were more than any sound address space has.
    pub tables: u64,
}

impl Incomplete {
    /// Whether everything is in the dump.
    pub fn is_complete(&self) -> bool {
        *self == Incomplete::default()
    }
}

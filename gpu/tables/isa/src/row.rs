//! A row of the instruction table: all that is known of one instruction.
//!
//! Facts: hardware/valhall-isa.md sections 1, 2, 4, 14, 15; data/valhall-isa.json.

use core::fmt;

use crate::arch::{Arch, ArchSet};
use crate::field::{Field, ImmId, Immediate, Legal};
use crate::meaning::Meaning;
use crate::op::Op;
use crate::select::SelectTable;
use crate::values::FieldId;

/// The execution unit that an instruction goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Fused multiply-add.
    Fma,
    /// Conversion: moves, integer add, compare, select, branch.
    Cvt,
    /// Special functions: integer multiply, shifts, tables, cross-lane.
    Sfu,
    /// Load and store.
    Ls,
    /// Varying.
    V,
    /// Varying and texture.
    Vt,
    /// Texture.
    T,
    /// Not counted: fragment output, barriers.
    None,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fma => "FMA",
            Self::Cvt => "CVT",
            Self::Sfu => "SFU",
            Self::Ls => "LS",
            Self::V => "V",
            Self::Vt => "VT",
            Self::T => "T",
            Self::None => "none",
        })
    }
}

/// What an instruction is, for those who treat kinds of instructions alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Does nothing but its flow control.
    Nop,
    /// Computes a destination from its sources, each thread alone.
    Alu,
    /// Computes a destination from values of other threads.
    CrossLane,
    /// May continue elsewhere; threads may diverge.
    Branch,
    /// Marks a fragment's thread as discarded.
    Discard,
    /// Message: reads memory.
    Load,
    /// Message: writes memory.
    Store,
    /// Message: reads and writes memory as one.
    Atomic,
    /// Message: computes an address from a descriptor, reads no data.
    Address,
    /// Message: fetches a vertex attribute or an image texel.
    Attribute,
    /// Message: loads a varying.
    Varying,
    /// Message: loads a varying and samples a texture with it.
    VaryingTexture,
    /// Message: samples a texture.
    Texture,
    /// Message: reads the tile buffer.
    TileLoad,
    /// Message: writes the tile buffer.
    TileStore,
    /// Message: late coverage and depth tests.
    Coverage,
    /// Message: blends a colour into the tile buffer.
    Blend,
    /// Message: waits for the workgroup.
    Barrier,
    /// Message: reads a counter.
    Clock,
    /// Message: what it does is not established, or is a deliberate fault.
    System,
}

impl Kind {
    /// True for messages: they go to a unit outside and finish later.
    pub const fn is_message(self) -> bool {
        !matches!(
            self,
            Self::Nop | Self::Alu | Self::CrossLane | Self::Branch | Self::Discard
        )
    }

    /// True if the instruction may write memory that others see.
    pub const fn writes_memory(self) -> bool {
        matches!(
            self,
            Self::Store | Self::Atomic | Self::TileStore | Self::Blend
        )
    }

    /// True if threads of a warp may take different ways after it.
    pub const fn can_diverge(self) -> bool {
        matches!(self, Self::Branch)
    }
}

/// The type of an instruction's result, or of what a message moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the types")]
pub enum Type {
    None,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    I8,
    I16,
    I24,
    I32,
    I48,
    I64,
    I96,
    I128,
    F16,
    F32,
    V2u16,
    V2s16,
    V2i16,
    V2f16,
    V2i8,
    V4u8,
    V4s8,
    V4i8,
}

impl Type {
    /// Bits of a lane; 0 for none.
    pub const fn bits(self) -> u8 {
        match self {
            Self::None => 0,
            Self::U8 | Self::S8 | Self::I8 | Self::V2i8 | Self::V4u8 | Self::V4s8 | Self::V4i8 => 8,
            Self::U16 | Self::S16 | Self::I16 | Self::F16 => 16,
            Self::V2u16 | Self::V2s16 | Self::V2i16 | Self::V2f16 => 16,
            Self::I24 => 24,
            Self::U32 | Self::S32 | Self::I32 | Self::F32 => 32,
            Self::I48 => 48,
            Self::U64 | Self::S64 | Self::I64 => 64,
            Self::I96 => 96,
            Self::I128 => 128,
        }
    }

    /// Lanes of a register: 1, 2 or 4.
    pub const fn lanes(self) -> u8 {
        match self {
            Self::V2u16 | Self::V2s16 | Self::V2i16 | Self::V2f16 | Self::V2i8 => 2,
            Self::V4u8 | Self::V4s8 | Self::V4i8 => 4,
            _ => 1,
        }
    }

    /// True for signed integers.
    pub const fn is_signed(self) -> bool {
        matches!(
            self,
            Self::S8 | Self::S16 | Self::S32 | Self::S64 | Self::V2s16 | Self::V4s8
        )
    }

    /// True for floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::V2f16)
    }
}

/// What an instruction writes besides staging registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DestKind {
    /// Nothing; the bits carry a fixed placeholder.
    None,
    /// A register or one half of it.
    Word,
    /// A register, one half of it, or (narrowed to f16) both halves.
    Narrowing,
    /// A register, one half of it, or from v11 on the same 16 bits in both halves.
    Replicating,
    /// A register or, up to v10, one half of it.
    WholeSinceV11,
    /// A register, never a half of it.
    Whole,
    /// A pair of registers.
    Pair,
}

/// A group of bits that must hold one value for a word to be this instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Bits of the word.
    pub mask: u64,
    /// What they hold.
    pub value: u64,
}

impl Match {
    pub(crate) const fn bits(pos: u8, mask: u64, value: u64) -> Self {
        Self {
            mask: mask << pos,
            value: value << pos,
        }
    }
}

/// A source operand: where its byte lies and what may be done to it.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Lowest bit of its byte.
    pub pos: u8,
    /// Bits that are read: 8, 16 and 32 read one register, 64 a pair.
    pub size: u8,
    /// True if it is written as a pair is, an even register or word, although it reads less.
    pub even: bool,
    /// True if it is a float.
    pub float: bool,
    /// Bit that negates it.
    pub neg: Option<u8>,
    /// Bit that takes its absolute value.
    pub abs: Option<u8>,
    /// Bit that inverts it.
    pub not: Option<u8>,
    /// Which lanes are read: position, width, table.
    pub select: Option<SelectField>,
}

/// The field of a source that selects lanes.
#[derive(Clone, Copy, Debug)]
pub struct SelectField {
    /// Its lowest bit.
    pub pos: u8,
    /// How many bits it has.
    pub width: u8,
    /// Its values.
    pub table: &'static SelectTable,
    /// Those of them that the hardware takes.
    pub legal: Legal,
}

impl SelectField {
    /// Its value in a word.
    pub const fn extract(&self, word: u64) -> u8 {
        ((word >> self.pos) & ((1 << self.width) - 1)) as u8
    }
}

impl Source {
    /// All bits of the word that belong to it.
    pub const fn mask(&self) -> u64 {
        let mut mask = 0xFF << self.pos;
        if let Some(bit) = self.neg {
            mask |= 1 << bit;
        }
        if let Some(bit) = self.abs {
            mask |= 1 << bit;
        }
        if let Some(bit) = self.not {
            mask |= 1 << bit;
        }
        if let Some(select) = self.select {
            mask |= ((1 << select.width) - 1) << select.pos;
        }
        mask
    }
}

/// Whether a staging range is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// The message reads it, some time before its slot drains.
    Read,
    /// The message writes it before its slot drains.
    Write,
}

/// How many registers a staging range has by nature; an assembler does not check it, the hardware expects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Natural {
    /// Always this many.
    Fixed(u8),
    /// From the width of the memory access and its lane.
    Memory,
    /// From the vector size and the register format.
    Vector,
    /// From the vector size and the width in the mnemonic.
    VectorOfType,
    /// From the vector size and the format of a flat varying in memory.
    VectorOfFormat,
    /// An atomic's operand.
    AtomicOperand,
    /// An atomic's result, if it is wanted.
    AtomicResult,
    /// A texture's result: components of the write mask, two a register if they have 16 bits.
    TextureResult,
    /// A texture's payload: 1 to 8, by what the modifiers ask for.
    TexturePayload,
    /// Not established.
    Unknown,
}

/// A staging range: consecutive registers that a message reads or writes.
#[derive(Clone, Copy, Debug)]
pub struct Staging {
    /// Read or written.
    pub access: Access,
    /// Lowest bit of the first register's number (six bits).
    pub pos: u8,
    /// Lowest bit of the count; `None`: the count is always the natural one.
    pub count: Option<u8>,
    /// How many bits the count has.
    pub count_width: u8,
    /// The counts that the hardware takes, one bit a count up to 15; of longer ranges it takes all that can be encoded.
    pub legal: u16,
    /// What is subtracted from the count before it is encoded.
    pub bias: u8,
    /// True if an encoded 0 means 8.
    pub zero_is_eight: bool,
    /// Value of the direction bits 46..47; `None` if those bits are something else.
    pub control: Option<u8>,
    /// How many registers it has by nature.
    pub natural: Natural,
}

impl Staging {
    /// All bits of the word that belong to it, direction bits included.
    pub const fn mask(&self) -> u64 {
        let mut mask = 0x3F << self.pos;
        if let Some(pos) = self.count {
            mask |= ((1 << self.count_width) - 1) << pos;
        }
        if self.control.is_some() {
            mask |= 0x3 << 46;
        }
        mask
    }
}

/// The layout of some generations, where modifiers and immediates lie at other places than in [`Row::fields`] and
/// [`Row::immediates`]. The same ones, with other bits.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The generations.
    pub archs: ArchSet,
    /// Their modifiers.
    pub fields: &'static [Field],
    /// Their immediates.
    pub immediates: &'static [Immediate],
}

/// Unit and cost of an instruction in some generations, where they differ from the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IssueChange {
    /// The generations.
    pub archs: ArchSet,
    /// The unit.
    pub unit: Unit,
    /// Cycles of the unit.
    pub cycles: u8,
}

/// A row of the instruction table.
#[derive(Debug)]
pub struct Row {
    /// The instruction.
    pub op: Op,
    /// Its name in the tables.
    pub name: &'static str,
    /// Its mnemonic in Mesa 24.1 text.
    pub mesa24: &'static str,
    /// A word that always follows the mnemonic in Mesa 24.1 text.
    pub mesa24_word: Option<&'static str>,
    /// Its mnemonic in Mesa 26.2 text; `None` if that tool does not know it.
    pub mesa26: Option<&'static str>,
    /// Bits that make a word this instruction: opcode and secondary opcodes.
    pub matches: Match,
    /// Bits that must hold the placeholder of instructions without destination.
    pub fixed: Match,
    /// The unit that it goes to.
    pub unit: Unit,
    /// The generations where unit and cost differ.
    pub issue: &'static [IssueChange],
    /// What it is.
    pub kind: Kind,
    /// Type of its result.
    pub ty: Type,
    /// Generations that have it.
    pub archs: ArchSet,
    /// What it writes.
    pub dest: DestKind,
    /// Staging ranges in the order of the text.
    pub staging: &'static [Staging],
    /// Sources, at most four.
    pub sources: &'static [Source],
    /// Immediates in the order of the text.
    pub immediates: &'static [Immediate],
    /// Modifiers in the order of the text.
    pub fields: &'static [Field],
    /// The generations that lay it out otherwise.
    pub layouts: &'static [Layout],
    /// Bits that the hardware ignores. They are written as 0.
    pub ignored: u64,
    /// What it does.
    pub does: &'static Meaning,
    /// True if its sources can be registers alone.
    pub registers_only: bool,
    /// True if text knows it and no hardware has it.
    pub text_only: bool,
}

impl Row {
    /// The primary opcode (bits 48..56) of most of its words.
    pub const fn opcode(&self) -> u16 {
        ((self.matches.value >> 48) & 0x1FF) as u16
    }

    /// The modifier called `id`.
    pub fn field(&self, id: FieldId) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.id == id)
    }

    /// The immediate called `id`.
    pub fn immediate(&self, id: ImmId) -> Option<&'static Immediate> {
        self.immediates.iter().find(|immediate| immediate.id == id)
    }

    /// The staging range that is read or written.
    pub fn staging(&self, access: Access) -> Option<&'static Staging> {
        self.staging.iter().find(|staging| staging.access == access)
    }

    /// The modifiers as `arch` lays them out.
    pub fn fields_on(&self, arch: Arch) -> &'static [Field] {
        self.layout(arch)
            .map_or(self.fields, |layout| layout.fields)
    }

    /// The immediates as `arch` lays them out.
    pub fn immediates_on(&self, arch: Arch) -> &'static [Immediate] {
        self.layout(arch)
            .map_or(self.immediates, |layout| layout.immediates)
    }

    /// The layout of `arch`, if it has one of its own.
    pub(crate) fn layout(&self, arch: Arch) -> Option<&'static Layout> {
        self.layouts
            .iter()
            .find(|layout| layout.archs.contains(arch))
    }

    /// Every bit of the word that belongs to a field, is ignored or must hold a known value, flow and page included.
    pub const fn claimed(&self) -> u64 {
        self.claimed_besides_fields() | self.field_mask()
    }

    /// The same without modifiers and immediates.
    pub(crate) const fn claimed_besides_fields(&self) -> u64 {
        let mut mask = (0xF << 59) | self.matches.mask | self.fixed.mask | self.ignored;
        let mut index = 0;
        while index < self.sources.len() {
            mask |= self.sources[index].mask() | (0b11 << 57);
            index += 1;
        }
        index = 0;
        while index < self.staging.len() {
            mask |= self.staging[index].mask();
            index += 1;
        }
        match self.dest {
            DestKind::None => mask,
            _ => mask | (0xFF << 40),
        }
    }

    /// The bits of its modifiers and immediates.
    pub const fn field_mask(&self) -> u64 {
        mask_of(self.fields, self.immediates)
    }

    /// The unit it goes to and the cycles it takes there; 64-bit arithmetic counts double.
    pub fn issue(&self, arch: Arch) -> (Unit, u8) {
        let applies = |change: &&IssueChange| change.archs.contains(arch);
        match self.issue.iter().find(applies) {
            Some(change) => (change.unit, change.cycles),
            None => (self.unit, if self.dest == DestKind::Pair { 2 } else { 1 }),
        }
    }
}

/// The bits of modifiers and immediates.
pub(crate) const fn mask_of(fields: &[Field], immediates: &[Immediate]) -> u64 {
    let mut mask = 0;
    let mut index = 0;
    while index < fields.len() {
        mask |= fields[index].mask();
        index += 1;
    }
    index = 0;
    while index < immediates.len() {
        mask |= immediates[index].mask();
        index += 1;
    }
    mask
}

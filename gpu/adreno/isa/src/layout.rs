//! Layouts: what the rows of a group have in common: fields, text, widths, and which registers they read and write.
//!
//! Facts: hardware/data/ir3-isa.json, "instructions"; hardware/ir3-isa.md sections 1, 4, 11 and 12.

use crate::field::{Field, FieldSpec};

/// When a text stands in for the usual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Idle slots follow the instruction, and it is not repeated.
    Idle,
    /// No idle slots follow the instruction.
    NotIdle,
    /// The move writes a0.x, as s16.
    ToA0,
    /// The move writes a1.x, as u16.
    ToA1,
    /// The types of source and destination differ.
    Converts,
    /// The offset register is shifted by more than two bits.
    Shifted,
    /// The descriptor is indirect or bindless.
    Indirect,
}

/// A text for instructions in a certain state.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The state.
    pub when: When,
    /// The text.
    pub text: &'static str,
}

/// Which width the sources have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceWidth {
    /// Always halves.
    Half,
    /// Always 32 bits.
    Full,
    /// By the field FULL.
    ByFull,
    /// By SRC_TYPE.
    ByType,
}

/// Which width the destination has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestWidth {
    /// Always 32 bits.
    Full,
    /// That of the sources, or the other one if DST_CONV is set; predicates have none.
    ByConv,
    /// By DST_TYPE.
    ByDstType,
    /// By TYPE.
    ByType,
    /// By the field DST_FULL.
    ByDstFull,
}

/// What operands a texture instruction has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexShape {
    /// How many sources, 0 to 2.
    pub sources: u8,
    /// It has a sampler.
    pub sampler: bool,
    /// It has a texture.
    pub texture: bool,
    /// Its text says a type.
    pub typed: bool,
}

/// How an instruction uses the registers of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Reads them.
    Read,
    /// Writes them.
    Write,
}

/// How many consecutive registers an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Fixed(u8),
    /// SIZE.
    Size,
    /// TYPE_SIZE.
    TypeSize,
    /// As far as the highest component of WRMASK.
    WriteMask,
    /// One for each dimension.
    Coordinates,
    /// One for each repetition, and one.
    Repeats,
    /// Texture coordinates and what follows them (section 11).
    TexCoordinates,
    /// Gradients behind four texture coordinates.
    TexGradients,
    /// Texture coordinates and the number of a sample.
    TexSample,
    /// Offsets of a texture access, then level or bias.
    TexExtra,
    /// The descriptor of a texture access.
    TexDescriptor,
    /// Four results of wmm, 1 << (immediate / 32) times.
    Matrix,
}

/// In which width an operand's registers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wide {
    /// 32 bits.
    Full,
    /// As the sources.
    Source,
    /// As the destination.
    Dest,
    /// By TYPE.
    Data,
}

/// An operand that names registers.
#[derive(Clone, Copy, Debug)]
pub struct OperandSpec {
    /// Its field.
    pub field: Field,
    /// Read or written.
    pub role: Role,
    /// How many registers.
    pub count: Count,
    /// Their width.
    pub wide: Wide,
    /// How far behind the named register they start.
    pub skip: u8,
}

/// When the result of an instruction may be used (sections 8 and 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// It has no result.
    None,
    /// After a number of issue slots; a result in a shared register after (ss).
    Slots,
    /// After (ss).
    Ss,
    /// After (sy).
    Sy,
    /// After both.
    SsAndSy,
}

/// What rows of a group have in common.
#[derive(Debug)]
pub struct Layout {
    /// The text, with fields in braces.
    pub text: &'static str,
    /// Texts that stand in for it, the first that is true.
    pub variants: &'static [Variant],
    /// The fields, from the lowest bit up.
    pub fields: &'static [FieldSpec],
    /// Fields that are there instead if the descriptor is indirect or bindless.
    pub indirect: &'static [FieldSpec],
    /// Bits that must be 0 though no row is told by them, in the usual form.
    pub zero: u64,
    /// Bits that mean nothing; written as 0.
    pub ignored: u64,
    /// Bits of fields that text does not mention, as assemblers write them.
    pub usual: u64,
    /// Width of the sources.
    pub sources: SourceWidth,
    /// Width of the destination.
    pub dest: DestWidth,
    /// Operands of texture instructions.
    pub tex: Option<TexShape>,
    /// Which registers are read and written.
    pub operands: &'static [OperandSpec],
    /// When the result may be used.
    pub latency: Latency,
}

impl Layout {
    /// The bits of all fields, also of those that are there only at times.
    pub const fn field_bits(&self) -> u64 {
        bits_of(self.fields) | bits_of(self.indirect)
    }

    /// The bits that tell a row from others: those of no field that mean something.
    pub const fn mask(&self) -> u64 {
        !(self.field_bits() | self.ignored | self.zero)
    }
}

const fn bits_of(fields: &[FieldSpec]) -> u64 {
    let (mut bits, mut index) = (0, 0);
    while index < fields.len() {
        bits |= fields[index].mask();
        index += 1;
    }
    bits
}

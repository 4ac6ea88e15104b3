//! An instruction as a value: what the compiler builds, the assembler reads and the model executes.
//!
//! Guarantees: an [`Instr`] that decoding gave is legal for its generation, and encodes to the word it came from. One that was built
//! is checked whole by [`Instr::encode`]: missing operands, operands it lacks, and every rule of the hardware.
//! Facts: hardware/valhall-isa.md sections 1 to 6.

use crate::error::{EncodeError, Part};
use crate::field::{Field, ImmId};
use crate::flow::Flow;
use crate::op::Op;
use crate::register::{Dest, RegRange};
use crate::row::{Access, Row};
use crate::source::Src;
use crate::values::{AtomicOp, FieldId, Flag, Slot, Value};

/// The most sources that an instruction has.
pub const MAX_SOURCES: usize = 4;

/// An instruction with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instr {
    pub(crate) op: Op,
    /// What happens after it.
    pub flow: Flow,
    /// What it writes, unless it is a message.
    pub dest: Option<Dest>,
    /// The staging registers that it reads.
    pub read: Option<RegRange>,
    /// The staging registers that it writes.
    pub write: Option<RegRange>,
    pub(crate) sources: [Option<Src>; MAX_SOURCES],
    /// Modifiers and immediates, in their places of the word.
    pub(crate) fields: u64,
    /// Which required modifiers (bit: position in the row) and immediates (from bit 16 on) were never given.
    pub(crate) missing: u32,
}

/// The bit of `missing` where immediates start.
pub(crate) const MISSING_IMMEDIATES: u32 = 16;

impl Instr {
    /// An instruction with its modifiers at their defaults, and no operands yet.
    pub const fn new(op: Op) -> Self {
        let row = op.row();
        let (mut fields, mut missing) = (0, 0);
        let mut index = 0;
        while index < row.fields.len() {
            match default_of(&row.fields[index]) {
                Some(value) => fields |= (value as u64) << row.fields[index].pos,
                None => missing |= 1 << index,
            }
            index += 1;
        }
        index = 0;
        while index < row.immediates.len() {
            missing |= 1 << (MISSING_IMMEDIATES + index as u32);
            index += 1;
        }
        Self {
            op,
            flow: Flow::None,
            dest: None,
            read: None,
            write: None,
            sources: [None; MAX_SOURCES],
            fields,
            missing,
        }
    }

    /// Which instruction it is.
    pub const fn op(&self) -> Op {
        self.op
    }

    /// Its row of the table.
    pub const fn row(&self) -> &'static Row {
        self.op.row()
    }

    // Building.

    /// The same, writing `dest`.
    #[must_use]
    pub fn with_dest(mut self, dest: impl Into<Dest>) -> Self {
        self.dest = Some(dest.into());
        self
    }

    /// The same, reading these staging registers.
    #[must_use]
    pub fn with_read(mut self, range: RegRange) -> Self {
        self.read = Some(range);
        self
    }

    /// The same, writing these staging registers.
    #[must_use]
    pub fn with_write(mut self, range: RegRange) -> Self {
        self.write = Some(range);
        self
    }

    /// The same with this flow control.
    #[must_use]
    pub fn with_flow(mut self, flow: Flow) -> Self {
        self.flow = flow;
        self
    }

    /// The same with these sources, from source 0 on.
    ///
    /// # Errors
    /// [`EncodeError::NoSuch`] if there are more than the instruction has.
    pub fn with_sources(mut self, sources: &[Src]) -> Result<Self, EncodeError> {
        for (index, source) in sources.iter().enumerate() {
            self.set_source(index, *source)?;
        }
        Ok(self)
    }

    /// The same with a modifier set.
    ///
    /// # Errors
    /// [`EncodeError::NoSuch`] if the instruction lacks the modifier, [`EncodeError::NoValue`] if it lacks the value.
    pub fn with<V: Value>(mut self, value: V) -> Result<Self, EncodeError> {
        self.set(value)?;
        Ok(self)
    }

    /// The same with a flag set.
    ///
    /// # Errors
    /// [`EncodeError::NoSuch`] if the instruction lacks the flag.
    pub fn with_flag(mut self, flag: Flag) -> Result<Self, EncodeError> {
        self.set_flag(flag, true)?;
        Ok(self)
    }

    /// The same with an immediate.
    ///
    /// # Errors
    /// [`EncodeError::NoSuch`] if the instruction lacks it, [`EncodeError::Immediate`] if it is out of range.
    pub fn with_imm(mut self, id: ImmId, value: i64) -> Result<Self, EncodeError> {
        self.set_imm(id, value)?;
        Ok(self)
    }

    /// Sets a source.
    ///
    /// # Errors
    /// [`EncodeError::NoSuch`] if the instruction has fewer.
    pub fn set_source(&mut self, index: usize, source: Src) -> Result<(), EncodeError> {
        if index >= self.row().sources.len() {
            return Err(EncodeError::NoSuch {
                op: self.op,
                part: Part::Source(index as u8),
            });
        }
        self.sources[index] = Some(source);
        Ok(())
    }

    /// Sets a modifier.
    ///
    /// # Errors
    /// As [`Self::with`].
    pub fn set<V: Value>(&mut self, value: V) -> Result<(), EncodeError> {
        let (index, field) = self.find(V::ID)?;
        let no_value = EncodeError::NoValue {
            op: self.op,
            field: field.name,
        };
        let bits = field.value_of_tag(value.tag()).ok_or(no_value)?;
        if !field.says(bits) {
            return Err(no_value);
        }
        self.put(index, field, bits);
        Ok(())
    }

    /// Sets or clears a flag.
    ///
    /// # Errors
    /// As [`Self::with_flag`].
    pub fn set_flag(&mut self, flag: Flag, value: bool) -> Result<(), EncodeError> {
        let (index, field) = self.find(FieldId::Flag(flag))?;
        self.put(index, field, u8::from(value));
        Ok(())
    }

    /// Sets an immediate.
    ///
    /// # Errors
    /// As [`Self::with_imm`].
    pub fn set_imm(&mut self, id: ImmId, value: i64) -> Result<(), EncodeError> {
        let op = self.op;
        let row = op.row();
        let index = row
            .immediates
            .iter()
            .position(|immediate| immediate.id == id)
            .ok_or(EncodeError::NoSuch {
                op,
                part: Part::Immediate(id.name()),
            })?;
        let immediate = &row.immediates[index];
        let (least, greatest) = immediate.range();
        let bits = immediate.insert(value).ok_or(EncodeError::Immediate {
            op,
            name: id.name(),
            value,
            least,
            greatest,
        })?;
        self.fields = (self.fields & !immediate.mask()) | bits;
        self.missing &= !(1 << (MISSING_IMMEDIATES + index as u32));
        Ok(())
    }

    fn find(&self, id: FieldId) -> Result<(usize, &'static Field), EncodeError> {
        let fields = self.row().fields;
        let index = fields.iter().position(|field| field.id == id);
        let index = index.ok_or(EncodeError::NoSuch {
            op: self.op,
            part: Part::Field(id),
        })?;
        Ok((index, &fields[index]))
    }

    /// Writes the bits of the field at `index` of the row.
    pub(crate) fn put(&mut self, index: usize, field: &Field, value: u8) {
        self.fields = (self.fields & !field.mask()) | (u64::from(value) << field.pos);
        self.missing &= !(1 << index);
    }

    // Reading.

    /// Its sources, from source 0 on; those never given are skipped.
    pub fn sources(&self) -> impl Iterator<Item = &Src> + Clone {
        self.sources.iter().flatten()
    }

    /// Source `index`, if the instruction has it and it was given.
    pub fn source(&self, index: usize) -> Option<Src> {
        self.sources.get(index).copied().flatten()
    }

    /// A modifier; `None` if the instruction lacks it (or its value is reserved, which encoding refuses).
    pub fn get<V: Value>(&self) -> Option<V> {
        let field = self.row().field(V::ID)?;
        let tag = field.word(field.extract(self.fields))?.tag;
        V::ALL.get(usize::from(tag)).copied()
    }

    /// True if the instruction has the flag and it is set.
    pub fn flag(&self, flag: Flag) -> bool {
        self.row()
            .field(FieldId::Flag(flag))
            .is_some_and(|field| field.extract(self.fields) != 0)
    }

    /// An immediate; `None` if the instruction lacks it.
    pub fn imm(&self, id: ImmId) -> Option<i64> {
        Some(self.row().immediate(id)?.extract(self.fields))
    }

    /// The 32-bit constant of IADD_IMM and its kin.
    pub fn constant(&self) -> Option<u32> {
        self.imm(ImmId::Constant).map(|value| value as u32)
    }

    /// The slot that a message is counted in; `None` if it is none. ATEST always uses slot 0.
    pub fn slot(&self) -> Option<Slot> {
        self.get::<Slot>().or(if self.op == Op::Atest {
            Some(Slot::Slot0)
        } else {
            None
        })
    }

    /// The staging range that is read or written.
    pub const fn staging(&self, access: Access) -> Option<RegRange> {
        match access {
            Access::Read => self.read,
            Access::Write => self.write,
        }
    }

    /// The operation of an atomic that names one.
    pub fn atomic_op(&self) -> Option<AtomicOp> {
        self.get()
    }
}

/// What a modifier holds when nothing is written for it.
const fn default_of(field: &Field) -> Option<u8> {
    match field.words {
        crate::field::Words::Flag(_) => Some(0),
        crate::field::Words::Enum { default, .. } => default,
    }
}

//! Which registers an instruction reads and writes: what compilers and interpreters ask, from the rows.
//!
//! Facts: hardware/ir3-isa.md sections 2, 6, 11 and 12.

use crate::field::{Field, Form, Kind};
use crate::instr::Instr;
use crate::layout::{Count, OperandSpec, Role, Wide};
use crate::operand::Operand;
use crate::register::Reg;
use crate::values::{Comp, Width};

/// What an instruction reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// So many consecutive registers from this one on, in each step.
    Regs {
        /// The first.
        first: Reg,
        /// How many.
        count: u8,
    },
    /// A register that a0.x says, in normal registers of this width.
    Relative {
        /// Its width.
        width: Width,
    },
}

/// One operand that names registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The operand's field.
    pub field: Field,
    /// Read or written.
    pub role: Role,
    /// What.
    pub place: Place,
    /// True if step k of a repeated instruction means the k-th register after it.
    pub advances: bool,
}

impl Access {
    /// The registers of all steps together: first and how many; `None` if a0.x says them.
    pub fn range(&self, repeat: u8) -> Option<(Reg, u8)> {
        match self.place {
            Place::Regs { first, count } => {
                Some((first, count + if self.advances { repeat } else { 0 }))
            }
            Place::Relative { .. } => None,
        }
    }
}

impl Instr {
    /// Everything that it reads and writes: operands, predicates of branches, and address registers.
    pub fn accesses(&self) -> impl Iterator<Item = Access> + use<> {
        let instr = *self;
        let operands = instr.layout().operands.iter();
        let named = operands.filter_map(move |operand| instr.access(operand));
        named.chain(self.address_reads())
    }

    /// What it reads.
    pub fn reads(&self) -> impl Iterator<Item = Access> + use<> {
        self.accesses().filter(|access| access.role == Role::Read)
    }

    /// What it writes.
    pub fn writes(&self) -> impl Iterator<Item = Access> + use<> {
        self.accesses().filter(|access| access.role == Role::Write)
    }

    fn access(&self, operand: &OperandSpec) -> Option<Access> {
        let OperandSpec {
            field, role, skip, ..
        } = *operand;
        let access = |place, advances| {
            Some(Access {
                field,
                role,
                place,
                advances,
            })
        };
        if matches!(field, Field::Comp1 | Field::Comp2) {
            let comp = Comp::from_bits(self.bits(field)?)?;
            let first = Reg::predicate(comp);
            return access(Place::Regs { first, count: 1 }, false);
        }
        let count = self.count(operand);
        if count == 0 {
            return None;
        }
        // A destination of a repeated instruction always advances, but for those that are vectors.
        let repeats = self.repeat() > 0 && operand.count == Count::Fixed(1);
        if role == Role::Write && self.flag(Field::DstRel) {
            let width = self.dest_width();
            return access(Place::Relative { width }, repeats);
        }
        let Some(Kind::Operand(form)) = self.spec(field).map(|spec| spec.kind) else {
            return None;
        };
        let reg = if matches!(form, Form::MovDst8 | Form::MultiDst8) || role == Role::Write {
            self.reg(field)?
        } else {
            let src = self.source(field)?;
            match src.operand {
                Operand::Reg(reg) => {
                    let first = reg_after(reg, skip);
                    return access(Place::Regs { first, count }, repeats && src.r);
                }
                Operand::RelReg(_, width) => {
                    return access(Place::Relative { width }, repeats && src.r);
                }
                _ => return None,
            }
        };
        let first = Reg::of_number(reg.number(), self.wide(operand.wide));
        let first = reg_after(first, skip);
        access(Place::Regs { first, count }, repeats)
    }

    fn wide(&self, wide: Wide) -> Width {
        match wide {
            Wide::Full => Width::Full,
            Wide::Source => self.source_width(),
            Wide::Dest => self.dest_width(),
            Wide::Data => self.data_width(),
        }
    }

    /// Reads of a0.x and a1.x.
    fn address_reads(&self) -> impl Iterator<Item = Access> + use<> {
        let reads = |field, reg, reads: bool| {
            reads.then_some(Access {
                field,
                role: Role::Read,
                place: Place::Regs {
                    first: reg,
                    count: 1,
                },
                advances: false,
            })
        };
        [
            reads(Field::A1, Reg::A1, self.reads_a1()),
            reads(Field::DstRel, Reg::A0, self.reads_a0()),
        ]
        .into_iter()
        .flatten()
    }

    /// True if an operand is relative to a0.x.
    pub fn reads_a0(&self) -> bool {
        let sources = [Field::Src, Field::Src1, Field::Src2, Field::Src3];
        let mut relative = sources.into_iter().filter_map(|field| self.source(field));
        self.flag(Field::DstRel) || relative.any(|src| src.operand.is_relative())
    }

    /// True if a1.x says a descriptor or a place in the const file.
    pub fn reads_a1(&self) -> bool {
        let const_dst = self.spec(Field::Dst).is_some_and(|spec| {
            matches!(spec.kind, Kind::Operand(Form::ConstDst9))
                && spec.extract(self.word) & 0x100 != 0
        });
        const_dst
            || self.op() == crate::op::Op::LdcK
            || self.desc_mode().is_some_and(|mode| mode.reads_a1())
    }

    /// How many registers an operand of the instruction is, 0 if it has none.
    pub fn registers_in(&self, field: Field) -> u8 {
        let mut operands = self.layout().operands.iter();
        operands
            .find(|operand| operand.field == field)
            .map_or(0, |operand| self.count(operand))
    }

    fn count(&self, operand: &OperandSpec) -> u8 {
        let number = |field| self.number(field).unwrap_or(0) as u8;
        let flag = |field| u8::from(self.flag(field));
        let shape = self.tex_shape();
        let coordinates = 2 + flag(Field::D3);
        let after = flag(Field::S) + flag(Field::A) + flag(Field::P);
        match operand.count {
            Count::Fixed(count) => count,
            Count::Size => number(Field::Size),
            Count::TypeSize => number(Field::TypeSize),
            Count::WriteMask if shape.sources == 0 && operand.role == Role::Read => 0,
            Count::WriteMask => (32 - self.bits(Field::WrMask).unwrap_or(0).leading_zeros()) as u8,
            Count::Coordinates => number(Field::D),
            Count::Repeats => self.repeat() + 1,
            Count::TexCoordinates => coordinates + after,
            Count::TexSample => coordinates + after + 1,
            Count::TexGradients => 4 + 2 * coordinates,
            Count::TexExtra => {
                let offsets = if self.flag(Field::O) { coordinates } else { 0 };
                offsets + u8::from(shape.sources > 1)
            }
            Count::TexDescriptor => match self.desc_mode() {
                Some(mode) if mode.indirect() && self.row().is_indirect(self.word) => 2,
                _ => 0,
            },
            Count::Matrix => {
                let shift = match self.source(Field::Src3).map(|src| src.operand) {
                    Some(Operand::Imm(value, _)) => value / 32,
                    _ => 0,
                };
                4u8.checked_shl(shift as u32).unwrap_or(0).max(4)
            }
        }
    }
}

/// The register `skip` behind `reg`.
fn reg_after(reg: Reg, skip: u8) -> Reg {
    Reg::of_number(reg.number().wrapping_add(skip), reg.width())
}

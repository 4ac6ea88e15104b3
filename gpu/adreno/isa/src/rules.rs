//! What operands an instruction takes together, beyond what its bits can say: the rules that a working compiler keeps.
//!
//! Facts: hardware/ir3-isa.md sections 2, 3 and 6.

use crate::field::Field;
use crate::instr::Instr;
use crate::op::Op;
use crate::operand::{Operand, Src};
use crate::register::File;

/// A rule that an instruction breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// Two sources from constants and shared registers.
    #[error("{0} reads two sources of constants or shared registers; one is allowed")]
    TwoShared(Op),
    /// Two immediates.
    #[error("{0} has two immediates; one is allowed")]
    TwoImmediates(Op),
    /// A source that must be a normal register.
    #[error("{} of {op} must be a normal register", field.name())]
    NormalRegister {
        /// The instruction.
        op: Op,
        /// The source.
        field: Field,
    },
    /// A source that must be a register, normal or shared.
    #[error("{} of {op} must be a register", field.name())]
    Register {
        /// The instruction.
        op: Op,
        /// The source.
        field: Field,
    },
    /// A relative destination and a relative source.
    #[error("{0} has a relative destination and a relative source")]
    TwoRelative(Op),
    /// (sat) where it does nothing.
    #[error("(sat) has no effect on {0}")]
    Saturation(Op),
}

impl Instr {
    /// Checks the rules that words alone don't enforce.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), Rule> {
        let op = self.op();
        let relative = |src: Src| src.operand.is_relative();
        if self.flag(Field::DstRel) && self.sources().any(relative) {
            return Err(Rule::TwoRelative(op));
        }
        match self.category() {
            2 => self.check_two(),
            3 => self.check_three(),
            4 => {
                if self.flag(Field::Sat) {
                    return Err(Rule::Saturation(op));
                }
                self.normal(Field::Src)
            }
            _ => Ok(()),
        }
    }

    fn check_two(&self) -> Result<(), Rule> {
        let op = self.op();
        if self.flag(Field::Sat) && matches!(op, Op::BaryF | Op::FlatB) {
            return Err(Rule::Saturation(op));
        }
        let [first, second] = [Field::Src1, Field::Src2].map(|field| self.source(field));
        let (Some(first), Some(second)) = (first, second) else {
            return Ok(());
        };
        let per_wave = |src: Src| match src.operand {
            Operand::Const(..) | Operand::RelConst(..) => true,
            Operand::Reg(reg) => reg.file() == File::Shared,
            _ => false,
        };
        if per_wave(first) && per_wave(second) {
            return Err(Rule::TwoShared(op));
        }
        let immediate = |src: Src| matches!(src.operand, Operand::Imm(..) | Operand::Float(..));
        if immediate(first) && immediate(second) {
            return Err(Rule::TwoImmediates(op));
        }
        Ok(())
    }

    fn check_three(&self) -> Result<(), Rule> {
        let op = self.op();
        let no_sat = matches!(
            op,
            Op::SelB16 | Op::SelB32 | Op::SelS16 | Op::SelS32 | Op::SelF16 | Op::SelF32
        );
        if no_sat && self.flag(Field::Sat) {
            return Err(Rule::Saturation(op));
        }
        self.normal(Field::Src2)?;
        if matches!(op, Op::Dp2acc | Op::Dp4acc) {
            self.register(Field::Src1)?;
            self.register(Field::Src3)?;
        }
        Ok(())
    }

    fn normal(&self, field: Field) -> Result<(), Rule> {
        let op = self.op();
        match self.reg(field).map(|reg| reg.file()) {
            Some(File::Normal) => Ok(()),
            _ => Err(Rule::NormalRegister { op, field }),
        }
    }

    fn register(&self, field: Field) -> Result<(), Rule> {
        let op = self.op();
        match self.reg(field) {
            Some(_) => Ok(()),
            None => Err(Rule::Register { op, field }),
        }
    }
}

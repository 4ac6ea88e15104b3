//! Functions as lists of blocks.
//!
//! Needs: types.  Guarantees: every block has a label and ends in its only terminator; parameters and result are of the
//! function's type.
use std::rc::Rc;

use rspirv::spirv::Op;

use super::error::Invalid;
use super::module::{InstructionSet, Module};
use super::reader::{Instr, Result, is_terminator};
use super::types::Type;

/// A block of a function.
#[derive(Clone, Debug)]
pub(crate) struct SpvBlock {
    pub label: u32,
    /// All but the label; the last is the only terminator.
    pub instrs: Vec<Instr>,
}

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct SpvFunction {
    pub instr: Instr,
    pub result: Rc<Type>,
    pub parameters: Vec<(u32, Rc<Type>)>,
    pub blocks: Vec<SpvBlock>,
}

impl Module {
    pub(super) fn begin_function(&self, instr: Instr) -> Result<SpvFunction> {
        let ty = self.ty(&instr, instr.word(1)?)?;
        let Type::Function { result, .. } = &*ty else {
            return Err(instr.invalid(Invalid::TypeMismatch));
        };
        Ok(SpvFunction {
            result: result.clone(),
            parameters: vec![],
            blocks: vec![],
            instr,
        })
    }

    pub(super) fn add_to_function(&self, function: &mut SpvFunction, instr: Instr) -> Result<()> {
        let open = function.blocks.last().is_some_and(|block| {
            block
                .instrs
                .last()
                .is_none_or(|last| !is_terminator(last.op))
        });
        match instr.op {
            Op::FunctionParameter if function.blocks.is_empty() => {
                let ty = self.ty(&instr, instr.result_type()?)?;
                function.parameters.push((instr.result()?, ty));
                Ok(())
            }
            Op::Label if !open => {
                function.blocks.push(SpvBlock {
                    label: instr.result()?,
                    instrs: vec![],
                });
                Ok(())
            }
            // Debug instructions may follow a terminator.
            Op::Nop => Ok(()),
            Op::ExtInst if !open && self.is_silent(&instr) => Ok(()),
            Op::Label | Op::Function | Op::FunctionParameter => {
                Err(instr.invalid(Invalid::Misplaced))
            }
            _ if !open => Err(instr.invalid(Invalid::Misplaced)),
            _ => {
                if let Some(block) = function.blocks.last_mut() {
                    block.instrs.push(instr);
                }
                Ok(())
            }
        }
    }

    /// Whether an extended instruction has no meaning for the result.
    fn is_silent(&self, instr: &Instr) -> bool {
        let set = instr.operands.first().and_then(|set| self.sets.get(set));
        set == Some(&InstructionSet::NonSemantic)
    }

    pub(super) fn end_function(&mut self, function: SpvFunction) -> Result<()> {
        let finished = function.blocks.iter().all(|block| {
            block
                .instrs
                .last()
                .is_some_and(|last| is_terminator(last.op))
        });
        if !finished {
            return Err(function.instr.invalid(Invalid::Unfinished));
        }
        let ty = self.ty(&function.instr, function.instr.word(1)?)?;
        let parameters: Vec<Rc<Type>> = function
            .parameters
            .iter()
            .map(|(_, ty)| ty.clone())
            .collect();
        let fits =
            matches!(&*ty, Type::Function { parameters: wanted, .. } if **wanted == *parameters);
        let returns = self.ty(&function.instr, function.instr.result_type()?)? == function.result;
        if !fits || !returns {
            return Err(function.instr.invalid(Invalid::TypeMismatch));
        }
        self.functions.insert(function.instr.result()?, function);
        Ok(())
    }
}

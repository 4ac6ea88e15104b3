//! Programs: decoded words, and where control flow goes from each.

use eitri_isa::meaning::Operation;
use eitri_isa::{Arch, Constant, Flag, Flow, ImmId, Instr, Operand, RegAccess};

/// Register that holds a blend shader's return address.
const RETURN_ADDRESS: u8 = 48;

/// Whose threads run a program. It decides which slots others signal before the program begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Invocations of a workgroup.
    Compute,
    /// Vertices.
    Vertex,
    /// Fragments: slots 6 and 7 are signalled when older fragments of the pixel are done.
    Fragment,
    /// A blend shader, which a fragment shader jumps to after it has waited for slots 6 and 7.
    Blend,
}

impl Stage {
    /// Guesses the stage from the instructions: only fragments touch the tile buffer, and only blend shaders return through r48.
    pub fn guess(words: &[u64], arch: Arch) -> Stage {
        let mut stage = Stage::Compute;
        for instr in words
            .iter()
            .filter_map(|word| Instr::decode_text(*word, arch).ok())
        {
            match instr.row().operation() {
                Operation::BranchTo if returns(&instr) => return Stage::Blend,
                Operation::AlphaTest
                | Operation::WriteDepth
                | Operation::Blend
                | Operation::LoadTile
                | Operation::StoreTile => stage = Stage::Fragment,
                _ => {}
            }
        }
        stage
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Compute => "compute",
            Stage::Vertex => "vertex",
            Stage::Fragment => "fragment",
            Stage::Blend => "blend",
        }
    }
}

/// True if a jump tests the return address of a blend shader and goes there.
fn returns(jump: &Instr) -> bool {
    let is_return = |index| {
        let source = jump.source(index).map(|source| source.operand);
        matches!(source, Some(Operand::Register { reg, .. }) if reg.index() == RETURN_ADDRESS)
    };
    is_return(0) && is_return(1)
}

/// A program to check.
#[derive(Clone, Copy, Debug)]
pub struct Code<'w> {
    /// The generation.
    pub arch: Arch,
    /// Whose threads run it.
    pub stage: Stage,
    /// Address of the first word, for findings.
    pub base: u64,
    /// The words, from the first instruction on. Words that control flow does not reach are ignored.
    pub words: &'w [u64],
}

impl Code<'_> {
    /// The address of a word.
    pub(crate) fn address(&self, index: usize) -> u64 {
        self.base.wrapping_add(8 * index as u64)
    }
}

/// Where control flow may go after an instruction.
#[derive(Clone, Default, Debug)]
pub(crate) struct Next {
    /// Indices of instructions; beyond the program if it leaves it.
    pub(crate) to: Vec<i64>,
    /// True if it may also go where no word of the program says.
    pub(crate) unknown: bool,
    /// True if leaving the program by falling through is no error: the hardware ends the thread first.
    pub(crate) may_end: bool,
}

/// Where an instruction at an index leads.
pub(crate) fn next(instr: &Instr, index: usize, stage: Stage) -> Next {
    let through = index as i64 + 1;
    let ends = instr.flow == Flow::End;
    let to = |to: Vec<i64>| Next {
        to,
        ..Next::default()
    };
    match instr.row().operation() {
        Operation::Fault => Next::default(),
        Operation::Branch => {
            let target = through.saturating_add(instr.imm(ImmId::Offset).unwrap_or(0));
            match (constant_condition(instr), ends) {
                (_, true) => Next::default(),
                (Some(true), false) => to(vec![target]),
                (Some(false), false) => to(vec![through]),
                (None, false) => to(vec![through, target]),
            }
        }
        // A call of a blend shader comes back to the next instruction; the return of one leaves the program.
        Operation::BranchTo => Next {
            to: if ends { vec![] } else { vec![through] },
            unknown: !(stage == Stage::Blend && returns(instr)),
            // The last call of a blend shader does not come back.
            may_end: constant_condition(instr) == Some(true),
        },
        Operation::JumpExtended => Next {
            to: if ends { vec![] } else { vec![through] },
            unknown: true,
            may_end: false,
        },
        // A shader's address in the descriptor: the next instruction, ignoring `end`. Else the target, unless it ends.
        Operation::Blend => {
            let skipped = through.saturating_add(instr.imm(ImmId::Target).unwrap_or(0));
            Next {
                to: match ends {
                    true => vec![through],
                    false => vec![through, skipped],
                },
                unknown: false,
                may_end: ends,
            }
        }
        _ if ends => Next::default(),
        _ => to(vec![through]),
    }
}

/// Whether a branch is taken, if it tests a constant zero.
fn constant_condition(branch: &Instr) -> Option<bool> {
    match branch.source(0)?.operand {
        Operand::Constant(Constant::ZERO) => Some(branch.flag(Flag::Eq)),
        _ => None,
    }
}

/// The registers of accesses, a bit each.
pub(crate) fn mask(accesses: impl Iterator<Item = RegAccess>) -> u64 {
    let registers = accesses.flat_map(|access| access.registers.iter());
    registers.fold(0, |mask, register| mask | 1 << register.index())
}

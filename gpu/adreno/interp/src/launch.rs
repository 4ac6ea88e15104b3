//! What a dispatch starts with: code, const file, sizes, and the registers that hold ids.
//!
//! Facts: hardware/ir3-isa.md section 14.

use eitri_ir3_isa::{Gen, Instr};
use eitri_ir3_program::Program;

use crate::fault::{Fault, FaultKind};

/// Checked instructions.
#[derive(Clone, Debug)]
pub struct Code {
    pub(crate) generation: Gen,
    pub(crate) instrs: Vec<Instr>,
}

impl Code {
    /// Decodes the words of a program.
    ///
    /// # Errors
    /// A fault that names the first word that is no instruction, or whose operands no compiler puts together.
    pub fn decode(words: impl IntoIterator<Item = u64>, generation: Gen) -> Result<Self, Fault> {
        let mut instrs = Vec::new();
        for (pc, word) in words.into_iter().enumerate() {
            let fault = |instr, kind| Fault {
                workgroup: [0; 3],
                wave: 0,
                pc: pc as u32,
                instr,
                generation,
                lane: None,
                kind,
            };
            let instr = Instr::decode(word, generation)
                .map_err(|error| fault(None, FaultKind::Decode(error)))?;
            instr
                .check()
                .map_err(|rule| fault(Some(instr), FaultKind::Rule(rule)))?;
            instrs.push(instr);
        }
        Ok(Self { generation, instrs })
    }
}

/// What a dispatch starts with.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The const file, in words.
    pub constants: Vec<u32>,
    /// Workgroups along x, y and z.
    pub workgroups: [u32; 3],
    /// Invocations of a workgroup along x, y and z.
    pub local_size: [u32; 3],
    /// Lanes of a wave: 64 or 128.
    pub lanes: u32,
    /// The full register that gets the local id's x; y and z follow.
    pub local_id: Option<u8>,
    /// The shared register (its number from 192 on) that gets the workgroup id's x; y and z follow.
    pub workgroup_id: Option<u8>,
    /// Vec4 of full registers that the program states.
    pub full_registers: u8,
    /// The depth of the branch stack that the program states.
    pub branch_stack: u32,
    /// Shared memory of a workgroup, in bytes.
    pub shared_bytes: u32,
    /// Private memory of a lane, in bytes.
    pub private_bytes: u32,
    /// How many instructions all waves together may execute.
    pub instruction_limit: u64,
    /// A seed that bends the order of waves and workgroups, of which hardware promises nothing; none for one after the other.
    pub order: Option<u64>,
}

impl Default for Launch {
    /// One workgroup of one wave of 64, with ids where the facts' examples have them, and everything that there is.
    fn default() -> Self {
        Self {
            constants: Vec::new(),
            workgroups: [1; 3],
            local_size: [64, 1, 1],
            lanes: 64,
            local_id: Some(0),
            workgroup_id: Some(192),
            full_registers: 48,
            branch_stack: 64,
            shared_bytes: 0x8000,
            private_bytes: 0x1000,
            instruction_limit: 100_000_000,
            order: None,
        }
    }
}

impl Launch {
    /// A dispatch of a program: its registers and sizes, and a const file that is filled as a driver would.
    pub fn of_program(
        program: &Program<'_>,
        state: &eitri_ir3_program::Launch<'_>,
        instruction_limit: u64,
    ) -> Self {
        let mut constants = vec![0; usize::from(program.constants().length()) * 4];
        program.write_constants(state, &mut constants);
        Self {
            constants,
            workgroups: state.workgroups,
            local_size: program.workgroup().sides(),
            lanes: program.wave().lanes(),
            local_id: program.local_id(),
            workgroup_id: program.workgroup_id(),
            full_registers: program.full_registers(),
            branch_stack: program.branch_stack(),
            shared_bytes: program.shared_bytes(),
            private_bytes: program.private_bytes(),
            instruction_limit,
            order: None,
        }
    }
}

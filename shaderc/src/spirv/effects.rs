//! Which stages change memory, and which are refused for it.
//!
//! - A vertex shader changes none: the machine runs it for vertices that are not drawn, and parts of it twice
//!   (hardware/graphics-compiler.md 1.5).
//! - A fragment shader whose fragments are tested before it and again behind it (EarlyAndLateFragmentTestsAMD) changes none: no
//!   machine can do both where the shader writes depth (hardware/graphics-raster.md 4.9), so its fragments are tested behind it alone.
//!   That gives the same picture, but what fragments that fail change in memory would be seen.

use super::error::Feature;
use super::reader::{Instr, Result};
use super::translate::Translator;
use crate::ir::{self, Op, Stage};

impl Translator<'_> {
    /// Refuses an instruction that changes memory where its stage must not. `before` instructions were there already.
    pub(super) fn check_effects(&self, instr: &Instr, before: usize) -> Result<()> {
        let what = match self.builder.function.stage {
            Stage::Vertex(_) => {
                "memory that a vertex shader changes (vertexPipelineStoresAndAtomics)"
            }
            Stage::Fragment(_) if self.module.tests_twice => {
                "memory that a shader with EarlyAndLateFragmentTestsAMD changes"
            }
            _ => return Ok(()),
        };
        let writes = |op: Op| op.effects().writes && !matches!(op, Op::StoreVar(_));
        let function = &self.builder.function;
        let mut made = (before..function.inst_count()).map(|number| ir::Inst(number as u32));
        match made.any(|inst| writes(function.inst(inst).op)) {
            true => Err(instr.unsupported(Feature::Use, what)),
            false => Ok(()),
        }
    }
}

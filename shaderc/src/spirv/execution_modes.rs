//! Execution modes of the entry point: its size, how it rounds, and what a fragment shader says of its tests.
//!
//! Facts: SPIR-V's "Execution Mode"; hardware/graphics-raster.md 4.9 (when fragments are tested).

use rspirv::spirv::ExecutionMode;

use super::error::{Feature, Invalid};
use super::module::Module;
use super::reader::{Instr, Result};
use crate::ir::{DepthClaim, Stage};

impl Module {
    /// Takes what an instruction says, if it is about the entry point.
    pub(super) fn execution_mode(&mut self, instr: &Instr) -> Result<()> {
        if instr.word(0)? != self.entry.function {
            return Ok(());
        }
        let number = instr.word(1)?;
        let mode = ExecutionMode::from_u32(number)
            .ok_or_else(|| instr.invalid(Invalid::Literal(number)))?;
        match mode {
            ExecutionMode::LocalSize => {
                for axis in 0..3 {
                    self.workgroup_size[axis] = instr.word(2 + axis)?;
                }
                Ok(())
            }
            // Its operands are constants that stand further down: `find_workgroup_size` reads them.
            ExecutionMode::LocalSizeId => {
                self.entry.size = Some(instr.clone());
                Ok(())
            }
            // Lanes meet again where their paths join, whatever the shader asks for.
            ExecutionMode::DenormPreserve
            | ExecutionMode::RoundingModeRTE
            | ExecutionMode::SubgroupUniformControlFlowKHR
            | ExecutionMode::MaximallyReconvergesKHR => Ok(()),
            ExecutionMode::SignedZeroInfNanPreserve => {
                self.exact = true;
                Ok(())
            }
            _ => {
                let Stage::Fragment(fragment) = &mut self.stage else {
                    return Err(instr.unsupported(Feature::ExecutionMode, format!("{mode:?}")));
                };
                match mode {
                    // Vulkan has no other origin, and what is written needs no announcement.
                    ExecutionMode::OriginUpperLeft
                    | ExecutionMode::DepthReplacing
                    | ExecutionMode::StencilRefReplacingEXT => {}
                    // What is promised of the stencil reference only serves tests before the shader.
                    ExecutionMode::StencilRefUnchangedFrontAMD
                    | ExecutionMode::StencilRefGreaterFrontAMD
                    | ExecutionMode::StencilRefLessFrontAMD
                    | ExecutionMode::StencilRefUnchangedBackAMD
                    | ExecutionMode::StencilRefGreaterBackAMD
                    | ExecutionMode::StencilRefLessBackAMD => {}
                    // The tests behind the shader give the same picture: `effects`.
                    ExecutionMode::EarlyAndLateFragmentTestsAMD => self.tests_twice = true,
                    ExecutionMode::EarlyFragmentTests => fragment.early_tests = true,
                    ExecutionMode::DepthGreater => fragment.depth = DepthClaim::Greater,
                    ExecutionMode::DepthLess => fragment.depth = DepthClaim::Less,
                    ExecutionMode::DepthUnchanged => fragment.depth = DepthClaim::Unchanged,
                    _ => {
                        let name = format!("{mode:?}");
                        return Err(instr.unsupported(Feature::ExecutionMode, name));
                    }
                }
                Ok(())
            }
        }
    }
}

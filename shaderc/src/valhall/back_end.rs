//! This back end's row: what the compiler asks of it.
//!
//! Facts: hardware/compiler-abi.md 1.2 (tables), 4 (uniform words).

use eitri_isa::{Arch, Syntax};
use eitri_program::EntryKind;

use super::split_vertex::{VertexProgram, split};
use super::{
    Binary, Choices, Error, compile_stage, compile_with, encode, encode_graphics, passes, pipeline,
};
use crate::back_end::BackEnd;
use crate::compile::{CompiledEntry, Errors, Made, MadeStage, Statistics};
use crate::ir::{Alu, Function, Lanes, Stage};
use crate::link::VaryingLayout;
use crate::options::Options;
use crate::pass::{PassRow, Runner};
use crate::target::Limits;

/// Subgroups are warps.
pub(super) const WARP: Lanes = Lanes::DEFAULT;

/// What the caller chose. A rival that keeps all its words in registers is beaten by what needs half of them alone, one that
/// spills by what spills less.
fn choices(options: &Options, rival: Option<&Statistics>) -> Choices {
    let rival = rival.and_then(Statistics::valhall);
    let beaten_by_half = rival.is_some_and(|rival| rival.spills == 0);
    Choices {
        register_limit: options.register_limit,
        full_registers: options.full_registers,
        half_registers: beaten_by_half && !options.full_registers,
        most_spill_cost: rival
            .filter(|rival| rival.spills > 0)
            .map(|rival| rival.spill_cost.saturating_sub(1)),
        share_registers: options.share_registers,
    }
}

impl BackEnd for Arch {
    fn name(&self) -> &'static str {
        "Valhall"
    }

    fn passes(&self) -> &'static [PassRow] {
        passes::PASSES
    }

    fn order(&self) -> String {
        pipeline::order()
    }

    fn limits(&self) -> Limits {
        Limits {
            uniform_words: 128,
            uniform_buffer_reach: eitri_program::FauWord::BUFFER_REACH,
            push_constant_bytes: 256,
            shared_bytes: 32 * 1024,
            // A set's table is one more than its number, and tables from 12 on have other meanings.
            descriptor_sets: 11,
            descriptors: 1 << 20,
        }
    }

    fn lanes(&self) -> Lanes {
        WARP
    }

    fn halves(&self) -> &'static [Alu] {
        &[]
    }

    fn works_out_uniforms(&self) -> bool {
        true
    }

    fn pairs_halves(&self) -> bool {
        true
    }

    /// A lane reads another one's register at once, so scans of ballots and shuffles are quicker.
    fn has_scans(&self) -> bool {
        false
    }

    fn compile(
        &self,
        function: &Function,
        options: &Options,
        rival: Option<&Statistics>,
        runner: &mut Runner<'_>,
    ) -> Result<Option<Made>, Errors> {
        if function.stage != Stage::Compute {
            return Err(Error::NotCompute(function.stage.name()).into());
        }
        let choices = choices(options, rival);
        let Some(binary) = compile_with(function, *self, choices, runner)? else {
            return Ok(None);
        };
        Ok(Some(Made {
            program: encode::encode(function, &binary, *self)?,
            code: binary.code,
            statistics: Statistics::Valhall(binary.statistics),
            listing: binary.listing,
        }))
    }

    fn compile_stage(
        &self,
        function: &Function,
        layout: &VaryingLayout,
        options: &Options,
        runner: &mut Runner<'_>,
    ) -> Result<Option<MadeStage>, Errors> {
        let parts = match function.stage {
            Stage::Vertex(_) => split(function, *self, runner),
            Stage::Compute | Stage::Fragment(_) => vec![VertexProgram {
                kind: EntryKind::Fragment,
                function: function.clone(),
            }],
        };
        let mut programs: Vec<(EntryKind, Binary)> = vec![];
        for VertexProgram { kind, function } in &parts {
            let binary = compile_stage(function, *self, choices(options, None), layout, runner)?;
            let Some(binary) = binary else {
                return Ok(None);
            };
            programs.push((*kind, binary));
        }
        let program = encode_graphics::encode(function, &programs, layout, *self)?;
        let entry_points = programs.into_iter().map(|(kind, binary)| CompiledEntry {
            kind,
            code: binary.code,
            statistics: Statistics::Valhall(binary.statistics),
            listing: binary.listing,
        });
        Ok(Some(MadeStage {
            program,
            entry_points: entry_points.collect(),
        }))
    }

    fn disassemble(&self, word: u64) -> Option<String> {
        let decoded = eitri_isa::Instr::decode(word, *self).ok()?;
        Some(decoded.display(*self, Syntax::Mesa24).to_string())
    }
}

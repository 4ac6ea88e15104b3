//! This back end's row: what the compiler asks of it.
//!
//! Facts: hardware/ir3-isa.md 4 (half registers), 12 (bindless bases, elements), 14 (const file).

use eitri_ir3_isa::device::{self, Device};

use super::pack::GENERATION;
use super::{Choices, Error, Unsupported, compile_with, encode, passes, pipeline};
use crate::back_end::BackEnd;
use crate::compile::{Errors, Made, MadeStage, Statistics};
use crate::ir::{Alu, Function, Lanes, Position};
use crate::link::VaryingLayout;
use crate::options::Options;
use crate::pass::{PassRow, Runner};
use crate::target::Limits;

/// Subgroups are waves.
const WAVE: Lanes = match Lanes::new(device::WAVE) {
    Some(lanes) => lanes,
    None => Lanes::DEFAULT,
};

/// What is done on 16 bits where there are registers of that size. The rest needs more bits on the way, as sines do, or is
/// not stated for that width.
#[rustfmt::skip]
const HALVES: &[Alu] = &[
    Alu::IAdd, Alu::ISub, Alu::IMul, Alu::INeg, Alu::IAbs,
    Alu::SMin, Alu::SMax, Alu::UMin, Alu::UMax,
    Alu::IAnd, Alu::IOr, Alu::IXor, Alu::INot, Alu::BitSelect, Alu::BitCount,
    Alu::IShl, Alu::UShr, Alu::SShr,
    Alu::IEq, Alu::INe, Alu::SLt, Alu::SGe, Alu::ULt, Alu::UGe,
    Alu::FEq, Alu::FNe, Alu::FLt, Alu::FGe,
    Alu::Select,
    Alu::FAdd, Alu::FSub, Alu::FMul, Alu::FFma, Alu::FNeg, Alu::FAbs, Alu::FMin, Alu::FMax, Alu::FSat,
    Alu::FFloor, Alu::FCeil, Alu::FTrunc, Alu::FRoundEven,
    Alu::FRcp, Alu::FRsq, Alu::FExp2, Alu::FLog2,
    Alu::U2U16, Alu::U2U32, Alu::S2S32, Alu::F2F16, Alu::F2F32,
];

impl BackEnd for Device {
    fn name(&self) -> &'static str {
        "IR3"
    }

    fn passes(&self) -> &'static [PassRow] {
        passes::PASSES
    }

    fn order(&self) -> String {
        pipeline::order()
    }

    fn limits(&self) -> Limits {
        Limits {
            // Half of the const file of a compute program, in vectors of 4.
            uniform_words: 512,
            uniform_buffer_reach: 0,
            push_constant_bytes: 256,
            shared_bytes: u32::from(self.parts.local_kib) * 1024,
            descriptor_sets: 5,
            descriptors: 1 << 16,
        }
    }

    fn lanes(&self) -> Lanes {
        WAVE
    }

    fn halves(&self) -> &'static [Alu] {
        HALVES
    }

    fn works_out_uniforms(&self) -> bool {
        false
    }

    fn pairs_halves(&self) -> bool {
        false
    }

    fn has_scans(&self) -> bool {
        true
    }

    fn compile(
        &self,
        function: &Function,
        options: &Options,
        _: Option<&Statistics>,
        runner: &mut Runner<'_>,
    ) -> Result<Option<Made>, Errors> {
        let choices = Choices {
            register_limit: options.register_limit,
        };
        let Some(binary) = compile_with(function, &self.parts, choices, runner)? else {
            return Ok(None);
        };
        Ok(Some(Made {
            program: encode::encode(function, &binary)?,
            code: binary.code,
            statistics: Statistics::Ir3(binary.statistics),
            listing: binary.listing,
        }))
    }

    fn compile_stage(
        &self,
        function: &Function,
        _: &VaryingLayout,
        _: &Options,
        _: &mut Runner<'_>,
    ) -> Result<Option<MadeStage>, Errors> {
        let unsupported = Unsupported {
            what: format!("{} shader", function.stage.name()),
            position: Position::default(),
        };
        Err(Error::Unsupported(vec![unsupported]).into())
    }

    fn disassemble(&self, word: u64) -> Option<String> {
        let decoded = eitri_ir3_isa::Instr::decode(word, GENERATION).ok()?;
        Some(decoded.display(GENERATION).to_string())
    }
}

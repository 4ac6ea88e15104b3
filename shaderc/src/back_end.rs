//! Back ends: what the compiler asks of one, and those that there are.
//!
//! Guarantees: [`Machine::back_end`] is the only place that tells one from another; to add one is a folder that implements
//! [`BackEnd`] for what tells its generations apart, and a row here.

use std::fmt::Debug;

use eitri_ir3_isa::device::Device;
use eitri_isa::Arch;

use crate::compile::{Errors, Made, MadeStage, Statistics};
use crate::ir::{Alu, Function, Lanes};
use crate::link::VaryingLayout;
use crate::options::Options;
use crate::pass::{PassRow, Runner};
use crate::target::Limits;

/// A back end, for one generation of its machine.
pub(crate) trait BackEnd: Debug {
    /// Its name, as docs/back-ends.md has it.
    fn name(&self) -> &'static str;

    /// Its passes, for the list that users see.
    fn passes(&self) -> &'static [PassRow];

    /// Their order as text, a line a step.
    fn order(&self) -> String;

    /// What a program may use at most.
    fn limits(&self) -> Limits;

    /// Lanes of a subgroup.
    fn lanes(&self) -> Lanes;

    /// Operations on values of 16 bits that have registers of their size; none where such values stand in words.
    fn halves(&self) -> &'static [Alu];

    /// Whether an operation on the two halves of a word costs less than two on one half each.
    fn pairs_halves(&self) -> bool;

    /// As [`crate::Target::works_out_uniforms`].
    fn works_out_uniforms(&self) -> bool;

    /// Whether it has `Op::Scan` and `LaneOp::First`.
    fn has_scans(&self) -> bool;

    /// Compiles a function in the lowered form; nothing if the runner stopped before there was code. Nor need there be any
    /// that takes as much room as the rival.
    fn compile(
        &self,
        function: &Function,
        options: &Options,
        rival: Option<&Statistics>,
        runner: &mut Runner<'_>,
    ) -> Result<Option<Made>, Errors>;

    /// Compiles a stage of the graphics pipeline whose varyings lie as `layout` says; nothing if the runner stopped before there was
    /// code.
    fn compile_stage(
        &self,
        function: &Function,
        layout: &VaryingLayout,
        options: &Options,
        runner: &mut Runner<'_>,
    ) -> Result<Option<MadeStage>, Errors>;

    /// A word of a program as text; none if it is no instruction of the machine.
    fn disassemble(&self, word: u64) -> Option<String>;
}

/// The back ends: what makes the code, and of which generation it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    /// [`crate::valhall`], for this architecture.
    Valhall(Arch),
    /// [`crate::ir3`], for this device.
    Ir3(Device),
}

impl Machine {
    pub(crate) fn back_end(&self) -> &dyn BackEnd {
        match self {
            Machine::Valhall(arch) => arch,
            Machine::Ir3(device) => device,
        }
    }

    /// The back end's name.
    pub fn name(&self) -> &'static str {
        self.back_end().name()
    }

    /// The passes of its back end, for the list that users see; those over IR are [`crate::pipeline::rows`].
    pub fn passes(&self) -> &'static [PassRow] {
        self.back_end().passes()
    }

    /// The order of the passes of its back end as text, a line a step; that over IR is [`crate::pipeline::order`].
    pub fn order(&self) -> String {
        self.back_end().order()
    }
}

//! Helper lanes: those that run so that others in their quad can look at them.
//!
//! Facts: hardware/compiler-backend.md 8.5.

use super::mir::{Function, Instr, Modifier, Op};
use eitri_isa::preload::Stage;

/// Whether a fragment program's quads must be whole.
pub(super) fn are_needed(function: &Function) -> bool {
    let mut instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    function.extra.stage == Stage::Fragment && instrs.any(looks_at_quad)
}

/// Whether a lane looks at others of its quad.
fn looks_at_quad(instr: &Instr) -> bool {
    let has = |modifier| instr.modifiers.contains(&modifier);
    match instr.op {
        Op::Clper | Op::Wmask => true,
        Op::TexSingle => has(Modifier::LodComputed) || has(Modifier::LodBiased),
        // Without derivatives of its own it takes those of the quad.
        Op::TexGradient => !has(Modifier::Derivative),
        _ => false,
    }
}

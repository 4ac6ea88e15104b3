//! Places of varyings: where one load has computed where in the primitive a pixel lies, the next takes that up again.
//!
//! A load that computes it waits for the loads before it, since they share a hidden register; one that takes it up does not.
//! Needs: registers and the final order.  Guarantees: what is taken up was computed in the same block, by the same mode from the same
//! register.  Facts: hardware/compiler-abi.md 3.3 (update mode), hardware/compiler-backend.md 8.2.

use crate::valhall::mir::{Function, Instr, Instruction as _, Modifier, Op, Operand};

/// How and from what a place was computed.
type Place = (Option<Modifier>, Operand);

/// Lets loads of varyings take up what others have computed. True when any does.
pub(crate) fn reuse_places(function: &mut Function) -> bool {
    let mut changed = false;
    for block in &mut function.blocks {
        let mut kept: Option<Place> = None;
        for instr in &mut block.instrs {
            if let Some(place) = computed(instr) {
                if kept == Some(place) {
                    let words = instr.modifiers.iter_mut();
                    words
                        .filter(|word| **word == Modifier::Keep)
                        .for_each(|word| *word = Modifier::Again);
                    instr.modifiers.sort_unstable();
                    changed = true;
                } else {
                    kept = Some(place);
                }
            } else if instr.op == Op::LdVarSpecial {
                kept = None;
            }
            let from = kept.map(|(_, operand)| operand);
            if instr.writes().any(|word| from == Some(Operand::Word(word))) {
                kept = None;
            }
        }
    }
    changed
}

/// The place that a load computes and keeps.
fn computed(instr: &Instr) -> Option<Place> {
    if !instr.modifiers.contains(&Modifier::Keep) {
        return None;
    }
    let modes = [
        Modifier::AtCenter,
        Modifier::AtCentroid,
        Modifier::AtSample,
        Modifier::AtPlace,
    ];
    let mode = instr.modifiers.iter().find(|word| modes.contains(word));
    Some((mode.copied(), instr.sources.first()?.operand))
}

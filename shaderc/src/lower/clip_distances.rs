//! Clip distances: fragments where one is negative are discarded, since the machine has no planes to clip by.
//!
//! The vertex shader hands them on as varyings behind all locations; the fragment shader demotes at its start. What is cut is
//! what clipping would cut, at the places where fragments are shaded.
//! Needs: both stages' functions from the front end.  Guarantees: only distances that the vertex shader stores are looked at.
//! Facts: hardware/graphics-compiler.md 1.5 (no hardware; clip by discard).

use crate::ir::{Alu, Builder, Function, Op, Sampling, Stage, Value, Varying};

/// The location of the first four; the next has the others. Those of sources are less.
pub(crate) const CLIP_DISTANCES: u8 = 32;
/// How many there may be.
pub(crate) const MOST_CLIP_DISTANCES: usize = 8;
/// Components of a location.
const COMPONENTS: u8 = 4;

/// Loads the first so many distances, at the fragment.
pub(crate) fn load_distances(b: &mut Builder<'_>, count: u8) -> Vec<Value> {
    let mut distances = vec![];
    for first in (0..count).step_by(COMPONENTS.into()) {
        let varying = Varying {
            location: CLIP_DISTANCES + first / COMPONENTS,
            first: 0,
            count: COMPONENTS.min(count - first),
            sampling: Sampling::Center,
            noperspective: false,
            relaxed: false,
            half: false,
        };
        distances.extend(b.inst(Op::LoadVarying(varying), &[]));
    }
    distances
}

/// Makes a fragment shader discard what the vertex shader's distances clip.
pub(crate) fn discard_clipped(vertex: &Function, fragment: &mut Function) {
    let Stage::Vertex(stage) = vertex.stage else {
        return;
    };
    if stage.clip_distances == 0 {
        return;
    }
    let entry = fragment.entry();
    let insts = std::mem::take(&mut fragment.block_mut(entry).insts);
    let mut b = Builder::new(fragment, entry);
    let mut outside: Option<Value> = None;
    for distance in load_distances(&mut b, stage.clip_distances) {
        let zero = b.float(0.0);
        let here = b.alu(Alu::FLt, &[distance, zero]);
        outside = Some(match outside {
            Some(before) => b.alu(Alu::BOr, &[before, here]),
            None => here,
        });
    }
    if let Some(outside) = outside {
        b.inst(Op::Demote, &[outside]);
    }
    b.function.block_mut(entry).insts.extend(insts);
}

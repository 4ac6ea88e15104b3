//! Special values as vectors: the lane's number, and where a workgroup and its threads have their memory.
//!
//! Facts: hardware/valhall-isa.md 2.2.

use crate::context::Context;
use crate::pairs::{Pair, add, multiply};
use crate::registers::Held;
use crate::vectors::Vectors;
use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use eitri_model::host_code::SpecialValue;
use std::mem::offset_of;

/// The words of a special value of 4 lanes, the low ones first; `None` if translated code doesn't have it.
pub(crate) fn words(v: &mut Vectors<'_, '_>, held: &Held, special: SpecialValue) -> Option<Pair> {
    match special {
        SpecialValue::LaneId => Some([lanes(v, held), v.constant(0)]),
        SpecialValue::WorkgroupLocalPointer => {
            Some(same(v, held, offset_of!(Context, workgroup_memory)))
        }
        SpecialValue::ThreadLocalPointer => {
            let first = same(v, held, offset_of!(Context, thread_memory));
            let [low, high] = same(v, held, offset_of!(Context, thread_bytes));
            let lanes = lanes(v, held);
            let [product, carried] = multiply(v, lanes, low, false);
            let high = v.code.ins().imul(lanes, high);
            let before = [product, v.add(carried, high)];
            Some(add(v, first, before))
        }
        _ => None,
    }
}

/// The numbers of the 4 lanes.
fn lanes(v: &mut Vectors<'_, '_>, held: &Held) -> Value {
    // A word a lane.
    let first = v.code.ins().ushr_imm_u(held.offset, 2);
    let first = v.code.ins().ireduce(I32, first);
    let first = v.splat(first);
    let within = v.words([0, 1, 2, 3]);
    v.add(first, within)
}

/// A double word of the context in all lanes.
fn same(v: &mut Vectors<'_, '_>, held: &Held, offset: usize) -> Pair {
    [0, 4].map(|half| {
        let flags = MemFlagsData::trusted();
        let offset = offset as i32 + half;
        let word = v.code.ins().load(I32, flags, held.context, offset);
        v.splat(word)
    })
}

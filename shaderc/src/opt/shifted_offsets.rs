//! Which accesses shift an offset by themselves.
//!
//! Needs: nothing.  Guarantees: no bit of the offset is lost. Loads of buffers take an offset as it is.
//! Facts: hardware/compiler-isel.md 9.

use crate::ir::range::Tested;
use crate::ir::{Alu, Function, InstData, Op, Space, Value};

/// Largest shift that an address takes in.
const MOST: u32 = 7;

/// Whether an access shifts an offset like `x << constant` itself. Addresses are wider than offsets: no bit may be lost.
pub(super) fn takes_shift(
    function: &Function,
    tested: &Tested,
    access: &InstData,
    offset: Value,
) -> bool {
    let by_load = matches!(access.op, Op::Load(_));
    let most = match access.op.access().map(|access| access.space) {
        Some(Space::Buffer) if !by_load => u32::MAX,
        Some(Space::Data) => u32::MAX,
        Some(Space::Shared) => i32::MAX.cast_unsigned(),
        _ => return false,
    };
    let Some(data) = function.def_inst(offset) else {
        return false;
    };
    let shift = data.args.get(1).and_then(|by| function.as_word(*by));
    match (data.op, shift) {
        (Op::Alu(Alu::IShl), Some(shift @ 0..=MOST)) => {
            let index = tested.upper_bound(function, data.args[0]);
            u64::from(index) << shift <= u64::from(most)
        }
        _ => false,
    }
}

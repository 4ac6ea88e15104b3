//! reduce: sum and maximum through shared memory, barriers and atomics.

use super::{Demo, binding, bytes_of};

const WORKGROUP: u32 = 128;
const GROUPS: u32 = 24;

fn value(index: u32) -> u32 {
    index.wrapping_mul(2_654_435_761) >> 12
}

pub(super) fn demo() -> Demo {
    let values = || (0..WORKGROUP * GROUPS).map(value);
    let sum = values().fold(0, u32::wrapping_add);
    let largest = values().max().unwrap_or(0);
    Demo {
        file: "reduce.wgsl",
        what: "sum and maximum: shared memory, barriers, atomics",
        buffers: vec![(binding(0), bytes_of(values())), (binding(1), vec![0; 12])],
        push_constants: Vec::new(),
        groups: [GROUPS, 1, 1],
        output: binding(1),
        expected: bytes_of([sum, largest, GROUPS]),
    }
}

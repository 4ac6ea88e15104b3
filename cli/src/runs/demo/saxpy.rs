//! saxpy: y = a x + y over a count that is no multiple of the workgroup.

use super::{Demo, binding, bytes_of};

const COUNT: u32 = 1000;
const WORKGROUP: u32 = 64;
const A: f32 = 2.5;

// Multiples of a quarter below 2^13: no operation rounds, fused or not.
fn x(index: u32) -> f32 {
    index as f32 * 0.5
}

fn y(index: u32) -> f32 {
    1000.0 - index as f32
}

pub(super) fn demo() -> Demo {
    let floats = |of: fn(u32) -> f32| bytes_of((0..COUNT).map(|index| of(index).to_bits()));
    Demo {
        file: "saxpy.comp",
        what: "y = a x + y",
        buffers: vec![(binding(0), floats(x)), (binding(1), floats(y))],
        push_constants: bytes_of([A.to_bits(), COUNT]),
        groups: [COUNT.div_ceil(WORKGROUP), 1, 1],
        output: binding(1),
        expected: floats(|index| A * x(index) + y(index)),
    }
}

@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@compute @workgroup_size(1)
fn main() { counts[1] = counts[0] + 1u; counts[2] = 2u; counts[3] = 1u; }

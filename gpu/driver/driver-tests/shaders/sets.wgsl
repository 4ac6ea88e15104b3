@group(0) @binding(1) var<storage, read_write> to: array<u32>;
@group(1) @binding(0) var<storage, read> source: array<u32>;
@group(1) @binding(3) var<uniform> more: vec4<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) { to[i] = source[i] * 100u + more[i]; }

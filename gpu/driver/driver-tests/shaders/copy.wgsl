@group(0) @binding(0) var<storage, read_write> to: array<u32>;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { to[id.x] = source[id.x]; }

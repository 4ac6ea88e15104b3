// Stores far behind its buffer, if access is not robust.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x + 0x1000000u] = id.x * 3u; }

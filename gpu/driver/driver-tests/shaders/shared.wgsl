@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> all: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3<u32>) {
    all[i] = data[g.x * 64u + i];
    workgroupBarrier();
    data[g.x * 64u + i] = all[63u - i] + 1u;
}

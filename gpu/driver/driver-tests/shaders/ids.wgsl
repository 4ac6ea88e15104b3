@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(2)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (local == 0u) {
        let at = (group.z * 4u + group.y) * 4u + group.x;
        data[at] = count.x | count.y << 8u | count.z << 16u | 1u << 24u;
    }
}

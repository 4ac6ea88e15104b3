// Inclusive prefix sum of blocks of 256, and the block totals.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<u32>;
var<workgroup> scratch: array<u32, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
) {
    var sum = input[id.x];
    scratch[lane] = sum;
    workgroupBarrier();
    for (var offset = 1u; offset < 256u; offset <<= 1u) {
        var other = 0u;
        if lane >= offset {
            other = scratch[lane - offset];
        }
        workgroupBarrier();
        sum += other;
        scratch[lane] = sum;
        workgroupBarrier();
    }
    output[id.x] = sum;
    if lane == 255u {
        totals[group.x] = sum;
    }
}

// Sum and maximum of an array: a tree in shared memory, barriers, then one atomic a workgroup.

struct Totals {
    sum: atomic<u32>,
    largest: atomic<u32>,
    groups: atomic<u32>,
}

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> totals: Totals;

var<workgroup> sums: array<u32, 128>;
var<workgroup> maxima: array<u32, 128>;

@compute @workgroup_size(128)
fn main(
    @builtin(local_invocation_index) lane: u32,
    @builtin(global_invocation_id) id: vec3<u32>,
) {
    let value = values[id.x];
    sums[lane] = value;
    maxima[lane] = value;
    workgroupBarrier();
    for (var stride = 64u; stride > 0u; stride >>= 1u) {
        if lane < stride {
            sums[lane] += sums[lane + stride];
            maxima[lane] = max(maxima[lane], maxima[lane + stride]);
        }
        workgroupBarrier();
    }
    if lane == 0u {
        atomicAdd(&totals.sum, sums[0]);
        atomicMax(&totals.largest, maxima[0]);
        atomicAdd(&totals.groups, 1u);
    }
}

// Sums of a workgroup by a tree in shared memory, and a word of each invocation by a function with a loop.
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;
var<workgroup> tree: array<u32, 32>;

fn digits(given: u32) -> u32 {
    var word = given;
    var sum = 0u;
    while (word != 0u) {
        switch (word % 4u) {
            case 0u: { sum += 1u; }
            case 3u: { sum += 5u + (word & 7u); }
            default: { sum += word & 7u; }
        }
        word /= 4u;
    }
    return sum;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) global: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let id = global.x;
    let lane = local.x;
    tree[lane] = words[id];
    workgroupBarrier();
    for (var half_size = 16u; half_size > 0u; half_size >>= 1u) {
        if (lane < half_size) { tree[lane] += tree[lane + half_size]; }
        workgroupBarrier();
    }
    results[id] = tree[0] ^ digits(words[id]);
}

#version 450
// Sums of a workgroup by a tree in shared memory, and a word of each invocation by a function with a loop.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Input { uint words[]; };
layout(set = 0, binding = 1) buffer Output { uint results[]; };
shared uint tree[32];

uint digits(uint word) {
    uint sum = 0u;
    while (word != 0u) {
        switch (word % 4u) {
            case 0u: sum += 1u; break;
            case 3u: sum += 5u;
            default: sum += word & 7u; break;
        }
        word /= 4u;
    }
    return sum;
}

void main() {
    uint id = gl_GlobalInvocationID.x, lane = gl_LocalInvocationID.x;
    tree[lane] = words[id];
    barrier();
    for (uint half_size = 16u; half_size > 0u; half_size >>= 1) {
        if (lane < half_size) tree[lane] += tree[lane + half_size];
        barrier();
    }
    results[id] = tree[0] ^ digits(words[id]);
}

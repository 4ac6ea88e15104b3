#version 450
// Counts byte values: bins in shared memory first, then atomics on the whole.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Input { uint words[]; };
layout(set = 0, binding = 1) buffer Bins { uint bins[256]; };
shared uint local_bins[256];

void main() {
    for (uint i = gl_LocalInvocationID.x; i < 256u; i += 64u) {
        local_bins[i] = 0u;
    }
    barrier();
    uint word = words[gl_GlobalInvocationID.x];
    for (int i = 0; i < 4; i++) {
        atomicAdd(local_bins[(word >> (8 * i)) & 0xFFu], 1u);
    }
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < 256u; i += 64u) {
        uint count = local_bins[i];
        if (count != 0u) {
            atomicAdd(bins[i], count);
        }
    }
}

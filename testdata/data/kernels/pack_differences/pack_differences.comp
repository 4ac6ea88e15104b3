#version 450
// Packs differences of rows in as many bits as the largest takes.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint all = 0u;
    int before = 0;
    for (uint i = 0u; i < n; i++) {
        int value = int(in0[id * n + i]);
        int apart = value - before;
        before = value;
        all |= uint(apart << 1 ^ apart >> 31);
    }
    uint width = uint(findMSB(all) + 1);
    result[id * 7u] = width;
    uint word = 0u;
    uint filled = 0u;
    uint at = id * 7u + 1u;
    before = 0;
    for (uint i = 0u; i < n; i++) {
        int value = int(in0[id * n + i]);
        int apart = value - before;
        before = value;
        uint code = uint(apart << 1 ^ apart >> 31);
        word |= code << filled;
        filled += width;
        if (filled >= 32u) {
            result[at++] = word;
            filled -= 32u;
            word = filled == 0u ? 0u : code >> (width - filled);
        }
    }
    if (filled > 0u) result[at] = word;
}

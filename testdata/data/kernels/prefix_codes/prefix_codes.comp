#version 450
// Decodes a prefix code bit by bit.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Stream { uint stream[]; };
layout(set = 0, binding = 1) buffer Counts { uint counts_out[]; };
layout(push_constant) uniform Params { uint words; };
void main() {
    uint id = gl_GlobalInvocationID.x;
    uint counts[8];
    for (int i = 0; i < 8; i++) counts[i] = 0u;
    uint at = 0u, end = words * 32u;
    while (at < end) {
        uint len = 0u;
        while (at < end && len < 7u) {
            uint bit = (stream[id * words + (at >> 5)] >> (at & 31u)) & 1u;
            at++;
            if (bit == 0u) break;
            len++;
        }
        counts[len]++;
    }
    for (uint i = 0u; i < 8u; i++) counts_out[id * 8u + i] = counts[i];
}

#version 450
// Number theoretic transform of 16 words modulo 257, in private memory.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint words[16];
    for (uint i = 0u; i < 16u; i++) words[bitfieldReverse(i) >> 28] = in0[id * n + i];
    for (uint size = 2u; size <= 16u; size *= 2u) {
        uint root = 1u;
        for (uint e = 0u; e < 256u / size; e++) root = root * 3u % 257u;
        for (uint first = 0u; first < 16u; first += size) {
            uint factor = 1u;
            for (uint k = 0u; k < size / 2u; k++) {
                uint a = words[first + k];
                uint b = words[first + k + size / 2u] * factor % 257u;
                words[first + k] = (a + b) % 257u;
                words[first + k + size / 2u] = (a + 257u - b) % 257u;
                factor = factor * root % 257u;
            }
        }
    }
    for (uint i = 0u; i < 16u; i++) result[id * n + i] = words[i];
}

#version 450
// Counts places of a pattern in a text with a table of its borders.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) readonly buffer In1 { uint in1[]; };
layout(set = 0, binding = 2) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint pattern[4];
    uint border[5];
    for (uint i = 0u; i < 4u; i++) pattern[i] = in1[id * 4u + i];
    border[0] = 0u;
    border[1] = 0u;
    uint k = 0u;
    for (uint i = 1u; i < 4u; i++) {
        while (k > 0u && pattern[k] != pattern[i]) k = border[k];
        if (pattern[k] == pattern[i]) k++;
        border[i + 1u] = k;
    }
    uint found = 0u;
    k = 0u;
    for (uint i = 0u; i < n; i++) {
        uint symbol = in0[i];
        while (k > 0u && (k == 4u || pattern[k] != symbol)) k = border[k];
        if (pattern[k] == symbol) k++;
        if (k == 4u) found++;
    }
    result[id] = found;
}

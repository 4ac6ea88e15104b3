#version 450
// Steps to flood a small maze from its corner, rows of bits in private memory.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint open[8];
    uint wet[8];
    for (uint y = 0u; y < n; y++) {
        open[y] = ~(in0[id * n + y] & in0[(id * n + y + 77u) % 256u]) & 0xffffu;
        wet[y] = 0u;
    }
    open[0] |= 1u;
    wet[0] = 1u;
    uint steps = 0u;
    bool changed = true;
    while (changed) {
        changed = false;
        uint above = 0u;
        for (uint y = 0u; y < n; y++) {
            uint here = wet[y];
            uint below = y + 1u < n ? wet[y + 1u] : 0u;
            uint next = (here | here << 1 | here >> 1 | above | below) & open[y];
            above = here;
            if (next != here) changed = true;
            wet[y] = next;
        }
        if (changed) steps++;
    }
    uint cells = 0u;
    for (uint y = 0u; y < n; y++) cells += bitCount(wet[y]);
    result[id] = steps * 256u + cells;
}

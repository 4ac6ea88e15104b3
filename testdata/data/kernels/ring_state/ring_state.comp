#version 450
// A state of ten words with run-time indices, turned for many rounds.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Seed { uint seed[]; };
layout(set = 0, binding = 1) buffer State { uint state_out[]; };
layout(push_constant) uniform Params { uint rounds; };
void main() {
    uint id = gl_GlobalInvocationID.x;
    uint s[10];
    uint x = seed[id];
    for (uint i = 0u; i < 10u; i++) { x = x * 1664525u + 1013904223u; s[i] = x; }
    uint at = x % 10u;
    for (uint r = 0u; r < rounds; r++) {
        uint next = (at + 3u) % 10u;
        uint v = s[at] + (s[next] >> 3);
        s[at] = v ^ (v << 7);
        at = (next + (v & 1u)) % 10u;
    }
    for (uint i = 0u; i < 10u; i++) state_out[id * 10u + i] = s[i];
}

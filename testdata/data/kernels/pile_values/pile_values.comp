#version 450
// Values of piles in a game of taking stones, from the least number not among those reached.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint values[32];
    uint hash = 0u;
    for (uint stones = 0u; stones < n; stones++) {
        uint reached = 0u;
        for (uint k = 0u; k < 3u; k++) {
            uint taken = in0[id * 3u + k];
            if (taken > stones) continue;
            reached |= 1u << values[stones - taken];
        }
        uint value = uint(findLSB(~reached));
        values[stones] = value;
        hash = hash * 5u + value;
    }
    result[id] = hash;
}

#version 450
// Walsh-Hadamard transform of 64 words in shared memory.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };
shared uint words[64];

void main() {
    uint i = gl_LocalInvocationID.x;
    words[i] = in0[gl_GlobalInvocationID.x];
    for (uint step = 1u; step < 64u; step <<= 1) {
        barrier();
        uint own = words[i];
        uint other = words[i ^ step];
        uint next = (i & step) == 0u ? own + other : other - own;
        barrier();
        words[i] = next;
    }
    result[gl_GlobalInvocationID.x] = words[i];
}

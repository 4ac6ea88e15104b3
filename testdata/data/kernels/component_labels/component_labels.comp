#version 450
// Labels of connected nodes, the least spreads along edges in shared memory.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };
shared uint label[64];
shared uint changes;

void main() {
    uint i = gl_LocalInvocationID.x;
    uint other = in0[gl_WorkGroupID.x * n + i];
    label[i] = i;
    for (;;) {
        barrier();
        if (i == 0u) changes = 0u;
        barrier();
        uint a = atomicMin(label[other], atomicOr(label[i], 0u));
        uint b = atomicMin(label[i], a);
        if (a != b) atomicAdd(changes, 1u);
        barrier();
        if (changes == 0u) break;
    }
    result[gl_WorkGroupID.x * n + i] = label[i];
}

#version 450
// Counts words by their low bits in shared memory, then where each kind begins.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };
shared uint counts[64];
shared uint starts[64];

void main() {
    uint i = gl_LocalInvocationID.x;
    counts[i] = 0u;
    barrier();
    for (uint at = i; at < n; at += 64u) atomicAdd(counts[in0[gl_WorkGroupID.x * n + at] % 64u], 1u);
    barrier();
    uint own = counts[i];
    starts[i] = own;
    for (uint step = 1u; step < 64u; step *= 2u) {
        barrier();
        uint more = i >= step ? starts[i - step] : 0u;
        barrier();
        starts[i] += more;
    }
    result[gl_GlobalInvocationID.x] = starts[i] - own;
}

#version 450
// Exclusive sums of 128 words by an up sweep and a down sweep.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };
shared uint words[128];

void main() {
    uint i = gl_LocalInvocationID.x;
    uint base = gl_WorkGroupID.x * n;
    words[i] = in0[base + i];
    words[i + 64u] = in0[base + i + 64u];
    uint stride = 1u;
    for (uint active_lanes = 64u; active_lanes > 0u; active_lanes >>= 1) {
        barrier();
        if (i < active_lanes) {
            uint a = stride * (2u * i + 1u) - 1u;
            uint b = stride * (2u * i + 2u) - 1u;
            words[b] += words[a];
        }
        stride <<= 1;
    }
    if (i == 0u) words[127] = 0u;
    for (uint active_lanes = 1u; active_lanes < 128u; active_lanes <<= 1) {
        stride >>= 1;
        barrier();
        if (i < active_lanes) {
            uint a = stride * (2u * i + 1u) - 1u;
            uint b = stride * (2u * i + 2u) - 1u;
            uint t = words[a];
            words[a] = words[b];
            words[b] += t;
        }
    }
    barrier();
    result[base + i] = words[i];
    result[base + i + 64u] = words[i + 64u];
}

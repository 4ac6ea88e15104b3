#version 450
// Sum and maximum of an array: a tree in shared memory, barriers, then one atomic a workgroup.
layout(local_size_x = 128) in;

layout(std430, set = 0, binding = 0) readonly buffer Values {
    uint values[];
};
layout(std430, set = 0, binding = 1) buffer Totals {
    uint sum;
    uint largest;
    uint groups;
};

shared uint sums[128];
shared uint maxima[128];

void main() {
    uint lane = gl_LocalInvocationIndex;
    uint value = values[gl_GlobalInvocationID.x];
    sums[lane] = value;
    maxima[lane] = value;
    barrier();
    for (uint stride = 64u; stride > 0u; stride >>= 1u) {
        if (lane < stride) {
            sums[lane] += sums[lane + stride];
            maxima[lane] = max(maxima[lane], maxima[lane + stride]);
        }
        barrier();
    }
    if (lane == 0u) {
        atomicAdd(sum, sums[0]);
        atomicMax(largest, maxima[0]);
        atomicAdd(groups, 1u);
    }
}

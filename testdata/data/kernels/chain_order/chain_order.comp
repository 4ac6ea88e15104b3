#version 450
// Cheapest order of a chain of matrix products, intervals in shared memory.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };
shared uint cost[16][16];

void main() {
    uint i = gl_LocalInvocationID.x;
    uint base = gl_WorkGroupID.x * (n + 1u);
    cost[i][i] = 0u;
    barrier();
    for (uint span = 1u; span < n; span++) {
        uint j = i + span;
        if (j < n) {
            uint best = 0xffffffffu;
            for (uint k = i; k < j; k++) {
                uint sum = cost[i][k] + cost[k + 1u][j] + in0[base + i] * in0[base + k + 1u] * in0[base + j + 1u];
                best = min(best, sum);
            }
            cost[i][j] = best;
        }
        barrier();
    }
    result[gl_WorkGroupID.x * n + i] = cost[0][i];
}

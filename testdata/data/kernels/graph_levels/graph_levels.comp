#version 450
// Breadth-first levels of a sparse graph in shared memory.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Edges { uint edges[]; };
layout(set = 0, binding = 1) buffer Level { uint level_out[]; };
layout(push_constant) uniform Params { uint nodes; uint degree; };
shared uint level[64];
shared uint changed;
void main() {
    uint id = gl_LocalInvocationID.x;
    level[id] = id == gl_WorkGroupID.x ? 0u : 0xffffu;
    barrier();
    for (uint round = 0u; round < nodes; round++) {
        if (id == 0u) changed = 0u;
        uint own = level[id];
        barrier();
        if (own == round) {
            for (uint e = 0u; e < degree; e++) {
                uint to = edges[(gl_WorkGroupID.x * nodes + id) * degree + e];
                if (atomicMin(level[to], round + 1u) > round + 1u) atomicOr(changed, 1u);
            }
        }
        barrier();
        bool over = changed == 0u;
        barrier();
        if (over) break;
    }
    level_out[gl_GlobalInvocationID.x] = level[id];
}

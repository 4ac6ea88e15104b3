#version 450
// Shortest ways from each node of a small graph, the nearest node first.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };
shared uint weight[256];

void main() {
    uint id = gl_LocalInvocationID.x;
    for (uint i = id; i < 256u; i += 16u) weight[i] = in0[i];
    barrier();
    uint far[16];
    for (uint i = 0u; i < 16u; i++) far[i] = i == id ? 0u : 0xffffffffu;
    uint open = 0xffffu;
    while (open != 0u) {
        uint best = 0xffffffffu;
        uint node = 0u;
        for (uint i = 0u; i < 16u; i++)
            if ((open >> i & 1u) != 0u && far[i] < best) {
                best = far[i];
                node = i;
            }
        open &= ~(1u << node);
        for (uint i = 0u; i < 16u; i++) far[i] = min(far[i], best + weight[node * n + i]);
    }
    for (uint i = 0u; i < 16u; i++) result[id * n + i] = far[i];
}

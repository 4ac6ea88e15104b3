#version 450
// Best value by weight, all items in one uniform loop over shared memory.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Items { uvec2 items[]; };
layout(set = 0, binding = 1) buffer Value { uint value_out[]; };
layout(push_constant) uniform Params { uint count; uint capacity; };
shared uint best[2][64];
void main() {
    uint id = gl_LocalInvocationID.x;
    best[0][id] = 0u;
    barrier();
    uint from = 0u;
    for (uint i = 0u; i < count; i++) {
        uvec2 item = items[gl_WorkGroupID.x * count + i];
        uint value = best[from][id];
        if (id >= item.x) value = max(value, best[from][id - item.x] + item.y);
        best[from ^ 1u][id] = value;
        from ^= 1u;
        barrier();
    }
    value_out[gl_WorkGroupID.x * capacity + id] = best[from][id];
}

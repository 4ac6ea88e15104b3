#version 450
// Decodes numbers of seven bits a byte until there are enough.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

uint byte_at(uint at) {
    return in0[at / 4u] >> 8u * (at % 4u) & 255u;
}
void main() {
    uint id = gl_GlobalInvocationID.x;
    uint at = id * 32u;
    uint sum = 0u;
    for (uint number = 0u; number < n; number++) {
        uint value = 0u;
        uint shift = 0u;
        for (;;) {
            uint next = byte_at(at++);
            value |= (next & 127u) << shift;
            shift += 7u;
            if (next < 128u || shift >= 28u) break;
        }
        sum = sum * 31u + value;
    }
    result[id] = sum ^ (at - id * 32u);
}

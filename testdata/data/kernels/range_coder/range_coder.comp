#version 450
// Codes bits with an adaptive model by dividing a range.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint low = 0u;
    uint range = 0xffffffffu;
    uint zero = 2048u;
    uint hash = 0u;
    uint count = 0u;
    for (uint i = 0u; i < n; i++) {
        uint bit = in0[id * 2u + i / 32u] >> i % 32u & 1u;
        uint bound = (range >> 12) * zero;
        if (bit != 0u) {
            low += bound;
            range -= bound;
            zero -= zero >> 5;
        } else {
            range = bound;
            zero += 4096u - zero >> 5;
        }
        while (range < 1u << 24) {
            hash = hash * 257u + (low >> 24);
            count++;
            low <<= 8;
            range <<= 8;
        }
    }
    result[id] = hash ^ count ^ low;
}

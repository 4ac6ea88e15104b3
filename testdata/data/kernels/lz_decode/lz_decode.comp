#version 450
// Decodes literals and matches of a small dictionary coder.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Tokens { uint tokens[]; };
layout(set = 0, binding = 1) buffer Bytes { uint bytes_out[]; };
layout(push_constant) uniform Params { uint count; uint size; };
void main() {
    uint id = gl_GlobalInvocationID.x;
    uint base = id * size;
    uint at = 0u;
    for (uint t = 0u; t < count && at < size; t++) {
        uint token = tokens[id * count + t];
        if ((token & 3u) != 0u || at == 0u) {
            bytes_out[base + at] = token >> 8;
            at++;
            continue;
        }
        uint back = 1u + (token >> 4) % at;
        uint len = min(2u + ((token >> 2) & 7u), size - at);
        for (uint i = 0u; i < len; i++) {
            bytes_out[base + at] = bytes_out[base + at - back];
            at++;
        }
    }
}

#version 450
// Filter whose taps are uniform and whose input slides, counts down.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Taps { int taps[]; };
layout(set = 0, binding = 1) readonly buffer Source { int source[]; };
layout(set = 0, binding = 2) buffer Target { int target_out[]; };
layout(push_constant) uniform Params { int count; };
void main() {
    int id = int(gl_GlobalInvocationID.x);
    int sum = 0;
    for (int t = count; t >= 0; t--) sum += taps[t] * source[id + count - t];
    target_out[id] = sum >> 8;
}

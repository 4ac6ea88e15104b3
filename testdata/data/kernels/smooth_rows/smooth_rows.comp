#version 450
// Five-point smoothing along rows, each lane a row.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Source { int source[]; };
layout(set = 0, binding = 1) buffer Target { int target_out[]; };
layout(push_constant) uniform Params { uint width; };
void main() {
    uint row = gl_GlobalInvocationID.x * (width + 4u);
    for (uint x = 0u; x < width; x++) {
        int sum = source[row + x] + 4 * source[row + x + 1u] + 6 * source[row + x + 2u] + 4 * source[row + x + 3u] + source[row + x + 4u];
        target_out[row + x] = (sum + 8) >> 4;
    }
}

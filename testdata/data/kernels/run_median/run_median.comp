#version 450
// Median of windows of nine by a sorting network, more values than half the registers hold.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Source { int source[]; };
layout(set = 0, binding = 1) buffer Target { int target_out[]; };
layout(push_constant) uniform Params { uint width; uint rows; };
void main() {
    uint x = gl_GlobalInvocationID.x;
    for (uint y = 0u; y < rows; y++) {
        int v[9];
        for (int i = 0; i < 9; i++) v[i] = source[y * (width + 8u) + x + uint(i)];
        for (int i = 0; i < 5; i++)
            for (int j = 8; j > i; j--) {
                int a = v[j - 1], b = v[j];
                v[j - 1] = min(a, b);
                v[j] = max(a, b);
            }
        target_out[y * width + x] = v[4];
    }
}

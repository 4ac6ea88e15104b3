#version 450
// Plain product of two integer matrices whose sizes are not known.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) readonly buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
layout(push_constant) uniform Params { uint m; uint n; uint size; };
void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    if (x >= n || y >= m) return;
    uint sum = 0u;
    for (uint i = 0u; i < size; i++) sum += a[y * size + i] * b[i * n + x];
    c[y * n + x] = sum;
}

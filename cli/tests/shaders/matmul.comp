#version 450
// C = A B for 16x16 matrices of a batch, a tile a workgroup in shared memory.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) readonly buffer A { mat4 a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 1, binding = 0) writeonly buffer C { float c[]; };
shared float left[16][16];
shared float right[16][16];

void main() {
    uvec2 at = gl_LocalInvocationID.xy;
    uint base = gl_WorkGroupID.x * 256u;
    uint index = base + at.y * 16u + at.x;
    left[at.y][at.x] = a[index / 16u][(index / 4u) % 4u][index % 4u];
    right[at.y][at.x] = b[index];
    barrier();
    float sum = 0.0;
    for (uint k = 0u; k < 16u; k++) {
        sum += left[at.y][k] * right[k][at.x];
    }
    c[index] = sum;
}

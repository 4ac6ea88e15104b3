#version 450
// Integer Haar wavelet of 128 words in shared memory.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data { int data[]; };
layout(push_constant) uniform Params { uint n; };
shared int work[128];
void main() {
    uint id = gl_LocalInvocationID.x;
    uint base = gl_WorkGroupID.x * n;
    work[id] = data[base + id];
    work[id + 64u] = data[base + id + 64u];
    barrier();
    for (uint half_size = n >> 1; half_size > 0u; half_size >>= 1) {
        int a = 0, b = 0;
        if (id < half_size) { a = work[2u * id]; b = work[2u * id + 1u]; }
        barrier();
        if (id < half_size) {
            int d = a - b;
            work[id] = b + (d >> 1);
            work[half_size + id] = d;
        }
        barrier();
    }
    data[base + id] = work[id];
    data[base + id + 64u] = work[id + 64u];
}

#version 450
// Sorts rows of 16 words with a heap in private memory.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint heap[16];
    for (uint i = 0u; i < 16u; i++) heap[i] = in0[id * n + i];
    uint first = 8u;
    uint size = 16u;
    while (size > 1u) {
        if (first > 0u) {
            first--;
        } else {
            size--;
            uint last = heap[size];
            heap[size] = heap[0];
            heap[0] = last;
        }
        uint at = first;
        uint value = heap[at];
        for (;;) {
            uint child = 2u * at + 1u;
            if (child >= size) break;
            if (child + 1u < size && heap[child + 1u] > heap[child]) child++;
            if (heap[child] <= value) break;
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = value;
    }
    for (uint i = 0u; i < 16u; i++) result[id * n + i] = heap[i];
}

#version 450
// Length of the longest rising run of each row, elements left out at will.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint tails[24];
    uint length = 0u;
    for (uint i = 0u; i < n; i++) {
        uint value = in0[id * n + i];
        uint low = 0u;
        uint high = length;
        while (low < high) {
            uint middle = (low + high) / 2u;
            if (tails[middle] < value) low = middle + 1u;
            else high = middle;
        }
        tails[low] = value;
        if (low == length) length++;
    }
    result[id] = length * 1000u + tails[length - 1u];
}

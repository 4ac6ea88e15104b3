#version 450
// Rank of binary matrices of 16 rows by elimination, a row a word.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint rows[16];
    for (uint i = 0u; i < 16u; i++) rows[i] = in0[id * n + i] & 0xffffu;
    uint rank = 0u;
    for (uint bit = 0u; bit < 16u; bit++) {
        uint pivot = rank;
        while (pivot < 16u && (rows[pivot] >> bit & 1u) == 0u) pivot++;
        if (pivot == 16u) continue;
        uint row = rows[pivot];
        rows[pivot] = rows[rank];
        rows[rank] = row;
        for (uint i = rank + 1u; i < 16u; i++)
            if ((rows[i] >> bit & 1u) != 0u) rows[i] ^= row;
        rank++;
    }
    result[id] = rank;
}

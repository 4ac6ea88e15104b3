#version 450
// Levenshtein distance of pairs of strings, a row in private memory.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Words { uint words[]; };
layout(set = 0, binding = 1) buffer Distance { uint distance_out[]; };
layout(push_constant) uniform Params { uint n; };
uint letter(uint base, uint i) { return (words[base + (i >> 2)] >> (8u * (i & 3u))) & 3u; }
void main() {
    uint id = gl_GlobalInvocationID.x;
    uint a = id * 16u, b = id * 16u + 8u;
    uint row[33];
    for (uint i = 0u; i <= n; i++) row[i] = i;
    for (uint i = 0u; i < n; i++) {
        uint left = row[0];
        uint c = letter(a, i);
        row[0] = i + 1u;
        for (uint j = 0u; j < n; j++) {
            uint up = row[j + 1u];
            uint change = left + (letter(b, j) == c ? 0u : 1u);
            left = up;
            row[j + 1u] = min(min(up, row[j]) + 1u, change);
        }
    }
    distance_out[id] = row[n];
}

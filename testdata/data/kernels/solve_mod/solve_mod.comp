#version 450
// Solves systems of six equations modulo a prime by elimination, in private arrays.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) readonly buffer Matrix { uint matrix[]; };
layout(set = 0, binding = 1) buffer X { uint x_out[]; };
layout(push_constant) uniform Params { uint p; };
uint inverse_mod(uint a) {
    uint result = 1u, e = p - 2u;
    while (e != 0u) {
        if ((e & 1u) != 0u) result = result * a % p;
        a = a * a % p;
        e >>= 1;
    }
    return result;
}
void main() {
    uint id = gl_GlobalInvocationID.x;
    uint m[6][7];
    for (int i = 0; i < 6; i++) for (int j = 0; j < 7; j++) m[i][j] = matrix[id * 42u + uint(i * 7 + j)];
    for (int c = 0; c < 6; c++) {
        uint pivot = inverse_mod(m[c][c]);
        for (int j = c; j < 7; j++) m[c][j] = m[c][j] * pivot % p;
        for (int i = 0; i < 6; i++) {
            if (i == c) continue;
            uint f = p - m[i][c];
            for (int j = c; j < 7; j++) m[i][j] = (m[i][j] + f * m[c][j]) % p;
        }
    }
    for (int i = 0; i < 6; i++) x_out[id * 6u + uint(i)] = m[i][6];
}

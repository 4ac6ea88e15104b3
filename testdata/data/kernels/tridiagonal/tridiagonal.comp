#version 450
// Solves tridiagonal systems modulo a prime, forwards and back.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) readonly buffer In1 { uint in1[]; };
layout(set = 0, binding = 2) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

const uint P = 65521u;
uint inverse_of(uint a) {
    uint power = 1u;
    for (uint e = P - 2u; e != 0u; e >>= 1) {
        if ((e & 1u) != 0u) power = power * a % P;
        a = a * a % P;
    }
    return power;
}
void main() {
    uint id = gl_GlobalInvocationID.x;
    uint upper[12];
    uint right[12];
    uint before = 0u;
    uint last = 0u;
    for (uint i = 0u; i < n; i++) {
        uint diagonal = in0[id * n + i];
        if (i > 0u) diagonal = (diagonal + P - before) % P;
        uint scale = inverse_of(diagonal);
        before = 2u * scale % P;
        last = (in1[id * n + i] + P - last) % P * scale % P;
        upper[i] = before;
        right[i] = last;
    }
    uint value = 0u;
    for (uint i = n; i > 0u; i--) {
        value = i == n ? right[i - 1u] : (right[i - 1u] + P - upper[i - 1u] * value % P) % P;
        result[id * n + i - 1u] = value;
    }
}

#version 450
// Inverses modulo a prime by the extended algorithm of Euclid.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    int r0 = int(n);
    int r1 = int(in0[id]);
    int t0 = 0;
    int t1 = 1;
    while (r1 != 0) {
        int q = r0 / r1;
        int r2 = r0 - q * r1;
        int t2 = t0 - q * t1;
        r0 = r1;
        r1 = r2;
        t0 = t1;
        t1 = t2;
    }
    result[id] = uint(t0 < 0 ? t0 + int(n) : t0);
}

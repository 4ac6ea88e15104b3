#version 450
// Which points lie inside of a polygon, by the edges that a ray crosses.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) readonly buffer In1 { uint in1[]; };
layout(set = 0, binding = 2) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    int x = int(in1[2u * id]);
    int y = int(in1[2u * id + 1u]);
    bool inside = false;
    uint j = n - 1u;
    for (uint i = 0u; i < n; i++) {
        int ax = int(in0[2u * i]);
        int ay = int(in0[2u * i + 1u]);
        int bx = int(in0[2u * j]);
        int by = int(in0[2u * j + 1u]);
        if ((ay > y) != (by > y)) {
            int left = (x - ax) * (by - ay);
            int right = (bx - ax) * (y - ay);
            if (by < ay ? left > right : left < right) inside = !inside;
        }
        j = i;
    }
    result[id] = inside ? 1u : 0u;
}

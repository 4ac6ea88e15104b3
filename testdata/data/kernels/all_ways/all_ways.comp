#version 450
// Shortest ways between all nodes of a small graph, by nodes allowed between.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };
shared uint way[16][16];

void main() {
    uint i = gl_LocalInvocationID.y;
    uint j = gl_LocalInvocationID.x;
    uint at = gl_WorkGroupID.x * 256u + gl_LocalInvocationIndex;
    way[i][j] = in0[at];
    barrier();
    for (uint k = 0u; k < n; k++) {
        uint around = way[i][k] + way[k][j];
        barrier();
        way[i][j] = min(way[i][j], around);
        barrier();
    }
    result[at] = way[i][j];
}

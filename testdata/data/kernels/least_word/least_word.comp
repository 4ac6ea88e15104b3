#version 450
// The least word of a block and its place, by a tree over two arrays.
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };
shared uint least[128];
shared uint place[128];

void main() {
    uint i = gl_LocalInvocationID.x;
    least[i] = in0[gl_GlobalInvocationID.x];
    place[i] = i;
    for (uint half_size = n / 2u; half_size > 0u; half_size /= 2u) {
        barrier();
        if (i < half_size) {
            uint other = least[i + half_size];
            uint at = place[i + half_size];
            if (other < least[i] || (other == least[i] && at < place[i])) {
                least[i] = other;
                place[i] = at;
            }
        }
    }
    if (i == 0u) {
        result[2u * gl_WorkGroupID.x] = least[0];
        result[2u * gl_WorkGroupID.x + 1u] = place[0];
    }
}

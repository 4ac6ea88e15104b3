#version 450
// Sums since the last mark of a row, by a scan of doubling steps.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) readonly buffer In1 { uint in1[]; };
layout(set = 0, binding = 2) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };
shared uint sum[64];
shared uint mark[64];

void main() {
    uint i = gl_LocalInvocationID.x;
    sum[i] = in0[gl_GlobalInvocationID.x];
    mark[i] = in1[gl_GlobalInvocationID.x] == 0u ? 1u : 0u;
    for (uint step = 1u; step < n; step *= 2u) {
        barrier();
        uint more = 0u;
        uint marked = 1u;
        if (i >= step) {
            more = sum[i - step];
            marked = mark[i - step];
        }
        barrier();
        if (mark[i] == 0u) {
            sum[i] += more;
            mark[i] = marked;
        }
    }
    result[gl_GlobalInvocationID.x] = sum[i];
}

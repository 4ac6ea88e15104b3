#version 450
// Counts subsets of a set with a wanted sum, by a search with a stack.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) readonly buffer In1 { uint in1[]; };
layout(set = 0, binding = 2) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint wanted = in1[id];
    uint items[24];
    uint sums[24];
    uint top = 1u;
    uint found = 0u;
    items[0] = 0u;
    sums[0] = 0u;
    while (top > 0u) {
        top--;
        uint item = items[top];
        uint sum = sums[top];
        if (sum > wanted) continue;
        if (item == n) {
            if (sum == wanted) found++;
            continue;
        }
        items[top] = item + 1u;
        sums[top] = sum;
        top++;
        items[top] = item + 1u;
        sums[top] = sum + in0[item];
        top++;
    }
    result[id] = found;
}

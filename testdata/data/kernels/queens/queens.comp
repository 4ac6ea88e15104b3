#version 450
// Counts solutions of the queens puzzle by backtracking with a stack of structures.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Count { uint count[]; };
layout(push_constant) uniform Params { uint n; };
struct Row { uint columns; uint left; uint right; uint open; };
void main() {
    uint id = gl_GlobalInvocationID.x;
    uint all = (1u << n) - 1u;
    uint first = 1u << (id % n);
    Row stack[12];
    uint depth = 0u;
    uint found = 0u;
    stack[0] = Row(first, first << 1, first >> 1, all & ~(first | (first << 1) | (first >> 1)));
    if (id / n > 3u) stack[0].open &= id;
    for (;;) {
        Row row = stack[depth];
        if (row.open == 0u) {
            if (depth == 0u) break;
            depth--;
            continue;
        }
        uint bit = row.open & (~row.open + 1u);
        stack[depth].open = row.open ^ bit;
        uint columns = row.columns | bit;
        if (columns == all) { found++; continue; }
        uint left = (row.left | bit) << 1;
        uint right = (row.right | bit) >> 1;
        depth++;
        stack[depth] = Row(columns, left, right, all & ~(columns | left | right));
    }
    count[id] = found;
}

#version 450
// Nearest key in a binary tree with a stack of nodes and bounds, loops that continue early.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Keys { int keys[]; };
layout(set = 0, binding = 1) readonly buffer Wanted { int wanted[]; };
layout(set = 0, binding = 2) buffer Best { int best_out[]; };
layout(push_constant) uniform Params { int nodes; };
struct Entry { int node; int far; };
void main() {
    uint id = gl_GlobalInvocationID.x;
    int want = wanted[id];
    Entry stack[24];
    int top = 0;
    stack[0] = Entry(0, 0);
    int best = 0x7fffffff;
    int at = -1;
    while (top >= 0) {
        Entry entry = stack[top--];
        if (entry.node >= nodes) continue;
        if (entry.far > best) continue;
        int key = keys[entry.node];
        int apart = abs(key - want);
        if (apart < best) { best = apart; at = entry.node; }
        if (apart == 0) continue;
        stack[++top] = Entry(2 * entry.node + 2, apart >> 3);
        stack[++top] = Entry(2 * entry.node + 1, apart >> 4);
    }
    best_out[id] = best * 64 + at;
}

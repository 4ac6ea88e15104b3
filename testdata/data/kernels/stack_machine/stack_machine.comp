#version 450
// Runs a program for a machine with a stack, an instruction a word.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) readonly buffer In1 { uint in1[]; };
layout(set = 0, binding = 2) buffer Result { uint result[]; };
layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint value = in1[id];
    uint stack[16];
    stack[0] = value;
    stack[1] = value ^ 5u;
    stack[2] = 3u;
    stack[3] = 9u;
    uint top = 4u;
    uint sum = value;
    for (uint pc = 0u; pc < n; pc++) {
        uint word = in0[pc];
        uint k = word / 6u;
        uint op = word % 6u;
        if (op == 0u) {
            stack[top++] = k;
        } else {
            if (top < 2u) {
                stack[1] = stack[0];
                stack[0] = sum;
                top++;
            }
            uint b = stack[--top];
            uint c = stack[--top];
            uint r;
            switch (op) {
            case 1u: r = c + b; break;
            case 2u: r = c - b; break;
            case 3u: r = c * b; break;
            case 4u: r = c ^ b; break;
            default: r = min(c, b); break;
            }
            stack[top++] = r;
            sum += r;
        }
        if (top > 12u) top = 4u;
    }
    result[id] = sum;
}

#version 450
// y = (a x + b) in part of a buffer: a second program, with other uniforms than the first (`cli/demo/saxpy.comp`).
layout(local_size_x = 32) in;

layout(push_constant) uniform Parameters {
    float a;
    uint count;
    float b;
};
layout(std430, set = 0, binding = 0) readonly buffer X {
    float x[];
};
layout(std430, set = 0, binding = 1) buffer Y {
    float y[];
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) {
        y[i] = a * x[i] + b;
    }
}

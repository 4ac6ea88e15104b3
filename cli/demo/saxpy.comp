#version 450
// y = a x + y: the smallest useful kernel. A push constant, two storage buffers, a bound check.
layout(local_size_x = 64) in;

layout(push_constant) uniform Parameters {
    float a;
    uint count;
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
        y[i] = a * x[i] + y[i];
    }
}

#version 450
// Values of one polynomial of unknown degree at many places.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Coefficients { uint coefficients[]; };
layout(set = 0, binding = 1) readonly buffer X { uint x_in[]; };
layout(set = 0, binding = 2) buffer Y { uint y_out[]; };
layout(push_constant) uniform Params { uint count; };
void main() {
    uint id = gl_GlobalInvocationID.x;
    uint x = x_in[id], y = 0u;
    for (uint i = 0u; i < count; i++) y = y * x + coefficients[i];
    y_out[id] = y;
}

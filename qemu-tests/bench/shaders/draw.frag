#version 450
// The colour times a row of a table that a set has.
layout(location = 0) in vec4 shade;
layout(location = 0) out vec4 color;
layout(push_constant) uniform Parameters {
    vec4 offset;
    uint row;
};
layout(std430, set = 0, binding = 0) readonly buffer Table {
    vec4 rows[];
};

void main() {
    color = shade * rows[row];
}

#version 450
// Positions and colours of a vertex buffer, moved by push constants.
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 shade;
layout(push_constant) uniform Parameters {
    vec4 offset;
    uint row;
};

void main() {
    gl_Position = position + offset;
    shade = color;
}

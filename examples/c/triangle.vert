#version 450

// A triangle: its corners, and a colour that is the same everywhere but for the push constant's part.

layout(push_constant) uniform Push {
    float blue;
};

layout(location = 0) in vec2 position;
layout(location = 0) out vec3 shade;

void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    shade = vec3(1.0, 0.0, blue);
}

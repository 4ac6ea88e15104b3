#version 450

// A corner of a cube, turned and seen in perspective.

layout(set = 0, binding = 0) uniform View {
    mat4 view;
};

layout(location = 0) in vec3 position;
layout(location = 1) in vec2 place;
layout(location = 2) in float light;
layout(location = 0) out vec2 texel;
layout(location = 1) out float brightness;

void main() {
    gl_Position = view * vec4(position, 1.0);
    texel = place;
    brightness = light;
}

#version 450

// A side of the cube: its texture, lit.

layout(set = 0, binding = 1) uniform texture2D image;
layout(set = 0, binding = 2) uniform sampler nearest;

layout(location = 0) in vec2 texel;
layout(location = 1) in float brightness;
layout(location = 0) out vec4 result;

void main() {
    vec4 color = texture(sampler2D(image, nearest), texel);
    result = vec4(color.rgb * brightness, 1.0);
}

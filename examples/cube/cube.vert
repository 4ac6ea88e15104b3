#version 450

// A corner of the cube, turned about two axes, and seen in perspective.

layout(push_constant) uniform Push {
    // Cosine and sine of the turn about y, and of that about x.
    vec4 turn;
};

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 color;
layout(location = 0) out vec3 shade;

void main() {
    vec3 p = vec3(turn.x * position.x + turn.y * position.z, position.y, turn.x * position.z - turn.y * position.x);
    p = vec3(p.x, turn.z * p.y - turn.w * p.z, turn.w * p.y + turn.z * p.z + 4.5);
    // Depths from 1 to 10 become those from 0 to 1.
    gl_Position = vec4(1.9 * p.xy, (p.z - 1.0) * 10.0 / 9.0, p.z);
    shade = color;
}

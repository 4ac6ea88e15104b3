#version 450
// Rotates, normalises and packs points: trigonometry, vectors, matrices, structs, conversions.
layout(local_size_x = 32) in;
struct Point {
    vec3 position;
    float angle;
};
layout(std430, set = 0, binding = 0) readonly buffer Points { Point points[]; };
layout(std140, set = 0, binding = 1) uniform Settings {
    vec4 centre;
    ivec4 flags;
};
layout(std430, set = 0, binding = 2) writeonly buffer Packed { uvec2 result[]; };

vec3 rotate(Point p) {
    float s = sin(p.angle);
    float c = cos(p.angle);
    mat3 turn = mat3(c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0);
    return turn * (p.position - centre.xyz) + centre.xyz;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= uint(points.length())) {
        return;
    }
    vec3 moved = rotate(points[i]);
    if (flags.x > 0 && length(moved) > 0.0) {
        moved = normalize(moved);
    }
    ivec3 steps = ivec3(round(clamp(moved, vec3(-8.0), vec3(8.0)) * 16.0));
    result[i] = uvec2(
        uint(steps.x & 0xFFFF) | (uint(steps.y & 0xFFFF) << 16),
        uint(steps.z)
    );
}

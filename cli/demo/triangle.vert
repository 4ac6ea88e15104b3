#version 450

// A triangle without vertex buffers: each corner has a colour of its own.

layout(location = 0) out vec3 color;

void main() {
    // Corner 0 at the top, then clockwise.
    float x = gl_VertexIndex == 0 ? 0.0 : (gl_VertexIndex == 1 ? 0.75 : -0.75);
    float y = gl_VertexIndex == 0 ? -0.8125 : 0.6875;
    gl_Position = vec4(x, y, 0.0, 1.0);
    color = vec3(gl_VertexIndex == 0 ? 1.0 : 0.0, gl_VertexIndex == 1 ? 1.0 : 0.0, gl_VertexIndex == 2 ? 1.0 : 0.0);
}

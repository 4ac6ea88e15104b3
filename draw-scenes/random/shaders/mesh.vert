// A mesh in the plane: where it stands, how deep, and its colours, by push constants and instance.
#version 450
layout(location = 0) in vec4 position; // in the clip volume; w is a factor of all
layout(location = 1) in vec4 colour;
layout(push_constant) uniform Push {
    vec4 place;  // factors of x and y, and what is added
    vec4 tint;
    vec2 depth;  // a factor of z, and what is added
    float size;  // of points
    uint salt;
} push;
layout(location = 0) out vec4 smooth_colour;
layout(location = 1) noperspective out vec4 linear_colour;
layout(location = 2) flat out vec4 flat_colour;
layout(location = 3) flat out uint vertex;
#ifdef CLIP
out float gl_ClipDistance[2];
#endif

void main()
{
    vec2 step = vec2(gl_InstanceIndex & 1, gl_InstanceIndex >> 1 & 1) * 0.25;
    vec2 place = position.xy * push.place.xy + push.place.zw + step;
    gl_Position = vec4(place, position.z * push.depth.x + push.depth.y, 1.0) * position.w;
    gl_PointSize = push.size;
    smooth_colour = colour * push.tint;
    linear_colour = colour.gbra * push.tint;
    flat_colour = colour.brga * push.tint;
    vertex = uint(gl_VertexIndex) * 17u + uint(gl_InstanceIndex) * 5u + push.salt;
#ifdef CLIP
    // Planes between pixels: 1/128 is a quarter of a pixel of 64.
    gl_ClipDistance[0] = place.x + 0.5078125;
    gl_ClipDistance[1] = 0.7578125 - place.y;
#endif
}

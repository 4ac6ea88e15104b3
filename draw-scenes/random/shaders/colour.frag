// Colours of one of several kinds, as a specialisation says, to four targets.
#version 450
layout(constant_id = 0) const uint KIND = 0;
layout(constant_id = 1) const uint KILL = 0;
layout(push_constant) uniform Push {
    vec4 place;
    vec4 tint;
    vec2 depth;
    float size;
    uint salt;
} push;
layout(location = 0) in vec4 smooth_colour;
layout(location = 1) noperspective in vec4 linear_colour;
layout(location = 2) flat in vec4 flat_colour;
layout(location = 3) flat in uint vertex;
#ifdef TEXTURED
layout(set = 0, binding = 0) uniform sampler2D image;
layout(set = 0, binding = 1) uniform Table { vec4 rows[4]; } table;
#endif
#ifdef INTEGER
#define NUMBER INTEGER
#else
#define NUMBER vec4
#endif
#ifdef DUAL
layout(location = 0, index = 0) out vec4 first;
layout(location = 0, index = 1) out vec4 second;
#else
layout(location = 0) out NUMBER first;
layout(location = 1) out NUMBER second;
layout(location = 2) out NUMBER third;
layout(location = 3) out NUMBER fourth;
#endif

vec4 pattern(uvec2 pixel)
{
    return vec4(pixel & 7u, (pixel.x + pixel.y) & 7u, (pixel.x ^ pixel.y) & 7u) / 8.0;
}

vec4 colour(uvec2 pixel)
{
    vec2 centre = gl_FragCoord.xy;
    switch (KIND) {
    case 0: return smooth_colour;
    case 1: return linear_colour;
    case 2: return flat_colour;
    case 3: return pattern(pixel);
    case 4: return vec4(vertex & 7u, vertex >> 3 & 7u, uint(gl_PrimitiveID) & 7u, 4u) / 8.0;
    case 5: return gl_FrontFacing ? vec4(0.25, 0.5, 0.75, 1.0) : pattern(pixel + 3u);
    case 6: return vec4(dFdxFine(centre.x * centre.y), dFdyFine(centre.x * centre.y), fwidthFine(centre.x), 32.0) / 64.0;
#ifdef TEXTURED
    case 7: return textureLod(image, (centre + 0.125) * push.tint.x / 16.0, float(push.salt & 3u));
    case 8: return textureLod(image, centre / 32.0 - 0.5, 0.0) * table.rows[vertex & 3u];
    case 9: return textureGather(image, (centre + 0.25) / 16.0, 1);
    case 10: return texelFetch(image, ivec2(pixel & 7u), int(pixel.x >> 3 & 1u)) + table.rows[pixel.y & 3u];
    case 11: return textureLodOffset(image, (centre + 0.125) / 64.0, 0.0, ivec2(-3, 2));
    case 12: return texture(image, centre / vec2(8.0 * float(1u + (push.salt & 3u)), 8.0));
#endif
    }
    return smooth_colour * 0.5 + flat_colour * 0.5;
}

void main()
{
    uvec2 pixel = uvec2(gl_FragCoord.xy);
    vec4 got = colour(pixel);
    uint place = (pixel.x + pixel.y * 3u) & 7u;
    switch (KILL) {
    case 1: if (place == (push.salt & 7u)) discard; break;
    case 2: if (place < (push.salt & 7u)) discard; break;
    case 3: if ((vertex & 3u) == 0u) discard; break;
    }
#ifdef INTEGER
    // What a format does not hold nobody says: `KIND` is the largest number that all hold.
    INTEGER whole = INTEGER(vertex, pixel, uint(gl_PrimitiveID)) * INTEGER(0x1020401) ^ INTEGER(push.salt);
    first = whole & INTEGER(KIND);
    second = whole.yzwx * INTEGER(3) & INTEGER(KIND);
    third = whole.zwxy >> 3 & INTEGER(KIND);
    fourth = ~whole & INTEGER(KIND);
#else
    first = got;
#ifdef DUAL
    second = got.wzyx;
#else
    second = got.yzwx;
    third = got * 0.5 + 0.25;
    fourth = pattern(pixel).zwxy;
#endif
#endif
#ifdef DEPTH
    gl_FragDepth = float((pixel.x + pixel.y + push.salt) & 15u) / 16.0;
#endif
#ifdef MASK
    gl_SampleMask[0] = int(push.salt ^ (pixel.x + pixel.y));
#endif
#ifdef SAMPLES
    first += NUMBER(gl_SampleID) / 8.0;
#endif
}

// A glTF model: metallic-roughness materials, one directional light, an environment of one colour.
//
// In front of this stand the constants of a material's kind: HAS_..., MASKED, BLENDED, UNLIT (material.rs).
// Facts: glTF 2.0, appendix B ("BRDF Implementation"); docs/drawing.md has the formula of the environment.

struct Frame {
    clip_of_world: mat4x4<f32>,
    // Where the eye is; with 0 as the last the direction towards it.
    eye: vec4<f32>,
    // The direction towards the light.
    light: vec4<f32>,
    light_color: vec4<f32>,
    environment: vec4<f32>,
}

// Where a texture is read: two rows of an affine map, whose last number is the set of coordinates.
struct Placed {
    u: vec4<f32>,
    v: vec4<f32>,
}

struct Material {
    base: vec4<f32>,
    // The last is what alpha has to reach.
    emissive: vec4<f32>,
    // Metallic, roughness, scale of normals, strength of occlusion.
    factors: vec4<f32>,
    placed: array<Placed, 5>,
}

struct Push {
    world: mat4x4<f32>,
    // Three columns; the last number of the first is -1 where the node mirrors.
    normals: array<vec4<f32>, 3>,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<uniform> material: Material;
@group(0) @binding(2) var base_texture: texture_2d<f32>;
@group(0) @binding(3) var metal_texture: texture_2d<f32>;
@group(0) @binding(4) var normal_texture: texture_2d<f32>;
@group(0) @binding(5) var occlusion_texture: texture_2d<f32>;
@group(0) @binding(6) var emissive_texture: texture_2d<f32>;
@group(0) @binding(7) var base_sampler: sampler;
@group(0) @binding(8) var metal_sampler: sampler;
@group(0) @binding(9) var normal_sampler: sampler;
@group(0) @binding(10) var occlusion_sampler: sampler;
@group(0) @binding(11) var emissive_sampler: sampler;
var<immediate> push: Push;

struct Vertex {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) tangent: vec4<f32>,
    @location(3) places: vec4<f32>,
    @location(4) color: vec4<f32>,
}

struct Between {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) tangent: vec4<f32>,
    @location(3) places: vec4<f32>,
    @location(4) color: vec4<f32>,
}

@vertex
fn vertex_main(vertex: Vertex) -> Between {
    let world = push.world * vec4<f32>(vertex.position, 1.0);
    let normal = push.normals[0].xyz * vertex.normal.x + push.normals[1].xyz * vertex.normal.y
        + push.normals[2].xyz * vertex.normal.z;
    let tangent = push.world * vec4<f32>(vertex.tangent.xyz, 0.0);
    var between: Between;
    between.clip = frame.clip_of_world * world;
    between.world = world.xyz;
    between.normal = normal;
    between.tangent = vec4<f32>(tangent.xyz, vertex.tangent.w * push.normals[0].w);
    between.places = vertex.places;
    between.color = vertex.color;
    return between;
}

fn place(which: u32, places: vec4<f32>) -> vec2<f32> {
    let placed = material.placed[which];
    let at = vec3<f32>(select(places.xy, places.zw, placed.v.w > 0.5), 1.0);
    return vec2<f32>(dot(placed.u.xyz, at), dot(placed.v.xyz, at));
}

const PI: f32 = 3.14159265358979;

// The light that a surface sends to the eye of what comes from the light.
fn reflected(n: vec3<f32>, v: vec3<f32>, l: vec3<f32>, diffuse: vec3<f32>, f0: vec3<f32>, rough: f32) -> vec3<f32> {
    let half_way = normalize(l + v);
    let n_l = clamp(dot(n, l), 0.0, 1.0);
    let n_v = clamp(abs(dot(n, v)), 0.0001, 1.0);
    let n_h = clamp(dot(n, half_way), 0.0, 1.0);
    let v_h = clamp(dot(v, half_way), 0.0, 1.0);
    let a2 = rough * rough;
    let fresnel = f0 + (vec3<f32>(1.0) - f0) * pow(1.0 - v_h, 5.0);
    let d = n_h * n_h * (a2 - 1.0) + 1.0;
    let distribution = a2 / (PI * d * d);
    let of_view = n_l * sqrt(n_v * n_v * (1.0 - a2) + a2);
    let of_light = n_v * sqrt(n_l * n_l * (1.0 - a2) + a2);
    let visible = 0.5 / max(of_view + of_light, 0.00001);
    let specular = fresnel * (distribution * visible);
    return ((vec3<f32>(1.0) - fresnel) * diffuse / PI + specular) * n_l;
}

@fragment
fn fragment_main(between: Between, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    var base = material.base * between.color;
    if HAS_BASE {
        base *= textureSample(base_texture, base_sampler, place(0u, between.places));
    }
    var metallic = material.factors.x;
    var roughness = material.factors.y;
    if HAS_METAL {
        let texel = textureSample(metal_texture, metal_sampler, place(1u, between.places));
        metallic *= texel.b;
        roughness *= texel.g;
    }
    var n = normalize(between.normal);
    if HAS_NORMAL {
        let texel = textureSample(normal_texture, normal_sampler, place(2u, between.places)).xyz;
        let bent = (texel * 2.0 - 1.0) * vec3<f32>(material.factors.zz, 1.0);
        let t = normalize(between.tangent.xyz);
        let b = cross(n, t) * between.tangent.w;
        n = normalize(t * bent.x + b * bent.y + n * bent.z);
    }
    if !front {
        n = -n;
    }
    var open = 1.0;
    if HAS_OCCLUSION {
        let texel = textureSample(occlusion_texture, occlusion_sampler, place(3u, between.places));
        open = 1.0 + material.factors.w * (texel.r - 1.0);
    }
    var color = material.emissive.xyz;
    if HAS_EMISSIVE {
        color *= textureSample(emissive_texture, emissive_sampler, place(4u, between.places)).xyz;
    }
    if UNLIT {
        color = base.xyz;
    } else {
        let v = normalize(frame.eye.xyz - between.world * frame.eye.w);
        let diffuse = base.xyz * (1.0 - metallic);
        let f0 = mix(vec3<f32>(0.04), base.xyz, metallic);
        // A mirror would show the light as a point: no pixel would hit it.
        let rough = max(roughness * roughness, 0.002);
        color += frame.light_color.xyz * reflected(n, v, frame.light.xyz, diffuse, f0, rough);
        let grazing = max(vec3<f32>(1.0 - roughness), f0);
        let n_v = clamp(abs(dot(n, v)), 0.0, 1.0);
        let fresnel = f0 + (grazing - f0) * pow(1.0 - n_v, 5.0);
        color += frame.environment.xyz * ((vec3<f32>(1.0) - fresnel) * diffuse + fresnel) * open;
    }
    if MASKED && base.w < material.emissive.w {
        discard;
    }
    return vec4<f32>(color, select(1.0, base.w, BLENDED));
}

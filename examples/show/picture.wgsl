// A picture of colours, no two lines or columns of which are the same: red grows to the right, green down, and blue is a
// chequered pattern of single pixels.
@group(0) @binding(0) var picture: texture_storage_2d<rgba8unorm, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3u) {
    let size = textureDimensions(picture);
    if at.x >= size.x || at.y >= size.y {
        return;
    }
    let place = vec2f(at.xy) / vec2f(size - 1);
    let blue = f32((at.x ^ at.y) & 1);
    textureStore(picture, at.xy, vec4f(place, blue, 1.0));
}

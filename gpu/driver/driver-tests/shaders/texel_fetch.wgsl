@group(0) @binding(0) var image: texture_2d<u32>;
@group(0) @binding(1) var<storage, read_write> to: array<u32>;
@compute @workgroup_size(8, 8)
fn main(@builtin(local_invocation_id) id: vec3<u32>) {
    to[id.x + 8u * id.y] = textureLoad(image, id.xy, 0).x;
}

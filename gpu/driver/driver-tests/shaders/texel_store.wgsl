struct Push { a: u32, b: u32 }
var<immediate> push: Push;
@group(0) @binding(0) var image: texture_storage_2d<r32uint, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(local_invocation_id) id: vec3<u32>) {
    textureStore(image, id.xy, vec4(push.a + id.x + 8u * id.y));
}

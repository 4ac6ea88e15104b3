struct Push { a: u32, b: u32 }
var<immediate> push: Push;
@group(0) @binding(0) var<storage, read_write> to: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let scale = (push.a * push.b + 5u) << 2u;
    let length = min(arrayLength(&to), 7u) - push.b;
    to[i] = (to[i] << 16u) + scale * 16u + length;
}

enable wgpu_binding_array;
struct Data { words: array<u32, 4> }
struct Push { pick: u32, other: u32 }
var<immediate> push: Push;
@group(0) @binding(0) var<storage, read_write> to: array<u32>;
@group(0) @binding(2) var<storage, read> data: binding_array<Data, 3>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    to[i] = data[push.pick].words[i] * 100u + data[2].words[i] + data[push.other].words[i];
}

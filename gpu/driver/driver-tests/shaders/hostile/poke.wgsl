struct Push { at: u32, value: u32 }
var<immediate> push: Push;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(1)
fn main() { data[push.at] = push.value; }

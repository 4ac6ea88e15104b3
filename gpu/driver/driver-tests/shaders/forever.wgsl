@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(1)
fn main() {
    var i = 0u;
    loop { i = i + 1u; data[0] = 0xdead0000u; if (i == 0xffffffffu) { break; } }
}

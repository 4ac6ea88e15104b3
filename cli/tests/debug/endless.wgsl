@group(0) @binding(0) var<storage, read_write> o: array<u32>;

@compute @workgroup_size(1)
fn main() {
    while (o[0] == 0u) {
        o[0] = 0u;
    }
}

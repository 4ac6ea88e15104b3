// Never ends, unless somebody else writes the first word: the driver must stop it.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1)
fn main() {
    while data[0] == 0u {
        data[1] += 1u;
    }
}

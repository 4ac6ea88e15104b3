// Counts until somebody sets a word, which nobody does; when it is set already, says so.
@group(0) @binding(0) var<storage, read_write> word: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> answer: atomic<u32>;

@compute @workgroup_size(1)
fn main() {
    while atomicLoad(&word) == 0u {
        atomicAdd(&answer, 1u);
    }
    atomicStore(&answer, 42u);
}

// Waits for a word that nobody writes; when it is set already, says so.
@group(0) @binding(0) var<storage, read_write> word: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> answer: u32;

@compute @workgroup_size(1)
fn main() {
    while atomicLoad(&word) == 0u {}
    answer = 42u;
}

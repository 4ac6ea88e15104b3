// Steps until the Collatz sequence of a number reaches 1; a switch, early returns, and a helper function.
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;

fn next(n: u32) -> u32 {
    switch n % 2u {
        case 0u: { return n / 2u; }
        default: { return 3u * n + 1u; }
    }
}

fn steps(start: u32) -> i32 {
    if start == 0u {
        return -1;
    }
    var n = start;
    var count = 0;
    while n != 1u {
        n = next(n);
        count++;
        if count > 500 {
            return -2;
        }
    }
    return count;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&numbers) {
        numbers[id.x] = bitcast<u32>(steps(numbers[id.x]));
    }
}

var<workgroup> s: array<u32, 32>;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;

fn square(x: u32) -> u32 {
    let y = x * x;
    return y;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3<u32>) {
    s[i] = square(i);
    workgroupBarrier();
    var sum = 0u;
    for (var k = 0u; k < 4u; k++) {
        sum += s[(i + k) % 32u];
    }
    if (i % 2u == 0u) {
        sum += 1000u;
    } else {
        sum += square(sum);
    }
    let v = vec3<f32>(f32(sum), 0.5, f32(i));
    o[g.x * 32u + i] = sum + u32(v.y);
}

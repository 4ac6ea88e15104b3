// The Mandelbrot set as RGBA8 pixels: divergent loops of up to `limit` rounds.
// Every operation is an exact one or a fused one, so a CPU gets the same bits.
struct View {
    left: f32,
    top: f32,
    step: f32,
    width: u32,
    height: u32,
    limit: u32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read_write> pixels: array<u32>;

fn rounds(cx: f32, cy: f32) -> u32 {
    var x = 0.0;
    var y = 0.0;
    var n = 0u;
    loop {
        if n >= view.limit {
            break;
        }
        if fma(x, x, y * y) > 4.0 {
            break;
        }
        let next = fma(x, x, fma(-y, y, cx));
        y = fma(2.0 * x, y, cy);
        x = next;
        n += 1u;
    }
    return n;
}

fn colour(n: u32) -> u32 {
    if n >= view.limit {
        return 0xff000000u;
    }
    let red = min(n * 9u, 255u);
    let green = min(n * n / 3u, 255u);
    let blue = min(60u + n * 5u, 255u);
    return 0xff000000u | (blue << 16u) | (green << 8u) | red;
}

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= view.width || id.y >= view.height {
        return;
    }
    let cx = fma(f32(id.x), view.step, view.left);
    let cy = fma(f32(id.y), view.step, view.top);
    pixels[id.y * view.width + id.x] = colour(rounds(cx, cy));
}

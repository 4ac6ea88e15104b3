//! Integers, floats, vectors and matrices.
use super::{check, check_float, check_glsl};

#[test]
fn vectors_and_matrices() {
    check(
        "",
        "var v = vec4<u32>(x, 2u, 3u, 4u);
         v[x & 3u] += 10u;
         v.z = v.x;
         v.w = v.y;
         return v.x * 1000u + v.y * 100u + v.z * 10u + v.w;",
        &[0, 1],
        &[10 * 1000 + 200 + 100 + 2, 1000 + 1200 + 10 + 12],
    );
    check_float(
        "let m = mat3x2<f32>(1.0, 2.0, 3.0, 4.0, 5.0, x);
         let v = m * vec3<f32>(1.0, 10.0, 100.0);
         let w = v * m;
         let t = transpose(m);
         return v.x + v.y + w.z + t[1].z;",
        &[6.0],
        // v = (531, 642), w.z = 531 * 5 + 642 * 6, t[1].z = 6
        &[531.0 + 642.0 + 531.0 * 5.0 + 642.0 * 6.0 + 6.0],
        0.0,
    );
    check_float(
        "let m = mat3x3<f32>(2.0, 0.0, x, 1.0, 3.0, 0.0, 0.0, 1.0, 4.0);
         return determinant(m);",
        &[1.0],
        &[25.0],
        1e-6,
    );
}

#[test]
fn integer_functions() {
    let inputs = [0, 1, 0x80, 0x8000_0000, 0xffff_ffff, 0x00f0_0100];
    check(
        "",
        "return firstLeadingBit(x) * 7u + firstTrailingBit(x) * 3u + countOneBits(x) + reverseBits(x);",
        &inputs,
        &inputs.map(|x: u32| {
            let lead = 31u32.wrapping_sub(x.leading_zeros());
            let trail = if x == 0 { u32::MAX } else { x.trailing_zeros() };
            lead.wrapping_mul(7)
                .wrapping_add(trail.wrapping_mul(3))
                .wrapping_add(x.count_ones())
                .wrapping_add(x.reverse_bits())
        }),
    );
    check(
        "",
        "return extractBits(x, 4u, 8u) + u32(extractBits(i32(x), 20u, 12u)) + insertBits(x, 0xffu, x & 15u, 5u)
             + extractBits(x, 0u, 32u) + u32(firstLeadingBit(i32(x)));",
        &inputs,
        &inputs.map(|x: u32| {
            let offset = x & 15;
            let signed = x as i32;
            let lead = 31u32.wrapping_sub((if signed < 0 { !x } else { x }).leading_zeros());
            (x >> 4 & 0xff)
                .wrapping_add((signed >> 20) as u32)
                .wrapping_add(x & !(31 << offset) | 31 << offset)
                .wrapping_add(x)
                .wrapping_add(lead)
        }),
    );
    check(
        "",
        "let y = i32(x); return u32(y / -7 + y % 10 + abs(y) + clamp(y, -5, 9) + sign(y)) + x / 12u + x % 1000u;",
        &[5, 100, 0xffff_ff00, 0x7fff_ffff],
        &[5u32, 100, 0xffff_ff00, 0x7fff_ffff].map(|x| {
            let y = x as i32;
            let sum = (y / -7).wrapping_add(y % 10).wrapping_add(y.wrapping_abs());
            (sum.wrapping_add(y.clamp(-5, 9)).wrapping_add(y.signum()) as u32)
                .wrapping_add(x / 12)
                .wrapping_add(x % 1000)
        }),
    );
}

/// An expression of x, what it is, and how far off it may be.
type Row = (&'static str, fn(f32) -> f32, f32);

#[test]
fn float_functions() {
    let inputs = [-2.5f32, -0.75, 0.0, 0.25, 0.5, 1.0, 3.5, 100.25];
    let table: &[Row] = &[
        (
            "floor(x) + ceil(x) * 2.0 + trunc(x) * 4.0",
            |x| x.floor() + x.ceil() * 2.0 + x.trunc() * 4.0,
            0.0,
        ),
        ("round(x)", f32::round_ties_even, 0.0),
        ("fract(x)", |x| x - x.floor(), 0.0),
        ("sign(x)", |x| if x == 0.0 { 0.0 } else { x.signum() }, 0.0),
        (
            "saturate(x) + clamp(x, -1.0, 2.0)",
            |x| x.clamp(0.0, 1.0) + x.clamp(-1.0, 2.0),
            0.0,
        ),
        ("x / 3.0", |x| x / 3.0, 1e-6),
        ("sqrt(abs(x))", |x| x.abs().sqrt(), 1e-6),
        (
            "inverseSqrt(abs(x) + 1.0)",
            |x| 1.0 / (x.abs() + 1.0).sqrt(),
            1e-6,
        ),
        ("exp(x * 0.1)", |x| (x * 0.1).exp(), 1e-5),
        ("exp2(x * 0.1)", |x| (x * 0.1).exp2(), 1e-5),
        ("log(abs(x) + 0.5)", |x| (x.abs() + 0.5).ln(), 1e-5),
        ("log2(abs(x) + 0.5)", |x| (x.abs() + 0.5).log2(), 1e-5),
        ("pow(abs(x), 1.7)", |x| x.abs().powf(1.7), 1e-5),
        ("sin(x)", f32::sin, 1e-4),
        ("cos(x)", f32::cos, 1e-4),
        ("tan(x)", f32::tan, 1e-3),
        ("asin(fract(x))", |x| (x - x.floor()).asin(), 5e-4),
        ("asin(-fract(x))", |x| -(x - x.floor()).asin(), 5e-4),
        (
            "acos(fract(x) - 0.5)",
            |x| (x - x.floor() - 0.5).acos(),
            5e-4,
        ),
        ("atan(x)", f32::atan, 1e-5),
        ("atan2(x, 0.5)", |x| x.atan2(0.5), 1e-5),
        ("atan2(x, -2.0)", |x| x.atan2(-2.0), 1e-5),
        ("atan2(1.0, x)", |x| 1f32.atan2(x), 1e-5),
        ("sinh(x * 0.1)", |x| (x * 0.1).sinh(), 1e-5),
        ("cosh(x * 0.1)", |x| (x * 0.1).cosh(), 1e-5),
        ("tanh(x)", f32::tanh, 1e-5),
        ("asinh(x)", f32::asinh, 1e-5),
        ("acosh(abs(x) + 1.0)", |x| (x.abs() + 1.0).acosh(), 1e-4),
        ("atanh(x * 0.005)", |x| (x * 0.005).atanh(), 1e-5),
        ("mix(x, 8.0, 0.25)", |x| x * 0.75 + 2.0, 1e-6),
        ("step(0.3, x)", |x| f32::from(u8::from(x >= 0.3)), 0.0),
        (
            "smoothstep(0.0, 2.0, x)",
            |x| {
                let t = (x / 2.0).clamp(0.0, 1.0);
                t * t * (3.0 - 2.0 * t)
            },
            1e-6,
        ),
        ("fma(x, 2.0, 1.0)", |x| x * 2.0 + 1.0, 0.0),
        ("ldexp(x, 3)", |x| x * 8.0, 0.0),
        (
            "modf(x).fract + modf(x).whole * 3.0",
            |x| x.fract() + x.trunc() * 3.0,
            0.0,
        ),
        (
            "frexp(x).fract * 16.0 + f32(frexp(x).exp)",
            |x| frexp(x).0 * 16.0 + frexp(x).1,
            0.0,
        ),
        (
            "degrees(x) + radians(x)",
            |x| x.to_degrees() + x.to_radians(),
            1e-5,
        ),
        (
            "length(vec3<f32>(x, 2.0, 1.0))",
            |x| (x * x + 5.0).sqrt(),
            1e-6,
        ),
        (
            "distance(vec2<f32>(x, 2.0), vec2<f32>(1.0, 1.0))",
            |x| ((x - 1.0) * (x - 1.0) + 1.0).sqrt(),
            1e-6,
        ),
        (
            "normalize(vec2<f32>(x, 1.0)).x",
            |x| x / (x * x + 1.0).sqrt(),
            1e-6,
        ),
        (
            "cross(vec3<f32>(x, 1.0, 2.0), vec3<f32>(3.0, x, 1.0)).z",
            |x| x * x - 3.0,
            1e-6,
        ),
        (
            "reflect(vec2<f32>(x, 1.0), vec2<f32>(0.0, 1.0)).y",
            |_| -1.0,
            1e-6,
        ),
        (
            "refract(vec2<f32>(0.6, -0.8), vec2<f32>(0.0, 1.0), 0.5).x + 0.0 * x",
            |_| 0.3,
            1e-6,
        ),
        (
            "faceForward(vec2<f32>(x, 1.0), vec2<f32>(1.0, 0.0), vec2<f32>(1.0, 0.0)).x",
            |x| -x,
            0.0,
        ),
        ("quantizeToF16(x * 1.001)", |x| half(x * 1.001), 0.0),
        ("x % 0.7", |x| x % 0.7, 1e-4),
        (
            "f32(i32(x)) + f32(u32(max(x, 0.0)))",
            |x| x.trunc() + x.max(0.0).trunc(),
            0.0,
        ),
    ];
    for (body, expected, tolerance) in table {
        let expected = inputs.map(expected);
        check_float(&format!("return {body};"), &inputs, &expected, *tolerance);
    }
}

fn frexp(x: f32) -> (f32, f32) {
    if x == 0.0 {
        return (0.0, 0.0);
    }
    let exponent = x.abs().log2().floor() + 1.0;
    (x / exponent.exp2(), exponent)
}

/// Rounded to 11 significant bits.
fn half(x: f32) -> f32 {
    let bits = x.to_bits();
    let odd = bits >> 13 & 1;
    f32::from_bits((bits + 0xfff + odd) & !0x1fff)
}

#[test]
fn packing() {
    check(
        "",
        "let a = pack4x8unorm(vec4<f32>(0.0, 0.5, 1.0, 2.0));
         let b = pack4x8snorm(vec4<f32>(-1.0, -0.5, 1.0, -2.0));
         let c = unpack4x8unorm(x) * 255.0;
         let d = unpack4x8snorm(x) * 127.0;
         let e = unpack2x16float(pack2x16float(vec2<f32>(1.5, -0.25)));
         if x == 0u { return a; }
         if x == 1u { return b; }
         if x == 2u { return pack2x16unorm(vec2<f32>(1.0, 0.25)); }
         if x == 3u { return pack2x16snorm(vec2<f32>(-1.0, 0.25)); }
         return u32(round(c.x + 10.0 * c.w)) + u32(round(d.y * 3.0)) * 65536u + u32(e.x * 2.0 + e.y * -4.0) * 1000u;",
        &[0, 1, 2, 3, 0x0201_0705],
        &[0xffff_8000, 0x817f_c081, 0x4000_ffff, 0x2000_8001, 5 + 20 + 21 * 65536 + 4000],
    );
}

#[test]
fn nan_and_infinity() {
    let nan = f32::NAN;
    check_float(
        "return min(x, 2.0) + max(x, 1.0);",
        &[nan, f32::NEG_INFINITY],
        &[3.0, f32::NEG_INFINITY],
        0.0,
    );
    check_float(
        "return select(1.0, 2.0, x < 1.0) + select(10.0, 20.0, !(x >= 1.0));",
        &[nan, 0.0, 1.0],
        &[21.0, 22.0, 11.0],
        0.0,
    );
    check_float(
        "return select(1.0, 0.0, x == x) + select(0.0, 2.0, x == x);",
        &[nan, 5.0],
        &[1.0, 2.0],
        0.0,
    );
    check_float(
        "return 1.0 / x;",
        &[0.0, -0.0, f32::INFINITY],
        &[f32::INFINITY, f32::NEG_INFINITY, 0.0],
        0.0,
    );
}

#[test]
fn shifts_take_five_bits() {
    check_glsl(
        "#version 450
        layout(local_size_x = 1) in;
        layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
        void main() {
            uint id = gl_WorkGroupID.x;
            data[id] = (0x80000001u >> data[id]) + (1u << data[id]);
        }",
        &[0, 1, 31],
        3,
        &[0x8000_0002, 0x4000_0002, 0x8000_0001],
    );
}

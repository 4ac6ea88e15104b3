//! Shaders as a user writes them, run as translated and in the lowered form.
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::ir::Function;
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, compile, front_end};

use crate::support::wgsl;

/// Runs with buffer 0 as given; buffer 0 afterwards.
#[track_caller]
fn run(function: &Function, words: &[u32], groups: u32) -> Vec<u32> {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut buffers = Buffers::from([((0, 0, 0), Buffer { bytes })]);
    let dispatch = Dispatch {
        groups: [groups, 1, 1],
        push_constants: (0..64u32).flat_map(|word| word.to_le_bytes()).collect(),
        step_limit: 1 << 24,
    };
    interpret(function, &dispatch, &mut buffers)
        .unwrap_or_else(|trap| panic!("{trap}\n{function}"));
    let bytes = buffers[&(0, 0, 0)].bytes.chunks(4);
    bytes
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

/// Runs at both ends of the pipeline, and compiles to machine code.
#[track_caller]
fn check_spirv(spirv: &[u8], words: &[u32], groups: u32, expected: &[u32]) {
    let function = translate(spirv, &Options::default())
        .unwrap_or_else(|e| panic!("{}", e[0]))
        .function;
    assert_eq!(
        run(&function, words, groups),
        expected,
        "as translated\n{function}"
    );
    let lowered = front_end(spirv, &Options::default()).unwrap().function;
    assert_eq!(run(&lowered, words, groups), expected, "lowered\n{lowered}");
    compile(spirv, &Options::default()).unwrap();
}

/// The body of a function `fn f(x: u32) -> u32`, applied to every word of a buffer.
#[track_caller]
fn check(before: &str, body: &str, inputs: &[u32], expected: &[u32]) {
    let source = format!(
        "{before}
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        fn f(x: u32) -> u32 {{ {body} }}
        @compute @workgroup_size(1)
        fn main(@builtin(workgroup_id) id: vec3<u32>) {{ data[id.x] = f(data[id.x]); }}"
    );
    check_spirv(
        &wgsl::compile(&source),
        inputs,
        inputs.len() as u32,
        expected,
    );
}

/// The same of floats.
#[track_caller]
fn check_float(body: &str, inputs: &[f32], expected: &[f32], tolerance: f32) {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
        fn f(x: f32) -> f32 {{ {body} }}
        @compute @workgroup_size(1)
        fn main(@builtin(workgroup_id) id: vec3<u32>) {{ data[id.x] = f(data[id.x]); }}"
    );
    let spirv = wgsl::compile(&source);
    let words: Vec<u32> = inputs.iter().map(|x| x.to_bits()).collect();
    let translated = translate(&spirv, &Options::default()).unwrap().function;
    let lowered = front_end(&spirv, &Options::default()).unwrap().function;
    for function in [&translated, &lowered] {
        let got = run(function, &words, inputs.len() as u32);
        for ((input, got), expected) in inputs.iter().zip(got).zip(expected) {
            let got = f32::from_bits(got);
            let close = (got - expected).abs() <= tolerance * expected.abs().max(1.0);
            let same = got == *expected || got.is_nan() && expected.is_nan();
            assert!(
                same || close,
                "{body} of {input}: got {got}, expected {expected}\n{function}"
            );
        }
    }
    compile(&spirv, &Options::default()).unwrap();
}

/// A whole GLSL shader on buffer 0.
#[track_caller]
fn check_glsl(source: &str, words: &[u32], groups: u32, expected: &[u32]) {
    check_spirv(&wgsl::compile_glsl(source), words, groups, expected);
}

#[test]
fn breaks_and_continues() {
    check(
        "",
        "var sum = 0u;
         for (var i = 0u; i < 20u; i++) {
             if i == x { continue; }
             for (var j = 0u; ; j++) {
                 if j > i { break; }
                 if (j & 1u) == 1u { continue; }
                 sum += j;
                 if sum > 60u { return sum * 1000u + i; }
             }
         }
         return sum;",
        &[0, 5, 100],
        &[62_009, 66_009, 62_009],
    );
}

#[test]
fn switches() {
    check(
        "",
        "var y = 1u;
         switch x {
             case 0u: { y = 10u; }
             case 1u, 7u: { if y == 1u { break; } y = 0u; }
             case 0xffffffffu: { return 5u; }
             default: { y = 30u; }
         }
         return y;",
        &[0, 1, 7, 2, u32::MAX],
        &[10, 1, 1, 30, 5],
    );
}

#[test]
fn fall_through() {
    check_glsl(
        "#version 450
        layout(local_size_x = 1) in;
        layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
        void main() {
            uint id = gl_WorkGroupID.x;
            uint sum = 0u;
            switch (data[id]) {
                case 3u: sum += 1u;
                case 5u: sum += 10u;
                default: sum += 100u; break;
                case 8u: sum += 1000u;
            }
            data[id] = sum;
        }",
        &[3, 5, 6, 8],
        4,
        &[111, 110, 100, 1000],
    );
}

#[test]
fn arrays_with_dynamic_indices() {
    // A small one becomes selects, a large one scratch.
    for len in [5, 40] {
        check(
            "",
            &format!(
                "var a: array<u32, {len}>;
                 for (var i = 0u; i < {len}u; i++) {{ a[i] = i * i; }}
                 a[x] = 7u;
                 var flags: array<bool, 3>;
                 flags[x % 3u] = true;
                 return a[x - 1u] + a[x] + a[x + 1u] + select(0u, 100u, flags[1]);"
            ),
            &[1, 2, 3],
            &[7 + 4 + 100, 1 + 7 + 9, 4 + 7 + 16],
        );
    }
}

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

#[test]
fn shared_memory_barriers_and_atomics() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> data: array<atomic<u32>>;
        var<workgroup> sums: array<u32, 64>;
        var<workgroup> total: atomic<i32>;
        var<workgroup> seen: array<vec3<f32>, 4>;
        @compute @workgroup_size(64)
        fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3<u32>,
                @builtin(num_workgroups) groups: vec3<u32>) {
            sums[local] = local + group.x;
            if local < 4u { seen[local] = vec3<f32>(f32(local), 1.0, 2.0); }
            workgroupBarrier();
            for (var step = 32u; step > 0u; step >>= 1u) {
                if local < step { sums[local] += sums[local + step]; }
                workgroupBarrier();
            }
            atomicMax(&total, i32(local));
            workgroupBarrier();
            if local == 0u {
                atomicAdd(&data[0], sums[0]);
                atomicMin(&data[1], sums[0]);
                atomicXor(&data[2], 1u << group.x);
                let old = atomicCompareExchangeWeak(&data[3], 7u, 9u);
                if old.exchanged { atomicAdd(&data[4], 1u); }
                atomicStore(&data[5], u32(atomicLoad(&total)) + u32(seen[3].x + seen[2].z));
                atomicStore(&data[6], groups.x);
            }
        }";
    let first: u32 = (0..64).sum();
    check_spirv(
        &wgsl::compile(source),
        &[100, u32::MAX, 0, 7, 0, 0, 0],
        3,
        &[100 + 3 * first + 64 + 128, first, 7, 9, 1, 63 + 5, 3],
    );
}

#[test]
fn specialisation_constants() {
    // naga resolves overrides itself, so the module is written by hand.
    let spirv = crate::support::spvasm::assemble(
        r#"OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main" %group
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %group BuiltIn WorkgroupId
        OpDecorate %size BuiltIn WorkgroupSize
        OpDecorate %x SpecId 3
        OpDecorate %flag SpecId 5
        OpDecorate %words ArrayStride 4
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 0
        %void = OpTypeVoid
        %bool = OpTypeBool
        %u32 = OpTypeInt 32 0
        %v3 = OpTypeVector %u32 3
        %in_v3 = OpTypePointer Input %v3
        %group = OpVariable %in_v3 Input
        %x = OpSpecConstant %u32 4
        %flag = OpSpecConstantTrue %bool
        %0 = OpConstant %u32 0
        %1 = OpConstant %u32 1
        %size = OpSpecConstantComposite %v3 %x %1 %1
        %more = OpSpecConstantOp %u32 IAdd %x %1
        %chosen = OpSpecConstantOp %u32 Select %flag %more %0
        %words = OpTypeRuntimeArray %u32
        %block = OpTypeStruct %words
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr_u32 = OpTypePointer StorageBuffer %u32
        %out = OpVariable %ptr_block StorageBuffer
        %fn = OpTypeFunction %void
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %p = OpAccessChain %ptr_u32 %out %0 %0
        OpStore %p %chosen
        OpReturn
        OpFunctionEnd"#,
    );
    let value = |constants: &[(u32, u32)]| {
        let options = Options {
            spec_constants: constants.iter().copied().collect(),
            ..Default::default()
        };
        let function = front_end(&spirv, &options).unwrap().function;
        (function.workgroup_size[0], run(&function, &[9], 1)[0])
    };
    assert_eq!(value(&[]), (4, 5));
    assert_eq!(value(&[(3, 16)]), (16, 17));
    assert_eq!(value(&[(3, 16), (5, 0)]), (16, 0));
}

#[test]
fn push_constants_by_constant_and_by_index() {
    check_glsl(
        "#version 450
        layout(local_size_x = 1) in;
        layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
        layout(push_constant) uniform Push { uint first; vec2 pair; uint list[4]; } push;
        void main() {
            uint id = gl_WorkGroupID.x;
            data[id] = push.first + floatBitsToUint(push.pair.y) * 10u + push.list[data[id]] * 100u;
        }",
        &[0, 1, 3],
        3,
        // first at 0, pair at 8, list at 16 with naga's stride of 16
        &[30 + 400, 30 + 800, 30 + 1600],
    );
}

#[test]
fn array_length() {
    check_glsl(
        "#version 450
        layout(local_size_x = 1) in;
        layout(std430, set = 0, binding = 0) buffer Data { uint count; uint pad; uvec2 data[]; };
        void main() { count = uint(data.length()); }",
        &[0, 0, 1, 2, 3, 4, 5],
        1,
        &[2, 0, 1, 2, 3, 4, 5],
    );
}

#[test]
fn functions_with_several_returns_and_out_parameters() {
    check_glsl(
        "#version 450
        layout(local_size_x = 1) in;
        layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
        uint find(uint x, out uint steps) {
            steps = 0u;
            while (true) {
                steps++;
                if (x == 1u) return 100u;
                if (x > 1000u) return 200u;
                x = (x & 1u) == 0u ? x / 2u : 3u * x + 1u;
            }
            return 0u;
        }
        void main() {
            uint id = gl_WorkGroupID.x;
            uint steps;
            uint found = find(data[id], steps);
            data[id] = found + steps;
        }",
        &[1, 6, 27],
        3,
        &[101, 109, 237],
    );
}

#[test]
fn atomics_on_floats() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<atomic<f32>>;
        @compute @workgroup_size(20) fn main(@builtin(local_invocation_index) i: u32) {
            let old = atomicAdd(&o[i % 2u], f32(i));
        }";
    let expected = [90.5f32, 100.25].map(f32::to_bits);
    let words = [0.5f32, 0.25].map(f32::to_bits);
    check_spirv(&wgsl::compile(source), &words, 1, &expected);
}

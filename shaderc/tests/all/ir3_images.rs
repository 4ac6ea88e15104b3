//! Images, texel buffers and samplers as code for Adreno, against the interpreter of the IR.

use crate::support::{on_ir3, spvasm, wgsl};
use eitri_shaderc::interp::{
    Buffer, Dispatch, Image, Key, Resources, Sampler, TexelFormat, Wrap, interpret_with,
};
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, Target, compile};

fn options() -> Options {
    Options {
        target: Target::ir3_named("a6xx").expect("it is one"),
        ..Options::default()
    }
}

/// An image of some bytes.
fn image(format: &str, size: [u32; 3], levels: u32, layers: u32) -> Image {
    let format = TexelFormat::of_name(format).expect("it is a format");
    let mut image = Image::new(format, size);
    (image.levels, image.layers) = (levels, layers);
    image.bytes = vec![0; image.packed_bytes()];
    // Small numbers of either sign, of whatever type; no denormals, which Adreno flushes.
    let pattern = [
        0x05, 0xfb, 0x20, 0x3c, 0x00, 0x40, 0x01, 0xc0, 0x11, 0x3d, 0x07, 0x3e,
    ];
    for (byte, value) in image.bytes.iter_mut().zip(pattern.into_iter().cycle()) {
        *byte = value;
    }
    image
}

fn empty(format: &str, size: [u32; 3]) -> Image {
    Image::new(TexelFormat::of_name(format).expect("it is a format"), size)
}

fn buffer(bytes: usize) -> Buffer {
    Buffer {
        bytes: vec![0; bytes],
    }
}

fn resources(images: Vec<(Key, Image)>, buffers: Vec<(Key, Buffer)>) -> Resources {
    Resources {
        images: images.into_iter().collect(),
        buffers: buffers.into_iter().collect(),
        ..Resources::default()
    }
}

/// What a module leaves is the same on both, and not what was there before.
#[track_caller]
fn check(what: &str, module: &[u8], before: &Resources) {
    let dispatch = Dispatch {
        groups: [2, 2, 1],
        push_constants: vec![],
        step_limit: 1 << 22,
    };
    let mut expected = before.clone();
    let translated = translate(module, &options()).expect("it is translated");
    interpret_with(&translated.function, &dispatch, &mut expected).expect("it runs");
    let compiled = match compile(module, &options()) {
        Ok(compiled) => compiled,
        Err(errors) => panic!("{what}: {errors}"),
    };
    let mut got = before.clone();
    if let Err(error) = on_ir3::run_with(&compiled.program, &dispatch, &mut got) {
        panic!("{what}: {error}\n{}", compiled.listing);
    }
    assert!(expected != *before, "{what}: nothing changed");
    let contents = |all: &Resources| -> Vec<(Key, Vec<u8>)> {
        let buffers = all.buffers.iter().map(|(key, it)| (*key, it.bytes.clone()));
        let images = all.images.iter().map(|(key, it)| (*key, it.bytes.clone()));
        buffers.chain(images).collect()
    };
    for ((key, expected), (_, got)) in contents(&expected).into_iter().zip(contents(&got)) {
        let differs = expected.iter().zip(&got).position(|(a, b)| a != b);
        assert!(
            expected == got,
            "{what}: {key:?} from byte {differs:?} on: {got:x?}, not {expected:x?}\n{}",
            compiled.listing
        );
    }
}

#[test]
fn texels_of_storage_images_are_converted_by_their_format() {
    for (wgsl_name, name, kind) in [
        ("rgba8unorm", "R8G8B8A8_UNORM", "f32"),
        ("rgba8snorm", "R8G8B8A8_SNORM", "f32"),
        ("rgba8uint", "R8G8B8A8_UINT", "u32"),
        ("rgba8sint", "R8G8B8A8_SINT", "i32"),
        ("rgba16float", "R16G16B16A16_SFLOAT", "f32"),
        ("r32uint", "R32_UINT", "u32"),
        ("r32float", "R32_SFLOAT", "f32"),
        ("rgba32sint", "R32G32B32A32_SINT", "i32"),
        ("rgba32float", "R32G32B32A32_SFLOAT", "f32"),
    ] {
        let source = format!(
            "@group(0) @binding(0) var source: texture_storage_2d<{wgsl_name}, read>;
            @group(1) @binding(1) var to: texture_storage_2d<{wgsl_name}, write>;
            @group(0) @binding(2) var<storage, read_write> seen: array<vec4<{kind}>>;
            @compute @workgroup_size(4, 2) fn main(@builtin(global_invocation_id) id: vec3u) {{
                let size = textureDimensions(source);
                let texel = textureLoad(source, id.xy);
                seen[id.y * 8u + id.x] = texel + vec4<{kind}>({kind}(size.x), {kind}(size.y), 0, 0);
                textureStore(to, id.xy + vec2u(1u, 0u), texel + texel);
            }}"
        );
        let bound = resources(
            vec![
                ((0, 0, 0), image(name, [5, 3, 1], 1, 1)),
                ((1, 1, 0), empty(name, [5, 3, 1])),
            ],
            vec![((0, 2, 0), buffer(16 * 8 * 4))],
        );
        check(wgsl_name, &wgsl::compile(&source), &bound);
    }
}

#[test]
fn images_have_layers_and_depth() {
    let source = "
        @group(0) @binding(0) var layers: texture_storage_2d_array<r32uint, read>;
        @group(0) @binding(1) var deep: texture_storage_3d<r32uint, write>;
        @group(0) @binding(2) var<storage, read_write> seen: array<u32>;
        @compute @workgroup_size(4, 2) fn main(@builtin(global_invocation_id) id: vec3u) {
            let texel = textureLoad(layers, id.xy, id.x % 3u).x;
            let size = textureDimensions(deep);
            seen[id.y * 8u + id.x] = texel + textureNumLayers(layers) + size.x * 100u + size.z * 10u;
            textureStore(deep, vec3u(id.xy, id.y & 1u), vec4u(texel, 1u, 2u, 3u));
        }";
    let bound = resources(
        vec![
            ((0, 0, 0), image("R32_UINT", [6, 4, 1], 1, 3)),
            ((0, 1, 0), empty("R32_UINT", [7, 3, 2])),
        ],
        vec![((0, 2, 0), buffer(4 * 8 * 4))],
    );
    check("layers", &wgsl::compile(source), &bound);
}

#[test]
fn what_is_only_read_goes_through_the_texture_unit() {
    let source = "
        @group(0) @binding(0) var flat: texture_2d<f32>;
        @group(0) @binding(1) var layers: texture_2d_array<u32>;
        @group(0) @binding(2) var deep: texture_3d<i32>;
        @group(0) @binding(3) var<storage, read_write> seen: array<vec4f>;
        @compute @workgroup_size(4, 2) fn main(@builtin(global_invocation_id) id: vec3u) {
            let at = id.y * 8u + id.x;
            let first = textureLoad(flat, id.xy, 0);
            let second = textureLoad(flat, id.xy, i32(id.x & 1u)) + textureLoad(flat, id.yx, 0);
            let layer = vec4f(textureLoad(layers, id.xy, id.x % 2u, 0));
            let third = vec4f(textureLoad(deep, vec3u(id.xy, 1u), 0));
            let sizes = vec4f(vec2f(textureDimensions(flat, 1)), f32(textureNumLayers(layers)),
                f32(textureDimensions(deep).z));
            seen[at] = first + second + layer + third + sizes;
        }";
    let bound = resources(
        vec![
            ((0, 0, 0), image("R8G8B8A8_UNORM", [6, 4, 1], 2, 1)),
            ((0, 1, 0), image("R8G8_UINT", [6, 4, 1], 1, 3)),
            ((0, 2, 0), image("R16_SINT", [5, 4, 3], 1, 1)),
        ],
        vec![((0, 3, 0), buffer(16 * 8 * 4))],
    );
    check("fetches", &wgsl::compile(source), &bound);
}

#[test]
fn samplers_filter_and_wrap() {
    let source = "
        @group(0) @binding(0) var flat: texture_2d<f32>;
        @group(0) @binding(1) var layers: texture_2d_array<f32>;
        @group(0) @binding(2) var by: sampler;
        @group(0) @binding(3) var<storage, read_write> seen: array<vec4f>;
        @compute @workgroup_size(4, 2) fn main(@builtin(global_invocation_id) id: vec3u) {
            let uv = vec2f(id.xy) * 0.3125 - 0.5;
            let level = f32(id.x) * 0.25;
            seen[id.y * 8u + id.x] = textureSampleLevel(flat, by, uv, level)
                + textureSampleLevel(flat, by, uv, 0.0, vec2i(1, -1))
                + textureSampleLevel(layers, by, uv, id.x % 3u, 0.0);
        }";
    for (linear, wrap) in [
        (false, Wrap::Clamp),
        (true, Wrap::Repeat),
        (true, Wrap::Mirror),
    ] {
        let mut bound = resources(
            vec![
                ((0, 0, 0), image("R8G8B8A8_UNORM", [6, 4, 1], 2, 1)),
                ((0, 1, 0), image("R16_SFLOAT", [4, 4, 1], 1, 3)),
            ],
            vec![((0, 3, 0), buffer(16 * 8 * 4))],
        );
        let sampler = Sampler {
            magnify_linear: linear,
            minify_linear: linear,
            mipmap_linear: linear,
            wrap: [wrap; 3],
            lod: [0.0, 8.0],
            ..Sampler::default()
        };
        bound.samplers.insert((0, 2, 0), sampler);
        check("samples", &wgsl::compile(source), &bound);
    }
}

/// Copies texel i of binding 0 to texel i of binding 1, from 2 texels before the start to beyond the end, and writes how many
/// there are, and what a sampler with its image gives.
fn texel_buffers() -> Vec<u8> {
    spvasm::assemble(
        "OpCapability Shader
        OpCapability SampledBuffer
        OpCapability ImageBuffer
        OpCapability ImageQuery
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %id
        OpExecutionMode %main LocalSize 8 1 1
        OpDecorate %id BuiltIn GlobalInvocationId
        OpDecorate %from DescriptorSet 0
        OpDecorate %from Binding 0
        OpDecorate %to DescriptorSet 0
        OpDecorate %to Binding 1
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %words ArrayStride 16
        OpDecorate %seen DescriptorSet 0
        OpDecorate %seen Binding 2
        OpDecorate %both DescriptorSet 2
        OpDecorate %both Binding 3
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %int = OpTypeInt 32 1
        %float = OpTypeFloat 32
        %uvec3 = OpTypeVector %uint 3
        %vec2 = OpTypeVector %float 2
        %vec4 = OpTypeVector %float 4
        %input = OpTypePointer Input %uvec3
        %id = OpVariable %input Input
        %uniform = OpTypeImage %float 5 0 0 0 1 0
        %storage = OpTypeImage %float 5 0 0 0 2 1
        %flat = OpTypeImage %float 1 0 0 0 1 0
        %sampled = OpTypeSampledImage %flat
        %c2 = OpConstant %uint 2
        %two_of = OpTypeArray %sampled %c2
        %uniform_p = OpTypePointer UniformConstant %uniform
        %storage_p = OpTypePointer UniformConstant %storage
        %sampled_p = OpTypePointer UniformConstant %sampled
        %two_p = OpTypePointer UniformConstant %two_of
        %from = OpVariable %uniform_p UniformConstant
        %to = OpVariable %storage_p UniformConstant
        %both = OpVariable %two_p UniformConstant
        %words = OpTypeRuntimeArray %vec4
        %block = OpTypeStruct %words
        %block_p = OpTypePointer StorageBuffer %block
        %seen = OpVariable %block_p StorageBuffer
        %vec4_p = OpTypePointer StorageBuffer %vec4
        %c0 = OpConstant %uint 0
        %c1 = OpConstant %uint 1
        %i2 = OpConstant %int 2
        %f0 = OpConstant %float 0.0
        %eighth = OpConstant %float 0.125
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %ids = OpLoad %uvec3 %id
        %x = OpCompositeExtract %uint %ids 0
        %xi = OpBitcast %int %x
        %at = OpISub %int %xi %i2
        %source = OpLoad %uniform %from
        %target = OpLoad %storage %to
        %value = OpImageFetch %vec4 %source %at
        OpImageWrite %target %at %value
        %n = OpImageQuerySize %uint %source
        %m = OpImageQuerySize %uint %target
        %nf = OpConvertUToF %float %n
        %mf = OpConvertUToF %float %m
        %which = OpBitwiseAnd %uint %c1 %n
        %element = OpAccessChain %sampled_p %both %which
        %pair = OpLoad %sampled %element
        %xf = OpConvertUToF %float %x
        %u = OpFMul %float %xf %eighth
        %uv = OpCompositeConstruct %vec2 %u %eighth
        %tapped = OpImageSampleExplicitLod %vec4 %pair %uv 2 %f0
        %sizes = OpCompositeConstruct %vec4 %nf %mf %f0 %f0
        %sum = OpFAdd %vec4 %sizes %tapped
        %place = OpAccessChain %vec4_p %seen %c0 %x
        OpStore %place %sum
        OpReturn
        OpFunctionEnd",
    )
}

#[test]
fn texel_buffers_are_read_and_written_inside_of_them() {
    let flat = |number: u8| {
        let mut image = image("R8G8B8A8_UNORM", [4, 2, 1], 1, 1);
        image.bytes.iter_mut().for_each(|byte| *byte ^= number);
        image
    };
    for length in [9, 10] {
        let mut bound = resources(
            vec![
                (
                    (0, 0, 0),
                    image("R16G16B16A16_SFLOAT", [length, 1, 1], 1, 1),
                ),
                ((0, 1, 0), empty("R32G32B32A32_SFLOAT", [7, 1, 1])),
                ((2, 3, 0), flat(0)),
                ((2, 3, 1), flat(0x55)),
            ],
            vec![((0, 2, 0), buffer(16 * 16))],
        );
        for element in 0..2 {
            bound.samplers.insert((2, 3, element), Sampler::default());
        }
        check("texel buffers", &texel_buffers(), &bound);
    }
}

#[test]
fn what_the_facts_lack_is_refused_by_name() {
    let source = "
        @group(0) @binding(0) var row: texture_storage_1d<r32uint, write>;
        @group(0) @binding(1) var cube: texture_cube<f32>;
        @group(0) @binding(2) var by: sampler;
        @compute @workgroup_size(1) fn main() {
            let texel = textureSampleLevel(cube, by, vec3f(1.0, 0.0, 0.0), 0.0);
            textureStore(row, 0, vec4u(u32(texel.x)));
        }";
    let refused = compile(&wgsl::compile(source), &options());
    let text = refused
        .map(|_| ())
        .expect_err("both are lacking")
        .to_string();
    for part in ["image.write1.1d", "image.sample.cube"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

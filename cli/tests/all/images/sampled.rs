//! Sampled images, with and without samplers.

use super::*;
use eitri_program::ImageDimension;
use eitri_runtime::Tiling;

fn of_floats(floats: &[f32]) -> Vec<u8> {
    floats
        .iter()
        .flat_map(|float| float.to_le_bytes())
        .collect()
}

/// What a shader leaves in binding 2, that reads `texture` (0) with `sampler` (1).
#[track_caller]
fn sample(
    source: &str,
    texture: (ImageInfo, &[u8]),
    info: SamplerInfo,
    results: usize,
) -> Vec<f32> {
    let bound = [
        image((0, 0), texture.0, texture.1),
        sampler((0, 1), info),
        words((0, 2), &vec![0; results]),
    ];
    floats_of(&run_wgsl(source, [1; 3], &bound)[2])
}

const LINEAR: fn() -> SamplerInfo = || SamplerInfo {
    magnify_linear: true,
    minify_linear: true,
    ..SamplerInfo::default()
};

#[test]
fn a_level_and_a_layer_are_fetched() {
    let source = "
        @group(0) @binding(0) var t: texture_2d_array<f32>;
        @group(0) @binding(2) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_id) id: vec3u) {
            let x = i32(id.x);
            o[id.x] = textureLoad(t, vec2i(x, 0), 1, 0).x;
            o[id.x + 4u] = textureLoad(t, vec2i(x, 0), 0, 1).x;
            o[8] = f32(textureNumLevels(t));
            o[9] = f32(textureDimensions(t, 1).x);
            o[10] = f32(textureNumLayers(t));
        }";
    let mut info = ImageInfo::two_d(format("R32_SFLOAT"), 4, 1);
    (info.layers, info.levels) = (2, 2);
    // Layer 0: 4 texels, then 2; layer 1 the same.
    let texels: Vec<f32> = (0..12).map(|number| number as f32).collect();
    let bound = [
        image((0, 0), info, &of_floats(&texels)),
        words((0, 2), &[0; 11]),
    ];
    let ran = run_wgsl(source, [1; 3], &bound);
    let expected = [6.0, 7.0, 8.0, 9.0, 4.0, 5.0, 0.0, 0.0, 2.0, 2.0, 2.0];
    assert_eq!(floats_of(&ran[1]), expected);
}

const ALONG_X: &str = "
        @group(0) @binding(0) var t: texture_2d<f32>;
        @group(0) @binding(1) var s: sampler;
        @group(0) @binding(2) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_id) id: vec3u) {
            let x = f32(id.x) * 0.25 - 0.5;
            o[id.x] = textureSampleLevel(t, s, vec2f(x, 0.5), 0.0).x;
        }";

#[test]
fn coordinates_outside_wrap() {
    let info = ImageInfo::two_d(format("R32_SFLOAT"), 2, 1);
    let texels = of_floats(&[1.0, 2.0]);
    let wrapped = |wrap| {
        let info_sampler = SamplerInfo {
            wrap: [wrap; 3],
            border: [9.0_f32.to_bits(); 4],
            ..SamplerInfo::default()
        };
        sample(ALONG_X, (info, &texels), info_sampler, 8)
    };
    // Texels -1, -1 (-0.5 is texel -0.5 * 2 = -1), then 0, 0, 1, 1, 2, 2.
    assert_eq!(
        wrapped(WrapMode::Repeat),
        [2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0]
    );
    assert_eq!(
        wrapped(WrapMode::ClampToEdge),
        [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]
    );
    assert_eq!(
        wrapped(WrapMode::MirroredRepeat),
        [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]
    );
    assert_eq!(
        wrapped(WrapMode::ClampToBorder),
        [9.0, 9.0, 1.0, 1.0, 2.0, 2.0, 9.0, 9.0]
    );
}

#[test]
fn texels_and_levels_are_mixed() {
    let source = "
        @group(0) @binding(0) var t: texture_2d<f32>;
        @group(0) @binding(1) var s: sampler;
        @group(0) @binding(2) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_id) id: vec3u) {
            let at = vec2f(f32(id.x) * 0.125, 0.5);
            o[id.x] = textureSampleLevel(t, s, at, 0.0).x;
            o[id.x + 8u] = textureSampleLevel(t, s, vec2f(0.5), f32(id.x) * 0.25 - 0.25).x;
            o[id.x + 16u] = textureSampleLevel(t, s, at, 0.0, vec2i(-1, 0)).x;
            o[id.x + 24u] = textureSampleGrad(t, s, vec2f(0.5), vec2f(0.25 * exp2(f32(id.x) * 0.5), 0.0), vec2f(0.0, 0.25)).x;
        }";
    let mut info = ImageInfo::two_d(format("R32_SFLOAT"), 4, 4);
    info.levels = 3;
    let mut texels: Vec<f32> = (0..16).map(|number| (number % 4) as f32).collect();
    texels.extend([16.0; 4]);
    texels.push(32.0);
    let trilinear = SamplerInfo {
        mipmap_linear: true,
        ..LINEAR()
    };
    let found = sample(source, (info, &of_floats(&texels)), trilinear, 32);
    let along = [0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0];
    assert_eq!(found[..8], along);
    // 1.5 on level 0, 16 on level 1, 32 on level 2.
    assert_eq!(
        found[8..16],
        [1.5, 1.5, 5.125, 8.75, 12.375, 16.0, 20.0, 24.0]
    );
    assert_eq!(found[16..24], [0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.5, 2.0]);
    assert_eq!(found[24..27], [1.5, 8.75, 16.0]);
}

#[test]
fn four_texels_are_gathered() {
    let source = "
        @group(0) @binding(0) var t: texture_2d<f32>;
        @group(0) @binding(1) var s: sampler;
        @group(0) @binding(2) var<storage, read_write> o: array<vec4f>;
        @compute @workgroup_size(1) fn main() {
            o[0] = textureGather(0, t, s, vec2f(0.5));
            o[1] = textureGather(1, t, s, vec2f(0.5));
            o[2] = textureGather(0, t, s, vec2f(0.5), vec2i(1, 0));
        }";
    let info = ImageInfo::two_d(format("R32G32_SFLOAT"), 4, 4);
    let texels: Vec<f32> = (0..16).flat_map(|n| [n as f32, 100.0 + n as f32]).collect();
    let found = sample(source, (info, &of_floats(&texels)), LINEAR(), 12);
    let expected = [
        9.0, 10.0, 6.0, 5.0, 109.0, 110.0, 106.0, 105.0, 10.0, 11.0, 7.0, 6.0,
    ];
    assert_eq!(found, expected);
}

/// The fifth gather of a module gets the offsets of the first four, a texel each, which WGSL can't say.
fn with_four_offsets(module: &[u8]) -> Vec<u8> {
    const TYPE_INT: u32 = 21;
    const TYPE_ARRAY: u32 = 28;
    const CONSTANT: u32 = 43;
    const CONSTANT_COMPOSITE: u32 = 44;
    const FUNCTION: u32 = 54;
    const IMAGE_GATHER: u32 = 96;
    const CONST_OFFSETS: u32 = 0x20;
    let words = module.as_chunks::<4>().0.iter();
    let mut words: Vec<u32> = words.map(|word| u32::from_le_bytes(*word)).collect();
    let (mut gathers, mut functions, mut number) = (vec![], vec![], 0);
    let mut composites = std::collections::BTreeMap::new();
    let mut at = 5;
    while at < words.len() {
        match words[at] & 0xFFFF {
            IMAGE_GATHER => gathers.push(at),
            FUNCTION => functions.push(at),
            CONSTANT_COMPOSITE => drop(composites.insert(words[at + 2], words[at + 1])),
            TYPE_INT if words[at + 2..at + 4] == [32, 0] => number = words[at + 1],
            _ => {}
        }
        at += (words[at] >> 16) as usize;
    }
    // Type, result, image, coordinates, component, which operands follow, offset.
    let offsets: Vec<u32> = gathers[..4]
        .iter()
        .map(|gather| words[gather + 7])
        .collect();
    let vector = composites[&offsets[0]];
    let [four, array, all] = [0, 1, 2].map(|new| words[3] + new);
    words[3] += 3;
    words[gathers[4] + 6] = CONST_OFFSETS;
    words[gathers[4] + 7] = all;
    let mut new = vec![4 << 16 | CONSTANT, number, four, 4];
    new.extend([4 << 16 | TYPE_ARRAY, array, vector, four]);
    new.extend([7 << 16 | CONSTANT_COMPOSITE, array, all]);
    new.extend(offsets);
    words.splice(functions[0]..functions[0], new);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn four_texels_are_gathered_from_four_places() {
    let source = "
        @group(0) @binding(0) var t: texture_2d<f32>;
        @group(0) @binding(1) var s: sampler;
        @group(0) @binding(2) var<storage, read_write> o: array<vec4f>;
        @compute @workgroup_size(1) fn main() {
            o[0] = textureGather(0, t, s, vec2f(0.5), vec2i(1, 0));
            o[1] = textureGather(0, t, s, vec2f(0.5), vec2i(-1, 1));
            o[2] = textureGather(0, t, s, vec2f(0.5), vec2i(0, -1));
            o[3] = textureGather(0, t, s, vec2f(0.5), vec2i(1, 1));
            o[4] = textureGather(0, t, s, vec2f(0.5), vec2i(-1, -1));
        }";
    let module = with_four_offsets(&wgsl::compile(source));
    let texels: Vec<f32> = (0..16).map(|n| n as f32).collect();
    let info = ImageInfo::two_d(format("R32_SFLOAT"), 4, 4);
    let bound = [
        image((0, 0), info, &of_floats(&texels)),
        sampler((0, 1), LINEAR()),
        words((0, 2), &[0; 20]),
    ];
    let found = floats_of(&run(&module, [1; 3], &bound)[2]);
    // Of each footprint the texel (i0, j0), which a gather gives last: without an offset it is 5.
    let corners = [found[3], found[7], found[11], found[15]];
    assert_eq!(corners, [6.0, 8.0, 1.0, 10.0]);
    assert_eq!(found[16..], corners);
}

#[test]
fn references_are_compared_before_they_are_mixed() {
    let source = "
        @group(0) @binding(0) var t: texture_depth_2d;
        @group(0) @binding(1) var s: sampler_comparison;
        @group(0) @binding(2) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_id) id: vec3u) {
            let reference = f32(id.x) * 0.25 + 0.125;
            o[id.x] = textureSampleCompareLevel(t, s, vec2f(0.5), reference);
            let four = textureGatherCompare(t, s, vec2f(0.5), reference);
            o[id.x + 4u] = four.x + 2.0 * four.y + 4.0 * four.z + 8.0 * four.w;
        }";
    let info = ImageInfo::two_d(format("D32_SFLOAT"), 2, 2);
    // (0, 0), (1, 0), (0, 1), (1, 1).
    let texels = of_floats(&[0.25, 0.5, 0.75, 1.0]);
    let less = SamplerInfo {
        compare: Some(Func::Less),
        ..LINEAR()
    };
    let found = sample(source, (info, &texels), less, 8);
    // Of the four texels so many are greater: 4, 3, 2, 1. A gather is (0, 1), (1, 1), (1, 0), (0, 0).
    assert_eq!(found, [1.0, 0.75, 0.5, 0.25, 15.0, 7.0, 3.0, 2.0]);
}

#[test]
fn directions_find_their_face() {
    let source = "
        @group(0) @binding(0) var t: texture_cube<f32>;
        @group(0) @binding(1) var s: sampler;
        @group(0) @binding(2) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_id) id: vec3u) {
            var d = array(vec3f(1.0, 0.5, 0.5), vec3f(-2.0, 1.0, -1.0), vec3f(0.25, 1.0, 0.5), vec3f(0.5, -1.0, 0.5),
                          vec3f(0.5, 0.5, 1.0), vec3f(-0.5, 0.5, -1.0), vec3f(1.0, 0.0, -1.0), vec3f(1.0, 1.0, 0.0));
            o[id.x] = textureSampleLevel(t, s, d[id.x], 0.0).x;
            o[8] = f32(textureDimensions(t).x);
        }";
    let mut info = ImageInfo::two_d(format("R32_SFLOAT"), 2, 2);
    (info.dimension, info.layers) = (ImageDimension::Cube, 6);
    let texels: Vec<f32> = (0..24).map(|number| number as f32).collect();
    let nearest = sample(
        source,
        (info, &of_floats(&texels)),
        SamplerInfo::default(),
        9,
    );
    // In the middle of a texel: face times four, plus its place.
    assert_eq!(nearest[..6], [0.0, 4.0, 11.0, 13.0, 17.0, 21.0]);
    assert_eq!(nearest[8], 2.0);
    // The last two lie on edges, between texels of two faces.
    let linear = sample(source, (info, &of_floats(&texels)), LINEAR(), 9);
    // +X right column (1, 3) and -Z left column (20, 22); +X top row (0, 1) and +Y right column (9, 11).
    assert_eq!(
        linear[6..8],
        [
            (1.0 + 3.0 + 20.0 + 22.0) / 4.0,
            (0.0 + 1.0 + 9.0 + 11.0) / 4.0
        ]
    );
}

#[test]
fn integers_and_srgb_are_what_they_are() {
    let source = "
        @group(0) @binding(0) var t: texture_2d<u32>;
        @group(0) @binding(1) var c: texture_2d<f32>;
        @group(0) @binding(2) var<storage, read_write> o: array<vec4u>;
        @compute @workgroup_size(1) fn main() {
            o[0] = textureLoad(t, vec2u(0u), 0);
            o[1] = vec4u(textureLoad(c, vec2u(0u), 0) * 1000.0);
            o[2] = textureLoad(t, vec2i(-1, 0), 0);
            o[3] = textureLoad(t, vec2u(0u), 300);
        }";
    let whole = ImageInfo::two_d(format("R16G16B16A16_UINT"), 1, 1);
    let colour = ImageInfo::two_d(format("R8G8B8A8_SRGB"), 1, 1);
    let bound = [
        image((0, 0), whole, &[1, 0, 0xff, 0xff, 3, 0, 4, 0]),
        image((0, 1), colour, &[188, 0, 255, 128]),
        words((0, 2), &[9; 16]),
    ];
    let ran = run_wgsl(source, [1; 3], &bound);
    let expected = [[1, 0xffff, 3, 4], [502, 0, 1000, 501], [0; 4], [0; 4]].concat();
    assert_eq!(words_of(&ran[2]), expected);
}

#[test]
fn samples_are_fetched_one_by_one() {
    let source = "
        @group(0) @binding(0) var t: texture_multisampled_2d<f32>;
        @group(0) @binding(2) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_id) id: vec3u) {
            o[id.x] = textureLoad(t, vec2i(i32(id.x % 2u), 0), i32(id.x / 2u)).x;
            o[8] = f32(textureNumSamples(t));
            o[9] = f32(textureDimensions(t).x);
        }";
    let mut info = ImageInfo::two_d(format("R32_SFLOAT"), 2, 1);
    (info.samples, info.tiling) = (4, Tiling::UInterleaved);
    // Sample after sample.
    let texels: Vec<f32> = (0..8).map(|number| number as f32).collect();
    let bound = [
        image((0, 0), info, &of_floats(&texels)),
        words((0, 2), &[0; 10]),
    ];
    let ran = run_wgsl(source, [1; 3], &bound);
    let expected = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 4.0, 2.0];
    assert_eq!(floats_of(&ran[1]), expected);
}

#[test]
fn one_of_several_cubes_is_sampled() {
    let source = "
        @group(0) @binding(0) var t: texture_cube_array<f32>;
        @group(0) @binding(1) var s: sampler;
        @group(0) @binding(2) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(6) fn main(@builtin(local_invocation_id) id: vec3u) {
            var d = array(vec3f(1.0, 0.5, 0.5), vec3f(-2.0, 1.0, -1.0), vec3f(0.25, 1.0, 0.5), vec3f(0.5, -1.0, 0.5),
                          vec3f(0.5, 0.5, 1.0), vec3f(-0.5, 0.5, -1.0));
            o[id.x] = textureSampleLevel(t, s, d[id.x], i32(id.x % 2u), 0.0).x;
            o[6] = f32(textureNumLayers(t));
        }";
    let mut info = ImageInfo::two_d(format("R32_SFLOAT"), 2, 2);
    (info.dimension, info.layers) = (ImageDimension::Cube, 12);
    let texels: Vec<f32> = (0..48).map(|number| number as f32).collect();
    let found = sample(
        source,
        (info, &of_floats(&texels)),
        SamplerInfo::default(),
        7,
    );
    // The texels of `directions_find_their_face`, every other one in the second cube.
    assert_eq!(found, [0.0, 28.0, 11.0, 37.0, 17.0, 45.0, 2.0]);
}

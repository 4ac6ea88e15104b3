//! Storage images.

use super::*;
use eitri_program::ImageDimension;
use eitri_runtime::Tiling;

#[test]
fn texels_of_two_dimensions_are_read_and_written() {
    let source = "
        @group(0) @binding(0) var source: texture_storage_2d<rgba8unorm, read>;
        @group(0) @binding(1) var to: texture_storage_2d<rgba32float, write>;
        @compute @workgroup_size(4, 4) fn main(@builtin(global_invocation_id) id: vec3u) {
            let at = vec2i(id.xy);
            textureStore(to, at + vec2i(1, 0), textureLoad(source, at).bgra);
        }";
    let (width, height) = (5, 3);
    let bytes: Vec<u8> = (0..width * height * 4).map(|byte| byte as u8 * 3).collect();
    for tiling in [Tiling::Linear, Tiling::UInterleaved] {
        let mut from = ImageInfo::two_d(format("R8G8B8A8_UNORM"), width, height);
        let mut to = ImageInfo::two_d(format("R32G32B32A32_SFLOAT"), width, height);
        (from.tiling, to.tiling) = (tiling, tiling);
        let ran = run_wgsl(
            source,
            [2, 2, 1],
            &[image((0, 0), from, &bytes), image((0, 1), to, &[])],
        );
        let floats = floats_of(&ran[1]);
        for (number, texel) in floats.chunks(4).enumerate() {
            let expected = match number % width as usize {
                // The column before the first one is outside, too.
                0 => [0.0; 4],
                _ => {
                    let from = &bytes[4 * (number - 1)..][..4];
                    [2, 1, 0, 3].map(|which| f32::from(from[which]) / 255.0)
                }
            };
            assert_eq!(texel, expected, "texel {number}, {tiling:?}");
        }
    }
}

#[test]
fn every_format_of_shaders_goes_in_and_out() {
    for (wgsl, name, kind) in [
        ("rgba8unorm", "R8G8B8A8_UNORM", "f32"),
        ("rgba8snorm", "R8G8B8A8_SNORM", "f32"),
        ("rgba8uint", "R8G8B8A8_UINT", "u32"),
        ("rgba8sint", "R8G8B8A8_SINT", "i32"),
        ("rgba16uint", "R16G16B16A16_UINT", "u32"),
        ("rgba16sint", "R16G16B16A16_SINT", "i32"),
        ("rgba16float", "R16G16B16A16_SFLOAT", "f32"),
        ("r32uint", "R32_UINT", "u32"),
        ("r32sint", "R32_SINT", "i32"),
        ("r32float", "R32_SFLOAT", "f32"),
        ("rg32uint", "R32G32_UINT", "u32"),
        ("rg32float", "R32G32_SFLOAT", "f32"),
        ("rgba32uint", "R32G32B32A32_UINT", "u32"),
        ("rgba32sint", "R32G32B32A32_SINT", "i32"),
        ("rgba32float", "R32G32B32A32_SFLOAT", "f32"),
    ] {
        let source = format!(
            "@group(0) @binding(0) var source: texture_storage_2d<{wgsl}, read>;
            @group(0) @binding(1) var to: texture_storage_2d<{wgsl}, write>;
            @group(0) @binding(2) var<storage, read_write> seen: array<vec4<{kind}>>;
            @compute @workgroup_size(4) fn main(@builtin(local_invocation_id) id: vec3u) {{
                let at = vec2u(id.x, 0u);
                let texel = textureLoad(source, at);
                seen[id.x] = texel;
                textureStore(to, at, texel + texel);
            }}"
        );
        let info = ImageInfo::two_d(format(name), 4, 1);
        // Small numbers of either sign, of whatever type.
        let pattern = [0x05, 0xfb, 0x20, 0x3c, 0x00, 0x40, 0x01, 0xc0];
        let bytes: Vec<u8> = pattern
            .into_iter()
            .cycle()
            .take(info.packed_bytes() as usize)
            .collect();
        let bound = [
            image((0, 0), info, &bytes),
            image((0, 1), info, &[]),
            words((0, 2), &[0; 16]),
        ];
        let ran = run_wgsl(&source, [1; 3], &bound);
        assert_ne!(ran[1].bytes, bound[1].bytes, "{name}: nothing was written");
    }
}

#[test]
fn layers_and_depths_are_told_apart() {
    let source = "
        @group(0) @binding(0) var layers: texture_storage_2d_array<r32uint, write>;
        @group(0) @binding(1) var deep: texture_storage_3d<r32uint, write>;
        @group(0) @binding(2) var line: texture_storage_1d<r32uint, write>;
        @group(0) @binding(3) var<storage, read_write> sizes: array<u32>;
        @compute @workgroup_size(4, 4, 4) fn main(@builtin(local_invocation_id) id: vec3u) {
            let number = vec4u(id.x + 10u * id.y + 100u * id.z + 1u, 0u, 0u, 1u);
            textureStore(layers, id.xy, id.z, number);
            textureStore(deep, id, number);
            textureStore(line, id.x + 4u * id.y + 16u * id.z, number);
            let a = textureDimensions(layers);
            let b = textureDimensions(deep);
            sizes[0] = a.x; sizes[1] = a.y; sizes[2] = textureNumLayers(layers);
            sizes[3] = b.x; sizes[4] = b.y; sizes[5] = b.z;
            sizes[6] = textureDimensions(line);
        }";
    let base = ImageInfo::two_d(format("R32_UINT"), 3, 2);
    let layers = ImageInfo { layers: 3, ..base };
    let deep = ImageInfo {
        dimension: ImageDimension::ThreeD,
        depth: 2,
        ..base
    };
    let line = ImageInfo {
        dimension: ImageDimension::OneD,
        width: 6,
        height: 1,
        ..base
    };
    let ran = run_wgsl(
        source,
        [1; 3],
        &[
            image((0, 0), layers, &[]),
            image((0, 1), deep, &[]),
            image((0, 2), line, &[]),
            words((0, 3), &[0; 7]),
        ],
    );
    let texels = |depth: u32| -> Vec<u32> {
        let at = (0..depth).flat_map(|z| (0..2).flat_map(move |y| (0..3).map(move |x| (x, y, z))));
        at.map(|(x, y, z)| x + 10 * y + 100 * z + 1).collect()
    };
    assert_eq!(words_of(&ran[0]), texels(3));
    assert_eq!(words_of(&ran[1]), texels(2));
    assert_eq!(words_of(&ran[2]), [1, 2, 3, 4, 11, 12]);
    assert_eq!(words_of(&ran[3]), [3, 2, 3, 3, 2, 2, 6]);
}

#[test]
fn coordinates_beyond_16_bits_don_t_come_back_in() {
    let source = "
        @group(0) @binding(0) var to: texture_storage_2d<r32uint, write>;
        @group(0) @binding(1) var deep: texture_storage_3d<r32uint, write>;
        @group(0) @binding(2) var<storage, read> far: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_id) id: vec3u) {
            let x = far[id.x];
            textureStore(to, vec2u(x, 0u), vec4u(5u));
            textureStore(to, vec2u(0u, x), vec4u(6u));
            textureStore(deep, vec3u(x, 0u, 0u), vec4u(7u));
            textureStore(deep, vec3u(1u, 0u, x), vec4u(8u));
        }";
    let base = ImageInfo::two_d(format("R32_UINT"), 2, 2);
    let deep = ImageInfo {
        dimension: ImageDimension::ThreeD,
        depth: 2,
        ..base
    };
    let far = [0x1_0000, 0x1_0001, 0xffff_ffff, 0x8000_0000];
    let ran = run_wgsl(
        source,
        [1; 3],
        &[
            image((0, 0), base, &[]),
            image((0, 1), deep, &[]),
            words((0, 2), &far),
        ],
    );
    assert_eq!(words_of(&ran[0]), [0; 4]);
    assert_eq!(words_of(&ran[1]), [0; 8]);
}

#[test]
fn atomics_on_texels_count_and_stay_inside() {
    let source = "
        @group(0) @binding(0) var hits: texture_storage_2d<r32uint, atomic>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_id) id: vec3u) {
            textureAtomicAdd(hits, vec2u(id.x % 4u, id.x / 32u), 1u);
            textureAtomicMax(hits, vec2u(2u, 1u), 100u + id.x);
            textureAtomicAdd(hits, vec2u(0u, 40u), 1u);
        }";
    let info = ImageInfo::two_d(format("R32_UINT"), 3, 2);
    let ran = run_wgsl(source, [1; 3], &[image((0, 0), info, &[])]);
    let counts = words_of(&ran[0]);
    assert_eq!(counts[..5], [8, 8, 8, 8, 8]);
    assert!(counts[5] >= 163, "{counts:?}");
}

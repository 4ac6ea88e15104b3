//! Arrays of descriptors: elements that all lanes have in common, and elements that differ between them.

use super::*;

/// A resource as that element of its binding.
fn element(number: u32, mut bound: Bound) -> Bound {
    bound.place.2 = number;
    bound
}

/// Four buffers of eight words at binding 1: word `n` of buffer `b` is `100 b + n`.
fn four_buffers() -> impl Iterator<Item = Bound> {
    (0..4).map(|buffer| {
        let held: Vec<u32> = (0..8).map(|word| 100 * buffer + word).collect();
        element(buffer, words((0, 1), &held))
    })
}

const BUFFERS: &str = "
        enable wgpu_binding_array;
        struct Words { count: u32, words: array<u32> }
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @group(0) @binding(1) var<storage, read_write> all: binding_array<Words, 4>;
        @group(0) @binding(2) var<storage, read> wanted: array<u32>;";

/// What a shader of 16 lanes leaves in the words of binding 0, and in the four buffers.
#[track_caller]
fn run_on_buffers(body: &str, wanted: &[u32]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let source = format!(
        "{BUFFERS}
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_id) id: vec3u) {{
            let x = id.x;
            {body}
        }}"
    );
    let mut bound = vec![words((0, 0), &[0; 32])];
    bound.extend(four_buffers());
    bound.push(words((0, 2), wanted));
    let ran = run_wgsl(&source, [1; 3], &bound);
    (words_of(&ran[0]), ran[1..5].iter().map(words_of).collect())
}

/// Which buffer each lane wants: all four, in no order.
const WANTED: [u32; 16] = [2, 2, 0, 3, 1, 1, 2, 0, 3, 3, 3, 0, 2, 1, 0, 1];

#[test]
fn an_element_that_all_lanes_have_in_common_is_chosen() {
    let body =
        "let b = wanted[3]; o[x] = all[b].words[x % 4u]; o[16u + x] = arrayLength(&all[b].words);";
    let (found, _) = run_on_buffers(body, &WANTED);
    let expected: Vec<u32> = (0..16).map(|x| 301 + x % 4).chain([7; 16]).collect();
    assert_eq!(found, expected);
}

#[test]
fn lanes_read_buffers_of_their_own() {
    let body = "let b = wanted[x]; o[x] = all[b].words[x % 7u] + all[b].count;
        o[16u + x] = arrayLength(&all[b].words);";
    let (found, _) = run_on_buffers(body, &WANTED);
    let lanes = WANTED.iter().zip(0..);
    let expected: Vec<u32> = lanes
        .map(|(b, x)| 200 * b + 1 + x % 7)
        .chain([7; 16])
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn lanes_change_buffers_of_their_own() {
    // What comes after belongs to all lanes again.
    let body = "let b = wanted[x];
        if (x != 5u) { all[b].words[x % 7u] = 1000u + x; }
        o[x] = b;
        workgroupBarrier();
        storageBarrier();
        if (x == 0u) { o[16] = all[2].words[6]; }";
    let (found, buffers) = run_on_buffers(body, &WANTED);
    assert_eq!(found[..16], WANTED);
    let mut expected: Vec<Vec<u32>> = four_buffers().map(|one| words_of(&one)).collect();
    for (x, b) in WANTED.iter().enumerate().filter(|(x, _)| *x != 5) {
        expected[*b as usize][1 + x % 7] = 1000 + x as u32;
    }
    assert_eq!(buffers, expected);
    assert_eq!(found[16], expected[2][7]);
}

#[test]
fn an_array_without_a_length_has_as_many_elements_as_are_given() {
    let source = format!(
        "{BUFFERS}
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_id) id: vec3u) {{
            o[id.x] = all[wanted[id.x]].words[0];
        }}"
    )
    .replace("binding_array<Words, 4>", "binding_array<Words>");
    let mut bound = vec![words((0, 0), &[0; 32])];
    bound.extend(four_buffers());
    bound.push(words((0, 2), &WANTED));
    let ran = run_wgsl(&source, [1; 3], &bound);
    let expected: Vec<u32> = WANTED.iter().map(|b| 100 * b + 1).collect();
    assert_eq!(words_of(&ran[0])[..16], expected);
}

#[test]
fn an_element_past_the_end_is_the_last() {
    let (found, _) = run_on_buffers("o[x] = all[wanted[x]].count;", &[9; 16]);
    assert_eq!(found[..16], [300; 16]);
}

#[test]
fn lanes_count_in_buffers_of_their_own() {
    let source = "
        enable wgpu_binding_array;
        struct Counts { counts: array<atomic<u32>> }
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @group(0) @binding(1) var<storage, read_write> all: binding_array<Counts, 4>;
        @group(0) @binding(2) var<storage, read> wanted: array<u32>;
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_id) id: vec3u) {
            o[id.x] = atomicAdd(&all[wanted[id.x]].counts[0], 1u);
        }";
    let mut bound = vec![words((0, 0), &[0; 16])];
    bound.extend(four_buffers());
    bound.push(words((0, 2), &WANTED));
    let module = wgsl::compile(source);
    // Lanes of one buffer count in some order: only the sums are certain.
    let options = Options::default();
    let compiled = compile(&module, &options).unwrap_or_else(|errors| panic!("{errors}"));
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 24,
    };
    on_model::run_bound(Config::default(), &compiled.program, &dispatch, &mut bound)
        .unwrap_or_else(|error| panic!("{error}\n{}", compiled.listing));
    let counts: Vec<u32> = bound[1..5].iter().map(|one| words_of(one)[0]).collect();
    assert_eq!(counts, [4, 104, 204, 304]);
    for buffer in 0..4 {
        let lanes = WANTED.iter().zip(words_of(&bound[0]));
        let mut before: Vec<u32> = lanes
            .filter(|(wanted, _)| **wanted == buffer)
            .map(|(_, before)| before)
            .collect();
        before.sort();
        let first = 100 * buffer;
        assert_eq!(before, [first, first + 1, first + 2, first + 3]);
    }
}

#[test]
fn lanes_sample_textures_of_their_own() {
    let source = "
        enable wgpu_binding_array;
        @group(0) @binding(0) var<storage, read_write> o: array<f32>;
        @group(0) @binding(1) var textures: binding_array<texture_2d<f32>, 3>;
        @group(0) @binding(2) var samplers: binding_array<sampler, 2>;
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_id) id: vec3u) {
            let x = id.x;
            let at = vec2f(1.25, 0.5);
            o[x] = textureSampleLevel(textures[x % 3u], samplers[(x / 3u) % 2u], at, 0.0).x;
            o[16u + x] = textureLoad(textures[(x / 2u) % 3u], vec2u(x % 2u, 0u), 0).x;
            o[32u + x] = f32(textureDimensions(textures[x % 3u]).x);
        }";
    let texture = |number: u32, texels: &[f32]| {
        let bytes: Vec<u8> = texels
            .iter()
            .flat_map(|texel| texel.to_le_bytes())
            .collect();
        let info = ImageInfo::two_d(format("R32_SFLOAT"), texels.len() as u32, 1);
        element(number, image((0, 1), info, &bytes))
    };
    let wrapped = |number: u32, wrap: WrapMode| {
        let info = SamplerInfo {
            wrap: [wrap; 3],
            ..SamplerInfo::default()
        };
        element(number, sampler((0, 2), info))
    };
    let texels: [&[f32]; 3] = [&[1.0, 2.0], &[3.0, 4.0, 5.0, 6.0], &[7.0, 8.0]];
    let bound = [
        words((0, 0), &[0; 48]),
        texture(0, texels[0]),
        texture(1, texels[1]),
        texture(2, texels[2]),
        wrapped(0, WrapMode::ClampToEdge),
        wrapped(1, WrapMode::Repeat),
    ];
    let found = floats_of(&run_wgsl(source, [1; 3], &bound)[0]);
    for x in 0..16 {
        let own = texels[x % 3];
        // A quarter of the width beyond the end.
        let place = match x / 3 % 2 {
            0 => own.len() - 1,
            _ => own.len() / 4,
        };
        assert_eq!(found[x], own[place], "lane {x}");
        assert_eq!(found[16 + x], texels[x / 2 % 3][x % 2], "lane {x}");
        assert_eq!(found[32 + x], own.len() as f32, "lane {x}");
    }
}

#[test]
fn lanes_write_images_of_their_own() {
    let source = "
        enable wgpu_binding_array;
        @group(0) @binding(0) var images: binding_array<texture_storage_2d<r32uint, write>, 2>;
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_id) id: vec3u) {
            textureStore(images[id.x % 2u], vec2u(id.x / 2u, 0u), vec4u(id.x + 1u));
        }";
    let info = ImageInfo::two_d(format("R32_UINT"), 8, 1);
    let bound = [0, 1].map(|number| element(number, image((0, 0), info, &[])));
    let ran = run_wgsl(source, [1; 3], &bound);
    for (number, image) in ran.iter().enumerate() {
        let expected: Vec<u32> = (0..8).map(|at| 2 * at + 1 + number as u32).collect();
        assert_eq!(words_of(image), expected, "image {number}");
    }
}

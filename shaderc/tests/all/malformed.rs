//! Damaged modules: whatever the words, the compiler answers. It never panics and always ends.

use crate::support::drawing::{Linear, draw_to};
use crate::support::{kernel, wgsl};
use eitri_compute_cases::Module;
use eitri_shaderc::interp::{
    Buffer, Buffers, Dispatch, Draw, Fragment, Image, Resources, Sampler, TexelFormat, Vertex,
    interpret, interpret_quads, interpret_vertices,
};
use eitri_shaderc::{Options, ShaderStage, compile, front_end};
use proptest::prelude::*;

/// A shader with a bit of everything, for where the shared kernels are missing.
const SHADER: &str = "
struct Item { place: vec3<f32>, count: u32, turn: mat3x3<f32> }
@group(0) @binding(0) var<storage, read_write> items: array<Item>;
@group(0) @binding(1) var<uniform> limits: vec4<u32>;
var<workgroup> shared_sum: array<atomic<u32>, 8>;
var<private> last: array<vec2<i32>, 5>;

fn pick(n: u32) -> f32 {
    switch n % 4u {
        case 0u: { return 1.5; }
        case 1u, 2u: { return f32(n) * 0.25; }
        default: { return sin(f32(n)); }
    }
}

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    var sum = 0.0;
    for (var i = 0u; i < limits.x; i++) {
        if i == limits.y { continue; }
        if i > limits.z { break; }
        sum += pick(i) + dot(items[i].turn * items[i].place, vec3<f32>(1.0, 2.0, 3.0));
        last[i % 5u] = vec2<i32>(i32(i), i32(i) / 3);
    }
    atomicAdd(&shared_sum[local], u32(sum));
    workgroupBarrier();
    let next = atomicLoad(&shared_sum[(local + 1u) % 8u]);
    if id.x < arrayLength(&items) {
        items[id.x].count = next + u32(last[local % 5u].x) + countOneBits(next);
    }
}
";

/// A compute shader beside other stages, which use what it could not.
const STAGES: &str = "
enable f16;
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var looks: sampler;
@group(0) @binding(2) var<uniform> turn: array<vec4<f64>, 4>;
const steps = array(3u, 5u, 7u);

fn far(x: f64) -> f64 { return x * 2.0lf; }

@vertex
fn vertices(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(far(turn[index % 4u].x)));
}

@fragment
fn colours(@builtin(position) place: vec4<f32>, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    if !front { discard; }
    return textureSample(picture, looks, dpdxFine(place.xy)) * f32(f16(place.x));
}

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    words[id.x] += steps[id.x % 3u];
}
";

/// A vertex and a fragment shader that hand on a bit of everything.
const GRAPHICS: &str = "
struct Corner {
    @builtin(position) place: vec4<f32>,
    @location(0) soft: vec3<f32>,
    @location(1) @interpolate(flat) number: vec2<i32>,
    @location(3) @interpolate(linear, centroid) side: f32,
}
struct Colours { @location(0) first: vec4<f32>, @location(2) second: vec2<u32>, @builtin(frag_depth) depth: f32 }
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var looks: sampler;
@group(0) @binding(2) var<storage, read_write> count: atomic<u32>;

fn cut(x: f32) -> f32 {
    if x < 0.25 { discard; }
    return sqrt(x);
}

@vertex
fn vertices(
    @location(0) place: vec4<f32>, @location(2) number: vec2<i32>,
    @builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32,
) -> Corner {
    return Corner(place * f32(vertex), place.zyx, number + vec2<i32>(i32(instance)), place.w);
}

@fragment
fn colours(corner: Corner, @builtin(front_facing) front: bool, @builtin(sample_index) sample: u32) -> Colours {
    var sum = vec4<f32>();
    for (var i = 0; i < corner.number.x; i++) {
        sum += textureSampleLevel(picture, looks, corner.soft.xy, f32(i)) * cut(corner.side);
    }
    let seen = textureSampleBias(picture, looks, corner.soft.yz, 0.5);
    if front { atomicAdd(&count, sample); }
    return Colours(sum + seen * fwidth(corner.side), vec2<u32>(corner.number), corner.place.z);
}
";

/// A change of one module.
#[derive(Clone, Debug)]
enum Damage {
    /// The word there (modulo the length) becomes this.
    Word(usize, u32),
    /// The word there becomes a small number: likely an id.
    Small(usize, u32),
    /// One word is copied over another.
    Copy(usize, usize),
    /// One bit changes.
    Bit(usize, u32),
    /// An instruction goes.
    Remove(usize),
    /// An instruction stands twice.
    Repeat(usize),
    /// Everything from there on goes.
    Cut(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0usize..1 << 20;
    prop_oneof![
        1 => (at.clone(), any::<u32>()).prop_map(|(at, word)| Damage::Word(at, word)),
        6 => (at.clone(), 0u32..200).prop_map(|(at, word)| Damage::Small(at, word)),
        6 => (at.clone(), at.clone()).prop_map(|(from, to)| Damage::Copy(from, to)),
        3 => (at.clone(), 0u32..32).prop_map(|(at, bit)| Damage::Bit(at, bit)),
        3 => at.clone().prop_map(Damage::Remove),
        2 => at.clone().prop_map(Damage::Repeat),
        1 => at.prop_map(Damage::Cut),
    ]
}

const HEADER: usize = 5;

fn apply(words: &mut Vec<u32>, damage: &Damage) {
    if words.len() <= HEADER {
        return;
    }
    let count = words.len();
    let body = |at: usize| HEADER + at % (count - HEADER);
    match damage {
        Damage::Word(at, word) | Damage::Small(at, word) => words[body(*at)] = *word,
        Damage::Copy(from, to) => words[body(*to)] = words[body(*from)],
        Damage::Bit(at, bit) => words[body(*at)] ^= 1 << bit,
        Damage::Cut(at) => words.truncate(body(*at)),
        Damage::Remove(at) | Damage::Repeat(at) => {
            let mut starts = vec![];
            let mut next = HEADER;
            while next < count {
                starts.push(next);
                next += ((words[next] >> 16) as usize).max(1);
            }
            let start = starts[at % starts.len()];
            let end = (start + ((words[start] >> 16) as usize).max(1)).min(count);
            let instruction: Vec<u32> = words[start..end].to_vec();
            match damage {
                Damage::Repeat(_) => drop(words.splice(start..start, instruction)),
                _ => drop(words.drain(start..end)),
            }
        }
    }
}

fn modules() -> Vec<Vec<u32>> {
    let words = |bytes: Vec<u8>| -> Vec<u32> {
        let chunks = bytes.chunks_exact(4);
        chunks
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    };
    let mut modules: Vec<Vec<u32>> = [SHADER, STAGES, GRAPHICS]
        .into_iter()
        .map(|source| words(wgsl::compile(source)))
        .collect();
    for kernel in kernel::kernels() {
        // Small ones with much variety: a case must be quick.
        if ["cholesky4x4", "hash_insert", "nested_search", "quantise_q8"].contains(&&*kernel.name) {
            modules.push(words(kernel.module(Module::Plain).unwrap()));
            modules.push(words(kernel.module(Module::Optimised).unwrap()));
        }
    }
    modules
}

/// Compiles, and runs what compiles.
fn exercise(words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for stage in [ShaderStage::Vertex, ShaderStage::Fragment] {
        exercise_graphics(&bytes, stage);
    }
    let options = Options::default();
    let Ok(lowered) = front_end(&bytes, &options) else {
        return;
    };
    let _ = compile(&bytes, &options);
    let mut buffers = Buffers::new();
    for binding in &lowered.function.bindings {
        for element in 0..binding.count.min(16) {
            let bytes = vec![0; 256];
            buffers.insert((binding.set, binding.binding, element), Buffer { bytes });
        }
    }
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![3; 16],
        step_limit: 20_000,
    };
    let _ = interpret(&lowered.function, &dispatch, &mut buffers);
}

/// The same of a vertex or fragment shader.
fn exercise_graphics(bytes: &[u8], stage: ShaderStage) {
    let options = Options {
        stage,
        ..Options::default()
    };
    let Ok(lowered) = front_end(bytes, &options) else {
        return;
    };
    let mut resources = Resources::default();
    for binding in &lowered.function.bindings {
        for element in 0..binding.count.min(16) {
            let key = (binding.set, binding.binding, element);
            let bytes = vec![0; 256];
            resources.buffers.insert(key, Buffer { bytes });
            let format = TexelFormat::of_name("R32G32B32A32_SFLOAT").expect("it is a format");
            let mut image = Image::new(format, [4, 4, 1]);
            // A cube has so many; what has no texels here reads as zeros.
            image.layers = 6;
            resources.images.insert(key, image);
            resources.samplers.insert(key, Sampler::default());
        }
    }
    let draw = Draw {
        step_limit: 20_000,
        ..draw_to([8, 8])
    };
    let _ = match stage {
        ShaderStage::Vertex => {
            let vertices = [Vertex::default(), Vertex::default()];
            interpret_vertices(&lowered.function, &draw, &vertices, &resources).map(|_| ())
        }
        _ => {
            let quads = [[Fragment::default(); 4]];
            let done = interpret_quads(&lowered.function, &draw, &Linear, &quads, &mut resources);
            done.map(|_| ())
        }
    };
}

#[test]
fn the_whole_modules_compile() {
    let bytes = wgsl::compile(GRAPHICS);
    for stage in [ShaderStage::Vertex, ShaderStage::Fragment] {
        let options = Options {
            stage,
            ..Options::default()
        };
        if let Err(errors) = front_end(&bytes, &options) {
            panic!("{errors:?}");
        }
    }
    for source in [SHADER, STAGES] {
        let bytes = wgsl::compile(source);
        let compiled = compile(&bytes, &Options::default()).unwrap();
        assert!(!compiled.program.is_empty());
    }
}

#[test]
fn damaged_modules_never_panic() {
    let modules = modules();
    let default = ProptestConfig::default();
    let config = ProptestConfig {
        failure_persistence: None,
        cases: match std::env::var_os("PROPTEST_CASES") {
            Some(_) => default.cases,
            None if eitri_testdata::long() => 100_000,
            None => 250,
        },
        ..default
    };
    let damages = proptest::collection::vec(damage(), 1..4);
    proptest!(config, |(number in 0usize..1000, damages in damages)| {
        let mut words = modules[number % modules.len()].clone();
        for damage in &damages {
            apply(&mut words, damage);
        }
        exercise(&words);
    });
}

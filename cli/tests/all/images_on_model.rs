//! Images, texel buffers and samplers: the interpreter and the machine code on the model leave the same behind, and what
//! the source says.

#[path = "images/arrays.rs"]
mod arrays;
#[path = "images/sampled.rs"]
mod sampled;
#[path = "images/storage.rs"]
mod storage;
#[path = "images/texels.rs"]
mod texels;

use crate::on_model::{self, Bound};
use crate::{spvasm, wgsl};
use eitri_descriptors::Arch;
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::texture::{Func, WrapMode};
use eitri_job::Content;
use eitri_model::Config;
use eitri_runtime::{ImageInfo, SamplerInfo};
use eitri_shaderc::interp::{self, Compare, Dispatch, Resources, TexelFormat, Wrap};
use eitri_shaderc::{DescriptorCounts, Options, compile, front_end};

fn format(name: &str) -> &'static VkFormat {
    VkFormat::of_name(Arch::V10, name).expect(name)
}

/// A buffer of words.
fn words(place: (u32, u32), words: &[u32]) -> Bound {
    Bound {
        place: (place.0, place.1, 0),
        content: Content::Buffer,
        bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
    }
}

/// The texels of a buffer.
fn texel_buffer(place: (u32, u32), name: &str, bytes: &[u8]) -> Bound {
    Bound {
        place: (place.0, place.1, 0),
        content: Content::Texels(format(name)),
        bytes: bytes.to_vec(),
    }
}

/// An image with its bytes, or with zeros.
fn image(place: (u32, u32), info: ImageInfo, bytes: &[u8]) -> Bound {
    let mut bytes = bytes.to_vec();
    bytes.resize(info.packed_bytes() as usize, 0);
    Bound {
        place: (place.0, place.1, 0),
        content: Content::Image(info),
        bytes,
    }
}

fn sampler(place: (u32, u32), info: SamplerInfo) -> Bound {
    Bound {
        place: (place.0, place.1, 0),
        content: Content::Sampler(info),
        bytes: vec![],
    }
}

/// The words that a resource holds.
fn words_of(bound: &Bound) -> Vec<u32> {
    let (words, _) = bound.bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn floats_of(bound: &Bound) -> Vec<f32> {
    words_of(bound).into_iter().map(f32::from_bits).collect()
}

/// What the interpreter is given.
fn resources(bound: &[Bound]) -> Resources {
    let mut resources = Resources::default();
    for one in bound {
        let texels = |format: &VkFormat| TexelFormat::of_name(format.name).expect(format.name);
        match one.content {
            Content::Buffer => {
                let bytes = one.bytes.clone();
                resources
                    .buffers
                    .insert(one.place, interp::Buffer { bytes });
            }
            Content::Texels(format) => {
                let count = one.bytes.len() as u32 / format.block_bytes;
                let mut image = interp::Image::new(texels(format), [count, 1, 1]);
                image.bytes = one.bytes.clone();
                resources.images.insert(one.place, image);
            }
            Content::Image(info) => {
                let size = [info.width, info.height, info.depth];
                let mut image = interp::Image::new(texels(info.format), size);
                image.layers = info.layers;
                image.levels = info.levels;
                image.samples = info.samples;
                image.bytes = one.bytes.clone();
                assert_eq!(image.packed_bytes(), image.bytes.len());
                resources.images.insert(one.place, image);
            }
            Content::Sampler(info) => {
                resources.samplers.insert(one.place, of_api(&info));
            }
        }
    }
    resources
}

fn of_api(info: &SamplerInfo) -> interp::Sampler {
    interp::Sampler {
        magnify_linear: info.magnify_linear,
        minify_linear: info.minify_linear,
        mipmap_linear: info.mipmap_linear,
        wrap: info.wrap.map(|wrap| match wrap {
            WrapMode::Repeat => Wrap::Repeat,
            WrapMode::ClampToEdge => Wrap::Clamp,
            WrapMode::ClampToBorder => Wrap::Border,
            WrapMode::MirroredRepeat => Wrap::Mirror,
            WrapMode::MirroredClampToEdge | WrapMode::MirroredClampToBorder => Wrap::MirrorOnce,
        }),
        lod_bias: info.lod_bias,
        lod: [info.min_lod, info.max_lod],
        compare: info.compare.map(|func| match func {
            Func::Never => Compare::Never,
            Func::Less => Compare::Less,
            Func::Equal => Compare::Equal,
            Func::Lequal => Compare::LessOrEqual,
            Func::Greater => Compare::Greater,
            Func::NotEqual => Compare::NotEqual,
            Func::Gequal => Compare::GreaterOrEqual,
            Func::Always => Compare::Always,
        }),
        unnormalized: info.unnormalized,
        border: info.border,
    }
}

/// Runs a module on the interpreter, before and after the passes, and on the model; what all of them leave behind.
#[track_caller]
fn run(module: &[u8], groups: [u32; 3], bound: &[Bound]) -> Vec<Bound> {
    // Arrays without a length have as many elements as there are.
    let mut descriptor_counts = DescriptorCounts::new();
    for (set, binding, element) in bound.iter().map(|bound| bound.place) {
        let count = descriptor_counts.entry((set, binding)).or_default();
        *count = (element + 1).max(*count);
    }
    let options = Options {
        descriptor_counts,
        ..Options::default()
    };
    let dispatch = Dispatch {
        groups,
        push_constants: vec![],
        step_limit: 1 << 24,
    };
    let compiled = compile(module, &options).unwrap_or_else(|errors| panic!("{errors}"));
    let lowered = front_end(module, &options).expect("it compiles").function;
    let mut interpreted = resources(bound);
    if let Err(trap) = interp::interpret_with(&lowered, &dispatch, &mut interpreted) {
        panic!("{trap}\n{lowered}");
    }
    let mut ran = bound.to_vec();
    let on_model = on_model::run_bound(Config::default(), &compiled.program, &dispatch, &mut ran);
    if let Err(error) = on_model {
        panic!("{error}\n{}", compiled.listing);
    }
    let expected = interpreted;
    for one in &ran {
        let bytes = match one.content {
            Content::Buffer => &expected.buffers[&one.place].bytes,
            Content::Texels(_) | Content::Image(_) => &expected.images[&one.place].bytes,
            Content::Sampler(_) => continue,
        };
        assert_eq!(
            bytes, &one.bytes,
            "the interpreter (left) and the model differ at {:?}\n{}\n{lowered}",
            one.place, compiled.listing
        );
    }
    ran
}

#[track_caller]
fn run_wgsl(source: &str, groups: [u32; 3], bound: &[Bound]) -> Vec<Bound> {
    run(&wgsl::compile(source), groups, bound)
}

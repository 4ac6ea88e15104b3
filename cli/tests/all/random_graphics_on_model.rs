//! Random vertex and fragment functions as machine code on the model, drawn by the driver on a GPU of each generation, against
//! the interpreter: with all registers, and with so few that everything is spilled.

use crate::random_function::graphics::expected::{Picture, picture};
use crate::random_function::graphics::inputs::{
    DEPTH_BEFORE, FETCHED_FORMAT, FIRST_INSTANCE, FIRST_VERTEX, INTEGERS, Inputs, POSITION,
    SAMPLED_FORMAT, SMALL, STENCIL_BEFORE, inputs,
};
use crate::random_function::graphics::{FETCHED, Pipeline, SAMPLED, SIZE, generate};
use eitri_drawing::state::{
    AddressMode, Aspect, Attribute as VertexAttribute, Blend, Border, Color, CompareOp, DepthTest,
    DescriptorKind, Filter, ImageType, LoadOp, Multisample, Raster, Rect, ResolveMode, StencilFace,
    StencilOp, StencilTest, StoreOp, Swizzle, Topology, VertexBinding, VertexRate, ViewType,
    Viewport,
};
use eitri_drawing::{
    Attachment, Binding, BorderColor, Bound, Buffer, BufferId, ClearValue, Draw, Drawing,
    GraphicsPipeline, Image, ImageData, ImageId, Pass, PassCommand, PassPart, PipelineId,
    ProgramId, Range, Readback, Sampler, SamplerId, Set, SetId, Step, Using, VertexBuffer,
    Vertices, View, ViewId,
};
use eitri_model::{Config, Product};
use eitri_on_model::Machine;
use eitri_shaderc::ir::TexelKind;
use eitri_shaderc::{CompiledGraphics, Options, Robust, Target, compile_graphics_functions};

/// Bytes of a vertex: clip coordinates, four words, four bytes.
const STRIDE: u32 = 36;

/// A GPU of each generation.
const PRODUCTS: [&str; 4] = ["G610", "G615", "G720", "G925"];

/// The buffers of a drawing, in its order.
const INPUT: BufferId = BufferId(0);
const OUTPUT: BufferId = BufferId(1);
const VERTICES: BufferId = BufferId(2);

fn vertex_bytes(inputs: &Inputs) -> Vec<u8> {
    let mut bytes = vec![0; (FIRST_VERTEX * STRIDE) as usize];
    for vertex in 0..3 {
        let position = inputs.positions[vertex].map(f32::to_bits);
        for word in position.iter().chain(&inputs.integers[vertex]) {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(inputs.small[vertex].map(|byte| byte.cast_unsigned()));
    }
    bytes
}

/// An image that is drawn on.
fn attachment(format: &str) -> Image<'static> {
    Image {
        kind: ImageType::D2,
        format: format.to_owned(),
        extent: [SIZE[0], SIZE[1], 1],
        levels: 1,
        layers: 1,
        samples: 1,
        mutable: false,
        attachment: true,
        init: vec![],
    }
}

/// An image that is read.
fn texture<'d>(format: &str, levels: &'d [Vec<u8>]) -> Image<'d> {
    let init = (0..).zip(levels).map(|(level, data)| ImageData {
        aspect: Aspect::Color,
        level,
        layer: 0,
        layers: 1,
        data,
    });
    Image {
        levels: levels.len() as u32,
        attachment: false,
        init: init.collect(),
        ..attachment(format)
    }
}

fn view(number: usize, image: &Image<'_>) -> View {
    View {
        image: ImageId(number as u32),
        kind: ViewType::D2,
        format: image.format.clone(),
        aspect: None,
        level: 0,
        levels: image.levels,
        layer: 0,
        layers: 1,
        swizzle: Swizzle::default(),
    }
}

/// The images: two that are read, then targets, depth and stencil; of several samples then those that take the first of them.
fn images<'d>(pipeline: &Pipeline, inputs: &'d Inputs) -> Vec<Image<'d>> {
    let mut images = vec![
        texture(SAMPLED_FORMAT, &inputs.sampled),
        texture(FETCHED_FORMAT, std::slice::from_ref(&inputs.fetched)),
    ];
    let targets = pipeline.targets.iter();
    images.extend(targets.map(|target| Image {
        samples: pipeline.samples,
        ..attachment(target.format)
    }));
    images.extend(pipeline.depth.then(|| attachment("d32_sfloat")));
    images.extend(pipeline.stencil.then(|| attachment("s8_uint")));
    if pipeline.samples > 1 {
        let targets = pipeline.targets.iter();
        images.extend(targets.map(|target| attachment(target.format)));
    }
    images
}

fn set(inputs: &Inputs) -> Set {
    let buffer = |binding, buffer, bytes: &Vec<u8>| Binding {
        binding,
        element: 0,
        kind: DescriptorKind::StorageBuffer,
        bound: Bound::Buffer(Range {
            buffer,
            offset: 0,
            bytes: bytes.len() as u64,
        }),
    };
    Set {
        bindings: vec![
            buffer(0, INPUT, &inputs.input),
            buffer(1, OUTPUT, &inputs.output),
            Binding {
                binding: SAMPLED,
                element: 0,
                kind: DescriptorKind::CombinedImageSampler,
                bound: Bound::Both(ViewId(0), SamplerId(0)),
            },
            Binding {
                binding: FETCHED,
                element: 0,
                kind: DescriptorKind::SampledImage,
                bound: Bound::View(ViewId(1)),
            },
        ],
    }
}

fn sampler() -> Sampler {
    Sampler {
        mag: Filter::Nearest,
        min: Filter::Nearest,
        mip: Filter::Nearest,
        address: [AddressMode::Repeat; 3],
        border: BorderColor::Named(Border::FloatTransparentBlack),
        lod_bias: 0.0,
        min_lod: 0.0,
        max_lod: 100.0,
        compare: None,
        unnormalised: false,
        max_anisotropy: 1,
    }
}

fn made_pipeline(pipeline: &Pipeline) -> GraphicsPipeline {
    let attribute = |location: u8, format: &str, offset| VertexAttribute {
        location: location.into(),
        binding: 0,
        format: format.to_owned(),
        offset,
    };
    GraphicsPipeline {
        vertex: ProgramId(0),
        fragment: Some(ProgramId(1)),
        colors: pipeline
            .targets
            .iter()
            .map(|target| Some(target.format.to_owned()))
            .collect(),
        depth_format: pipeline.depth.then(|| "d32_sfloat".to_owned()),
        stencil_format: pipeline.stencil.then(|| "s8_uint".to_owned()),
        vertex_bindings: vec![VertexBinding {
            binding: 0,
            stride: STRIDE,
            rate: VertexRate::Vertex,
            divisor: 1,
        }],
        attributes: vec![
            attribute(POSITION, "r32g32b32a32_sfloat", 0),
            attribute(INTEGERS, "r32g32b32a32_uint", 16),
            attribute(SMALL, "r8g8b8a8_sint", 32),
        ],
        topology: Topology::TriangleList,
        restart: false,
        raster: Raster::default(),
        multisample: Multisample {
            samples: pipeline.samples,
            ..Multisample::default()
        },
        depth: pipeline.depth.then_some(DepthTest {
            test: true,
            write: true,
            compare: CompareOp::Always,
        }),
        stencil: pipeline.stencil.then_some(StencilTest {
            front: StencilFace {
                pass: StencilOp::Replace,
                depth_fail: StencilOp::Replace,
                ..StencilFace::default()
            },
            back: None,
        }),
        blend: Blend::default(),
    }
}

/// What a target is cleared to.
fn clear(kind: TexelKind, words: [u32; 4]) -> ClearValue {
    ClearValue::Color(match kind {
        TexelKind::Float => Color::Float(words.map(f32::from_bits)),
        TexelKind::Signed => Color::Int(words.map(u32::cast_signed)),
        TexelKind::Unsigned => Color::Uint(words),
    })
}

fn pass<'d>(pipeline: &Pipeline, inputs: &'d Inputs) -> Pass<'d> {
    let mut views = 2..;
    let mut attachment = |clear| {
        views.next().map(|view| Attachment {
            view: ViewId(view),
            load: LoadOp::Clear,
            store: StoreOp::Store,
            clear,
            resolve: (pipeline.samples > 1).then(|| {
                let resolved = view + pipeline.targets.len() as u32;
                (ViewId(resolved), ResolveMode::SampleZero)
            }),
        })
    };
    let targets = pipeline.targets.iter().zip(&inputs.held);
    let colors = targets.map(|(target, held)| attachment(clear(target.kind, *held)));
    let colors = colors.collect();
    let mut plane = |is, clear| if is { attachment(clear) } else { None };
    let area = Rect {
        x: 0,
        y: 0,
        width: SIZE[0],
        height: SIZE[1],
    };
    let [width, height] = SIZE.map(|size| size as f32);
    Pass {
        colors,
        depth: plane(pipeline.depth, ClearValue::Depth(DEPTH_BEFORE)),
        stencil: plane(pipeline.stencil, ClearValue::Stencil(STENCIL_BEFORE.into())),
        area,
        layers: 1,
        view_mask: 0,
        samples: pipeline.samples,
        part: PassPart::default(),
        commands: vec![PassCommand::Draw(Box::new(Draw {
            using: Using {
                pipeline: PipelineId(0),
                sets: vec![SetId(0)],
                push: &inputs.push,
            },
            viewports: vec![Viewport::from([0.0, 0.0, width, height, 0.0, 1.0])],
            scissors: vec![area],
            vertex_buffers: vec![VertexBuffer {
                binding: 0,
                buffer: VERTICES,
                offset: 0,
            }],
            instances: 1,
            first_instance: FIRST_INSTANCE,
            vertices: Vertices::Plain {
                count: 3,
                first: FIRST_VERTEX,
            },
            repeat: 1,
            repeat_push_offset: None,
        }))],
    }
}

/// All contents that are compared: targets, depth, stencil, the buffer.
fn results(pipeline: &Pipeline, inputs: &Inputs) -> Vec<Readback> {
    let colors = pipeline.targets.iter().map(|_| Aspect::Color);
    let aspects = colors
        .chain(pipeline.depth.then_some(Aspect::Depth))
        .chain(pipeline.stencil.then_some(Aspect::Stencil));
    // Of several samples what the first of them became.
    let first = match pipeline.samples {
        1 => 2,
        _ => 2 + pipeline.targets.len() as u32,
    };
    let images = (first..)
        .zip(aspects)
        .map(|(image, aspect)| Readback::Image {
            image: ImageId(image),
            aspect,
            level: 0,
            layer: 0,
            layers: 1,
        });
    let buffer = Readback::Buffer(Range {
        buffer: OUTPUT,
        offset: 0,
        bytes: inputs.output.len() as u64,
    });
    images.chain([buffer]).collect()
}

/// Draws with the programs on the model; what they leave, or what model and driver say against them.
fn drawn(
    product: Product,
    compiled: &CompiledGraphics,
    pipeline: &Pipeline,
    inputs: &Inputs,
) -> Result<Picture, String> {
    let fragment = compiled.fragment.as_ref().ok_or("no fragment program")?;
    let vertices = vertex_bytes(inputs);
    let buffer = |data| Buffer {
        bytes: Vec::len(data) as u64,
        data,
    };
    let images = images(pipeline, inputs);
    let drawing = Drawing {
        name: "random",
        limit_ms: 60_000,
        dump: false,
        programs: vec![&compiled.vertex.program, &fragment.program],
        buffers: vec![
            buffer(&inputs.input),
            buffer(&inputs.output),
            buffer(&vertices),
        ],
        views: images
            .iter()
            .enumerate()
            .map(|(number, image)| view(number, image))
            .collect(),
        images,
        samplers: vec![sampler()],
        sets: vec![set(inputs)],
        pipelines: vec![eitri_drawing::Pipeline::Graphics(Box::new(made_pipeline(
            pipeline,
        )))],
        queries: vec![],
        steps: vec![Step::Pass(Box::new(pass(pipeline, inputs)))],
        results: results(pipeline, inputs),
        wanted: Vec::new(),
        frames: vec![],
    };
    let machine = Machine::new(Config {
        product,
        ..Config::default()
    });
    let firmware = eitri_model::stub_firmware();
    let (_, saved) = eitri_player::play_here(machine.clone(), &firmware, &drawing, &mut ());
    let diagnosis = machine.gpu(|gpu| gpu.diagnoses().first().map(ToString::to_string));
    if let Some(diagnosis) = diagnosis {
        return Err(format!("the model reports {diagnosis}"));
    }
    let saved = saved.map_err(|failure| format!("{failure:?}"))?;
    let mut saved = saved.into_iter().map(|saved| saved.bytes);
    let colors = saved.by_ref().take(pipeline.targets.len()).collect();
    let mut plane = |is: bool| if is { saved.next() } else { None };
    let (depth, stencil) = (plane(pipeline.depth), plane(pipeline.stencil));
    Ok(Picture {
        colors,
        depth,
        stencil,
        output: saved.next().ok_or("no buffer")?,
    })
}

fn listings(compiled: &CompiledGraphics) -> String {
    let stages = std::iter::once(&compiled.vertex).chain(&compiled.fragment);
    let entries = stages.flat_map(|stage| &stage.entry_points);
    let listings = entries.map(|entry| format!("{:?}\n{}", entry.kind, entry.listing));
    listings.collect::<Vec<String>>().join("\n")
}

/// What came of a pipeline that was compared.
struct Compared {
    /// Whether it draws anything.
    drawn: bool,
}

/// Compares one pipeline; none if it runs too long to be compared.
fn check(seed: u64, register_limit: Option<u32>) -> Result<Option<Compared>, String> {
    let name = PRODUCTS[(seed / 4) as usize % PRODUCTS.len()];
    let product = Product::find(name).ok_or_else(|| format!("the model knows no {name}"))?;
    let target = Target::valhall(product.arch());
    let pipeline = generate(seed, &target);
    let inputs = inputs(seed, &pipeline);
    let Ok(expected) = picture((&pipeline.vertex, &pipeline.fragment), &pipeline, &inputs) else {
        return Ok(None);
    };
    let options = Options {
        target,
        register_limit,
        robust: match seed % 4 < 2 {
            true => Robust::On,
            false => Robust::Off,
        },
        share_registers: seed.is_multiple_of(3),
        ..Options::default()
    };
    let functions = [&pipeline.vertex, &pipeline.fragment];
    let [vertex, fragment] = functions.map(Clone::clone);
    let compiled = compile_graphics_functions((vertex, &options), Some((fragment, &options)));
    let compiled = compiled.map_err(|error| error.to_string())?;
    let wrong = match drawn(product, &compiled, &pipeline, &inputs) {
        Ok(got) => expected.difference(&got),
        Err(error) => Some(error),
    };
    match wrong {
        None => Ok(Some(Compared {
            drawn: expected.has_drawn(),
        })),
        Some(wrong) => Err(format!(
            "{wrong} ({name})\n{}\n{}\n{}",
            pipeline.vertex,
            pipeline.fragment,
            listings(&compiled)
        )),
    }
}

/// Runs seeds; those that fail are named, the first with all that is known of it.
fn run(seeds: std::ops::Range<u64>, register_limit: Option<u32>) {
    let (mut compared, mut drawn, mut failures) = (0, 0, vec![]);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        match check(seed, register_limit) {
            Ok(None) => {}
            Ok(Some(done)) => {
                compared += 1;
                drawn += u64::from(done.drawn);
            }
            Err(error) => failures.push((seed, error)),
        }
    }
    let lines: Vec<String> = failures
        .iter()
        .map(|(seed, error)| format!("{seed}: {}", error.lines().next().unwrap_or_default()))
        .collect();
    if let Some((seed, error)) = failures.first() {
        panic!(
            "of {count} seeds fail\n{}\n{seed} in full: {error}",
            lines.join("\n")
        );
    }
    assert!(compared * 10 > count * 9, "only {compared} of {count} end");
    assert!(drawn * 4 > count * 3, "only {drawn} of {count} draw");
}

#[test]
fn machine_code_draws_what_the_functions_draw() {
    let count = if eitri_testdata::long() { 600 } else { 16 };
    run(0..count, None);
}

#[test]
fn spilled_code_draws_what_the_functions_draw() {
    let count = if eitri_testdata::long() { 300 } else { 4 };
    run(0..count, Some(12));
}

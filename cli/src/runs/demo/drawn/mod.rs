//! The drawn demos: a triangle, and a cube with a texture that turns, each with what a CPU says of its pixels.
//!
//! The CPU's picture is made from the corners alone, by edge functions in double precision; it shares nothing with the driver, the
//! compiler or the model.

mod cube;
pub(crate) mod screen_triangle;
mod triangle;

use eitri_drawing::state::{
    AddressMode, Aspect, Attribute, Blend, Border, Color, CompareOp, DepthTest, DescriptorKind,
    Filter, ImageType, LoadOp, Multisample, Raster, Rect, StoreOp, Swizzle, Topology,
    VertexBinding, VertexRate, ViewType, Viewport,
};
use eitri_drawing::{
    Attachment, Binding, BorderColor, Bound, Buffer, BufferId, ClearValue, Draw, Drawing, Frame,
    GraphicsPipeline, Image, ImageData, ImageId, Pass, PassCommand, PassPart, Pipeline, PipelineId,
    ProgramId, Range, Readback, Sampler, SamplerId, Set, SetId, Step, Using, VertexBuffer,
    Vertices, View, ViewId,
};

const COLOR: &str = "r8g8b8a8_unorm";
const DEPTH: &str = "d32_sfloat";
/// Pixels along a side.
const SIDE: u32 = 128;
/// Longest that the commands of a picture may take, in milliseconds.
const LIMIT_MS: u32 = 60_000;

/// Something that is drawn, and what a CPU says of it.
pub(crate) struct DrawnDemo {
    /// The name of its shaders in `cli/demo`, without what tells the stage.
    pub(crate) name: &'static str,
    /// What it shows.
    pub(crate) what: &'static str,
    /// Attributes of vertices, from location 0 on: how many floats each has.
    attributes: &'static [u32],
    vertices: Vec<u8>,
    count: u32,
    /// The uniform buffer, picture by picture; empty: the shaders have none.
    frames: Vec<Vec<u8>>,
    /// Texels of a square texture; empty: the shaders have none.
    texels: Vec<u8>,
    /// Whether nearer surfaces hide others.
    depth: bool,
    /// Red, green, blue and alpha of each pixel.
    expected: Vec<[u8; 4]>,
    /// Pixels that may be something else: those at edges of texels and sides, where a rounding decides.
    allowed: usize,
}

/// All of them.
pub(crate) fn all() -> [DrawnDemo; 2] {
    [triangle::demo(), cube::demo()]
}

/// The one that turns.
pub(crate) fn turning() -> DrawnDemo {
    cube::demo()
}

/// How a picture differs from the CPU's.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PictureDifference {
    #[error("{found} bytes came back, not {expected}")]
    Length { found: usize, expected: usize },
    #[error(
        "{count} pixels differ, {allowed} may; the first at ({x}, {y}) is {found:?}, a CPU says {expected:?}"
    )]
    Pixels {
        count: usize,
        allowed: usize,
        x: u32,
        y: u32,
        found: [u8; 4],
        expected: [u8; 4],
    },
}

/// Steps by which a component may differ.
const STEPS: u8 = 2;

impl DrawnDemo {
    /// Pixels along a side of the picture.
    pub(crate) fn side(&self) -> u32 {
        SIDE
    }

    /// Compares what was drawn with what a CPU says; gives the number of pixels that are the same, but for a step or two.
    pub(crate) fn check(&self, drawn: &[u8]) -> Result<usize, PictureDifference> {
        let (pixels, _) = drawn.as_chunks::<4>();
        let (found, expected) = (drawn.len(), self.expected.len() * 4);
        if found != expected {
            return Err(PictureDifference::Length { found, expected });
        }
        let near = |a: &[u8; 4], b: &[u8; 4]| a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= STEPS);
        let pairs = (0_u32..).zip(pixels.iter().zip(&self.expected));
        let mut wrong = pairs.filter(|(_, (found, expected))| !near(found, expected));
        let first = wrong.next();
        let count = wrong.count() + usize::from(first.is_some());
        match first {
            Some((index, (found, expected))) if count > self.allowed => {
                Err(PictureDifference::Pixels {
                    count,
                    allowed: self.allowed,
                    x: index % SIDE,
                    y: index / SIDE,
                    found: *found,
                    expected: *expected,
                })
            }
            _ => Ok(self.expected.len() - count),
        }
    }

    /// The drawing, with the programs of its two shaders. Its only result is the picture.
    pub(crate) fn drawing<'d>(&'d self, programs: [&'d [u8]; 2]) -> Drawing<'d> {
        let bindings = self.bindings();
        let using = Using {
            pipeline: PipelineId(0),
            sets: if bindings.is_empty() {
                Vec::new()
            } else {
                vec![SetId(0)]
            },
            push: &[],
        };
        let vertex_buffer = VertexBuffer {
            binding: 0,
            buffer: VERTICES,
            offset: 0,
        };
        let has_vertices = !self.vertices.is_empty();
        let draw = Draw {
            using,
            viewports: vec![Viewport::from([
                0.0,
                0.0,
                SIDE as f32,
                SIDE as f32,
                0.0,
                1.0,
            ])],
            scissors: vec![WHOLE],
            vertex_buffers: if has_vertices {
                vec![vertex_buffer]
            } else {
                Vec::new()
            },
            instances: 1,
            first_instance: 0,
            vertices: Vertices::Plain {
                count: self.count,
                first: 0,
            },
            repeat: 1,
            repeat_push_offset: None,
        };
        let background = Color::Float(BACKGROUND.map(|part| f32::from(part) / 255.0));
        let pass = Pass {
            colors: vec![Some(attachment(ViewId(0), ClearValue::Color(background)))],
            depth: self
                .depth
                .then(|| attachment(ViewId(1), ClearValue::Depth(1.0))),
            stencil: None,
            area: WHOLE,
            layers: 1,
            view_mask: 0,
            samples: 1,
            part: PassPart::default(),
            commands: vec![PassCommand::Draw(Box::new(draw))],
        };
        Drawing {
            name: self.name,
            limit_ms: LIMIT_MS,
            dump: false,
            programs: programs.to_vec(),
            buffers: self.buffers(),
            images: self.images(),
            views: (0..3).map(|image| view(ImageId(image))).collect(),
            samplers: vec![NEAREST],
            sets: vec![Set { bindings }],
            pipelines: vec![Pipeline::Graphics(Box::new(self.pipeline()))],
            queries: Vec::new(),
            steps: vec![Step::Pass(Box::new(pass))],
            results: vec![Readback::Image {
                image: ImageId(0),
                aspect: Aspect::Color,
                level: 0,
                layer: 0,
                layers: 1,
            }],
            wanted: Vec::new(),
            frames: self.frames().collect(),
        }
    }

    fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        let frames = self.frames.iter();
        frames.map(|data| Frame {
            buffer: UNIFORMS,
            data,
        })
    }

    /// Vertices, and uniforms of the first picture.
    fn buffers(&self) -> Vec<Buffer<'_>> {
        let uniforms = self.frames.first().map_or(&[][..], |frame| frame);
        let all = [self.vertices.as_slice(), uniforms];
        let buffers = all.map(|data| Buffer {
            // A buffer of no bytes there is not.
            bytes: (data.len() as u64).max(16),
            data,
        });
        buffers.to_vec()
    }

    /// What is drawn on, its depth, and the texture.
    fn images(&self) -> Vec<Image<'_>> {
        let image = |format: &str, side: u32, attachment: bool| Image {
            kind: ImageType::D2,
            format: format.to_owned(),
            extent: [side, side, 1],
            levels: 1,
            layers: 1,
            samples: 1,
            mutable: false,
            attachment,
            init: Vec::new(),
        };
        let texels = ImageData {
            aspect: Aspect::Color,
            level: 0,
            layer: 0,
            layers: 1,
            data: &self.texels,
        };
        let mut texture = image(COLOR, cube::TEXELS, false);
        if !self.texels.is_empty() {
            texture.init.push(texels);
        }
        vec![image(COLOR, SIDE, true), image(DEPTH, SIDE, true), texture]
    }

    fn bindings(&self) -> Vec<Binding> {
        let uniforms = self.frames.first().map(|frame| Binding {
            binding: 0,
            element: 0,
            kind: DescriptorKind::UniformBuffer,
            bound: Bound::Buffer(Range {
                buffer: UNIFORMS,
                offset: 0,
                bytes: frame.len() as u64,
            }),
        });
        let mut bindings: Vec<Binding> = uniforms.into_iter().collect();
        if !self.texels.is_empty() {
            bindings.push(Binding {
                binding: 1,
                element: 0,
                kind: DescriptorKind::SampledImage,
                bound: Bound::View(ViewId(2)),
            });
            bindings.push(Binding {
                binding: 2,
                element: 0,
                kind: DescriptorKind::Sampler,
                bound: Bound::Sampler(SamplerId(0)),
            });
        }
        bindings
    }

    fn pipeline(&self) -> GraphicsPipeline {
        let attributes = (0_u32..).zip(self.attributes);
        let attributes = attributes.map(|(location, floats)| Attribute {
            location,
            binding: 0,
            format: match floats {
                1 => "r32_sfloat",
                2 => "r32g32_sfloat",
                _ => "r32g32b32_sfloat",
            }
            .to_owned(),
            offset: 4 * self.attributes.iter().take(location as usize).sum::<u32>(),
        });
        let binding = VertexBinding {
            binding: 0,
            stride: 4 * self.attributes.iter().sum::<u32>(),
            rate: VertexRate::Vertex,
            divisor: 1,
        };
        GraphicsPipeline {
            vertex: ProgramId(0),
            fragment: Some(ProgramId(1)),
            colors: vec![Some(COLOR.to_owned())],
            depth_format: self.depth.then(|| DEPTH.to_owned()),
            stencil_format: None,
            vertex_bindings: if self.attributes.is_empty() {
                Vec::new()
            } else {
                vec![binding]
            },
            attributes: attributes.collect(),
            topology: Topology::TriangleList,
            restart: false,
            raster: Raster::default(),
            multisample: Multisample::default(),
            depth: self.depth.then_some(DepthTest {
                test: true,
                write: true,
                compare: CompareOp::Less,
            }),
            stencil: None,
            blend: Blend::default(),
        }
    }
}

const VERTICES: BufferId = BufferId(0);
const UNIFORMS: BufferId = BufferId(1);

/// What pixels are where nothing is drawn.
const BACKGROUND: [u8; 4] = [24, 24, 40, 255];

const WHOLE: Rect = Rect {
    x: 0,
    y: 0,
    width: SIDE,
    height: SIDE,
};

const NEAREST: Sampler = Sampler {
    mag: Filter::Nearest,
    min: Filter::Nearest,
    mip: Filter::Nearest,
    address: [AddressMode::ClampToEdge; 3],
    border: BorderColor::Named(Border::FloatTransparentBlack),
    lod_bias: 0.0,
    min_lod: 0.0,
    max_lod: 0.0,
    compare: None,
    unnormalised: false,
    max_anisotropy: 1,
};

fn attachment(view: ViewId, clear: ClearValue) -> Attachment {
    Attachment {
        view,
        load: LoadOp::Clear,
        store: StoreOp::Store,
        clear,
        resolve: None,
    }
}

fn view(image: ImageId) -> View {
    let format = if image == ImageId(1) { DEPTH } else { COLOR };
    View {
        image,
        kind: ViewType::D2,
        format: format.to_owned(),
        aspect: None,
        level: 0,
        levels: 1,
        layer: 0,
        layers: 1,
        swizzle: Swizzle::default(),
    }
}

/// The bytes of floats.
fn bytes_of(floats: impl IntoIterator<Item = f32>) -> Vec<u8> {
    floats.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// The pixels of a picture, each by its place.
fn picture(pixel: impl Fn(f64, f64) -> [u8; 4]) -> Vec<[u8; 4]> {
    let rows = 0..SIDE;
    let places = rows.flat_map(|y| (0..SIDE).map(move |x| (x, y)));
    let pixels = places.map(|(x, y)| pixel(f64::from(x) + 0.5, f64::from(y) + 0.5));
    pixels.collect()
}

/// A component from 0 to 1 as a byte.
fn byte(value: f64) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_of_the_cpu_are_good_and_others_are_not() {
        for demo in all() {
            let bytes = demo.expected.as_flattened();
            assert!(demo.check(bytes).is_ok(), "{}", demo.name);
            assert!(demo.check(&bytes[4..]).is_err(), "{}", demo.name);
            let blank = BACKGROUND.repeat(demo.expected.len());
            assert!(
                demo.check(&blank).is_err(),
                "{}: nothing is drawn",
                demo.name
            );
            let mut turned = demo.expected.clone();
            turned.reverse();
            let turned = demo.check(turned.as_flattened());
            assert!(turned.is_err(), "{}: it is upside down", demo.name);
        }
    }

    #[test]
    fn the_cube_turns() {
        let [_, cube] = all();
        assert!(cube.frames.len() > 10);
        assert_ne!(cube.frames.first(), cube.frames.last());
    }
}

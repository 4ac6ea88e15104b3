//! The scene of a model: its resources, pipelines and draws, as a scene file would have them.

use crate::camera::Eye;
use crate::error::{Fault, ModelError};
use crate::file::Buffers;
use crate::material::{Alpha, Kind, MATERIAL_BYTES, SRGB, Surface, TEXTURES, Used};
use crate::matrix::{Matrix, Vector, add, dot, scaled, subtract};
use crate::mesh::{self, Geometry, Shape};
use crate::model::{Placed, Shot, ToSpirv};
use crate::parts;
use crate::texture;
use eitri_draw_scenes::{
    Contents, DescriptorKind, Draw, Image, IndexType, Indices, PassStep, Sampler, Scene, SceneFile,
    Set, Shader, Stage, VertexBuffer, View,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The shader of all materials.
const SHADER: &str = include_str!("model.wgsl");
/// A white surface that faces this much light sends 1: what is diffuse sends it to all sides.
const FACED: f32 = std::f32::consts::PI;
/// Names in the scene.
const VERTICES: &str = "vertices";
const INDICES: &str = "indices";
const FRAME: &str = "frame";
const MATERIALS: &str = "materials";

/// What pipelines differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PipelineKey {
    pub(crate) kind: Kind,
    pub(crate) double_sided: bool,
    /// Whether the node mirrors, so that fronts run the other way round.
    pub(crate) mirrored: bool,
    pub(crate) lines: bool,
}

impl PipelineKey {
    pub(crate) fn name(&self) -> String {
        let words = [
            (self.double_sided, "-double-sided"),
            (self.mirrored, "-mirrored"),
            (self.lines, "-lines"),
        ];
        let words = words.into_iter().filter(|(is, _)| *is);
        let words: String = words.map(|(_, word)| word).collect();
        format!("{}{words}", shader_name(&self.kind))
    }
}

/// The name of a kind's shader.
pub(crate) fn shader_name(kind: &Kind) -> String {
    let letters = kind.textures.iter().zip("bmnoe".chars());
    let letters: String = letters
        .filter(|(has, _)| **has)
        .map(|(_, letter)| letter)
        .collect();
    let alpha = match kind.alpha {
        Alpha::Opaque => "opaque",
        Alpha::Masked => "mask",
        Alpha::Blended => "blend",
    };
    let unlit = if kind.unlit { "-unlit" } else { "" };
    match letters.is_empty() {
        true => format!("{alpha}{unlit}"),
        false => format!("{alpha}{unlit}-{letters}"),
    }
}

/// A draw, before the camera is known.
struct Part {
    key: PipelineKey,
    material: usize,
    world: Matrix,
    first_index: u32,
    indices: u32,
    vertex_offset: i32,
    /// The middle of what is drawn, in the scene's coordinates.
    centre: Vector,
}

/// Puts a scene together.
pub(crate) struct Builder<'m> {
    path: &'m Path,
    buffers: &'m Buffers<'m>,
    shot: &'m Shot,
    files: BTreeMap<String, Vec<u8>>,
    vertices: Vec<u8>,
    indices: Vec<u8>,
    materials: Vec<u8>,
    images: Vec<Image>,
    views: Vec<View>,
    samplers: Vec<Sampler>,
    sets: Vec<Set>,
    /// Sets by the number of a material; the last is that of what has none.
    sets_of: BTreeMap<Option<usize>, usize>,
    parts: Vec<Part>,
    least: Vector,
    most: Vector,
}

impl<'m> Builder<'m> {
    pub(crate) fn new(path: &'m Path, buffers: &'m Buffers<'m>, shot: &'m Shot) -> Builder<'m> {
        Builder {
            path,
            buffers,
            shot,
            files: BTreeMap::new(),
            vertices: Vec::new(),
            indices: Vec::new(),
            materials: Vec::new(),
            images: Vec::new(),
            views: Vec::new(),
            samplers: Vec::new(),
            sets: Vec::new(),
            sets_of: BTreeMap::new(),
            parts: Vec::new(),
            least: [f64::INFINITY; 3],
            most: [f64::NEG_INFINITY; 3],
        }
    }

    /// Adds what a node draws.
    pub(crate) fn add(&mut self, placed: &Placed<'_>) -> Result<(), Fault> {
        let Some(mesh) = placed.node.mesh() else {
            return Ok(());
        };
        if placed.node.skin().is_some() {
            let what = format!("skinning (nodes[{}])", placed.node.index());
            return Err(Fault::Unsupported(what));
        }
        let weights = placed.node.weights().or_else(|| mesh.weights());
        let weighted = weights.is_some_and(|weights| weights.iter().any(|weight| *weight != 0.0));
        for primitive in mesh.primitives() {
            if weighted && primitive.morph_targets().next().is_some() {
                let what = format!("morph targets (meshes[{}])", mesh.index());
                return Err(Fault::Unsupported(what));
            }
            let surface = Surface::read(&primitive.material())?;
            let geometry = mesh::read(self.buffers, &primitive, surface.normal_set())?;
            if geometry.indices.is_empty() {
                continue;
            }
            let material = self.material(primitive.material().index(), &surface)?;
            self.part(placed, &geometry, (&surface, material))?;
        }
        Ok(())
    }

    /// The ball that everything is in: its centre and radius; `None` if there is nothing.
    pub(crate) fn bounds(&self) -> Option<(Vector, f64)> {
        let across = subtract(self.most, self.least);
        let centre = scaled(add(self.least, self.most), 0.5);
        (!self.parts.is_empty()).then(|| (centre, dot(across, across).sqrt() / 2.0))
    }

    fn part(
        &mut self,
        placed: &Placed<'_>,
        geometry: &Geometry,
        (surface, material): (&Surface<'_>, usize),
    ) -> Result<(), Fault> {
        let large = || Fault::invalid("it has too many vertices");
        let first = self.vertices.len() / mesh::STRIDE as usize;
        let vertex_offset = i32::try_from(first).map_err(|_| large())?;
        let first_index = u32::try_from(self.indices.len() / 4).map_err(|_| large())?;
        let indices = u32::try_from(geometry.indices.len()).map_err(|_| large())?;
        let (mut least, mut most) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for index in &geometry.indices {
            // Indices were found to be below the number of vertices.
            let Some(vertex) = geometry.vertices.get(*index as usize) else {
                continue;
            };
            let place = placed.world.point(vertex.position.map(f64::from));
            for axis in 0..3 {
                least[axis] = least[axis].min(place[axis]);
                most[axis] = most[axis].max(place[axis]);
            }
        }
        for axis in 0..3 {
            self.least[axis] = self.least[axis].min(least[axis]);
            self.most[axis] = self.most[axis].max(most[axis]);
        }
        self.vertices
            .extend(geometry.vertices.iter().flat_map(mesh::Vertex::bytes));
        self.indices.extend(
            geometry
                .indices
                .iter()
                .flat_map(|index| index.to_le_bytes()),
        );
        let lines = geometry.shape == Shape::Lines;
        let mut kind = surface.kind;
        // A line has no side that could be lit.
        if lines && !kind.unlit {
            kind.unlit = true;
            kind.textures = [kind.textures[0], false, false, false, false];
        }
        self.parts.push(Part {
            key: PipelineKey {
                kind,
                double_sided: surface.double_sided || lines,
                mirrored: placed.world.determinant() < 0.0 && !lines,
                lines,
            },
            material,
            world: placed.world,
            first_index,
            indices,
            vertex_offset,
            centre: scaled(add(least, most), 0.5),
        });
        Ok(())
    }

    /// The set of a material.
    fn material(&mut self, index: Option<usize>, surface: &Surface<'_>) -> Result<usize, Fault> {
        if let Some(number) = self.sets_of.get(&index) {
            return Ok(*number);
        }
        let number = self.sets.len();
        let mut bindings = vec![
            parts::buffer(0, FRAME, 0, parts::FRAME_BYTES as u64),
            parts::buffer(
                1,
                MATERIALS,
                self.materials.len() as u64,
                MATERIAL_BYTES as u64,
            ),
        ];
        self.materials.extend(surface.bytes());
        let pairs = surface.textures.iter().zip(SRGB);
        for ((used, srgb), which) in pairs.zip(0..TEXTURES as u32) {
            let (view, sampler) = self.texture(used.as_ref(), srgb)?;
            bindings.push(parts::bound(2 + which, DescriptorKind::SampledImage, view));
            bindings.push(parts::bound(7 + which, DescriptorKind::Sampler, sampler));
        }
        let name = format!("material-{number}");
        self.sets.push(Set { name, bindings });
        self.sets_of.insert(index, number);
        Ok(number)
    }

    /// The names of a texture's view and sampler.
    fn texture(&mut self, used: Option<&Used<'_>>, srgb: bool) -> Result<(String, String), Fault> {
        let format = if srgb { "srgb" } else { "unorm" };
        let Some(used) = used else {
            let sampler = parts::plain_sampler();
            self.sampler(sampler.clone());
            return Ok((self.image("white", format, texture::white), sampler.name));
        };
        let image = used.texture.source();
        let name = format!("image-{}", image.index());
        let view = format!("{name}-{format}");
        if !self.views.iter().any(|known| known.name == view) {
            let picture = texture::read(self.buffers, self.path, &image)?;
            self.image(&name, format, || picture);
        }
        let of = used.texture.sampler();
        let name = of
            .index()
            .map_or_else(|| "usual".to_owned(), |index| index.to_string());
        let sampler = texture::sampler(&of, format!("sampler-{name}"));
        let name = sampler.name.clone();
        self.sampler(sampler);
        Ok((view, name))
    }

    fn sampler(&mut self, sampler: Sampler) {
        if !self.samplers.iter().any(|known| known.name == sampler.name) {
            self.samplers.push(sampler);
        }
    }

    /// Adds an image with its levels, unless it is there; gives the name of its view.
    fn image(
        &mut self,
        name: &str,
        format: &str,
        picture: impl FnOnce() -> texture::Picture,
    ) -> String {
        let name = format!("{name}-{format}");
        if self.views.iter().any(|known| known.name == name) {
            return name;
        }
        let levels = picture().levels(format == "srgb");
        let (image, view) = parts::texture(&name, &format!("r8g8b8a8_{format}"), &levels);
        for (level, picture) in levels.iter().enumerate() {
            let file = parts::level_file(&name, level as u32);
            self.files.insert(file, picture.texels.concat());
        }
        self.images.push(image);
        self.views.push(view);
        name
    }

    /// The scene, as this eye sees it.
    pub(crate) fn finish(mut self, eye: &Eye, to_spirv: &ToSpirv<'_>) -> Result<Scene, ModelError> {
        // What is blended comes last, from back to front.
        let distance = |part: &Part| match part.key.kind.alpha {
            Alpha::Blended => -dot(part.centre, eye.forward),
            _ => f64::NEG_INFINITY,
        };
        self.parts
            .sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        let keys: BTreeSet<PipelineKey> = self.parts.iter().map(|part| part.key).collect();
        let shaders = self.shaders(&keys, to_spirv)?;
        let frame = frame(self.shot, eye);
        let contents = [
            (VERTICES, std::mem::take(&mut self.vertices)),
            (INDICES, std::mem::take(&mut self.indices)),
            (FRAME, frame),
            (MATERIALS, std::mem::take(&mut self.materials)),
        ];
        let buffers = contents
            .iter()
            .map(|(name, bytes)| eitri_draw_scenes::Buffer {
                name: (*name).to_owned(),
                bytes: bytes.len() as u64,
                init: Some(Contents::File((*name).to_owned())),
            });
        let buffers = buffers.collect();
        let targets = parts::targets(self.shot);
        let draws = self.parts.iter().map(draw).collect();
        let pipelines = keys
            .iter()
            .map(|key| parts::pipeline(key, self.shot.samples));
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let file = SceneFile {
            name: stem.into_owned(),
            class: "model".to_owned(),
            description: format!("the glTF model {}", self.path.display()),
            notes: None,
            features: Vec::new(),
            reference_fails: None,
            shaders,
            buffers,
            pipelines: pipelines.collect(),
            images: targets.images.into_iter().chain(self.images).collect(),
            views: targets.views.into_iter().chain(self.views).collect(),
            samplers: self.samplers,
            texel_views: Vec::new(),
            sets: self.sets,
            queries: Vec::new(),
            steps: vec![parts::pass(self.shot, draws)],
        };
        let contents = contents
            .into_iter()
            .map(|(name, bytes)| (name.to_owned(), bytes));
        self.files.extend(contents);
        let path = PathBuf::from(self.path);
        Ok(Scene::of_parts(path, file, self.files, parts::PICTURE)?)
    }

    /// The shaders of these pipelines; puts their SPIR-V among the files.
    fn shaders(
        &mut self,
        keys: &BTreeSet<PipelineKey>,
        to_spirv: &ToSpirv<'_>,
    ) -> Result<Vec<Shader>, ModelError> {
        let mut shaders = Vec::new();
        let kinds: BTreeSet<Kind> = keys.iter().map(|key| key.kind).collect();
        for kind in &kinds {
            let name = shader_name(kind);
            let text = kind.constants() + SHADER;
            let what = format!("{name}.wgsl");
            let spirv = to_spirv(&what, &text).map_err(|why| ModelError::Shader {
                what: name.clone(),
                why,
            })?;
            let shader = |name: String, stage, entry: &str| Shader {
                name,
                stage,
                source: what.clone(),
                spirv: what.clone(),
                spirv_opt: what.clone(),
                entry: entry.to_owned(),
            };
            // The module has both stages; one vertex shader is enough for all.
            if shaders.is_empty() {
                shaders.push(shader(
                    parts::VERTEX.to_owned(),
                    Stage::Vertex,
                    "vertex_main",
                ));
            }
            shaders.push(shader(name, Stage::Fragment, "fragment_main"));
            self.files.insert(what, spirv);
        }
        Ok(shaders)
    }
}

/// The numbers that all draws read.
fn frame(shot: &Shot, eye: &Eye) -> Vec<u8> {
    let mut bytes: Vec<u8> = eye.clip_of_world.bytes().collect();
    let towards = shot.light.map(f64::from);
    let [x, y, z] = crate::matrix::direction(towards)
        .unwrap_or([0.0, 0.0, 1.0])
        .map(|part| part as f32);
    let [red, green, blue] = shot.light_color.map(|part| part * FACED);
    let [env_red, env_green, env_blue] = shot.environment;
    let rows = [
        eye.place.map(|part| part as f32),
        [x, y, z, 0.0],
        [red, green, blue, 0.0],
        [env_red, env_green, env_blue, 0.0],
    ];
    bytes.extend(rows.into_iter().flatten().flat_map(f32::to_le_bytes));
    bytes
}

fn draw(part: &Part) -> PassStep {
    let mut push: Vec<u8> = part.world.bytes().collect();
    let sign = if part.key.mirrored { -1.0 } else { 1.0 };
    for [x, y, z] in part.world.of_normals() {
        let column = [x, y, z, sign].map(|number| number as f32);
        push.extend(column.into_iter().flat_map(f32::to_le_bytes));
    }
    PassStep::Draw(Box::new(Draw {
        pipeline: part.key.name(),
        sets: Some(vec![format!("material-{}", part.material)]),
        push,
        viewports: None,
        scissors: None,
        vertex_buffers: vec![VertexBuffer {
            binding: 0,
            buffer: VERTICES.to_owned(),
            offset: 0,
        }],
        index: Some(Indices {
            buffer: INDICES.to_owned(),
            kind: IndexType::U32,
            offset: 0,
        }),
        vertices: None,
        first_vertex: 0,
        instances: 1,
        first_instance: 0,
        indices: Some(part.indices),
        first_index: part.first_index,
        vertex_offset: part.vertex_offset,
        indirect: None,
        repeat: 1,
        repeat_push_offset: None,
    }))
}

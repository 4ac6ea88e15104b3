//! Draws and clears: each as a drawing of its own, which begins with what host bytes hold and gives back what was written.
//!
//! Facts: the language reference, 9.2 to 9.4, 10 and 12.1.

use crate::DeviceError;
use crate::drawn_resources::{self, DrawnResources};
use crate::resources::{self, Rows, Samples};
use crate::vertex_data::{VertexData, word};
use crate::{Compiled, sampler};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use eitri_amber::Word;
use eitri_amber::plan::Graphics;
use eitri_amber::run::{ClearValues, Dispatch, Drawn, Memory};
use eitri_amber::script::BufferId;
use eitri_drawing::state::{
    Aspect, Blend, BlendAttachment, BlendEquation, BlendOp, Color, DepthBias, DepthTest, ImageType,
    LoadOp, Multisample, Raster, Rect, StoreOp, Swizzle, ViewType, Viewport, WriteMask,
};
use eitri_drawing::{
    Attachment, Buffer, BufferId as DrawnBuffer, ClearValue, Draw, Drawing, GraphicsPipeline,
    Image, ImageData, ImageId, Pass, PassCommand, Pipeline, PipelineId, ProgramId, Readback, SetId,
    Step, Using, VertexBuffer, Vertices, View, ViewId,
};
use eitri_job::Saved;
use eitri_program::{Access, Binding, GraphicsProgram};

/// Whole attachments of a pipeline.
struct Targets {
    colors: Vec<Target>,
    depth: Option<Target>,
    size: (u32, u32),
}

/// An attachment: the script's buffer, and what is in it.
struct Target {
    id: BufferId,
    format: String,
    /// All of its texels.
    bytes: Vec<u8>,
}

/// Something that plays drawings.
pub(crate) trait Player {
    /// Plays one from power-off, and gives its results.
    fn play(&mut self, drawing: &Drawing<'_>) -> Result<Vec<Saved>, DeviceError>;
}

/// Draws, or clears, and puts what was written into host bytes.
pub(crate) fn draw(
    compiled: &Compiled,
    drawn: &Drawn,
    dispatch: &Dispatch,
    (memory, samples): (&mut Memory, &Samples),
    player: &mut dyn Player,
) -> Result<(), DeviceError> {
    let plan = &compiled.plan;
    let graphics = plan.pipeline(dispatch.pipeline);
    let graphics = graphics.and_then(|pipeline| pipeline.graphics.as_ref());
    let graphics = graphics.ok_or_else(|| failed("the pipeline draws nothing"))?;
    let targets = targets(compiled, graphics, memory)?;
    let made = match drawn {
        Drawn::Clear(_) => DrawnResources::default(),
        Drawn::Draw(_) => bound(compiled, dispatch, memory, samples)?,
    };
    let mut parts = Parts {
        buffers: made.buffers(),
        pass: pass(&targets, drawn)?,
        pipelines: Vec::new(),
    };
    let (vertex_data, push);
    if let Drawn::Draw(what) = drawn {
        vertex_data = VertexData::of(compiled, graphics, what, memory)?;
        push = pushed(compiled, dispatch, memory)?;
        parts.draw(graphics, &targets, &made, (&vertex_data, &push))?;
    }
    let programs = [&compiled.programs, &compiled.fragments].map(|all| {
        let program = all.get(dispatch.pipeline.0);
        program.map_or(&[][..], Vec::as_slice)
    });
    let mut images = targets.images();
    let first = images.len();
    images.extend(made.images());
    let mut views = (0..first)
        .map(|place| targets.view(place))
        .collect::<Vec<View>>();
    views.extend(made.views(first));
    let mut results: Vec<Readback> = (0..first)
        .map(|place| whole(ImageId(place as u32)))
        .collect();
    results.extend(made.results(first));
    let drawing = Drawing {
        name: &compiled.path,
        limit_ms: u32::try_from(compiled.limit.as_millis()).unwrap_or(u32::MAX),
        dump: false,
        programs: programs.to_vec(),
        buffers: parts.buffers,
        images,
        views,
        samplers: made.samplers(),
        sets: made.sets(first),
        pipelines: parts.pipelines,
        queries: Vec::new(),
        steps: vec![Step::Pass(Box::new(parts.pass))],
        results,
        frames: Vec::new(),
    };
    let mut saved = player.play(&drawing)?.into_iter();
    for target in targets.colors.iter().chain(&targets.depth) {
        let bytes = saved.next().map_or(Vec::new(), |saved| saved.bytes);
        if let Some(host) = memory.get_mut(target.id) {
            host.bytes = bytes;
            host.size = targets.size;
        }
    }
    made.put_back(saved.map(|saved| saved.bytes), memory);
    Ok(())
}

pub(crate) fn failed(text: &str) -> DeviceError {
    DeviceError::Failed(text.to_owned())
}

pub(crate) fn lacks(text: &str) -> DeviceError {
    DeviceError::Lacks(text.to_owned())
}

/// All layers and levels of an image of one.
fn whole(image: ImageId) -> Readback {
    Readback::Image {
        image,
        aspect: Aspect::Color,
        level: 0,
        layer: 0,
        layers: 1,
    }
}

/// The attachments of a pipeline with what host bytes hold.
fn targets(
    compiled: &Compiled,
    graphics: &Graphics,
    memory: &Memory,
) -> Result<Targets, DeviceError> {
    let size = graphics.framebuffer;
    if !graphics.resolves.is_empty() {
        return Err(lacks("graphics: resolves"));
    }
    let target = |id: BufferId| {
        let buffer = compiled.plan.buffer(id);
        let buffer = buffer.ok_or_else(|| failed("an attachment is missing"))?;
        let format = buffer.ty.format_name();
        let format = format.ok_or_else(|| failed("an attachment has no format"))?;
        if buffer.samples > 1 {
            return Err(lacks("graphics: multisampled attachments"));
        }
        let texels = u64::from(size.0).saturating_mul(size.1.into());
        let bytes = texels.saturating_mul(buffer.element.stride as u64);
        let host = memory.get(id).map_or(&[][..], |host| &host.bytes);
        let mut bytes = Vec::from(host.get(..bytes as usize).unwrap_or(host));
        // What nothing has written is zero.
        bytes.resize(texels as usize * buffer.element.stride, 0);
        Ok(Target {
            id,
            format: format.to_ascii_lowercase(),
            bytes,
        })
    };
    let colors = graphics
        .colors
        .iter()
        .map(|color| match color.base_mip_level {
            0 => target(color.buffer),
            _ => Err(lacks("graphics: attachments of other levels")),
        });
    let depth = graphics.depth_stencil.map(target).transpose()?;
    if depth.as_ref().is_some_and(|it| it.format.contains("s8")) {
        return Err(lacks("graphics: stencil"));
    }
    let colors = colors.collect::<Result<Vec<_>, _>>()?;
    Ok(Targets {
        colors,
        depth,
        size,
    })
}

impl Targets {
    fn all(&self) -> impl Iterator<Item = &Target> {
        self.colors.iter().chain(&self.depth)
    }

    fn images(&self) -> Vec<Image<'_>> {
        let images = self.all().map(|target| Image {
            kind: ImageType::D2,
            format: target.format.clone(),
            extent: [self.size.0, self.size.1, 1],
            levels: 1,
            layers: 1,
            samples: 1,
            mutable: false,
            attachment: true,
            init: vec![ImageData {
                aspect: Aspect::Color,
                level: 0,
                layer: 0,
                layers: 1,
                data: &target.bytes,
            }],
        });
        images.collect()
    }

    fn view(&self, place: usize) -> View {
        let format = self.all().nth(place).map(|target| target.format.clone());
        View {
            image: ImageId(place as u32),
            kind: ViewType::D2,
            format: format.unwrap_or_default(),
            aspect: None,
            level: 0,
            levels: 1,
            layer: 0,
            layers: 1,
            swizzle: Swizzle::default(),
        }
    }

    fn area(&self) -> Rect {
        Rect {
            x: 0,
            y: 0,
            width: self.size.0,
            height: self.size.1,
        }
    }
}

/// The pass of a draw or a clear, without what is drawn.
fn pass(targets: &Targets, drawn: &Drawn) -> Result<Pass<'static>, DeviceError> {
    let (load, values) = match drawn {
        Drawn::Clear(values) => (LoadOp::Clear, *values),
        Drawn::Draw(_) => (LoadOp::Load, ClearValues::default()),
    };
    let attachment = |place: usize, clear| Attachment {
        view: ViewId(place as u32),
        load,
        store: StoreOp::Store,
        clear,
        resolve: None,
    };
    let colors = targets.colors.iter().enumerate().map(|(place, target)| {
        let color = color_of(target, values.color)?;
        Ok(Some(attachment(place, ClearValue::Color(color))))
    });
    let depth = targets.depth.as_ref().map(|_| {
        let clear = ClearValue::Depth(values.depth as f32);
        attachment(targets.colors.len(), clear)
    });
    Ok(Pass {
        colors: colors.collect::<Result<_, DeviceError>>()?,
        depth,
        stencil: None,
        area: targets.area(),
        layers: 1,
        view_mask: 0,
        samples: 1,
        commands: Vec::new(),
    })
}

/// A colour from 0 to 1 as a format has it.
fn color_of(target: &Target, color: [f32; 4]) -> Result<Color, DeviceError> {
    let is = |encoding: &str| target.format.contains(encoding);
    Ok(match (is("uint"), is("sint")) {
        (false, false) => Color::Float(color),
        // Of integers 0 alone means something.
        (true, _) if color == [0.0; 4] => Color::Uint([0; 4]),
        (_, true) if color == [0.0; 4] => Color::Int([0; 4]),
        _ => return Err(lacks("graphics: clear values of integers")),
    })
}

/// What both shaders of a pipeline see.
fn bound(
    compiled: &Compiled,
    dispatch: &Dispatch,
    memory: &Memory,
    samples: &Samples,
) -> Result<DrawnResources, DeviceError> {
    let mut rows: Vec<Binding> = Vec::new();
    let mut arch = None;
    for programs in [&compiled.programs, &compiled.fragments] {
        let bytes = programs.get(dispatch.pipeline.0);
        let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else {
            continue;
        };
        let program = GraphicsProgram::parse(bytes);
        let program = program.map_err(|error| DeviceError::Failed(error.to_string()))?;
        arch = Some(program.common().arch());
        for row in program.common().bindings() {
            let known = rows
                .iter_mut()
                .find(|known| (known.set, known.binding) == (row.set, row.binding));
            match known {
                Some(known) => {
                    known.count = known.count.max(row.count);
                    known.min_bytes = known.min_bytes.max(row.min_bytes);
                    if row.access == Access::ReadWrite {
                        known.access = Access::ReadWrite;
                    }
                }
                None => rows.push(row),
            }
        }
    }
    let arch = arch.ok_or_else(|| failed("the pipeline has no shader"))?;
    let rows = Rows {
        bindings: &rows,
        arch,
    };
    let found = resources::of(&compiled.plan, &rows, dispatch, memory, samples)?;
    let samplers = |place: (u32, u32, u32)| {
        let mut all = dispatch.samplers.iter();
        let bound = all.find(|it| (it.set, it.binding, it.index as u32) == place);
        let sampler = bound.and_then(|bound| compiled.plan.sampler(bound.sampler));
        sampler.map(sampler::drawn)
    };
    drawn_resources::of(found, &rows, samplers)
}

/// The push constants of a pipeline.
fn pushed(
    compiled: &Compiled,
    dispatch: &Dispatch,
    memory: &Memory,
) -> Result<Vec<u8>, DeviceError> {
    let buffer = dispatch.push_constants.and_then(|id| memory.get(id));
    let mut bytes = buffer.map_or(Vec::new(), |buffer| buffer.bytes.clone());
    let mut most = 0;
    for programs in [&compiled.programs, &compiled.fragments] {
        let program = programs.get(dispatch.pipeline.0);
        if let Some(bytes) = program.filter(|bytes| !bytes.is_empty()) {
            let program = GraphicsProgram::parse(bytes);
            let program = program.map_err(|error| DeviceError::Failed(error.to_string()))?;
            most = most.max(program.common().push_constant_bytes() as usize);
        }
    }
    bytes.resize(most.next_multiple_of(4), 0);
    Ok(bytes)
}

/// What of a drawing depends on what is drawn.
struct Parts<'p> {
    buffers: Vec<Buffer<'p>>,
    pass: Pass<'p>,
    pipelines: Vec<Pipeline>,
}

impl<'p> Parts<'p> {
    fn draw(
        &mut self,
        graphics: &Graphics,
        targets: &Targets,
        made: &DrawnResources,
        (data, push): (&'p VertexData, &'p [u8]),
    ) -> Result<(), DeviceError> {
        let first = self.buffers.len() as u32;
        let buffers = data.buffers.iter().map(|data| Buffer {
            // A buffer of no bytes there is not.
            bytes: (data.len() as u64).max(16).next_multiple_of(16),
            data,
        });
        self.buffers.extend(buffers);
        let offsets = data.offsets.iter().copied();
        let vertex_buffers = (0_u32..)
            .zip(offsets)
            .map(|(binding, offset)| VertexBuffer {
                binding,
                buffer: DrawnBuffer(first + binding),
                offset,
            });
        let vertex_buffers: Vec<VertexBuffer> = vertex_buffers.collect();
        let vertices = match data.indices {
            None => Vertices::Plain {
                count: data.count,
                first: u32::try_from(data.first).unwrap_or(0),
            },
            Some(kind) => Vertices::Indexed {
                buffer: DrawnBuffer(first + vertex_buffers.len() as u32),
                kind,
                offset: 0,
                count: data.count,
                first: 0,
                vertex_offset: data.first,
            },
        };
        let (width, height) = targets.size;
        let viewport = match graphics.state.viewport {
            None => Viewport::from([0.0, 0.0, width as f32, height as f32, 0.0, 1.0]),
            Some(it) => {
                let [x, y] = it.origin.map(|it| it as f32);
                let [width, height] = it.size.map(|it| it as f32);
                let [near, far] = it.depth.map(|it| it as f32);
                Viewport::from([x, y, width, height, near, far])
            }
        };
        let draw = Draw {
            using: Using {
                pipeline: PipelineId(0),
                sets: (0..made.set_count()).map(SetId).collect(),
                push,
            },
            viewports: vec![viewport],
            scissors: vec![targets.area()],
            vertex_buffers,
            instances: data.instances,
            first_instance: data.first_instance,
            vertices,
            repeat: 1,
            repeat_push_offset: None,
        };
        self.pass.commands = vec![PassCommand::Draw(Box::new(draw))];
        let pipeline = pipeline(graphics, targets, data)?;
        if let Some(what) = eitri_player::unsupported(&pipeline) {
            return Err(DeviceError::Lacks(format!("graphics: {what}")));
        }
        self.pipelines = vec![Pipeline::Graphics(Box::new(pipeline))];
        Ok(())
    }
}

fn pipeline(
    graphics: &Graphics,
    targets: &Targets,
    data: &VertexData,
) -> Result<GraphicsPipeline, DeviceError> {
    let state = &graphics.state;
    if !state.named.is_empty() {
        return Err(lacks("graphics: state of VkScript"));
    }
    Ok(GraphicsPipeline {
        vertex: ProgramId(0),
        fragment: Some(ProgramId(1)),
        colors: targets
            .colors
            .iter()
            .map(|target| Some(target.format.clone()))
            .collect(),
        depth_format: targets.depth.as_ref().map(|target| target.format.clone()),
        stencil_format: None,
        vertex_bindings: data.bindings.clone(),
        attributes: data.attributes.clone(),
        topology: data.topology,
        restart: false,
        raster: Raster {
            polygon: word(state.polygon_mode.text()).unwrap_or_default(),
            depth_clamp: state.depth_clamp,
            depth_bias: state.depth_bias.map(|bias| DepthBias {
                constant: bias.constant as f32,
                clamp: bias.clamp as f32,
                slope: bias.slope as f32,
            }),
            ..Raster::default()
        },
        multisample: Multisample::default(),
        depth: targets.depth.as_ref().map(|_| DepthTest {
            test: state.depth_test,
            write: state.depth_write,
            compare: word(state.depth_compare.text()).unwrap_or_default(),
        }),
        stencil: None,
        blend: blend(state, targets.colors.len())
            .ok_or_else(|| lacks("graphics: advanced blending"))?,
    })
}

/// How a pipeline with so many colours mixes them; `None` if it is by an operation that there is no word for.
pub fn blend(state: &eitri_amber::script::FixedState, colors: usize) -> Option<Blend> {
    let own = match state.blend {
        None => None,
        Some(blend) => {
            use eitri_amber::script::BlendOperation as Operation;
            let equation = |[new, old]: [eitri_amber::script::BlendFactor; 2], operation| {
                let operation = match operation {
                    Operation::Add => BlendOp::Add,
                    Operation::Subtract => BlendOp::Subtract,
                    Operation::ReverseSubtract => BlendOp::ReverseSubtract,
                    Operation::Min => BlendOp::Min,
                    Operation::Max => BlendOp::Max,
                    _ => return None,
                };
                Some(BlendEquation(
                    word(new.text())?,
                    word(old.text())?,
                    operation,
                ))
            };
            Some(BlendAttachment {
                color: Some(equation(blend.color_factors, blend.color)?),
                alpha: Some(equation(blend.alpha_factors, blend.alpha)?),
                write: WriteMask::default(),
            })
        }
    };
    Some(Blend {
        attachments: (0..colors).filter_map(|_| own).collect(),
        ..Blend::default()
    })
}

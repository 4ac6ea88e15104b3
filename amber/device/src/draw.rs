//! Draws and clears: each as a drawing of its own, which begins with what host bytes hold and gives back what was written.
//!
//! Facts: the language reference, 9.2 to 9.4, 10 and 12.1.

use crate::DeviceError;
use crate::drawn_resources::{self, DrawnResources};
use crate::resources::{self, Rows, Samples};
use crate::targets::{self, Target, Targets};
use crate::vertex_data::{VertexData, word};
use crate::{Compiled, sampler};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use eitri_amber::Word;
use eitri_amber::plan::Graphics;
use eitri_amber::run::{Dispatch, Drawn, Memory};
use eitri_drawing::state::{
    Blend, BlendAttachment, BlendEquation, BlendOp, DepthBias, DepthTest, Multisample, Raster,
    StencilFace, StencilTest, Viewport, WriteMask,
};
use eitri_drawing::{
    Buffer, BufferId as DrawnBuffer, Draw, Drawing, GraphicsPipeline, Pass, PassCommand, Pipeline,
    PipelineId, ProgramId, SetId, Step, Using, VertexBuffer, Vertices,
};
use eitri_job::Saved;
use eitri_program::{Access, Binding, GraphicsProgram};

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
    let targets = Targets::of(plan, graphics, memory)?;
    let made = match drawn {
        Drawn::Clear(_) => DrawnResources::default(),
        Drawn::Draw(_) => bound(compiled, dispatch, memory, samples)?,
    };
    let mut parts = Parts {
        buffers: made.buffers(),
        pass: targets.pass(drawn)?,
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
    let first = targets.count();
    images.extend(made.images());
    let mut views = targets.views();
    views.extend(made.views(first));
    let mut results = targets.results();
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
        wanted: Vec::new(),
        frames: Vec::new(),
    };
    let saved = player.play(&drawing)?.into_iter();
    let mut saved = saved.map(|saved| saved.bytes);
    targets.put_back(&mut saved, memory);
    made.put_back(saved, memory);
    Ok(())
}

pub(crate) fn failed(text: &str) -> DeviceError {
    DeviceError::Failed(text.to_owned())
}

pub(crate) fn lacks(text: &str) -> DeviceError {
    DeviceError::Lacks(text.to_owned())
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
    let depth = targets.depth.as_ref();
    Ok(GraphicsPipeline {
        vertex: ProgramId(0),
        fragment: Some(ProgramId(1)),
        colors: targets
            .colors
            .iter()
            .map(|target| Some(target.format.clone()))
            .collect(),
        depth_format: targets::format_of(depth, Target::has_depth),
        stencil_format: targets::format_of(depth, Target::has_stencil),
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
        multisample: Multisample {
            samples: targets.samples(),
            ..Multisample::default()
        },
        depth: depth
            .filter(|target| target.has_depth())
            .map(|_| DepthTest {
                test: state.depth_test,
                write: state.depth_write,
                compare: word(state.depth_compare.text()).unwrap_or_default(),
            }),
        stencil: state.stencil_test.then(|| {
            let [front, back] = state.stencil.map(stencil_face);
            StencilTest {
                front,
                back: Some(back),
            }
        }),
        blend: blend(state, targets.colors.len())
            .ok_or_else(|| lacks("graphics: advanced blending"))?,
    })
}

/// Blend state of a pipeline with `colors` attachments; `None` if its blend operation can't be expressed.
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

fn stencil_face(face: eitri_amber::script::StencilFace) -> StencilFace {
    // The words are Vulkan's in both.
    let op = |op: eitri_amber::script::StencilOperation| word(op.text()).unwrap_or_default();
    StencilFace {
        fail: op(face.fail),
        depth_fail: op(face.depth_fail),
        pass: op(face.pass),
        compare: word(face.compare.text()).unwrap_or_default(),
        compare_mask: face.compare_mask,
        write_mask: face.write_mask,
        reference: face.reference,
    }
}

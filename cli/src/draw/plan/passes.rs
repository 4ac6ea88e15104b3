//! Passes of a scene: attachments, and the draws within.

use super::super::lack::Lack;
use super::super::shaders;
use super::resources::view_id;
use super::{Pipelines, buffer_id, query_id, steps, subpasses};
use eitri_draw_scenes::{self as scenes, Color, Rect, SceneFile, Viewport};
use eitri_drawing::state::{Blend, BlendAttachment, WriteMask};
use eitri_drawing::{
    Attachment, AttachmentClear, ClearRect, ClearValue, Draw, GraphicsPipeline, Indirect, Pass,
    PassCommand, PassPart, Pipeline, PipelineId, Step, Using, VertexBuffer, Vertices,
};
use eitri_shaderc::color_state::InputPlace;

/// What the draws of a pass have of its attachments.
pub(super) struct Targets {
    pub(super) colors: Colors,
    pub(super) depth: Option<String>,
    pub(super) stencil: Option<String>,
    /// Draws may test depth and stencil; otherwise they are there for other parts of the pass.
    pub(super) has_tests: bool,
    pub(super) size: [u32; 2],
    /// Samples where there are no attachments.
    pub(super) samples: u32,
}

/// The colours that draws have.
#[derive(Clone, Default, PartialEq)]
pub(in super::super) struct Colors {
    /// By target.
    pub(in super::super) formats: Vec<Option<String>>,
    /// The target of each location; empty if each is the target of its number.
    pub(in super::super) locations: Vec<Option<u8>>,
    /// The attachment of the pass that each input attachment is.
    pub(in super::super) inputs: Vec<Option<InputPlace>>,
}

impl Colors {
    /// Blend state of a pipeline, in the order of the targets.
    pub(in super::super) fn placed(&self, blend: &Blend) -> Blend {
        let mut placed = blend.clone();
        if self.locations.is_empty() {
            return placed;
        }
        placed.attachments = self.formats.iter().map(|_| WRITTEN).collect();
        for (target, own) in self.locations.iter().zip(&blend.attachments) {
            let place = target.and_then(|it| placed.attachments.get_mut(usize::from(it)));
            if let Some(place) = place {
                *place = *own;
            }
        }
        placed
    }
}

/// A colour that is written as it comes.
const WRITTEN: BlendAttachment = BlendAttachment {
    color: None,
    alpha: None,
    write: WriteMask(0xF),
};

/// A pass as a step of a drawing.
pub(super) fn pass<'s>(
    pipelines: &mut Pipelines<'s>,
    pass: &'s scenes::Pass,
) -> Result<Step<'s>, Lack> {
    let scene = pipelines.scene;
    let targets = targets(scene, pass);
    let commands = pass.draws.iter();
    let commands: Result<Vec<PassCommand<'s>>, Lack> = commands
        .filter_map(|it| command(pipelines, it, &targets).transpose())
        .collect();
    let color = |it: &scenes::Attachment| {
        let clear = it.clear.unwrap_or(Color::Float([0.0; 4]));
        attachment(scene, it, ClearValue::Color(clear))
    };
    let colors = pass.color.iter();
    let colors = colors.map(|it| it.as_ref().map(color).transpose());
    let depth = |it: &scenes::Attachment| {
        attachment(scene, it, ClearValue::Depth(it.clear_depth.unwrap_or(0.0)))
    };
    let stencil = |it: &scenes::Attachment| {
        let clear = it.clear_stencil.unwrap_or(0);
        attachment(scene, it, ClearValue::Stencil(clear))
    };
    let [width, height] = targets.size;
    Ok(Step::Pass(Box::new(Pass {
        colors: colors.collect::<Result<_, _>>()?,
        depth: pass.depth.as_ref().map(depth).transpose()?,
        stencil: pass.stencil.as_ref().map(stencil).transpose()?,
        area: pass.area.unwrap_or(Rect {
            x: 0,
            y: 0,
            width,
            height,
        }),
        layers: pass.layers,
        view_mask: pass.view_mask,
        samples: targets.samples,
        part: PassPart {
            resuming: pass.resuming,
            suspending: pass.suspending,
        },
        commands: commands?,
    })))
}

/// The pipelines that draw in a scene's passes, with the formats of the colours there.
pub(in super::super) fn drawn(scene: &SceneFile) -> Vec<(&str, Colors)> {
    let mut found = vec![];
    for step in &scene.steps {
        let pass = match step {
            scenes::Step::Pass(pass) => pass,
            scenes::Step::Subpasses(pass) => {
                found.extend(subpasses::drawn(scene, pass));
                continue;
            }
            _ => continue,
        };
        let colors = targets(scene, pass).colors;
        for draw in &pass.draws {
            if let scenes::PassStep::Draw(draw) = draw {
                found.push((draw.pipeline.as_str(), colors.clone()));
            }
        }
    }
    found
}

/// Formats and size of what a pass draws on.
fn targets(scene: &SceneFile, pass: &scenes::Pass) -> Targets {
    let colors = pass.color.iter().flatten();
    let mut all = colors.chain(&pass.depth).chain(&pass.stencil);
    // Without attachments the area and the draws say it.
    let end = |start: i32, length: u32| u32::try_from(start).unwrap_or(0).saturating_add(length);
    let area = pass.area;
    let area = area.map(|it| [end(it.x, it.width), end(it.y, it.height)]);
    let mut draws = pass.draws.iter().filter_map(|step| match step {
        scenes::PassStep::Draw(draw) => scene.pipeline(&draw.pipeline),
        _ => None,
    });
    let formats = pass.color.iter();
    let size = all.find_map(|it| size(scene, it));
    Targets {
        has_tests: true,
        samples: draws
            .next()
            .map_or(1, |pipeline| pipeline.multisample.samples),
        colors: Colors {
            formats: formats.map(|it| format(scene, it.as_ref()?)).collect(),
            ..Colors::default()
        },
        depth: pass.depth.as_ref().and_then(|it| format(scene, it)),
        stencil: pass.stencil.as_ref().and_then(|it| format(scene, it)),
        size: size.or(area).unwrap_or_default(),
    }
}

/// The format that an attachment is seen in.
pub(super) fn format(scene: &SceneFile, attachment: &scenes::Attachment) -> Option<String> {
    let view = scene.view(&attachment.view)?;
    let image = scene.image(&view.image)?;
    Some(view.format.clone().unwrap_or_else(|| image.format.clone()))
}

/// Width and height of an attachment.
pub(super) fn size(scene: &SceneFile, attachment: &scenes::Attachment) -> Option<[u32; 2]> {
    let view = scene.view(&attachment.view)?;
    let [width, height, _] = scene.image(&view.image)?.extent_of(view.level);
    Some([width, height])
}

pub(super) fn attachment(
    scene: &SceneFile,
    attachment: &scenes::Attachment,
    clear: ClearValue,
) -> Result<Attachment, Lack> {
    let resolve = attachment.resolve.as_deref();
    let resolve = resolve.map(|view| Ok((view_id(scene, view)?, attachment.resolve_mode)));
    Ok(Attachment {
        view: view_id(scene, &attachment.view)?,
        load: attachment.load,
        store: attachment.store,
        clear,
        resolve: resolve.transpose()?,
    })
}

pub(super) fn command<'s>(
    pipelines: &mut Pipelines<'s>,
    command: &'s scenes::PassStep,
    targets: &Targets,
) -> Result<Option<PassCommand<'s>>, Lack> {
    let scene = pipelines.scene;
    Ok(Some(match command {
        // Vertices alone leave nothing behind: their shaders don't store.
        scenes::PassStep::Draw(draw) if discards(scene, draw) => return Ok(None),
        scenes::PassStep::Draw(draw) => {
            let draw = self::draw(pipelines, draw, targets)?;
            PassCommand::Draw(Box::new(draw))
        }
        scenes::PassStep::ClearAttachments(clear) => clears(clear),
        scenes::PassStep::BeginQuery(it) => PassCommand::BeginQuery(query_id(scene, &it.query)?),
        scenes::PassStep::EndQuery(it) => PassCommand::EndQuery(query_id(scene, &it.query)?),
    }))
}

/// Whether a draw's primitives are discarded before they are rasterised.
fn discards(scene: &SceneFile, draw: &scenes::Draw) -> bool {
    let pipeline = scene.pipeline(&draw.pipeline);
    pipeline.is_some_and(|pipeline| pipeline.raster.discard)
}

fn draw<'s>(
    pipelines: &mut Pipelines<'s>,
    draw: &'s scenes::Draw,
    targets: &Targets,
) -> Result<Draw<'s>, Lack> {
    let scene = pipelines.scene;
    let [width, height] = targets.size;
    let whole = Rect {
        x: 0,
        y: 0,
        width,
        height,
    };
    let viewport = Viewport::from([0.0, 0.0, width as f32, height as f32, 0.0, 1.0]);
    let viewports = draw.viewports.clone().unwrap_or_else(|| vec![viewport]);
    let scissors = draw.scissors.clone().unwrap_or_else(|| vec![whole]);
    if viewports.len() > 1 || scissors.len() > 1 {
        return Err(Lack::Feature("multiViewport".to_owned()));
    }
    let vertices = match (&draw.index, draw.vertices, draw.indices) {
        (_, Some(count), _) => Vertices::Plain {
            count,
            first: draw.first_vertex,
        },
        (Some(index), None, Some(count)) => Vertices::Indexed {
            buffer: buffer_id(scene, &index.buffer)?,
            kind: index.kind,
            offset: index.offset,
            count,
            first: draw.first_index,
            vertex_offset: draw.vertex_offset,
        },
        // Nothing else is read but one with parameters in a buffer.
        _ => indirect(scene, draw)?,
    };
    let vertex_buffers = draw.vertex_buffers.iter();
    let vertex_buffers = vertex_buffers.map(|it| {
        Ok(VertexBuffer {
            binding: it.binding,
            buffer: buffer_id(scene, &it.buffer)?,
            offset: it.offset,
        })
    });
    Ok(Draw {
        using: Using {
            pipeline: pipelines.graphics(&draw.pipeline, targets)?,
            sets: steps::sets(scene, &draw.pipeline, draw.sets.as_deref())?,
            push: &draw.push,
        },
        viewports,
        scissors,
        vertex_buffers: vertex_buffers.collect::<Result<_, _>>()?,
        instances: draw.instances,
        first_instance: draw.first_instance,
        vertices,
        repeat: draw.repeat,
        repeat_push_offset: draw.repeat_push_offset,
    })
}

/// Vertices and instances as a buffer says.
fn indirect(scene: &SceneFile, draw: &scenes::Draw) -> Result<Vertices, Lack> {
    let indirect = draw.indirect.as_ref();
    let indirect = indirect.ok_or_else(|| Lack::not_yet("a draw of nothing"))?;
    let count = indirect.count_buffer.as_deref();
    let count = count.map(|name| Ok((buffer_id(scene, name)?, indirect.count_offset)));
    let indices = draw.index.as_ref();
    let indices = indices.map(|it| Ok((buffer_id(scene, &it.buffer)?, it.kind, it.offset)));
    Ok(Vertices::Indirect {
        draws: Indirect {
            buffer: buffer_id(scene, &indirect.buffer)?,
            offset: indirect.offset,
            draws: indirect.draws,
            stride: indirect.stride,
            count: count.transpose()?,
        },
        indices: indices.transpose()?,
    })
}

/// Clears within a pass.
fn clears(clear: &scenes::ClearAttachments) -> PassCommand<'static> {
    let attachments = clear.attachments.iter().flat_map(|it| {
        // There are at most 8.
        let index = it.index as u32;
        let values = [
            it.clear.map(ClearValue::Color),
            it.depth.map(ClearValue::Depth),
            it.stencil.map(ClearValue::Stencil),
        ];
        let values = values.into_iter().flatten();
        values.map(move |value| AttachmentClear { index, value })
    });
    let rects = clear.rects.iter().map(|it| ClearRect {
        rect: it.rect,
        layer: it.layer,
        layers: it.layers,
    });
    PassCommand::Clear(attachments.collect(), rects.collect())
}

impl Pipelines<'_> {
    /// The pipeline of a name, for draws on such attachments.
    fn graphics(&mut self, name: &str, targets: &Targets) -> Result<PipelineId, Lack> {
        let pipeline = self.scene.pipeline(name);
        let arch = self.arch;
        let programs = pipeline.map_or(&[][..], |pipeline| {
            let colors = shaders::colors(arch, pipeline, &targets.colors);
            self.programs.of(pipeline, &colors)
        });
        let (Some(pipeline), [vertex, fragment @ ..]) = (pipeline, programs) else {
            return Err(Lack::not_yet(format!("pipeline {name}")));
        };
        let made = GraphicsPipeline {
            vertex: *vertex,
            fragment: fragment.first().copied(),
            colors: targets.colors.formats.clone(),
            depth_format: targets.depth.clone(),
            stencil_format: targets.stencil.clone(),
            vertex_bindings: pipeline.vertex_bindings.clone(),
            attributes: pipeline.attributes.clone(),
            topology: pipeline.topology,
            restart: pipeline.restart,
            raster: pipeline.raster,
            multisample: pipeline.multisample,
            depth: pipeline.depth.filter(|_| targets.has_tests),
            stencil: pipeline.stencil.filter(|_| targets.has_tests),
            blend: targets.colors.placed(&pipeline.blend),
        };
        if let Some(what) = eitri_player::unsupported(&made) {
            return Err(Lack::not_yet(what));
        }
        Ok(self.put(Pipeline::Graphics(Box::new(made))))
    }
}

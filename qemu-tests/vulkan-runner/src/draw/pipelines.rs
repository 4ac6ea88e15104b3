//! Pipelines, made when a pass first draws with them: what they draw into is the pass's.

use super::formats;
use super::objects::{Objects, named};
use crate::device::{Device, Error, Named};
use ash::vk;
use eitri_draw_scenes as scene;
use scene::Scene;
use std::collections::BTreeMap;
use std::ffi::CString;

/// What a pipeline draws into.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Targets {
    /// Formats of colour attachments.
    pub(super) colors: Vec<vk::Format>,
    pub(super) depth: vk::Format,
    pub(super) stencil: vk::Format,
    pub(super) view_mask: u32,
    /// The part of a pass of several parts.
    pub(super) subpass: Option<(vk::RenderPass, u32)>,
}

/// A pipeline with its layout.
#[derive(Clone, Copy)]
pub(super) struct Made {
    pub(super) layout: vk::PipelineLayout,
    pub(super) pipeline: vk::Pipeline,
    pub(super) point: vk::PipelineBindPoint,
    /// The stages that see push constants.
    pub(super) stages: vk::ShaderStageFlags,
}

/// The pipelines of a scene.
pub(super) struct Pipelines<'s> {
    device: &'s Device,
    scene: &'s Scene,
    objects: &'s Objects,
    optimised: bool,
    made: BTreeMap<(String, Targets), Made>,
}

/// A shader of a pipeline with its specialisation constants.
struct Shader {
    stage: vk::ShaderStageFlags,
    module: vk::ShaderModule,
    entry: CString,
    entries: Vec<vk::SpecializationMapEntry>,
    data: Vec<u8>,
}

impl<'s> Pipelines<'s> {
    pub(super) fn new(
        device: &'s Device,
        scene: &'s Scene,
        objects: &'s Objects,
        optimised: bool,
    ) -> Pipelines<'s> {
        Pipelines {
            device,
            scene,
            objects,
            optimised,
            made: BTreeMap::new(),
        }
    }

    /// The pipeline of a name, for these targets.
    pub(super) fn of(&mut self, name: &str, targets: &Targets) -> Result<Made, Error> {
        let key = (name.to_owned(), targets.clone());
        if let Some(made) = self.made.get(&key) {
            return Ok(*made);
        }
        let missing = || Error::Unknown(format!("`{name}`, which is missing"));
        let pipeline = self.scene.file.pipeline(name).ok_or_else(missing)?;
        let made = self.make(pipeline, targets)?;
        self.made.insert(key, made);
        Ok(made)
    }

    fn make(&self, pipeline: &scene::Pipeline, targets: &Targets) -> Result<Made, Error> {
        let shaders: Result<Vec<Shader>, Error> = pipeline
            .stages
            .iter()
            .map(|stage| self.shader(stage))
            .collect();
        let shaders = shaders?;
        let stages = shaders
            .iter()
            .fold(vk::ShaderStageFlags::empty(), |all, it| all | it.stage);
        let layout = self.layout(pipeline, stages)?;
        let constants: Vec<_> = shaders
            .iter()
            .map(|shader| {
                vk::SpecializationInfo::default()
                    .map_entries(&shader.entries)
                    .data(&shader.data)
            })
            .collect();
        let infos: Vec<_> = shaders
            .iter()
            .zip(&constants)
            .map(|(shader, constants)| {
                vk::PipelineShaderStageCreateInfo::default()
                    .stage(shader.stage)
                    .module(shader.module)
                    .name(&shader.entry)
                    .specialization_info(constants)
            })
            .collect();
        if stages == vk::ShaderStageFlags::COMPUTE {
            let [stage] = infos[..] else {
                return Err(Error::Unknown(
                    "a compute pipeline of two stages".to_owned(),
                ));
            };
            return self.compute(stage, layout);
        }
        let made = self.graphics(pipeline, targets, &infos, layout)?;
        Ok(Made {
            layout,
            pipeline: made,
            point: vk::PipelineBindPoint::GRAPHICS,
            stages,
        })
    }

    fn compute(
        &self,
        stage: vk::PipelineShaderStageCreateInfo<'_>,
        layout: vk::PipelineLayout,
    ) -> Result<Made, Error> {
        let create = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(layout);
        let cache = vk::PipelineCache::null();
        // SAFETY: see `objects`.
        let made = unsafe {
            let raw = &self.device.raw;
            raw.create_compute_pipelines(cache, &[create], None)
        };
        Ok(Made {
            layout,
            pipeline: first("vkCreateComputePipelines", made)?,
            point: vk::PipelineBindPoint::COMPUTE,
            stages: vk::ShaderStageFlags::COMPUTE,
        })
    }

    fn shader(&self, stage: &scene::PipelineStage) -> Result<Shader, Error> {
        let missing = || Error::Unknown(format!("`{}`, which is missing", stage.shader));
        let shader = self.scene.file.shader(&stage.shader).ok_or_else(missing)?;
        let unreadable = |error: &dyn std::fmt::Display| Error::Module(error.to_string());
        let bytes = self.scene.spirv(shader, self.optimised);
        let bytes = bytes.map_err(|error| unreadable(&error))?;
        let words = ash::util::read_spv(&mut std::io::Cursor::new(bytes));
        let words = words.map_err(|error| unreadable(&error))?;
        let create = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the words are SPIR-V that a front end wrote; see `objects`.
        let module = unsafe { self.device.raw.create_shader_module(&create, None) };
        let (mut entries, mut data) = (Vec::new(), Vec::new());
        for constant in &stage.spec {
            let entry = vk::SpecializationMapEntry::default()
                .constant_id(constant.id)
                .offset(data.len() as u32)
                .size(4);
            entries.push(entry);
            data.extend_from_slice(&constant.value.to_le_bytes());
        }
        Ok(Shader {
            stage: match shader.stage {
                scene::Stage::Vertex => vk::ShaderStageFlags::VERTEX,
                scene::Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
                scene::Stage::Compute => vk::ShaderStageFlags::COMPUTE,
            },
            module: module.named("vkCreateShaderModule")?,
            entry: CString::new(shader.entry.as_str()).map_err(|error| unreadable(&error))?,
            entries,
            data,
        })
    }

    fn layout(
        &self,
        pipeline: &scene::Pipeline,
        stages: vk::ShaderStageFlags,
    ) -> Result<vk::PipelineLayout, Error> {
        let layouts: Result<Vec<_>, Error> = pipeline
            .sets
            .iter()
            .map(|set| named(&self.objects.layouts, set).copied())
            .collect();
        let layouts = layouts?;
        let range = [vk::PushConstantRange::default()
            .stage_flags(stages)
            .size(pipeline.push_bytes.next_multiple_of(4))];
        let ranges = if pipeline.push_bytes == 0 {
            &[][..]
        } else {
            &range[..]
        };
        let create = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts)
            .push_constant_ranges(ranges);
        // SAFETY: see `objects`.
        let layout = unsafe { self.device.raw.create_pipeline_layout(&create, None) };
        layout.named("vkCreatePipelineLayout")
    }

    fn graphics(
        &self,
        of: &scene::Pipeline,
        targets: &Targets,
        stages: &[vk::PipelineShaderStageCreateInfo<'_>],
        layout: vk::PipelineLayout,
    ) -> Result<vk::Pipeline, Error> {
        refuse_unknown(of)?;
        let (bindings, attributes) = vertex_input(of)?;
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(formats::topology(of.topology))
            .primitive_restart_enable(of.restart);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewport_count(of.viewports)
            .scissor_count(of.viewports);
        let mut lines = vk::PipelineRasterizationLineStateCreateInfoEXT::default()
            .line_rasterization_mode(formats::line_mode(of.raster.line_mode));
        let mut raster = raster(&of.raster);
        if of.raster.line_mode != scene::LineMode::Default {
            raster = raster.push_next(&mut lines);
        }
        let mask = [of.multisample.mask];
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(formats::samples(of.multisample.samples))
            .sample_mask(&mask)
            .alpha_to_coverage_enable(of.multisample.alpha_to_coverage)
            .alpha_to_one_enable(of.multisample.alpha_to_one)
            .sample_shading_enable(of.multisample.min_sample_shading.is_some())
            .min_sample_shading(of.multisample.min_sample_shading.unwrap_or(0.0));
        let depth_stencil = depth_stencil(of);
        let attachments: Vec<_> = (0..targets.colors.len())
            .map(|index| formats::blend(of.blend.attachments.get(index)))
            .collect();
        let logic = of.blend.logic_op.map(formats::logic);
        let blend = vk::PipelineColorBlendStateCreateInfo::default()
            .logic_op_enable(logic.is_some())
            .logic_op(logic.unwrap_or_default())
            .attachments(&attachments)
            .blend_constants(of.blend.constants);
        let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&targets.colors)
            .depth_attachment_format(targets.depth)
            .stencil_attachment_format(targets.stencil)
            .view_mask(targets.view_mask);
        let create = vk::GraphicsPipelineCreateInfo::default()
            .stages(stages)
            .vertex_input_state(&vertex_input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth_stencil)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(layout);
        let create = match targets.subpass {
            Some((pass, number)) => create.render_pass(pass).subpass(number),
            None => create.push_next(&mut rendering),
        };
        let cache = vk::PipelineCache::null();
        // SAFETY: see `objects`.
        let made = unsafe {
            let raw = &self.device.raw;
            raw.create_graphics_pipelines(cache, &[create], None)
        };
        first("vkCreateGraphicsPipelines", made)
    }
}

/// The one pipeline that was asked for.
fn first(
    call: &'static str,
    made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
) -> Result<vk::Pipeline, Error> {
    let made = made.map_err(|(_, result)| Error::Call(call, result))?;
    let one = made.first().copied();
    one.ok_or(Error::Call(call, vk::Result::INCOMPLETE))
}

/// Refuses states that need extensions which this program does not ask for.
fn refuse_unknown(of: &scene::Pipeline) -> Result<(), Error> {
    let raster = &of.raster;
    let divisor = of.vertex_bindings.iter().any(|it| it.divisor != 1);
    let unknown = [
        (
            raster.provoking == scene::ProvokingVertex::Last,
            "the last provoking vertex",
        ),
        (
            raster.depth_clip == Some(raster.depth_clamp),
            "depth clipping apart from clamping",
        ),
        (divisor, "a divisor of instances"),
    ];
    match unknown.into_iter().find(|(asked, _)| *asked) {
        Some((_, what)) => Err(Error::Unknown(what.to_owned())),
        None => Ok(()),
    }
}

type VertexInput = (
    Vec<vk::VertexInputBindingDescription>,
    Vec<vk::VertexInputAttributeDescription>,
);

fn vertex_input(of: &scene::Pipeline) -> Result<VertexInput, Error> {
    let bindings = of.vertex_bindings.iter().map(|binding| {
        vk::VertexInputBindingDescription::default()
            .binding(binding.binding)
            .stride(binding.stride)
            .input_rate(match binding.rate {
                scene::VertexRate::Vertex => vk::VertexInputRate::VERTEX,
                scene::VertexRate::Instance => vk::VertexInputRate::INSTANCE,
            })
    });
    let attributes: Result<Vec<_>, Error> = of
        .attributes
        .iter()
        .map(|attribute| {
            let unknown = || Error::Unknown(format!("the format {}", attribute.format));
            Ok(vk::VertexInputAttributeDescription::default()
                .location(attribute.location)
                .binding(attribute.binding)
                .format(formats::format(&attribute.format).ok_or_else(unknown)?)
                .offset(attribute.offset))
        })
        .collect();
    Ok((bindings.collect(), attributes?))
}

fn raster(raster: &scene::Raster) -> vk::PipelineRasterizationStateCreateInfo<'static> {
    let bias = raster.depth_bias.unwrap_or_default();
    vk::PipelineRasterizationStateCreateInfo::default()
        .depth_clamp_enable(raster.depth_clamp)
        .rasterizer_discard_enable(raster.discard)
        .polygon_mode(formats::polygon(raster.polygon))
        .cull_mode(formats::cull(raster.cull))
        .front_face(match raster.front {
            scene::FrontFace::CounterClockwise => vk::FrontFace::COUNTER_CLOCKWISE,
            scene::FrontFace::Clockwise => vk::FrontFace::CLOCKWISE,
        })
        .depth_bias_enable(raster.depth_bias.is_some())
        .depth_bias_constant_factor(bias.constant)
        .depth_bias_clamp(bias.clamp)
        .depth_bias_slope_factor(bias.slope)
        .line_width(raster.line_width)
}

fn depth_stencil(of: &scene::Pipeline) -> vk::PipelineDepthStencilStateCreateInfo<'static> {
    let mut state = vk::PipelineDepthStencilStateCreateInfo::default();
    if let Some(depth) = &of.depth {
        state = state
            .depth_test_enable(depth.test)
            .depth_write_enable(depth.write)
            .depth_compare_op(formats::compare(depth.compare));
    }
    if let Some(stencil) = &of.stencil {
        let back = stencil.back.unwrap_or(stencil.front);
        state = state
            .stencil_test_enable(true)
            .front(formats::stencil(&stencil.front))
            .back(formats::stencil(&back));
    }
    state
}

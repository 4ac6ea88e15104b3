//! Recording: the steps of a scene in one command buffer, each behind a barrier for everything.

use super::formats;
use super::objects::{Objects, named};
use super::pipelines::{Made, Pipelines, Targets};
use crate::device::{Device, Error, Named};
use ash::vk;
use eitri_draw_scenes as scene;
use scene::{Scene, Step};
use std::time::{Duration, Instant};

/// A command buffer that is being recorded.
pub(super) struct Recorder<'s> {
    pub(super) device: &'s Device,
    pub(super) scene: &'s Scene,
    pub(super) objects: &'s Objects,
    pub(super) buffer: vk::CommandBuffer,
    pipelines: Pipelines<'s>,
}

impl<'s> Recorder<'s> {
    pub(super) fn begin(
        device: &'s Device,
        scene: &'s Scene,
        objects: &'s Objects,
        optimised: bool,
    ) -> Result<Recorder<'s>, Error> {
        let pool = vk::CommandPoolCreateInfo::default().queue_family_index(device.family);
        let begin = vk::CommandBufferBeginInfo::default();
        // SAFETY: see `objects`.
        let buffer = unsafe {
            let pool = device.raw.create_command_pool(&pool, None);
            let allocate = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool.named("vkCreateCommandPool")?)
                .command_buffer_count(1);
            let buffers = device.raw.allocate_command_buffers(&allocate);
            let buffers = buffers.named("vkAllocateCommandBuffers")?;
            let buffer = *buffers.first().ok_or(Error::NoMemory)?;
            let begun = device.raw.begin_command_buffer(buffer, &begin);
            begun.named("vkBeginCommandBuffer")?;
            buffer
        };
        Ok(Recorder {
            device,
            scene,
            objects,
            buffer,
            pipelines: Pipelines::new(device, scene, objects, optimised),
        })
    }

    /// Brings all images into the general layout, and sets queries back.
    pub(super) fn prepare(&self) {
        let to_general: Vec<_> = self
            .objects
            .images
            .values()
            .map(|image| {
                vk::ImageMemoryBarrier::default()
                    .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
                    .old_layout(vk::ImageLayout::UNDEFINED)
                    .new_layout(vk::ImageLayout::GENERAL)
                    .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .image(image.raw)
                    .subresource_range(image.whole())
            })
            .collect();
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let none = vk::DependencyFlags::empty();
        // SAFETY: see `objects`.
        unsafe {
            let raw = &self.device.raw;
            raw.cmd_pipeline_barrier(self.buffer, all, all, none, &[], &[], &to_general);
            for query in self.objects.queries.values() {
                raw.cmd_reset_query_pool(self.buffer, *query, 0, 1);
            }
        }
    }

    /// What was recorded is complete, and visible to everything, before what follows begins.
    pub(super) fn barrier(&self) {
        let everything = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let memory = vk::MemoryBarrier::default()
            .src_access_mask(everything)
            .dst_access_mask(everything | vk::AccessFlags::HOST_READ);
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let none = vk::DependencyFlags::empty();
        // SAFETY: see `objects`.
        unsafe {
            let raw = &self.device.raw;
            let after = all | vk::PipelineStageFlags::HOST;
            raw.cmd_pipeline_barrier(self.buffer, all, after, none, &[memory], &[], &[]);
        }
    }

    /// Records a step.
    pub(super) fn step(&mut self, step: &Step) -> Result<(), Error> {
        match step {
            Step::Pass(pass) => self.pass(pass)?,
            Step::Subpasses(passes) => self.subpasses(passes)?,
            Step::Dispatch(dispatch) => self.dispatch(dispatch)?,
            Step::BeginQuery(query) => self.begin_query(&query.query)?,
            Step::EndQuery(query) => self.end_query(&query.query)?,
            _ => self.transfer(step)?,
        }
        // Between the parts of a pass there is none.
        if !matches!(step, Step::Pass(pass) if pass.suspending) {
            self.barrier();
        }
        Ok(())
    }

    /// Ends the recording, runs it, and waits.
    pub(super) fn run(&self) -> Result<(), Error> {
        // SAFETY: see `objects`.
        let ended = unsafe { self.device.raw.end_command_buffer(self.buffer) };
        ended.named("vkEndCommandBuffer")?;
        self.device.run(self.buffer)
    }

    /// Runs once more what has run, and waits; how long it took. What is compiled at the first use is compiled by now.
    pub(super) fn run_again(&self) -> Result<Duration, Error> {
        let start = Instant::now();
        self.device.run(self.buffer)?;
        Ok(start.elapsed())
    }

    fn dispatch(&mut self, dispatch: &scene::Dispatch) -> Result<(), Error> {
        let sets = dispatch.sets.as_deref();
        let pipeline = self.bind(&dispatch.pipeline, &Targets::default(), sets)?;
        self.push(&pipeline, dispatch.push.clone());
        let [x, y, z] = dispatch.groups;
        // SAFETY: see `objects`; a pipeline is bound.
        unsafe { self.device.raw.cmd_dispatch(self.buffer, x, y, z) };
        Ok(())
    }

    /// Binds a pipeline with sets: these, or its own.
    pub(super) fn bind(
        &mut self,
        name: &str,
        targets: &Targets,
        sets: Option<&[String]>,
    ) -> Result<Made, Error> {
        let made = self.pipelines.of(name, targets)?;
        let own = self.scene.file.pipeline(name);
        let own = own.map_or(&[][..], |pipeline| &pipeline.sets);
        let sets: Result<Vec<_>, Error> = sets
            .unwrap_or(own)
            .iter()
            .map(|set| named(&self.objects.sets, set).copied())
            .collect();
        let sets = sets?;
        let (raw, buffer, layout) = (&self.device.raw, self.buffer, made.layout);
        // SAFETY: see `objects`.
        unsafe {
            raw.cmd_bind_pipeline(buffer, made.point, made.pipeline);
            if !sets.is_empty() {
                raw.cmd_bind_descriptor_sets(buffer, made.point, layout, 0, &sets, &[]);
            }
        }
        Ok(made)
    }

    pub(super) fn push(&self, pipeline: &Made, mut bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let (layout, stages) = (pipeline.layout, pipeline.stages);
        // SAFETY: see `objects`.
        unsafe {
            let raw = &self.device.raw;
            raw.cmd_push_constants(self.buffer, layout, stages, 0, &bytes);
        }
    }

    pub(super) fn begin_query(&self, name: &str) -> Result<(), Error> {
        let precise = self.scene.file.query(name).is_some_and(|it| it.precise);
        let flags = if precise {
            vk::QueryControlFlags::PRECISE
        } else {
            vk::QueryControlFlags::empty()
        };
        let pool = *named(&self.objects.queries, name)?;
        // SAFETY: see `objects`; the query was set back.
        unsafe { self.device.raw.cmd_begin_query(self.buffer, pool, 0, flags) };
        Ok(())
    }

    pub(super) fn end_query(&self, name: &str) -> Result<(), Error> {
        let pool = *named(&self.objects.queries, name)?;
        // SAFETY: see `objects`; the query was begun.
        unsafe { self.device.raw.cmd_end_query(self.buffer, pool, 0) };
        Ok(())
    }
}

/// Levels and layers of an image.
pub(super) fn range(
    aspect: vk::ImageAspectFlags,
    levels: std::ops::Range<u32>,
    layers: std::ops::Range<u32>,
) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: aspect,
        base_mip_level: levels.start,
        level_count: levels.end - levels.start,
        base_array_layer: layers.start,
        layer_count: layers.end - layers.start,
    }
}

/// Layers of a level.
pub(super) fn layers(
    aspect: scene::Aspect,
    level: u32,
    first: u32,
    count: u32,
) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: formats::aspect(aspect),
        mip_level: level,
        base_array_layer: first,
        layer_count: count,
    }
}

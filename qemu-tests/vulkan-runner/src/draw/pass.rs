//! Passes: attachments, draws, clears and queries within.

use super::formats;
use super::objects::named;
use super::pipelines::Targets;
use super::recorder::Recorder;
use crate::device::{Error, Named};
use ash::vk;
use eitri_draw_scenes as scene;
use scene::PassStep;

/// A pass that is open: what its draws need to know.
struct Open {
    targets: Targets,
    /// Width and height of the attachments.
    extent: [u32; 2],
    layers: u32,
}

impl Recorder<'_> {
    /// Format, width and height of what a view shows.
    fn shown(&self, view: &str) -> Result<(vk::Format, [u32; 2]), Error> {
        let missing = || Error::Unknown(format!("`{view}`, which is missing"));
        let view = self.scene.file.view(view).ok_or_else(missing)?;
        let image = self.scene.file.image(&view.image).ok_or_else(missing)?;
        let [width, height, _] = image.extent_of(view.level);
        let format = match &view.format {
            Some(name) => formats::format(name).ok_or_else(missing)?,
            None => named(&self.objects.images, &view.image)?.format,
        };
        Ok((format, [width, height]))
    }

    fn attachment(
        &self,
        attachment: &scene::Attachment,
    ) -> Result<vk::RenderingAttachmentInfo<'static>, Error> {
        let mut info = vk::RenderingAttachmentInfo::default()
            .image_view(*named(&self.objects.views, &attachment.view)?)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(formats::load_op(attachment.load))
            .store_op(formats::store_op(attachment.store))
            .clear_value(clear_value(attachment));
        if let Some(resolve) = &attachment.resolve {
            info = info
                .resolve_mode(formats::resolve_mode(attachment.resolve_mode))
                .resolve_image_view(*named(&self.objects.views, resolve)?)
                .resolve_image_layout(vk::ImageLayout::GENERAL);
        }
        Ok(info)
    }

    pub(super) fn pass(&mut self, pass: &scene::Pass) -> Result<(), Error> {
        let mut targets = Targets {
            view_mask: pass.view_mask,
            ..Targets::default()
        };
        let mut extent = None;
        let mut colors = Vec::new();
        for color in &pass.color {
            let Some(attachment) = color else {
                targets.colors.push(vk::Format::UNDEFINED);
                colors.push(vk::RenderingAttachmentInfo::default());
                continue;
            };
            let (format, size) = self.shown(&attachment.view)?;
            targets.colors.push(format);
            extent.get_or_insert(size);
            colors.push(self.attachment(attachment)?);
        }
        let mut depth_stencil = [None, None];
        let of = [&pass.depth, &pass.stencil];
        let formats = [&mut targets.depth, &mut targets.stencil];
        for ((info, of), target) in depth_stencil.iter_mut().zip(of).zip(formats) {
            if let Some(attachment) = of {
                let (format, size) = self.shown(&attachment.view)?;
                *target = format;
                extent.get_or_insert(size);
                *info = Some(self.attachment(attachment)?);
            }
        }
        let area = pass.area.map(formats::rect);
        let extent = extent.or(area.map(|area| [area.extent.width, area.extent.height]));
        let extent = extent.ok_or(Error::Unknown("a pass without a size".to_owned()))?;
        let mut info = vk::RenderingInfo::default()
            .render_area(area.unwrap_or(whole(extent)))
            .layer_count(pass.layers)
            .view_mask(pass.view_mask)
            .flags(parts_flags(pass))
            .color_attachments(&colors);
        let [depth, stencil] = &depth_stencil;
        if let Some(depth) = depth {
            info = info.depth_attachment(depth);
        }
        if let Some(stencil) = stencil {
            info = info.stencil_attachment(stencil);
        }
        // SAFETY: see `objects`; the buffer is being recorded.
        unsafe {
            self.device
                .rendering
                .cmd_begin_rendering(self.buffer, &info)
        };
        let open = Open {
            targets,
            extent,
            layers: pass.layers,
        };
        self.within(&open, &pass.draws)?;
        // SAFETY: a pass is open.
        unsafe { self.device.rendering.cmd_end_rendering(self.buffer) };
        Ok(())
    }

    /// A pass of several parts. Each part waits for those before it, pixel by pixel.
    pub(super) fn subpasses(&mut self, passes: &scene::Subpasses) -> Result<(), Error> {
        let mut descriptions = Vec::new();
        let (mut views, mut clears, mut extent) = (Vec::new(), Vec::new(), None);
        for attachment in &passes.attachments {
            let (format, size) = self.shown(&attachment.view)?;
            extent.get_or_insert(size);
            let description = vk::AttachmentDescription::default()
                .format(format)
                .samples(vk::SampleCountFlags::TYPE_1)
                .load_op(formats::load_op(attachment.load))
                .store_op(formats::store_op(attachment.store))
                .stencil_load_op(formats::load_op(attachment.load))
                .stencil_store_op(formats::store_op(attachment.store))
                .initial_layout(vk::ImageLayout::GENERAL)
                .final_layout(vk::ImageLayout::GENERAL);
            descriptions.push(description);
            views.push(*named(&self.objects.views, &attachment.view)?);
            clears.push(clear_value(attachment));
        }
        let extent = extent.ok_or(Error::Unknown("a pass without attachments".to_owned()))?;
        let render_pass = self.render_pass(passes, &descriptions)?;
        let [width, height] = extent;
        let create = vk::FramebufferCreateInfo::default()
            .render_pass(render_pass)
            .attachments(&views)
            .width(width)
            .height(height)
            .layers(1);
        // SAFETY: see `objects`.
        let framebuffer = unsafe { self.device.raw.create_framebuffer(&create, None) };
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(render_pass)
            .framebuffer(framebuffer.named("vkCreateFramebuffer")?)
            .render_area(passes.area.map_or(whole(extent), formats::rect))
            .clear_values(&clears);
        let inline = vk::SubpassContents::INLINE;
        for (number, subpass) in passes.subpasses.iter().enumerate() {
            // SAFETY: see `objects`; the buffer is being recorded.
            unsafe {
                if number == 0 {
                    let raw = &self.device.raw;
                    raw.cmd_begin_render_pass(self.buffer, &begin, inline);
                } else {
                    self.device.raw.cmd_next_subpass(self.buffer, inline);
                }
            }
            let formats = subpass.colors.iter();
            let formats = formats.filter_map(|index| Some(descriptions.get(*index)?.format));
            let open = Open {
                targets: Targets {
                    colors: formats.collect(),
                    subpass: Some((render_pass, number as u32)),
                    ..Targets::default()
                },
                extent,
                layers: 1,
            };
            self.within(&open, &subpass.draws)?;
        }
        // SAFETY: a pass is open.
        unsafe { self.device.raw.cmd_end_render_pass(self.buffer) };
        Ok(())
    }

    fn render_pass(
        &self,
        passes: &scene::Subpasses,
        descriptions: &[vk::AttachmentDescription],
    ) -> Result<vk::RenderPass, Error> {
        let references = |indices: &[usize]| -> Vec<vk::AttachmentReference> {
            let reference = |index: &usize| vk::AttachmentReference {
                attachment: *index as u32,
                layout: vk::ImageLayout::GENERAL,
            };
            indices.iter().map(reference).collect()
        };
        let parts: Vec<_> = passes
            .subpasses
            .iter()
            .map(|subpass| {
                let depth: Vec<usize> = subpass.depth.into_iter().collect();
                let lists = [&subpass.colors, &subpass.inputs, &subpass.resolves, &depth];
                lists.map(|indices| references(indices))
            })
            .collect();
        let subpasses: Vec<_> = parts
            .iter()
            .map(|[colors, inputs, resolves, depth]| {
                let mut subpass = vk::SubpassDescription::default()
                    .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
                    .color_attachments(colors)
                    .input_attachments(inputs);
                if !resolves.is_empty() {
                    subpass = subpass.resolve_attachments(resolves);
                }
                match depth.first() {
                    Some(depth) => subpass.depth_stencil_attachment(depth),
                    None => subpass,
                }
            })
            .collect();
        let dependencies: Vec<_> = (1..subpasses.len() as u32)
            .map(|next| {
                vk::SubpassDependency::default()
                    .src_subpass(next - 1)
                    .dst_subpass(next)
                    .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
                    .dst_stage_mask(
                        vk::PipelineStageFlags::FRAGMENT_SHADER
                            | vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
                    )
                    .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
                    .dst_access_mask(
                        vk::AccessFlags::INPUT_ATTACHMENT_READ
                            | vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
                    )
                    .dependency_flags(vk::DependencyFlags::BY_REGION)
            })
            .collect();
        let create = vk::RenderPassCreateInfo::default()
            .attachments(descriptions)
            .subpasses(&subpasses)
            .dependencies(&dependencies);
        // SAFETY: see `objects`.
        unsafe { self.device.raw.create_render_pass(&create, None) }.named("vkCreateRenderPass")
    }

    fn within(&mut self, open: &Open, steps: &[PassStep]) -> Result<(), Error> {
        for step in steps {
            match step {
                PassStep::Draw(draw) => self.draw(open, draw)?,
                PassStep::ClearAttachments(clear) => self.clear_attachments(clear),
                PassStep::BeginQuery(query) => self.begin_query(&query.query)?,
                PassStep::EndQuery(query) => self.end_query(&query.query)?,
            }
        }
        Ok(())
    }

    fn draw(&mut self, open: &Open, draw: &scene::Draw) -> Result<(), Error> {
        let pipeline = self.bind(&draw.pipeline, &open.targets, draw.sets.as_deref())?;
        self.dynamic_state(open, draw);
        let (raw, buffer) = (&self.device.raw, self.buffer);
        for vertices in &draw.vertex_buffers {
            let from = named(&self.objects.buffers, &vertices.buffer)?.raw;
            // SAFETY: see `objects`.
            unsafe {
                raw.cmd_bind_vertex_buffers(buffer, vertices.binding, &[from], &[vertices.offset]);
            }
        }
        if let Some(index) = &draw.index {
            let from = named(&self.objects.buffers, &index.buffer)?.raw;
            let kind = formats::index_type(index.kind);
            // SAFETY: see `objects`.
            unsafe { raw.cmd_bind_index_buffer(buffer, from, index.offset, kind) };
        }
        for number in 0..draw.repeat {
            let mut push = draw.push.clone();
            if let Some(offset) = draw.repeat_push_offset {
                let place = offset as usize..offset as usize + 4;
                push.resize(push.len().max(place.end), 0);
                push[place].copy_from_slice(&number.to_le_bytes());
            }
            self.push(&pipeline, push);
            self.draw_call(draw)?;
        }
        Ok(())
    }

    fn draw_call(&self, draw: &scene::Draw) -> Result<(), Error> {
        let (raw, buffer) = (&self.device.raw, self.buffer);
        let indexed = draw.index.is_some();
        let count = draw.indices.or(draw.vertices).unwrap_or(0);
        if let Some(indirect) = &draw.indirect {
            if indirect.count_buffer.is_some() {
                return Err(Error::Unknown("draws counted by a buffer".to_owned()));
            }
            let from = named(&self.objects.buffers, &indirect.buffer)?.raw;
            let (offset, draws, stride) = (indirect.offset, indirect.draws, indirect.stride);
            // SAFETY: see `objects`; a pass is open and a pipeline bound.
            unsafe {
                if indexed {
                    raw.cmd_draw_indexed_indirect(buffer, from, offset, draws, stride);
                } else {
                    raw.cmd_draw_indirect(buffer, from, offset, draws, stride);
                }
            }
            return Ok(());
        }
        let (instances, first_instance) = (draw.instances, draw.first_instance);
        // SAFETY: as above.
        unsafe {
            if indexed {
                let (first, offset) = (draw.first_index, draw.vertex_offset);
                raw.cmd_draw_indexed(buffer, count, instances, first, offset, first_instance);
            } else {
                raw.cmd_draw(buffer, count, instances, draw.first_vertex, first_instance);
            }
        }
        Ok(())
    }

    fn dynamic_state(&self, open: &Open, draw: &scene::Draw) {
        let [width, height] = open.extent.map(|side| side as f32);
        let full = vk::Viewport {
            x: 0.0,
            y: 0.0,
            width,
            height,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        let given = |viewport: &scene::Viewport| vk::Viewport {
            x: viewport.x,
            y: viewport.y,
            width: viewport.width,
            height: viewport.height,
            min_depth: viewport.min_depth,
            max_depth: viewport.max_depth,
        };
        let viewports = draw.viewports.as_ref();
        let viewports = viewports.map_or(vec![full], |list| {
            list.iter().map(given).collect::<Vec<_>>()
        });
        let scissors = draw.scissors.as_ref();
        let scissors = scissors.map_or(vec![whole(open.extent)], |list| {
            list.iter().copied().map(formats::rect).collect()
        });
        // SAFETY: see `objects`.
        unsafe {
            let raw = &self.device.raw;
            raw.cmd_set_viewport(self.buffer, 0, &viewports);
            raw.cmd_set_scissor(self.buffer, 0, &scissors);
        }
        debug_assert!(open.layers > 0, "a pass has a layer");
    }

    fn clear_attachments(&self, clear: &scene::ClearAttachments) {
        let attachments: Vec<_> = clear
            .attachments
            .iter()
            .map(|it| {
                let value = match it.clear {
                    Some(color) => vk::ClearValue {
                        color: formats::color(color),
                    },
                    None => depth_stencil_value(it.depth, it.stencil),
                };
                vk::ClearAttachment::default()
                    .aspect_mask(formats::aspect(it.aspect))
                    .color_attachment(it.index as u32)
                    .clear_value(value)
            })
            .collect();
        let rects: Vec<_> = clear
            .rects
            .iter()
            .map(|it| vk::ClearRect {
                rect: formats::rect(it.rect),
                base_array_layer: it.layer,
                layer_count: it.layers,
            })
            .collect();
        // SAFETY: see `objects`; a pass is open.
        unsafe {
            let raw = &self.device.raw;
            raw.cmd_clear_attachments(self.buffer, &attachments, &rects);
        }
    }
}

fn whole([width, height]: [u32; 2]) -> vk::Rect2D {
    vk::Rect2D {
        offset: vk::Offset2D::default(),
        extent: vk::Extent2D { width, height },
    }
}

/// Which part of a pass it is.
fn parts_flags(pass: &scene::Pass) -> vk::RenderingFlags {
    let mut flags = vk::RenderingFlags::empty();
    if pass.resuming {
        flags |= vk::RenderingFlags::RESUMING;
    }
    if pass.suspending {
        flags |= vk::RenderingFlags::SUSPENDING;
    }
    flags
}

fn clear_value(attachment: &scene::Attachment) -> vk::ClearValue {
    match attachment.clear {
        Some(color) => vk::ClearValue {
            color: formats::color(color),
        },
        None => depth_stencil_value(attachment.clear_depth, attachment.clear_stencil),
    }
}

fn depth_stencil_value(depth: Option<f32>, stencil: Option<u32>) -> vk::ClearValue {
    vk::ClearValue {
        depth_stencil: vk::ClearDepthStencilValue {
            depth: depth.unwrap_or(0.0),
            stencil: stencil.unwrap_or(0),
        },
    }
}

//! Transfers: copies, blits, resolves, fills and clears outside of passes.

use super::formats;
use super::objects::named;
use super::recorder::{Recorder, layers, range};
use crate::device::Error;
use ash::vk;
use eitri_draw_scenes as scene;
use scene::Step;

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

impl Recorder<'_> {
    /// Records a step that is neither a pass nor a dispatch nor a part of a query.
    pub(super) fn transfer(&self, step: &Step) -> Result<(), Error> {
        let (raw, buffer) = (&self.device.raw, self.buffer);
        // SAFETY: see `objects`; ranges lie in their buffers and images, which the scene's reader has checked.
        unsafe {
            match step {
                Step::CopyBuffer(copy) => {
                    let region = vk::BufferCopy::default()
                        .src_offset(copy.src_offset)
                        .dst_offset(copy.dst_offset)
                        .size(copy.bytes);
                    let (src, dst) = (self.buffer(&copy.src)?, self.buffer(&copy.dst)?);
                    raw.cmd_copy_buffer(buffer, src, dst, &[region]);
                }
                Step::FillBuffer(fill) => {
                    let to = self.buffer(&fill.buffer)?;
                    raw.cmd_fill_buffer(buffer, to, fill.offset, fill.bytes, fill.value);
                }
                Step::UpdateBuffer(update) => {
                    let to = self.buffer(&update.buffer)?;
                    raw.cmd_update_buffer(buffer, to, update.offset, &update.hex);
                }
                Step::CopyBufferToImage(copy) => {
                    let (src, dst) = (self.buffer(&copy.buffer)?, self.image(&copy.image)?);
                    let regions = self.buffer_regions(copy);
                    raw.cmd_copy_buffer_to_image(buffer, src, dst, GENERAL, &regions);
                }
                Step::CopyImageToBuffer(copy) => {
                    let (src, dst) = (self.image(&copy.image)?, self.buffer(&copy.buffer)?);
                    let regions = self.buffer_regions(copy);
                    raw.cmd_copy_image_to_buffer(buffer, src, GENERAL, dst, &regions);
                }
                Step::CopyImage(copy) => {
                    let (src, dst) = (self.image(&copy.src)?, self.image(&copy.dst)?);
                    let regions: Vec<_> = copy.regions.iter().map(copy_region).collect();
                    raw.cmd_copy_image(buffer, src, GENERAL, dst, GENERAL, &regions);
                }
                Step::Resolve(copy) => {
                    let (src, dst) = (self.image(&copy.src)?, self.image(&copy.dst)?);
                    let regions: Vec<_> = copy.regions.iter().map(resolve_region).collect();
                    raw.cmd_resolve_image(buffer, src, GENERAL, dst, GENERAL, &regions);
                }
                Step::Blit(blit) => {
                    let (src, dst) = (self.image(&blit.src)?, self.image(&blit.dst)?);
                    let regions: Vec<_> = blit.regions.iter().map(blit_region).collect();
                    let filter = formats::filter(blit.filter);
                    raw.cmd_blit_image(buffer, src, GENERAL, dst, GENERAL, &regions, filter);
                }
                Step::ClearColor(clear) => {
                    let image = self.image(&clear.image)?;
                    let color = formats::color(clear.clear);
                    let range = range(
                        vk::ImageAspectFlags::COLOR,
                        clear.level..clear.level + clear.levels,
                        clear.layer..clear.layer + clear.layers,
                    );
                    raw.cmd_clear_color_image(buffer, image, GENERAL, &color, &[range]);
                }
                Step::ClearDepthStencil(clear) => self.clear_depth_stencil(clear)?,
                Step::CopyQuery(copy) => {
                    let pool = *named(&self.objects.queries, &copy.query)?;
                    let (to, wait) = (self.buffer(&copy.buffer)?, vk::QueryResultFlags::WAIT);
                    raw.cmd_copy_query_pool_results(buffer, pool, 0, 1, to, copy.offset, 4, wait);
                }
                other => return Err(Error::Unknown(other.name().to_owned())),
            }
        }
        Ok(())
    }

    fn buffer(&self, name: &str) -> Result<vk::Buffer, Error> {
        Ok(named(&self.objects.buffers, name)?.raw)
    }

    fn image(&self, name: &str) -> Result<vk::Image, Error> {
        Ok(named(&self.objects.images, name)?.raw)
    }

    fn clear_depth_stencil(&self, clear: &scene::ClearDepthStencil) -> Result<(), Error> {
        use vk::ImageAspectFlags as Aspect;
        let image = named(&self.objects.images, &clear.image)?;
        let mut aspects = match clear.aspect {
            Some(aspect) => formats::aspect(aspect),
            None => formats::aspects(image.format),
        };
        for (given, aspect) in [
            (clear.depth.is_some(), Aspect::DEPTH),
            (clear.stencil.is_some(), Aspect::STENCIL),
        ] {
            if !given {
                aspects &= !aspect;
            }
        }
        let value = vk::ClearDepthStencilValue {
            depth: clear.depth.unwrap_or(0.0),
            stencil: clear.stencil.unwrap_or(0),
        };
        let range = range(
            aspects,
            clear.level..clear.level + clear.levels,
            clear.layer..clear.layer + clear.layers,
        );
        let raw = &self.device.raw;
        // SAFETY: see `transfer`.
        unsafe {
            raw.cmd_clear_depth_stencil_image(self.buffer, image.raw, GENERAL, &value, &[range]);
        }
        Ok(())
    }

    fn buffer_regions(&self, copy: &scene::CopyBufferImage) -> Vec<vk::BufferImageCopy> {
        let image = self.scene.file.image(&copy.image);
        let regions = copy.regions.iter();
        regions
            .map(|region| {
                let whole = image.map_or([1; 3], |image| image.extent_of(region.level));
                vk::BufferImageCopy {
                    buffer_offset: region.buffer_offset,
                    buffer_row_length: region.row_length,
                    buffer_image_height: region.image_height,
                    image_subresource: layers(
                        region.aspect,
                        region.level,
                        region.layer,
                        region.layers,
                    ),
                    image_offset: formats::offset(region.offset),
                    image_extent: formats::extent(region.extent.unwrap_or(whole)),
                }
            })
            .collect()
    }
}

fn part(of: &scene::Subresource) -> vk::ImageSubresourceLayers {
    layers(of.aspect, of.level, of.layer, of.layers)
}

fn copy_region(region: &scene::ImageRegion) -> vk::ImageCopy {
    vk::ImageCopy {
        src_subresource: part(&region.src),
        src_offset: formats::offset(region.src.offset),
        dst_subresource: part(&region.dst),
        dst_offset: formats::offset(region.dst.offset),
        extent: formats::extent(region.extent),
    }
}

fn resolve_region(region: &scene::ImageRegion) -> vk::ImageResolve {
    vk::ImageResolve {
        src_subresource: part(&region.src),
        src_offset: formats::offset(region.src.offset),
        dst_subresource: part(&region.dst),
        dst_offset: formats::offset(region.dst.offset),
        extent: formats::extent(region.extent),
    }
}

fn blit_region(region: &scene::BlitRegion) -> vk::ImageBlit {
    let part = |of: &scene::BlitBox| layers(of.aspect, of.level, of.layer, of.layers);
    let corners = |of: &scene::BlitBox| [of.from, of.to].map(formats::offset);
    vk::ImageBlit {
        src_subresource: part(&region.src),
        src_offsets: corners(&region.src),
        dst_subresource: part(&region.dst),
        dst_offsets: corners(&region.dst),
    }
}

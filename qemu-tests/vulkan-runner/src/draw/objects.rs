//! What a scene's steps work on, on the device: buffers, images, views, samplers, descriptor sets, queries.

use super::formats;
use crate::device::{Device, Error, Named};
use ash::vk;
use eitri_draw_scenes as scene;
use scene::{Scene, Usage, ViewType};
use std::collections::BTreeMap;

/// A buffer in memory that the CPU sees too.
pub(super) struct Buffer {
    pub(super) raw: vk::Buffer,
    memory: vk::DeviceMemory,
}

/// An image, always in the general layout.
pub(super) struct Image {
    pub(super) raw: vk::Image,
    pub(super) format: vk::Format,
}

/// All objects of a scene by name. They are given back with the process.
#[derive(Default)]
pub(super) struct Objects {
    pub(super) buffers: BTreeMap<String, Buffer>,
    pub(super) images: BTreeMap<String, Image>,
    pub(super) views: BTreeMap<String, vk::ImageView>,
    samplers: BTreeMap<String, vk::Sampler>,
    texel_views: BTreeMap<String, vk::BufferView>,
    pub(super) layouts: BTreeMap<String, vk::DescriptorSetLayout>,
    pub(super) sets: BTreeMap<String, vk::DescriptorSet>,
    pub(super) queries: BTreeMap<String, vk::QueryPool>,
}

/// The object of a name. A scene that was read has all names that it uses.
pub(super) fn named<'o, T>(objects: &'o BTreeMap<String, T>, name: &str) -> Result<&'o T, Error> {
    let missing = || Error::Unknown(format!("`{name}`, which is missing"));
    objects.get(name).ok_or_else(missing)
}

fn known(name: &str) -> Result<vk::Format, Error> {
    let unknown = || Error::Unknown(format!("the format {name}"));
    formats::format(name).ok_or_else(unknown)
}

impl Buffer {
    /// A buffer of so many bytes, for every use.
    pub(super) fn new(device: &Device, bytes: u64) -> Result<Buffer, Error> {
        use vk::BufferUsageFlags as Usage;
        let usage = Usage::TRANSFER_SRC
            | Usage::TRANSFER_DST
            | Usage::UNIFORM_TEXEL_BUFFER
            | Usage::STORAGE_TEXEL_BUFFER
            | Usage::UNIFORM_BUFFER
            | Usage::STORAGE_BUFFER
            | Usage::INDEX_BUFFER
            | Usage::VERTEX_BUFFER
            | Usage::INDIRECT_BUFFER;
        let create = vk::BufferCreateInfo::default()
            .size(bytes.max(4))
            .usage(usage);
        // SAFETY: what is pointed to outlives the call; so in all of this folder.
        unsafe {
            let raw = device.raw.create_buffer(&create, None);
            let raw = raw.named("vkCreateBuffer")?;
            let needs = device.raw.get_buffer_memory_requirements(raw);
            let memory = device.allocate(needs, true)?;
            let bound = device.raw.bind_buffer_memory(raw, memory, 0);
            bound.named("vkBindBufferMemory")?;
            Ok(Buffer { raw, memory })
        }
    }

    /// A buffer with these contents.
    pub(super) fn with(device: &Device, bytes: &[u8]) -> Result<Buffer, Error> {
        let buffer = Buffer::new(device, bytes.len() as u64)?;
        buffer.mapped(device, |at| {
            // SAFETY: the buffer has as many bytes.
            unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
        })?;
        Ok(buffer)
    }

    /// So many of its bytes from `offset` on.
    pub(super) fn read(&self, device: &Device, offset: u64, bytes: u64) -> Result<Vec<u8>, Error> {
        let mut contents = vec![0; bytes as usize];
        self.mapped(device, |at| {
            let to = contents.as_mut_ptr();
            // SAFETY: the buffer has that many: the scene was checked.
            unsafe {
                at.add(offset as usize)
                    .copy_to_nonoverlapping(to, contents.len())
            }
        })?;
        Ok(contents)
    }

    fn mapped(&self, device: &Device, access: impl FnOnce(*mut u8)) -> Result<(), Error> {
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is the CPU's too, coherent, and mapped once at a time.
        unsafe {
            let at = device.raw.map_memory(self.memory, 0, vk::WHOLE_SIZE, flags);
            access(at.named("vkMapMemory")?.cast());
            device.raw.unmap_memory(self.memory);
        }
        Ok(())
    }
}

impl Image {
    fn new(device: &Device, image: &scene::Image) -> Result<Image, Error> {
        use vk::{ImageCreateFlags as Flags, ImageUsageFlags as Use};
        let format = known(&image.format)?;
        let mut usage = Use::empty();
        if image.samples == 1 || image.transfer {
            usage |= Use::TRANSFER_SRC | Use::TRANSFER_DST;
        }
        for wanted in &image.usage {
            usage |= match wanted {
                Usage::Color => Use::COLOR_ATTACHMENT,
                Usage::DepthStencil => Use::DEPTH_STENCIL_ATTACHMENT,
                Usage::Sampled => Use::SAMPLED,
                Usage::Storage => Use::STORAGE,
                Usage::Input => Use::INPUT_ATTACHMENT,
            };
        }
        let flag = |wanted: bool, flag: Flags| if wanted { flag } else { Flags::empty() };
        let create = vk::ImageCreateInfo::default()
            .flags(
                flag(image.cube, Flags::CUBE_COMPATIBLE)
                    | flag(image.slices, Flags::TYPE_2D_ARRAY_COMPATIBLE)
                    | flag(image.mutable, Flags::MUTABLE_FORMAT),
            )
            .image_type(match image.kind {
                scene::ImageType::D1 => vk::ImageType::TYPE_1D,
                scene::ImageType::D2 => vk::ImageType::TYPE_2D,
                scene::ImageType::D3 => vk::ImageType::TYPE_3D,
            })
            .format(format)
            .extent(formats::extent(image.extent))
            .mip_levels(image.levels)
            .array_layers(image.layers)
            .samples(formats::samples(image.samples))
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage);
        // SAFETY: see `Buffer::new`.
        unsafe {
            let raw = device.raw.create_image(&create, None);
            let raw = raw.named("vkCreateImage")?;
            let needs = device.raw.get_image_memory_requirements(raw);
            let memory = device.allocate(needs, false)?;
            let bound = device.raw.bind_image_memory(raw, memory, 0);
            bound.named("vkBindImageMemory")?;
            Ok(Image { raw, format })
        }
    }

    /// All of it.
    pub(super) fn whole(&self) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange::default()
            .aspect_mask(formats::aspects(self.format))
            .level_count(vk::REMAINING_MIP_LEVELS)
            .layer_count(vk::REMAINING_ARRAY_LAYERS)
    }
}

impl Objects {
    /// Makes everything that a scene names, buffers with their contents.
    pub(super) fn make(device: &Device, scene: &Scene) -> Result<Objects, Error> {
        let mut objects = Objects::default();
        for buffer in &scene.file.buffers {
            let contents = scene.buffer_contents(buffer);
            let contents = contents.map_err(|error| Error::Module(error.to_string()))?;
            let made = match contents {
                Some(bytes) => Buffer::with(device, &bytes)?,
                None => Buffer::new(device, buffer.bytes)?,
            };
            objects.buffers.insert(buffer.name.clone(), made);
        }
        for image in &scene.file.images {
            let made = Image::new(device, image)?;
            objects.images.insert(image.name.clone(), made);
        }
        for view in &scene.file.views {
            let made = objects.view(device, scene, view)?;
            objects.views.insert(view.name.clone(), made);
        }
        for sampler in &scene.file.samplers {
            let made = make_sampler(device, sampler)?;
            objects.samplers.insert(sampler.name.clone(), made);
        }
        for texels in &scene.file.texel_views {
            let create = vk::BufferViewCreateInfo::default()
                .buffer(named(&objects.buffers, &texels.buffer)?.raw)
                .format(known(&texels.format)?)
                .offset(texels.offset)
                .range(texels.bytes);
            // SAFETY: see `Buffer::new`.
            let made = unsafe { device.raw.create_buffer_view(&create, None) };
            let made = made.named("vkCreateBufferView")?;
            objects.texel_views.insert(texels.name.clone(), made);
        }
        for query in &scene.file.queries {
            if query.kind != scene::QueryKind::Occlusion {
                return Err(Error::Unknown("queries of statistics".to_owned()));
            }
            let create = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::OCCLUSION)
                .query_count(1);
            // SAFETY: see `Buffer::new`.
            let made = unsafe { device.raw.create_query_pool(&create, None) };
            let made = made.named("vkCreateQueryPool")?;
            objects.queries.insert(query.name.clone(), made);
        }
        objects.make_sets(device, scene)?;
        Ok(objects)
    }

    fn view(
        &self,
        device: &Device,
        scene: &Scene,
        view: &scene::View,
    ) -> Result<vk::ImageView, Error> {
        let image = named(&self.images, &view.image)?;
        let kind = scene.file.image(&view.image).map(|image| image.kind);
        let kind = match (view.kind, kind, view.layers) {
            (Some(ViewType::D1), ..) | (None, Some(scene::ImageType::D1), 1) => {
                vk::ImageViewType::TYPE_1D
            }
            (Some(ViewType::D3), ..) | (None, Some(scene::ImageType::D3), _) => {
                vk::ImageViewType::TYPE_3D
            }
            (Some(ViewType::Cube), ..) => vk::ImageViewType::CUBE,
            (Some(ViewType::CubeArray), ..) => vk::ImageViewType::CUBE_ARRAY,
            (Some(ViewType::D1Array), ..) | (None, Some(scene::ImageType::D1), _) => {
                vk::ImageViewType::TYPE_1D_ARRAY
            }
            (Some(ViewType::D2), ..) | (None, _, 1) => vk::ImageViewType::TYPE_2D,
            (Some(ViewType::D2Array), ..) | (None, ..) => vk::ImageViewType::TYPE_2D_ARRAY,
        };
        let format = match &view.format {
            Some(name) => known(name)?,
            None => image.format,
        };
        let aspects = view
            .aspect
            .map_or(formats::aspects(format), formats::aspect);
        let create = vk::ImageViewCreateInfo::default()
            .image(image.raw)
            .view_type(kind)
            .format(format)
            .components(formats::swizzle(view.swizzle))
            .subresource_range(
                vk::ImageSubresourceRange::default()
                    .aspect_mask(aspects)
                    .base_mip_level(view.level)
                    .level_count(view.levels)
                    .base_array_layer(view.layer)
                    .layer_count(view.layers),
            );
        // SAFETY: see `Buffer::new`.
        unsafe { device.raw.create_image_view(&create, None) }.named("vkCreateImageView")
    }

    fn make_sets(&mut self, device: &Device, scene: &Scene) -> Result<(), Error> {
        let sets = &scene.file.sets;
        if sets.is_empty() {
            return Ok(());
        }
        let mut counts: BTreeMap<vk::DescriptorType, u32> = BTreeMap::new();
        for set in sets {
            let layout = set_layout(device, set, &mut counts)?;
            self.layouts.insert(set.name.clone(), layout);
        }
        let sizes: Vec<_> = counts
            .into_iter()
            .map(|(kind, count)| {
                vk::DescriptorPoolSize::default()
                    .ty(kind)
                    .descriptor_count(count)
            })
            .collect();
        let create = vk::DescriptorPoolCreateInfo::default()
            .max_sets(sets.len() as u32)
            .pool_sizes(&sizes);
        // SAFETY: see `Buffer::new`.
        let pool = unsafe { device.raw.create_descriptor_pool(&create, None) };
        let pool = pool.named("vkCreateDescriptorPool")?;
        for set in sets {
            let layouts = [*named(&self.layouts, &set.name)?];
            let allocate = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            // SAFETY: the pool has room for all sets.
            let made = unsafe { device.raw.allocate_descriptor_sets(&allocate) };
            let made = made.named("vkAllocateDescriptorSets")?;
            let made = *made.first().ok_or(Error::NoMemory)?;
            for binding in &set.bindings {
                self.write(device, made, binding)?;
            }
            self.sets.insert(set.name.clone(), made);
        }
        Ok(())
    }

    fn write(
        &self,
        device: &Device,
        set: vk::DescriptorSet,
        binding: &scene::Binding,
    ) -> Result<(), Error> {
        let mut image = vk::DescriptorImageInfo::default().image_layout(vk::ImageLayout::GENERAL);
        if let Some(view) = &binding.view {
            image = image.image_view(*named(&self.views, view)?);
        }
        if let Some(sampler) = &binding.sampler {
            image = image.sampler(*named(&self.samplers, sampler)?);
        }
        let images = [image];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding.binding)
            .dst_array_element(binding.element)
            .descriptor_type(formats::descriptor(binding.kind));
        let (buffers, texels);
        let write = match (&binding.buffer, &binding.texels) {
            (Some(name), _) => {
                buffers = [vk::DescriptorBufferInfo::default()
                    .buffer(named(&self.buffers, name)?.raw)
                    .offset(binding.offset)
                    .range(binding.bytes.unwrap_or(vk::WHOLE_SIZE))];
                write.buffer_info(&buffers)
            }
            (None, Some(name)) => {
                texels = [*named(&self.texel_views, name)?];
                write.texel_buffer_view(&texels)
            }
            (None, None) => write.image_info(&images),
        };
        // SAFETY: the binding is the layout's, which the same set made.
        unsafe { device.raw.update_descriptor_sets(&[write], &[]) };
        Ok(())
    }
}

/// The layout of a set; adds its descriptors to the counts by type.
fn set_layout(
    device: &Device,
    set: &scene::Set,
    counts: &mut BTreeMap<vk::DescriptorType, u32>,
) -> Result<vk::DescriptorSetLayout, Error> {
    let mut rows: BTreeMap<u32, vk::DescriptorSetLayoutBinding<'_>> = BTreeMap::new();
    for binding in &set.bindings {
        let kind = formats::descriptor(binding.kind);
        let stages = if kind == vk::DescriptorType::INPUT_ATTACHMENT {
            vk::ShaderStageFlags::FRAGMENT
        } else {
            vk::ShaderStageFlags::ALL
        };
        let row = rows.entry(binding.binding).or_insert_with(|| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding.binding)
                .descriptor_type(kind)
                .stage_flags(stages)
        });
        row.descriptor_count = row.descriptor_count.max(binding.element + 1);
    }
    for row in rows.values() {
        *counts.entry(row.descriptor_type).or_default() += row.descriptor_count;
    }
    let bindings: Vec<_> = rows.into_values().collect();
    let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: see `Buffer::new`.
    let layout = unsafe { device.raw.create_descriptor_set_layout(&create, None) };
    layout.named("vkCreateDescriptorSetLayout")
}

fn make_sampler(device: &Device, sampler: &scene::Sampler) -> Result<vk::Sampler, Error> {
    let mut custom = vk::SamplerCustomBorderColorCreateInfoEXT::default();
    let mut create = vk::SamplerCreateInfo::default()
        .mag_filter(formats::filter(sampler.mag))
        .min_filter(formats::filter(sampler.min))
        .mipmap_mode(match sampler.mip {
            scene::Filter::Nearest => vk::SamplerMipmapMode::NEAREST,
            scene::Filter::Linear => vk::SamplerMipmapMode::LINEAR,
        })
        .address_mode_u(formats::address_mode(sampler.u))
        .address_mode_v(formats::address_mode(sampler.v))
        .address_mode_w(formats::address_mode(sampler.w))
        .mip_lod_bias(sampler.lod_bias)
        .min_lod(sampler.min_lod)
        .max_lod(sampler.max_lod)
        .border_color(formats::border(sampler.border))
        .unnormalized_coordinates(sampler.unnormalised)
        .anisotropy_enable(sampler.max_anisotropy > 1)
        .max_anisotropy(sampler.max_anisotropy as f32);
    if let Some(compare) = sampler.compare {
        let compare = formats::compare(compare);
        create = create.compare_enable(true).compare_op(compare);
    }
    if let Some(color) = sampler.custom_border {
        if let Some(name) = &sampler.custom_format {
            custom = custom.format(known(name)?);
        }
        custom = custom.custom_border_color(formats::color(color));
        create = create.border_color(match color {
            scene::Color::Float(_) => vk::BorderColor::FLOAT_CUSTOM_EXT,
            scene::Color::Int(_) | scene::Color::Uint(_) => vk::BorderColor::INT_CUSTOM_EXT,
        });
        create = create.push_next(&mut custom);
    }
    // SAFETY: see `Buffer::new`.
    unsafe { device.raw.create_sampler(&create, None) }.named("vkCreateSampler")
}

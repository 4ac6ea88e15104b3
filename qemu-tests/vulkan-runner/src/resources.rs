//! Resources: buffers and images with the contents of a case, in memory that the CPU sees too.

use crate::device::{Device, Error, Named};
use ash::vk;
use eitri_compute_cases::{Image, Resource, ResourceKind};

/// A resource of the case with what it is on the device.
pub(crate) struct Bound<'c> {
    pub(crate) of: &'c Resource,
    pub(crate) handle: Handle,
    memory: vk::DeviceMemory,
    /// Where its rows are in memory: from where, bytes of a row, bytes from one to the next.
    rows: Rows,
}

pub(crate) enum Handle {
    Buffer(vk::Buffer),
    Texels {
        buffer: vk::Buffer,
        view: vk::BufferView,
    },
    Image {
        image: vk::Image,
        view: vk::ImageView,
        sampler: vk::Sampler,
    },
}

#[derive(Clone, Copy)]
struct Rows {
    start: usize,
    bytes: usize,
    pitch: usize,
}

/// Formats in GLSL's words: Vulkan's name, bytes of a texel.
#[rustfmt::skip]
const FORMATS: &[(&str, vk::Format, usize)] = &[
    ("r8ui",    vk::Format::R8_UINT,                 1),
    ("r16f",    vk::Format::R16_SFLOAT,              2),
    ("rgba8",   vk::Format::R8G8B8A8_UNORM,          4),
    ("rgba8ui", vk::Format::R8G8B8A8_UINT,           4),
    ("r32f",    vk::Format::R32_SFLOAT,              4),
    ("r32i",    vk::Format::R32_SINT,                4),
    ("r32ui",   vk::Format::R32_UINT,                4),
    ("rg16f",   vk::Format::R16G16_SFLOAT,           4),
    ("rg32f",   vk::Format::R32G32_SFLOAT,           8),
    ("rg32ui",  vk::Format::R32G32_UINT,             8),
    ("rgba16f", vk::Format::R16G16B16A16_SFLOAT,     8),
    ("rgba32f", vk::Format::R32G32B32A32_SFLOAT,    16),
    ("rgba32i", vk::Format::R32G32B32A32_SINT,      16),
    ("rgba32ui", vk::Format::R32G32B32A32_UINT,     16),
];

fn format(image: &Image) -> Result<(vk::Format, usize), Error> {
    let row = FORMATS.iter().find(|row| row.0 == image.format);
    row.map(|row| (row.1, row.2))
        .ok_or_else(|| Error::Unknown(format!("the format {}", image.format)))
}

/// What a descriptor of this kind is to Vulkan.
pub(crate) fn descriptor(kind: ResourceKind) -> vk::DescriptorType {
    match kind {
        ResourceKind::StorageBuffer => vk::DescriptorType::STORAGE_BUFFER,
        ResourceKind::UniformBuffer => vk::DescriptorType::UNIFORM_BUFFER,
        ResourceKind::StorageImage => vk::DescriptorType::STORAGE_IMAGE,
        ResourceKind::CombinedImageSampler => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        ResourceKind::UniformTexelBuffer => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        ResourceKind::StorageTexelBuffer => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
    }
}

impl<'c> Bound<'c> {
    /// Makes the resource, with its contents before the dispatch.
    pub(crate) fn make(device: &Device, of: &'c Resource) -> Result<Bound<'c>, Error> {
        let bound = match (of.kind, &of.image) {
            (ResourceKind::StorageImage | ResourceKind::CombinedImageSampler, Some(image)) => {
                Bound::image(device, of, image)
            }
            (ResourceKind::StorageImage | ResourceKind::CombinedImageSampler, None) => {
                Err(Error::Unknown("an image without a format".to_owned()))
            }
            _ => Bound::buffer(device, of),
        }?;
        bound.write(device)?;
        Ok(bound)
    }

    fn buffer(device: &Device, of: &'c Resource) -> Result<Bound<'c>, Error> {
        let (usage, texels) = match of.kind {
            ResourceKind::UniformBuffer => (vk::BufferUsageFlags::UNIFORM_BUFFER, false),
            ResourceKind::UniformTexelBuffer => (vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER, true),
            ResourceKind::StorageTexelBuffer => (vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER, true),
            _ => (vk::BufferUsageFlags::STORAGE_BUFFER, false),
        };
        let usage = usage | vk::BufferUsageFlags::TRANSFER_DST;
        let (buffer, memory) = buffer_of(device, of.before.len(), usage)?;
        let handle = match (&of.image, texels) {
            (Some(image), true) => {
                let create = vk::BufferViewCreateInfo::default()
                    .buffer(buffer)
                    .format(format(image)?.0)
                    .range(vk::WHOLE_SIZE);
                // SAFETY: the buffer was made for such a view.
                let view = unsafe { device.raw.create_buffer_view(&create, None) };
                Handle::Texels {
                    buffer,
                    view: view.named("vkCreateBufferView")?,
                }
            }
            (None, true) => {
                return Err(Error::Unknown("a texel buffer without a format".to_owned()));
            }
            (_, false) => Handle::Buffer(buffer),
        };
        let bytes = of.before.len();
        let rows = Rows {
            start: 0,
            bytes,
            pitch: bytes,
        };
        Ok(Bound {
            of,
            handle,
            memory,
            rows,
        })
    }

    fn image(device: &Device, of: &'c Resource, image: &Image) -> Result<Bound<'c>, Error> {
        let (vk_format, texel) = format(image)?;
        let usage = match of.kind {
            ResourceKind::StorageImage => vk::ImageUsageFlags::STORAGE,
            _ => vk::ImageUsageFlags::SAMPLED,
        };
        let usage = usage | vk::ImageUsageFlags::TRANSFER_DST;
        // In rows, so that the CPU writes and reads it where it is: no copy, which is another kind of work.
        let create = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk_format)
            .extent(vk::Extent3D {
                width: image.width,
                height: image.height,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::LINEAR)
            .usage(usage)
            .initial_layout(vk::ImageLayout::PREINITIALIZED);
        let color = vk::ImageAspectFlags::COLOR;
        // SAFETY: see `buffer_of`.
        let (raw, needs, layout) = unsafe {
            let raw = device
                .raw
                .create_image(&create, None)
                .named("vkCreateImage")?;
            let whole = vk::ImageSubresource::default().aspect_mask(color);
            (
                raw,
                device.raw.get_image_memory_requirements(raw),
                device.raw.get_image_subresource_layout(raw, whole),
            )
        };
        let memory = device.allocate(needs, true)?;
        // SAFETY: the memory is as large as the image asked for.
        unsafe { device.raw.bind_image_memory(raw, memory, 0) }.named("vkBindImageMemory")?;
        let create = vk::ImageViewCreateInfo::default()
            .image(raw)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk_format)
            .subresource_range(whole());
        let nearest = vk::SamplerCreateInfo::default()
            .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE);
        // SAFETY: the view is of the image's own format.
        let (view, sampler) = unsafe {
            (
                device
                    .raw
                    .create_image_view(&create, None)
                    .named("vkCreateImageView")?,
                device
                    .raw
                    .create_sampler(&nearest, None)
                    .named("vkCreateSampler")?,
            )
        };
        Ok(Bound {
            of,
            handle: Handle::Image {
                image: raw,
                view,
                sampler,
            },
            memory,
            rows: Rows {
                start: layout.offset as usize,
                bytes: image.width as usize * texel,
                pitch: layout.row_pitch as usize,
            },
        })
    }

    /// A copy of its contents before the dispatch, if shaders may write to it.
    pub(crate) fn keep(&self, device: &Device) -> Result<Option<vk::Buffer>, Error> {
        let written = matches!(
            self.of.kind,
            ResourceKind::StorageBuffer
                | ResourceKind::StorageImage
                | ResourceKind::StorageTexelBuffer
        );
        if !written {
            return Ok(None);
        }
        let bytes = &self.of.before;
        let usage = vk::BufferUsageFlags::TRANSFER_SRC;
        let (buffer, memory) = buffer_of(device, bytes.len(), usage)?;
        mapped(device, memory, |at| {
            // SAFETY: the memory is as large as the contents.
            unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        })?;
        Ok(Some(buffer))
    }

    /// Records that it gets its contents before the dispatch from a copy of them.
    pub(crate) fn restore(&self, device: &Device, commands: vk::CommandBuffer, kept: vk::Buffer) {
        let to = match self.handle {
            Handle::Buffer(buffer) | Handle::Texels { buffer, .. } => buffer,
            Handle::Image { image, .. } => {
                let (width, height) = match &self.of.image {
                    Some(image) => (image.width, image.height),
                    None => (0, 0),
                };
                let of_image = vk::ImageSubresourceLayers::default()
                    .aspect_mask(vk::ImageAspectFlags::COLOR)
                    .layer_count(1);
                let extent = vk::Extent3D {
                    width,
                    height,
                    depth: 1,
                };
                let region = vk::BufferImageCopy::default()
                    .image_subresource(of_image)
                    .image_extent(extent);
                let layout = vk::ImageLayout::GENERAL;
                // SAFETY: the copy holds the rows of the whole image, one behind the other.
                unsafe {
                    device
                        .raw
                        .cmd_copy_buffer_to_image(commands, kept, image, layout, &[region]);
                }
                return;
            }
        };
        let region = vk::BufferCopy::default().size(self.of.before.len() as u64);
        // SAFETY: both buffers are as large as the contents.
        unsafe {
            device.raw.cmd_copy_buffer(commands, kept, to, &[region]);
        }
    }

    fn write(&self, device: &Device) -> Result<(), Error> {
        let rows = self.of.before.chunks(self.rows.bytes.max(1));
        self.mapped(device, |at| {
            for (index, row) in rows.enumerate() {
                let to = self.rows.start + index * self.rows.pitch;
                // SAFETY: the resource's memory holds all of its rows, and the device does not use it now.
                unsafe { at.add(to).copy_from_nonoverlapping(row.as_ptr(), row.len()) };
            }
        })
    }

    /// Its contents after the dispatch, as the case has them.
    pub(crate) fn read(&self, device: &Device) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.of.before.len()];
        let rows = bytes.chunks_mut(self.rows.bytes.max(1));
        self.mapped(device, |at| {
            for (index, row) in rows.enumerate() {
                let from = self.rows.start + index * self.rows.pitch;
                // SAFETY: as in `write`.
                unsafe {
                    at.add(from)
                        .copy_to_nonoverlapping(row.as_mut_ptr(), row.len())
                };
            }
        })?;
        Ok(bytes)
    }

    /// Lets `access` at its memory.
    fn mapped(&self, device: &Device, access: impl FnOnce(*mut u8)) -> Result<(), Error> {
        mapped(device, self.memory, access)
    }
}

/// A buffer with memory of its own, which the CPU sees too.
fn buffer_of(
    device: &Device,
    bytes: usize,
    usage: vk::BufferUsageFlags,
) -> Result<(vk::Buffer, vk::DeviceMemory), Error> {
    let create = vk::BufferCreateInfo::default()
        .size(bytes as u64)
        .usage(usage);
    // SAFETY: everything is the device's own and lives as long; so in all of this file.
    let (buffer, needs) = unsafe {
        let buffer = device
            .raw
            .create_buffer(&create, None)
            .named("vkCreateBuffer")?;
        (buffer, device.raw.get_buffer_memory_requirements(buffer))
    };
    let memory = device.allocate(needs, true)?;
    // SAFETY: the memory is as large as the buffer asked for.
    unsafe { device.raw.bind_buffer_memory(buffer, memory, 0) }.named("vkBindBufferMemory")?;
    Ok((buffer, memory))
}

/// Lets `access` at memory.
fn mapped(
    device: &Device,
    memory: vk::DeviceMemory,
    access: impl FnOnce(*mut u8),
) -> Result<(), Error> {
    let flags = vk::MemoryMapFlags::empty();
    // SAFETY: the memory is the CPU's too, coherent, and mapped once at a time.
    unsafe {
        let at = device.raw.map_memory(memory, 0, vk::WHOLE_SIZE, flags);
        access(at.named("vkMapMemory")?.cast());
        device.raw.unmap_memory(memory);
    }
    Ok(())
}

/// All of an image.
pub(crate) fn whole() -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(1)
        .layer_count(1)
}

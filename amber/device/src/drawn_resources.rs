//! Resources of a draw: what shaders see, as the lists of a drawing, and the way back of what they have written.

use crate::DeviceError;
use crate::resources::{Resource, Rows, Target};
use alloc::string::ToString;
use alloc::vec::Vec;
use eitri_amber::run::Memory;
use eitri_drawing::state::{Aspect, DescriptorKind, ImageType, Swizzle, ViewType};
use eitri_drawing::{
    Binding, Bound, Buffer, BufferId, Image, ImageData, ImageId, Range, Readback, Sampler,
    SamplerId, Set, View, ViewId,
};
use eitri_job::{Content, Part};
use eitri_program::{BindingKind, ImageDimension};
use eitri_runtime::ImageInfo;

/// What the shaders of a draw see.
#[derive(Default)]
pub(crate) struct DrawnResources {
    /// Without samplers.
    seen: Vec<Seen>,
    samplers: Vec<((u32, u32, u32), Sampler)>,
    sets: u32,
}

/// A resource with its place in a list of the drawing: of buffers, or of images.
struct Seen {
    resource: Resource,
    kind: DescriptorKind,
    place: u32,
}

/// The resources of a draw, of which `samplers` says what samplers are at a place.
pub(crate) fn of(
    resources: Vec<Resource>,
    rows: &Rows<'_>,
    samplers: impl Fn((u32, u32, u32)) -> Option<Sampler>,
) -> Result<DrawnResources, DeviceError> {
    let mut made = DrawnResources::default();
    let (mut buffers, mut images) = (0, 0);
    for resource in resources {
        let (set, binding, _) = resource.place;
        made.sets = made.sets.max(set.saturating_add(1));
        if let Content::Sampler(_) = resource.content {
            let sampler = samplers(resource.place);
            let sampler =
                sampler.ok_or_else(|| DeviceError::Failed("a sampler is missing".to_string()))?;
            made.samplers.push((resource.place, sampler));
            continue;
        }
        let mut all = rows.bindings.iter();
        let row = all.find(|row| (row.set, row.binding) == (set, binding));
        let kind = match row.map(|row| row.kind) {
            Some(BindingKind::StorageBuffer) | None => DescriptorKind::StorageBuffer,
            Some(BindingKind::UniformBuffer) => DescriptorKind::UniformBuffer,
            Some(BindingKind::UniformTexelBuffer) => DescriptorKind::UniformTexelBuffer,
            Some(BindingKind::StorageTexelBuffer) => DescriptorKind::StorageTexelBuffer,
            Some(BindingKind::StorageImage(_)) => DescriptorKind::StorageImage,
            Some(BindingKind::SampledImage(_)) => DescriptorKind::SampledImage,
            Some(BindingKind::CombinedImageSampler(_)) => DescriptorKind::CombinedImageSampler,
            Some(BindingKind::Sampler) => DescriptorKind::Sampler,
        };
        let number = made.seen.len() as u32;
        // One that sees the memory of another has none of its own.
        let owner = match resource.part {
            Part::Of { resource, .. } if resource != number => {
                made.seen.get(resource as usize).map(|seen| seen.place)
            }
            _ => None,
        };
        let next = match resource.content {
            Content::Image(info) => {
                if info.samples > 1 {
                    return Err(DeviceError::Lacks("graphics: multisampled images".into()));
                }
                &mut images
            }
            _ => &mut buffers,
        };
        let place = owner.unwrap_or_else(|| {
            *next += 1;
            *next - 1
        });
        made.seen.push(Seen {
            resource,
            kind,
            place,
        });
    }
    Ok(made)
}

impl DrawnResources {
    /// Those that have memory of their own, of images or of buffers.
    fn owners(&self, images: bool) -> impl Iterator<Item = &Seen> {
        let numbered = (0_u32..).zip(&self.seen);
        let owners = numbered.filter(|(number, seen)| match seen.resource.part {
            Part::Of { resource, .. } => resource == *number,
            Part::Whole => true,
        });
        let is_image = |seen: &Seen| matches!(seen.resource.content, Content::Image(_));
        owners
            .map(|(_, seen)| seen)
            .filter(move |seen| is_image(seen) == images)
    }

    /// Buffers, which are the drawing's first.
    pub(crate) fn buffers(&self) -> Vec<Buffer<'_>> {
        let buffers = self.owners(false).map(|seen| Buffer {
            bytes: (seen.resource.bytes.len() as u64)
                .max(16)
                .next_multiple_of(16),
            data: &seen.resource.bytes,
        });
        buffers.collect()
    }

    /// Images, which stand behind the attachments.
    pub(crate) fn images(&self) -> Vec<Image<'_>> {
        let images = self
            .owners(true)
            .filter_map(|seen| match seen.resource.content {
                Content::Image(info) => Some(image(&info, &seen.resource.bytes)),
                _ => None,
            });
        images.collect()
    }

    /// A view of all of each image; `first` is the place of the first image.
    pub(crate) fn views(&self, first: usize) -> Vec<View> {
        let images = self.images();
        let numbered = (first as u32..).zip(&images);
        let views = numbered.map(|(place, image)| View {
            image: ImageId(place),
            kind: match image.kind {
                ImageType::D1 => ViewType::D1,
                ImageType::D2 => ViewType::D2,
                ImageType::D3 => ViewType::D3,
            },
            format: image.format.clone(),
            aspect: None,
            level: 0,
            levels: image.levels,
            layer: 0,
            layers: image.layers,
            swizzle: Swizzle::default(),
        });
        views.collect()
    }

    pub(crate) fn samplers(&self) -> Vec<Sampler> {
        let samplers = self.samplers.iter();
        samplers.map(|(_, sampler)| sampler.clone()).collect()
    }

    pub(crate) fn set_count(&self) -> u32 {
        self.sets
    }

    /// All sets up to the last that is used; `first` is the place of the first image's view.
    pub(crate) fn sets(&self, first: usize) -> Vec<Set> {
        let first = first as u32;
        let sets = (0..self.sets).map(|number| {
            let here = self
                .seen
                .iter()
                .filter(|seen| seen.resource.place.0 == number);
            let mut bindings: Vec<Binding> = here.map(|seen| self.binding(seen, first)).collect();
            let samplers = (0_u32..).zip(&self.samplers);
            let alone = samplers.filter(|(_, (place, _))| {
                let beside = self.seen.iter().any(|seen| seen.resource.place == *place);
                place.0 == number && !beside
            });
            bindings.extend(alone.map(|(id, ((_, binding, element), _))| Binding {
                binding: *binding,
                element: *element,
                kind: DescriptorKind::Sampler,
                bound: Bound::Sampler(SamplerId(id)),
            }));
            Set { bindings }
        });
        sets.collect()
    }

    fn binding(&self, seen: &Seen, first: u32) -> Binding {
        let (_, binding, element) = seen.resource.place;
        let (offset, bytes) = match seen.resource.part {
            Part::Whole => (0, seen.resource.bytes.len() as u64),
            Part::Of { start, bytes, .. } => (start.into(), bytes.into()),
        };
        let range = Range {
            buffer: BufferId(seen.place),
            offset,
            bytes,
        };
        let view = ViewId(first.saturating_add(seen.place));
        let mut samplers = (0_u32..).zip(&self.samplers);
        let sampler = samplers.find(|(_, (place, _))| *place == seen.resource.place);
        Binding {
            binding,
            element,
            kind: seen.kind,
            bound: match (seen.resource.content, sampler) {
                (Content::Buffer | Content::Sampler(_), _) => Bound::Buffer(range),
                (Content::Texels(format), _) => Bound::Texels {
                    range,
                    format: format.name.to_ascii_lowercase(),
                },
                (Content::Image(_), Some((id, _))) => Bound::Both(view, SamplerId(id)),
                (Content::Image(_), None) => Bound::View(view),
            },
        }
    }

    /// Those whose memory is wanted.
    fn saved(&self) -> impl Iterator<Item = &Seen> {
        self.seen.iter().filter(|seen| seen.resource.save)
    }

    /// Where what is wanted is found; `first` is the place of the first image.
    pub(crate) fn results(&self, first: usize) -> Vec<Readback> {
        let results = self.saved().map(|seen| match seen.resource.content {
            Content::Image(info) => Readback::Image {
                image: ImageId((first as u32).saturating_add(seen.place)),
                aspect: Aspect::Color,
                level: 0,
                layer: 0,
                layers: info.layers,
            },
            _ => Readback::Buffer(Range {
                buffer: BufferId(seen.place),
                offset: 0,
                bytes: seen.resource.bytes.len() as u64,
            }),
        });
        results.collect()
    }

    /// Puts what was written into host bytes, in the order of [`DrawnResources::results`].
    pub(crate) fn put_back(&self, written: impl Iterator<Item = Vec<u8>>, memory: &mut Memory) {
        for (seen, bytes) in self.saved().zip(written) {
            let Target::Bytes {
                buffer,
                start,
                length,
            } = seen.resource.target
            else {
                continue;
            };
            let host = memory.get_mut(buffer).map(|buffer| &mut buffer.bytes);
            let host = host.and_then(|bytes| bytes.get_mut(start..));
            for (to, from) in host.into_iter().flatten().zip(bytes.iter().take(length)) {
                *to = *from;
            }
        }
    }
}

/// An image of a drawing with its texels, which lie layer by layer, level by level.
fn image<'b>(info: &ImageInfo, bytes: &'b [u8]) -> Image<'b> {
    let mut init = Vec::new();
    let mut rest = bytes;
    for layer in 0..info.layers {
        for level in 0..info.levels {
            let length = info
                .part_bytes(level)
                .saturating_mul(info.slices(level).into());
            let length = usize::try_from(length)
                .unwrap_or(usize::MAX)
                .min(rest.len());
            let (data, after) = rest.split_at(length);
            rest = after;
            init.push(ImageData {
                aspect: Aspect::Color,
                level,
                layer,
                layers: 1,
                data,
            });
        }
    }
    Image {
        kind: match info.dimension {
            ImageDimension::OneD => ImageType::D1,
            ImageDimension::TwoD | ImageDimension::Cube => ImageType::D2,
            ImageDimension::ThreeD => ImageType::D3,
        },
        format: info.format.name.to_ascii_lowercase(),
        extent: [info.width, info.height, info.depth],
        levels: info.levels,
        layers: info.layers,
        samples: 1,
        mutable: false,
        attachment: false,
        init,
    }
}

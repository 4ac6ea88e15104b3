//! Attachments of a draw: from host bytes to images of a drawing, and back.
//!
//! Host bytes of depth and stencil hold both, texel by texel: the depth first, the stencil value in the byte behind it. Those of an
//! image with samples hold one sample of all texels after the other.

use crate::DeviceError;
use crate::draw::{failed, lacks};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use eitri_amber::plan::{Graphics, Plan};
use eitri_amber::run::{ClearValues, Drawn, Memory};
use eitri_amber::script::BufferId;
use eitri_drawing::state::{
    Aspect, Color, ImageType, LoadOp, Rect, ResolveMode, StoreOp, Swizzle, ViewType,
};
use eitri_drawing::{
    Attachment, ClearValue, Image, ImageData, ImageId, Pass, PassPart, Readback, View, ViewId,
};

/// Bytes of a depth value of these formats, as images have it.
const DEPTH_BYTES: usize = 4;

/// Whole attachments of a pipeline.
pub(crate) struct Targets {
    pub(crate) colors: Vec<Target>,
    pub(crate) depth: Option<Target>,
    /// Resolve targets, in the order of the colour attachments.
    resolves: Vec<Target>,
    pub(crate) size: (u32, u32),
}

/// An attachment: the script's buffer, and what is in it.
pub(crate) struct Target {
    id: BufferId,
    /// The level of the buffer's image that is drawn to.
    level: u32,
    pub(crate) format: String,
    /// Bytes of a texel of the host.
    stride: usize,
    pub(crate) samples: u32,
    /// All texels of each aspect.
    parts: Vec<(Aspect, Vec<u8>)>,
}

impl Target {
    fn of(
        plan: &Plan,
        memory: &Memory,
        (id, level): (BufferId, u32),
        size: (u32, u32),
    ) -> Result<Target, DeviceError> {
        let buffer = plan.buffer(id);
        let buffer = buffer.ok_or_else(|| failed("an attachment is missing"))?;
        let format = buffer.ty.format_name();
        let format = format.ok_or_else(|| failed("an attachment has no format"))?;
        let format = format.to_ascii_lowercase();
        let stride = buffer.element.stride;
        let samples = buffer.samples.max(1);
        let texels = (size.0 as usize)
            .saturating_mul(size.1 as usize)
            .saturating_mul(samples as usize);
        let host = memory.get(id);
        let host = host.map_or(&[][..], |host| {
            host.drawn_level(level).unwrap_or(&host.bytes)
        });
        // Texels beyond the buffer's host contents are zero.
        let mut bytes = Vec::from(host);
        bytes.resize(texels.saturating_mul(stride), 0);
        let parts = match (has_depth(&format), has_stencil(&format)) {
            (true, true) => split(&bytes, stride, &format),
            (true, false) => vec![(Aspect::Depth, bytes)],
            (false, true) => vec![(Aspect::Stencil, bytes)],
            (false, false) => vec![(Aspect::Color, bytes)],
        };
        Ok(Target {
            id,
            level,
            format,
            stride,
            samples,
            parts,
        })
    }

    pub(crate) fn has_depth(&self) -> bool {
        has_depth(&self.format)
    }

    pub(crate) fn has_stencil(&self) -> bool {
        has_stencil(&self.format)
    }

    /// Host bytes of what was read back of each part.
    fn joined(&self, mut parts: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
        let first = parts.next().unwrap_or_default();
        if self.parts.len() < 2 {
            return first;
        }
        let stencil = parts.next().unwrap_or_default();
        let depth_bytes = depth_bytes(&self.format);
        let texels = first.chunks(DEPTH_BYTES).zip(stencil);
        let texels = texels.flat_map(|(depth, stencil)| {
            let mut texel = vec![0; self.stride];
            let values = depth.iter().copied().take(depth_bytes).chain([stencil]);
            for (to, from) in texel.iter_mut().zip(values) {
                *to = from;
            }
            texel
        });
        texels.collect()
    }
}

fn has_depth(format: &str) -> bool {
    format.starts_with('d') || format.starts_with("x8_d24")
}

fn has_stencil(format: &str) -> bool {
    format.contains("s8")
}

/// Bytes of a depth value beside a stencil value in host bytes.
fn depth_bytes(format: &str) -> usize {
    if format.starts_with("d24") { 3 } else { 4 }
}

/// Depth and stencil of host bytes.
fn split(bytes: &[u8], stride: usize, format: &str) -> Vec<(Aspect, Vec<u8>)> {
    let (mut depth, mut stencil) = (Vec::new(), Vec::new());
    let depth_bytes = depth_bytes(format);
    for texel in bytes.chunks(stride.max(1)) {
        let (value, rest) = texel.split_at_checked(depth_bytes).unwrap_or((texel, &[]));
        let mut word = [0; DEPTH_BYTES];
        for (to, from) in word.iter_mut().zip(value) {
            *to = *from;
        }
        depth.extend(word);
        stencil.push(rest.first().copied().unwrap_or(0));
    }
    vec![(Aspect::Depth, depth), (Aspect::Stencil, stencil)]
}

impl Targets {
    /// The attachments of a pipeline with what host bytes hold.
    pub(crate) fn of(
        plan: &Plan,
        graphics: &Graphics,
        memory: &Memory,
    ) -> Result<Targets, DeviceError> {
        let size = graphics.framebuffer;
        let target = |id: BufferId| Target::of(plan, memory, (id, 0), size);
        let colors = graphics
            .colors
            .iter()
            .map(|color| Target::of(plan, memory, (color.buffer, color.base_mip_level), size));
        Ok(Targets {
            colors: colors.collect::<Result<_, _>>()?,
            depth: graphics.depth_stencil.map(target).transpose()?,
            resolves: graphics
                .resolves
                .iter()
                .map(|id| target(*id))
                .collect::<Result<_, _>>()?,
            size,
        })
    }

    fn all(&self) -> impl Iterator<Item = &Target> {
        self.colors.iter().chain(&self.depth).chain(&self.resolves)
    }

    /// Number of attachments and resolve targets.
    pub(crate) fn count(&self) -> usize {
        self.all().count()
    }

    /// Samples of the attachments that are drawn on.
    pub(crate) fn samples(&self) -> u32 {
        let mut drawn = self.colors.iter().chain(&self.depth);
        drawn.next().map_or(1, |target| target.samples)
    }

    pub(crate) fn images(&self) -> Vec<Image<'_>> {
        let images = self.all().map(|target| {
            let init = target.parts.iter().map(|(aspect, data)| ImageData {
                aspect: *aspect,
                level: 0,
                layer: 0,
                layers: 1,
                data,
            });
            Image {
                kind: ImageType::D2,
                format: target.format.clone(),
                extent: [self.size.0, self.size.1, 1],
                levels: 1,
                layers: 1,
                samples: target.samples,
                mutable: false,
                attachment: true,
                init: init.collect(),
            }
        });
        images.collect()
    }

    /// A view of each image.
    pub(crate) fn views(&self) -> Vec<View> {
        let views = (0..).zip(self.all()).map(|(place, target)| View {
            image: ImageId(place),
            kind: ViewType::D2,
            format: target.format.clone(),
            aspect: None,
            level: 0,
            levels: 1,
            layer: 0,
            layers: 1,
            swizzle: Swizzle::default(),
        });
        views.collect()
    }

    /// Readbacks of all aspects of all images.
    pub(crate) fn results(&self) -> Vec<Readback> {
        let results = (0..).zip(self.all()).flat_map(|(place, target)| {
            target.parts.iter().map(move |(aspect, _)| Readback::Image {
                image: ImageId(place),
                aspect: *aspect,
                level: 0,
                layer: 0,
                layers: 1,
            })
        });
        results.collect()
    }

    /// Puts results into host bytes, in the order of [`Targets::results`].
    pub(crate) fn put_back(
        &self,
        results: &mut impl Iterator<Item = Vec<u8>>,
        memory: &mut Memory,
    ) {
        for target in self.all() {
            let bytes = target.joined(results.take(target.parts.len()));
            if let Some(host) = memory.get_mut(target.id) {
                host.put_level(target.level, self.size, bytes);
            }
        }
    }

    pub(crate) fn area(&self) -> Rect {
        Rect {
            x: 0,
            y: 0,
            width: self.size.0,
            height: self.size.1,
        }
    }

    /// The pass of a draw or a clear, without what is drawn.
    pub(crate) fn pass(&self, drawn: &Drawn) -> Result<Pass<'static>, DeviceError> {
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
        let depth_place = self.colors.len();
        let first_resolve = depth_place + usize::from(self.depth.is_some());
        let colors = self.colors.iter().enumerate().map(|(place, target)| {
            let color = color_of(target, values.color)?;
            let resolve = self.resolves.get(place).map(|_| {
                let view = ViewId((first_resolve + place) as u32);
                (view, ResolveMode::Average)
            });
            Ok(Some(Attachment {
                resolve,
                ..attachment(place, ClearValue::Color(color))
            }))
        });
        let depth = self.depth.as_ref().filter(|target| target.has_depth());
        let stencil = self.depth.as_ref().filter(|target| target.has_stencil());
        Ok(Pass {
            colors: colors.collect::<Result<_, DeviceError>>()?,
            depth: depth.map(|_| attachment(depth_place, ClearValue::Depth(values.depth as f32))),
            stencil: stencil
                .map(|_| attachment(depth_place, ClearValue::Stencil(values.stencil.into()))),
            area: self.area(),
            layers: 1,
            view_mask: 0,
            samples: self.samples(),
            part: PassPart::default(),
            commands: Vec::new(),
        })
    }
}

/// A colour from 0 to 1 as a format has it.
fn color_of(target: &Target, color: [f32; 4]) -> Result<Color, DeviceError> {
    let is = |encoding: &str| target.format.contains(encoding);
    Ok(match (is("uint"), is("sint")) {
        (false, false) => Color::Float(color),
        // A script gives clear colours as floats; only zero has an obvious integer meaning.
        (true, _) if color == [0.0; 4] => Color::Uint([0; 4]),
        (_, true) if color == [0.0; 4] => Color::Int([0; 4]),
        _ => return Err(lacks("graphics: clear values of integers")),
    })
}

/// The format of what a target has of an aspect, if it has it.
pub(crate) fn format_of(target: Option<&Target>, has: fn(&Target) -> bool) -> Option<String> {
    let target = target.filter(|target| has(target));
    target.map(|target| target.format.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_and_stencil_are_split_and_joined() {
        for (format, stride) in [("d24_unorm_s8_uint", 4), ("d32_sfloat_s8_uint", 5)] {
            let bytes: Vec<u8> = (0..10 * stride as u8).collect();
            let parts = split(&bytes, stride, format);
            let [(Aspect::Depth, depth), (Aspect::Stencil, stencil)] = &parts[..] else {
                panic!("{parts:?}");
            };
            assert_eq!((depth.len(), stencil.len()), (40, 10), "{format}");
            assert_eq!(stencil[1], 2 * stride as u8 - 1, "{format}");
            let again = [depth.clone(), stencil.clone()].into_iter();
            let target = Target {
                id: BufferId(0),
                level: 0,
                format: format.to_owned(),
                stride,
                samples: 1,
                parts: parts.clone(),
            };
            assert_eq!(target.joined(again), bytes, "{format}");
        }
    }
}

//! Memory: which resources of a job have memory of their own, and which see the same.
//!
//! A buffer that a script binds several times is one piece of memory to its shader, as soon as one of the bindings is written
//! through (language reference, 12.1). Otherwise each binding has a copy, which needs no alignment.

use crate::DeviceError;
use crate::images;
use crate::resources::{Resource, Target, named};
use alloc::vec::Vec;
use core::ops::Range;
use eitri_amber::plan::Plan;
use eitri_amber::run::{Binding as Bound, HostBuffer, Memory};
use eitri_job::{Content, Part};

/// Offsets of what sees a part of memory are multiples of this.
const ALIGNMENT: usize = 16;

/// A place of the program, with what the script has bound there.
pub(crate) struct Seen<'d> {
    pub(crate) place: (u32, u32, u32),
    pub(crate) content: Content,
    pub(crate) bound: &'d Bound,
    /// Fewest bytes that the shader wants.
    pub(crate) least: usize,
    pub(crate) is_written: bool,
}

impl Seen<'_> {
    fn is_image(&self) -> bool {
        matches!(self.content, Content::Image(_))
    }

    /// Bytes that the shader sees. What a buffer lacks to the whole of its block is memory that nothing relies on.
    fn bytes(&self) -> usize {
        self.bound.range.len().max(self.least)
    }

    /// Whether both are of one buffer, see some of the same bytes, and one of them is written.
    fn meets(&self, other: &Seen<'_>) -> bool {
        let overlap = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        self.bound.buffer == other.bound.buffer
            && (self.is_written || other.is_written)
            && (self.is_image() || overlap(&self.bound.range, &other.bound.range))
    }

    /// Whether both have the same memory if they meet: of images, the same levels.
    fn could_share(&self, other: &Seen<'_>) -> bool {
        self.bound.buffer == other.bound.buffer
            && self.is_image() == other.is_image()
            && self.bound.base_mip_level == other.bound.base_mip_level
    }
}

/// A resource for each place that the shader sees.
pub(crate) fn resources(
    plan: &Plan,
    seen: &[Seen<'_>],
    memory: &Memory,
) -> Result<Vec<Resource>, DeviceError> {
    let mut resources: Vec<Resource> = Vec::new();
    for (index, one) in seen.iter().enumerate() {
        let mixed = |other: &Seen<'_>| one.is_image() != other.is_image() && one.meets(other);
        if seen.iter().any(mixed) {
            let buffer = plan.buffer(one.bound.buffer);
            let name = buffer.map_or("", |buffer| &buffer.name);
            return Err(DeviceError::Failed(format!(
                "{name} is bound as an image and as plain memory, and the shader writes it"
            )));
        }
        let family = || seen.iter().filter(|other| one.could_share(other));
        let meet = family().any(|a| family().any(|b| !core::ptr::eq(a, b) && a.meets(b)));
        let first = seen.iter().position(|other| one.could_share(other));
        let nothing = HostBuffer::default();
        let host = memory.get(one.bound.buffer).unwrap_or(&nothing);
        resources.push(match (meet, first) {
            (true, Some(first)) if first < index => Resource {
                bytes: Vec::new(),
                save: false,
                part: part_of(one, first)?,
                target: Target::Nowhere,
                place: one.place,
                content: one.content,
            },
            (true, _) => {
                let end =
                    family().map(|other| other.bound.range.start.saturating_add(other.bytes()));
                let is_written = family().any(|other| other.is_written);
                let mut resource = own(one, host, 0..host.bytes.len(), is_written);
                if let Content::Buffer | Content::Texels(_) = one.content {
                    let end = end.max().unwrap_or(0).max(host.bytes.len());
                    resource.bytes.resize(end, 0);
                    resource.part = part_of(one, index)?;
                }
                resource
            }
            (false, _) => own(one, host, one.bound.range.clone(), one.is_written),
        });
    }
    Ok(resources)
}

/// A resource with memory of its own, for some of a buffer's bytes.
fn own(one: &Seen<'_>, host: &HostBuffer, range: Range<usize>, is_written: bool) -> Resource {
    let here = host.bytes.get(range.clone()).unwrap_or(&[]);
    let buffer = one.bound.buffer;
    let start = range.start;
    let (bytes, target) = match one.content {
        Content::Image(info) if info.samples > 1 => {
            let bytes = usize::try_from(info.packed_bytes()).unwrap_or(0);
            (vec![0; bytes], Target::Samples(buffer))
        }
        Content::Image(info) => {
            let target = Target::Bytes {
                buffer,
                start,
                length: images::level_bytes(&info, 0),
            };
            let level = one.bound.base_mip_level;
            (images::texels(&info, (host, here), level), target)
        }
        Content::Buffer | Content::Texels(_) | Content::Sampler(_) => {
            let mut bytes = Vec::from(here);
            bytes.resize(here.len().max(one.least), 0);
            let target = Target::Bytes {
                buffer,
                start,
                length: here.len(),
            };
            (bytes, target)
        }
    };
    Resource {
        place: one.place,
        content: one.content,
        bytes,
        save: is_written,
        part: Part::Whole,
        target: match is_written {
            true => target,
            false => Target::Nowhere,
        },
    }
}

/// A part of the memory of resource number `of`.
fn part_of(one: &Seen<'_>, of: usize) -> Result<Part, DeviceError> {
    let start = one.bound.range.start;
    if !start.is_multiple_of(ALIGNMENT) {
        return Err(DeviceError::Failed(format!(
            "the descriptor at {} begins at byte {start}, which is no multiple of {ALIGNMENT}",
            named(one.place)
        )));
    }
    let large = |_| DeviceError::Failed(format!("{} is too large", named(one.place)));
    Ok(Part::Of {
        resource: u32::try_from(of).map_err(large)?,
        start: u32::try_from(start).map_err(large)?,
        bytes: u32::try_from(one.bytes()).map_err(large)?,
    })
}

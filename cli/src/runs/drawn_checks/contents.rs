//! Contents of a drawing's buffers and images before a part of it, as the interpreter takes them, and back.
//!
//! Needs: a host that may read them.  Guarantees: what shaders store is seen by the draws behind them.

use crate::runs::checked::sampler;
use eitri_checks::draw::Placed;
use eitri_drawing::state::{Aspect, Component, ImageType, ViewType};
use eitri_drawing::{Bound, BufferId, Drawing, ImageId, Range, Readback, SetId, View};
use eitri_player::Read;
use eitri_shaderc::interp::{Buffer, Image, Key, Resources, Texel, TexelFormat};
use std::collections::{BTreeMap, BTreeSet};

/// The number of the first image among the memories that checkers tell apart; those of buffers are less.
const FIRST_IMAGE: u32 = 1 << 24;

/// The aspect of an image's texels that a view shows, by a number.
type AspectNumber = u8;

/// An image that was read: the texels of each level of each layer.
#[derive(Clone, Debug)]
struct Planes {
    levels: u32,
    /// Layer by layer, in them level by level; of several samples sample by sample.
    planes: Vec<Vec<u8>>,
}

/// What memories hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    buffers: BTreeMap<u32, Vec<u8>>,
    images: BTreeMap<(u32, AspectNumber), Planes>,
}

/// A binding's element with what it is bound to.
pub(super) struct BoundElement<'d> {
    pub(super) key: Key,
    pub(super) bound: &'d Bound,
}

/// The elements that sets bind, from set 0 on.
pub(super) fn bound<'d>(drawing: &'d Drawing<'_>, sets: &'d [SetId]) -> Vec<BoundElement<'d>> {
    let mut all = vec![];
    for (number, set) in (0..).zip(sets) {
        let bindings = drawing
            .sets
            .get(set.index())
            .map_or(&[][..], |set| &set.bindings);
        all.extend(bindings.iter().map(|binding| BoundElement {
            key: (number, binding.binding, binding.element),
            bound: &binding.bound,
        }));
    }
    all
}

/// The view of what is bound.
pub(super) fn view_of<'d>(drawing: &'d Drawing<'_>, bound: &Bound) -> Option<&'d View> {
    match bound {
        Bound::View(view) | Bound::Both(view, _) => drawing.views.get(view.index()),
        Bound::Buffer(_) | Bound::Texels { .. } | Bound::Sampler(_) => None,
    }
}

/// The bytes of what is bound.
pub(super) fn range_of(bound: &Bound) -> Option<&Range> {
    match bound {
        Bound::Buffer(range) | Bound::Texels { range, .. } => Some(range),
        Bound::View(_) | Bound::Both(..) | Bound::Sampler(_) => None,
    }
}

/// Which part of the texels a view shows, with its format.
fn seen(drawing: &Drawing<'_>, view: &View) -> (Aspect, String) {
    let image = drawing.images.get(view.image.index());
    let format = image.map_or("", |image| image.format.as_str());
    let (depth, stencil) = (
        format.starts_with('d') || format.starts_with("x8"),
        format.contains("s8"),
    );
    match view.aspect.unwrap_or_default() {
        Aspect::Stencil => (Aspect::Stencil, "S8_UINT".to_owned()),
        _ if stencil && !depth => (Aspect::Stencil, "S8_UINT".to_owned()),
        Aspect::Color if !depth => (Aspect::Color, view.format.to_ascii_uppercase()),
        _ => {
            let name = match format {
                _ if format.contains("d24") => "X8_D24_UNORM_PACK32",
                _ if format.contains("d16") => "D16_UNORM",
                _ => "D32_SFLOAT",
            };
            (Aspect::Depth, name.to_owned())
        }
    }
}

/// Whether a view's layers are slices of a 3D image.
fn shows_slices(drawing: &Drawing<'_>, view: &View) -> bool {
    let image = drawing.images.get(view.image.index());
    image.is_some_and(|image| image.kind == ImageType::D3) && view.kind != ViewType::D3
}

impl Contents {
    /// Reads a buffer, once.
    pub(super) fn read_buffer(&mut self, drawing: &Drawing<'_>, buffer: BufferId, read: Read<'_>) {
        let Some(own) = drawing.buffers.get(buffer.index()) else {
            return;
        };
        let place = Readback::Buffer(Range {
            buffer,
            offset: 0,
            bytes: own.bytes,
        });
        self.buffers
            .entry(buffer.0)
            .or_insert_with(|| read(&place).unwrap_or_default());
    }

    /// Reads what a view shows, once.
    fn read_view(&mut self, drawing: &Drawing<'_>, view: &View, read: Read<'_>) {
        let Some(image) = drawing.images.get(view.image.index()) else {
            return;
        };
        let (aspect, _) = seen(drawing, view);
        let key = (view.image.0, aspect as u8);
        if self.images.contains_key(&key) {
            return;
        }
        let mut planes = vec![];
        for layer in 0..image.layers {
            for level in 0..image.levels {
                let place = Readback::Image {
                    image: view.image,
                    aspect,
                    level,
                    layer,
                    layers: 1,
                };
                planes.push(read(&place).unwrap_or_default());
            }
        }
        let levels = image.levels;
        self.images.insert(key, Planes { levels, planes });
    }

    /// Reads what sets bind.
    pub(super) fn read_bound(&mut self, drawing: &Drawing<'_>, sets: &[SetId], read: Read<'_>) {
        for element in bound(drawing, sets) {
            if let Some(range) = range_of(element.bound) {
                self.read_buffer(drawing, range.buffer, read);
            }
            if let Some(view) = view_of(drawing, element.bound) {
                self.read_view(drawing, view, read);
            }
        }
    }

    /// A word of a buffer.
    pub(super) fn word(&self, buffer: BufferId, at: u64) -> u32 {
        let bytes = self.bytes(buffer, at, 4);
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u32::from_le_bytes)
    }

    /// Bytes of a buffer, if it has them all.
    pub(super) fn bytes(&self, buffer: BufferId, at: u64, count: usize) -> Option<&[u8]> {
        let start = usize::try_from(at).ok()?;
        self.buffers
            .get(&buffer.0)?
            .get(start..start.checked_add(count)?)
    }

    /// What a shader that uses these elements is given.
    ///
    /// # Errors
    /// What the interpreter does not have.
    pub(super) fn resources(
        &self,
        drawing: &Drawing<'_>,
        sets: &[SetId],
        uses: impl Fn(Key) -> bool,
    ) -> Result<Resources, String> {
        let mut resources = Resources::default();
        for BoundElement { key, bound } in bound(drawing, sets) {
            if !uses(key) {
                continue;
            }
            match bound {
                Bound::Buffer(range) => {
                    let bytes = self.slice(range);
                    resources.buffers.insert(key, Buffer { bytes });
                }
                Bound::Texels { range, format } => {
                    let format = known(format)?;
                    let bytes = self.slice(range);
                    let texels = bytes.len() / format.bytes().max(1);
                    let mut image = Image::new(format, [texels as u32, 1, 1]);
                    let whole = image.bytes.len();
                    image.bytes.copy_from_slice(&bytes[..whole]);
                    resources.images.insert(key, image);
                }
                Bound::View(_) | Bound::Both(..) | Bound::Sampler(_) => {
                    if let Some(view) = view_of(drawing, bound) {
                        resources.images.insert(key, self.image(drawing, view)?);
                    }
                    if let Bound::Both(_, id) | Bound::Sampler(id) = bound
                        && let Some(own) = drawing.samplers.get(id.index())
                    {
                        let info = eitri_player::sampler_info(own);
                        resources.samplers.insert(key, sampler(&info));
                    }
                }
            }
        }
        Ok(resources)
    }

    /// Takes what a shader has left of the elements that it writes.
    pub(super) fn take(
        &mut self,
        drawing: &Drawing<'_>,
        sets: &[SetId],
        written: &BTreeSet<Key>,
        resources: &Resources,
    ) {
        for BoundElement { key, bound } in bound(drawing, sets) {
            if !written.contains(&key) {
                continue;
            }
            let bytes = match (resources.buffers.get(&key), resources.images.get(&key)) {
                (Some(buffer), _) => &buffer.bytes,
                (None, Some(image)) => &image.bytes,
                (None, None) => continue,
            };
            match (range_of(bound), view_of(drawing, bound)) {
                (Some(range), _) => self.put(range, bytes),
                (None, Some(view)) => self.put_image(drawing, view, bytes),
                (None, None) => {}
            }
        }
    }

    fn slice(&self, range: &Range) -> Vec<u8> {
        let all = self
            .buffers
            .get(&range.buffer.0)
            .map_or(&[][..], Vec::as_slice);
        let start = usize::try_from(range.offset)
            .unwrap_or(usize::MAX)
            .min(all.len());
        let bytes = usize::try_from(range.bytes).unwrap_or(usize::MAX);
        all[start..start.saturating_add(bytes).min(all.len())].to_vec()
    }

    fn put(&mut self, range: &Range, bytes: &[u8]) {
        let Ok(start) = usize::try_from(range.offset) else {
            return;
        };
        let own = self.buffers.get_mut(&range.buffer.0);
        let own = own.and_then(|own| own.get_mut(start..start.checked_add(bytes.len())?));
        if let Some(own) = own {
            own.copy_from_slice(bytes);
        }
    }

    /// What a view shows.
    fn image(&self, drawing: &Drawing<'_>, view: &View) -> Result<Image, String> {
        let source = drawing.images.get(view.image.index());
        let source = source.ok_or("an image that there is not")?;
        let (_, name) = seen(drawing, view);
        let [width, height, depth] = source.extent;
        let slices = shows_slices(drawing, view);
        let shrunk = |size: u32| size.checked_shr(view.level).unwrap_or(0).max(1);
        let deep = source.kind == ImageType::D3 && !slices;
        let size = [
            shrunk(width),
            shrunk(height),
            if deep { shrunk(depth) } else { 1 },
        ];
        let mut image = Image::new(known(&name)?, [1, 1, 1]);
        (image.size, image.layers, image.levels) = (size, view.layers, view.levels);
        image.samples = source.samples;
        image.bytes = Vec::with_capacity(image.packed_bytes());
        for part in self.parts(drawing, view) {
            image.bytes.extend_from_slice(part);
        }
        image.bytes.resize(image.packed_bytes(), 0);
        Ok(swizzled(image, view))
    }

    /// The texels that a view shows, in the interpreter's order.
    fn parts(&self, drawing: &Drawing<'_>, view: &View) -> Vec<&[u8]> {
        let (aspect, _) = seen(drawing, view);
        let Some(planes) = self.images.get(&(view.image.0, aspect as u8)) else {
            return vec![];
        };
        let places = places(drawing, view, planes);
        let found = places.into_iter().map(|(plane, bytes)| {
            let plane = planes.planes.get(plane).map_or(&[][..], Vec::as_slice);
            plane.get(bytes).unwrap_or_default()
        });
        found.collect()
    }

    fn put_image(&mut self, drawing: &Drawing<'_>, view: &View, bytes: &[u8]) {
        let (aspect, _) = seen(drawing, view);
        let Some(planes) = self.images.get_mut(&(view.image.0, aspect as u8)) else {
            return;
        };
        let mut rest = bytes;
        for (plane, range) in places(drawing, view, planes) {
            let Some((part, behind)) = rest.split_at_checked(range.len()) else {
                return;
            };
            let to = planes
                .planes
                .get_mut(plane)
                .and_then(|plane| plane.get_mut(range));
            if let Some(to) = to {
                to.copy_from_slice(part);
            }
            rest = behind;
        }
    }
}

/// Where the texels that a view shows lie: plane, and bytes of it.
fn places(
    drawing: &Drawing<'_>,
    view: &View,
    planes: &Planes,
) -> Vec<(usize, std::ops::Range<usize>)> {
    let slices = shows_slices(drawing, view);
    let mut places = vec![];
    for layer in view.layer..view.layer.saturating_add(view.layers) {
        for level in view.level..view.level.saturating_add(view.levels) {
            let own = if slices { 0 } else { layer };
            let plane = (own * planes.levels + level) as usize;
            let bytes = planes.planes.get(plane).map_or(0, Vec::len);
            if !slices {
                places.push((plane, 0..bytes));
                continue;
            }
            let depth = drawing
                .images
                .get(view.image.index())
                .map_or(1, |it| it.extent[2]);
            let slice = bytes / depth.checked_shr(level).unwrap_or(0).max(1) as usize;
            let start = slice * layer as usize;
            places.push((plane, start..start + slice));
        }
    }
    places
}

fn known(name: &str) -> Result<TexelFormat, String> {
    let name = name.to_ascii_uppercase();
    TexelFormat::of_name(&name).ok_or_else(|| format!("the interpreter has no format {name}"))
}

/// An image with its components where a view has them.
fn swizzled(image: Image, view: &View) -> Image {
    if view.swizzle == eitri_drawing::state::Swizzle::default() {
        return image;
    }
    // Words stay as they are: of integers the sign does not matter.
    let (name, one) = match image.format.is_integer() {
        true => ("R32G32B32A32_UINT", 1),
        false => ("R32G32B32A32_SFLOAT", 1f32.to_bits()),
    };
    let Some(format) = TexelFormat::of_name(name) else {
        return image;
    };
    let mut made = Image {
        format,
        bytes: vec![],
        ..image.clone()
    };
    made.bytes = vec![0; made.packed_bytes()];
    for layer in 0..image.layers {
        for level in 0..image.levels {
            for place in places_of(&image, layer, level) {
                let words = image.load(place);
                let component = |component| match component {
                    Component::Red => words[0],
                    Component::Green => words[1],
                    Component::Blue => words[2],
                    Component::Alpha => words[3],
                    Component::Zero => 0,
                    Component::One => one,
                };
                made.store(place, view.swizzle.0.map(component));
            }
        }
    }
    made
}

/// The texels of a level of a layer, with all their samples.
fn places_of(image: &Image, layer: u32, level: u32) -> impl Iterator<Item = Texel> + use<> {
    let [width, height, depth, _] = image.sizes(level).map(u64::from);
    let samples = u64::from(image.samples.max(1));
    (0..width * height * depth * samples).map(move |number| {
        let (sample, texel) = (number % samples, number / samples);
        let (x, rest) = (texel % width, texel / width);
        let (y, z) = (rest % height, rest / height);
        Texel {
            at: [x, y, z].map(|at| at as i64),
            layer: layer.into(),
            level: level.into(),
            sample: sample as i64,
        }
    })
}

/// What an element is, among the memories of the drawing.
pub(super) fn placed(drawing: &Drawing<'_>, bound: &Bound) -> Option<Placed> {
    if let Some(range) = range_of(bound) {
        // Texels of a buffer have numbers of their own: such a view is a memory apart.
        let start = match bound {
            Bound::Texels { format, .. } => {
                let bytes = known(format).map_or(1, |format| format.bytes());
                4 * (range.offset / bytes.max(1) as u64)
            }
            _ => range.offset,
        };
        let apart = u32::from(matches!(bound, Bound::Texels { .. })) << 25;
        return Some(Placed {
            object: range.buffer.0 | apart,
            start,
            ..Placed::default()
        });
    }
    let view = view_of(drawing, bound)?;
    Some(Placed {
        object: FIRST_IMAGE + view.image.0,
        start: first_texel(drawing, view),
        ..Placed::default()
    })
}

/// What is added to the numbers of a view's texels, as checkers count them.
fn first_texel(drawing: &Drawing<'_>, view: &View) -> u64 {
    let Some(image) = drawing.images.get(view.image.index()) else {
        return 0;
    };
    let shrunk = |size: u32| u64::from(size.checked_shr(view.level).unwrap_or(0).max(1));
    let layer = shrunk(image.extent[0]) * shrunk(image.extent[1]) * u64::from(image.samples.max(1));
    4 * layer * u64::from(view.layer) + (u64::from(view.level) << 48)
}

/// Whether two views show some of the same texels of one image.
pub(super) fn overlap(one: &View, other: &View) -> bool {
    let meets = |a: u32, count: u32, b: u32, other: u32| {
        a < b.saturating_add(other) && b < a.saturating_add(count)
    };
    one.image == other.image
        && meets(one.level, one.levels, other.level, other.levels)
        && meets(one.layer, one.layers, other.layer, other.layers)
}

/// An image's number, for messages.
pub(super) fn image_name(image: ImageId) -> String {
    format!("image {}", image.0)
}

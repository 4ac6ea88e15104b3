//! What of a drawing's buffers and images somebody has written: bytes of buffers, texels of images.
//!
//! Needs: the steps in their order.  Guarantees: what may have been written counts as written.
//! Never: says which value it is.

use eitri_drawing::state::{BufferImageRegion, ImageType, Subresource};
use eitri_drawing::{BufferId, Drawing, Image, ImageId, ImageStep, LevelRange, Range as Bytes};
use std::ops::Range;

/// A buffer: the parts that nobody wrote, in order.
#[derive(Clone, Debug, Default)]
struct UnwrittenBytes(Vec<Range<u64>>);

impl UnwrittenBytes {
    fn write(&mut self, bytes: Range<u64>) {
        let parts = std::mem::take(&mut self.0);
        for part in parts {
            let before = part.start..part.end.min(bytes.start);
            let behind = part.start.max(bytes.end)..part.end;
            self.0
                .extend([before, behind].into_iter().filter(|it| !it.is_empty()));
        }
    }

    fn within(&self, bytes: &Range<u64>) -> Vec<Range<u64>> {
        let parts = self.0.iter();
        let cut = parts.map(|part| part.start.max(bytes.start)..part.end.min(bytes.end));
        cut.filter(|part| !part.is_empty()).collect()
    }
}

/// A level of a layer: by texel whether it was written.
#[derive(Clone, Debug)]
struct Plane {
    size: [usize; 3],
    texels: Vec<bool>,
}

/// A box of texels: first corner, and extent.
pub(super) type Box3 = ([i64; 3], [i64; 3]);

impl Plane {
    fn each(&self, (from, extent): Box3) -> impl Iterator<Item = usize> + use<> {
        let size = self.size;
        let axis = move |axis: usize| {
            let most = size[axis] as i64;
            let start = from[axis].clamp(0, most);
            let end = from[axis].saturating_add(extent[axis]).clamp(start, most);
            start as usize..end as usize
        };
        let (xs, ys, zs) = (axis(0), axis(1), axis(2));
        zs.flat_map(move |z| {
            let xs = xs.clone();
            ys.clone().flat_map(move |y| {
                let row = (z * size[1] + y) * size[0];
                xs.clone().map(move |x| row + x)
            })
        })
    }
}

/// An image: its levels of layers.
#[derive(Clone, Debug)]
struct WrittenTexels {
    layers: u32,
    /// Layer by layer, in them level by level.
    planes: Vec<Plane>,
    levels: u32,
}

impl WrittenTexels {
    fn new(image: &Image<'_>) -> WrittenTexels {
        let depth = match image.kind {
            ImageType::D3 => image.extent[2],
            ImageType::D1 | ImageType::D2 => 1,
        };
        let extent = [image.extent[0], image.extent[1], depth];
        let planes = (0..image.layers).flat_map(|_| {
            (0..image.levels).map(|level| {
                let size = extent.map(|it| it.checked_shr(level).unwrap_or(0).max(1) as usize);
                let texels = vec![false; size.iter().product()];
                Plane { size, texels }
            })
        });
        let mut written = WrittenTexels {
            layers: image.layers,
            levels: image.levels,
            planes: planes.collect(),
        };
        for init in &image.init {
            for layer in init.layer..init.layer.saturating_add(init.layers) {
                written.write(init.level, layer, WHOLE);
            }
        }
        written
    }

    fn plane(&self, level: u32, layer: u32) -> Option<&Plane> {
        let number = self.number(level, layer)?;
        self.planes.get(number)
    }

    fn number(&self, level: u32, layer: u32) -> Option<usize> {
        let inside = level < self.levels && layer < self.layers;
        inside.then(|| (layer * self.levels + level) as usize)
    }

    fn write(&mut self, level: u32, layer: u32, texels: Box3) {
        let number = self.number(level, layer);
        if let Some(plane) = number.and_then(|number| self.planes.get_mut(number)) {
            for texel in plane.each(texels) {
                plane.texels[texel] = true;
            }
        }
    }

    fn has_some(&self, level: u32, layer: u32, texels: Box3) -> bool {
        let plane = self.plane(level, layer);
        plane.is_some_and(|plane| plane.each(texels).any(|texel| plane.texels[texel]))
    }
}

/// All texels.
pub(super) const WHOLE: Box3 = ([0; 3], [i64::MAX; 3]);

/// What was written.
#[derive(Clone, Debug)]
pub(super) struct Written {
    buffers: Vec<UnwrittenBytes>,
    images: Vec<WrittenTexels>,
}

impl Written {
    /// What a drawing begins with.
    pub(super) fn new(drawing: &Drawing<'_>) -> Written {
        let buffers = drawing.buffers.iter().map(|buffer| {
            // What has contents has them all: the rest is zero.
            let unwritten = buffer.data.is_empty() && buffer.bytes > 0;
            UnwrittenBytes(unwritten.then_some(0..buffer.bytes).into_iter().collect())
        });
        Written {
            buffers: buffers.collect(),
            images: drawing.images.iter().map(WrittenTexels::new).collect(),
        }
    }

    /// Takes everything for written.
    pub(super) fn assume_all(&mut self) {
        self.buffers.iter_mut().for_each(|buffer| buffer.0.clear());
        let planes = self.images.iter_mut().flat_map(|image| &mut image.planes);
        planes.for_each(|plane| plane.texels.fill(true));
    }

    pub(super) fn write_bytes(&mut self, buffer: BufferId, bytes: Range<u64>) {
        if let Some(own) = self.buffers.get_mut(buffer.index()) {
            own.write(bytes);
        }
    }

    /// The parts of some bytes that nobody wrote.
    pub(super) fn unwritten_bytes(&self, buffer: BufferId, bytes: &Range<u64>) -> Vec<Range<u64>> {
        let own = self.buffers.get(buffer.index());
        own.map_or(vec![], |own| own.within(bytes))
    }

    pub(super) fn write_texels(&mut self, image: ImageId, level: u32, layer: u32, texels: Box3) {
        if let Some(own) = self.images.get_mut(image.index()) {
            own.write(level, layer, texels);
        }
    }

    /// Whether some of these texels were written.
    pub(super) fn has_texels(&self, image: ImageId, level: u32, layer: u32, texels: Box3) -> bool {
        let own = self.images.get(image.index());
        own.is_none_or(|own| own.has_some(level, layer, texels))
    }

    /// By texel of a level of a layer, or of a slice of a 3D image, whether it was written.
    pub(super) fn texels(
        &self,
        image: ImageId,
        level: u32,
        layer: u32,
    ) -> Option<(usize, &[bool])> {
        let own = self.images.get(image.index())?;
        if let Some(plane) = own.plane(level, layer).filter(|_| own.layers > 1) {
            return Some((plane.size[0], &plane.texels));
        }
        let plane = own.plane(level, 0)?;
        let slice = plane.size[0] * plane.size[1];
        let start = slice.checked_mul(layer as usize)?;
        Some((plane.size[0], plane.texels.get(start..start + slice)?))
    }

    /// Sets the same.
    pub(super) fn set_texels(&mut self, image: ImageId, level: u32, layer: u32, texels: &[bool]) {
        let Some(own) = self.images.get_mut(image.index()) else {
            return;
        };
        let several = own.layers > 1;
        let number = own.number(level, if several { layer } else { 0 });
        let Some(plane) = number.and_then(|number| own.planes.get_mut(number)) else {
            return;
        };
        let slice = plane.size[0] * plane.size[1];
        let start = if several { 0 } else { slice * layer as usize };
        if let Some(to) = plane.texels.get_mut(start..start + texels.len()) {
            to.copy_from_slice(texels);
        }
    }

    /// A copy of bytes: what is copied is as it was.
    pub(super) fn copy_bytes(&mut self, from: &Bytes, to: BufferId, offset: u64) {
        let source = from.offset..from.offset.saturating_add(from.bytes);
        let missing = self.unwritten_bytes(from.buffer, &source);
        self.write_bytes(to, offset..offset.saturating_add(from.bytes));
        if let Some(own) = self.buffers.get_mut(to.index()) {
            let moved = missing.into_iter();
            own.0.extend(
                moved.map(|it| it.start - from.offset + offset..it.end - from.offset + offset),
            );
            own.0.sort_by_key(|part| part.start);
        }
    }

    /// A step on images.
    pub(super) fn image_step(&mut self, step: &ImageStep) {
        match step {
            ImageStep::CopyBufferToImage { to, regions, .. } => {
                for region in regions {
                    self.write_region(*to, region);
                }
            }
            // The bytes of texels that nobody wrote count as written: padding between rows is not told from them.
            ImageStep::CopyImageToBuffer { to, .. } => self.write_bytes(*to, 0..u64::MAX),
            ImageStep::CopyImage { from, to, regions }
            | ImageStep::Resolve { from, to, regions } => {
                for region in regions {
                    self.copy_texels((*from, &region.src), (*to, &region.dst), region.extent);
                }
            }
            ImageStep::Blit {
                from, to, regions, ..
            } => {
                for region in regions {
                    let (src, dst) = (&region.src, &region.dst);
                    let known = (src.layer..src.layer + src.layers)
                        .any(|layer| self.has_texels(*from, src.level, layer, WHOLE));
                    if !known {
                        continue;
                    }
                    let start = std::array::from_fn(|axis| dst.from[axis].min(dst.to[axis]).into());
                    let extent = std::array::from_fn(|axis| {
                        i64::from(dst.from[axis].abs_diff(dst.to[axis]))
                    });
                    for layer in dst.layer..dst.layer + dst.layers {
                        self.write_texels(*to, dst.level, layer, (start, extent));
                    }
                }
            }
            ImageStep::ClearColor { image, range, .. }
            | ImageStep::ClearDepthStencil { image, range, .. } => {
                self.write_levels(*image, *range)
            }
        }
    }

    fn write_levels(&mut self, image: ImageId, range: LevelRange) {
        for level in range.level..range.level.saturating_add(range.levels) {
            for layer in range.layer..range.layer.saturating_add(range.layers) {
                self.write_texels(image, level, layer, WHOLE);
            }
        }
    }

    fn write_region(&mut self, image: ImageId, region: &BufferImageRegion) {
        let extent = region.extent.map_or([i64::MAX; 3], |it| it.map(i64::from));
        for layer in region.layer..region.layer.saturating_add(region.layers) {
            let start = region.offset.map(i64::from);
            self.write_texels(image, region.level, layer, (start, extent));
        }
    }

    fn copy_texels(
        &mut self,
        (from, src): (ImageId, &Subresource),
        (to, dst): (ImageId, &Subresource),
        extent: [u32; 3],
    ) {
        let extent = extent.map(i64::from);
        let source = (src.offset.map(i64::from), extent);
        let known = (src.layer..src.layer.saturating_add(src.layers))
            .any(|layer| self.has_texels(from, src.level, layer, source));
        if !known {
            return;
        }
        // Slices of a 3D image may go to layers, and the other way round.
        let layers = src.layers.max(dst.layers).max(1);
        let depth = extent[2].max(i64::from(layers));
        let target = (dst.offset.map(i64::from), [extent[0], extent[1], depth]);
        let last = dst.layer.saturating_add(dst.layers.max(extent[2] as u32));
        for layer in dst.layer..last {
            self.write_texels(to, dst.level, layer, target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_unwritten_until_they_are_written() {
        let mut bytes = UnwrittenBytes(vec![0..16, 20..24]);
        bytes.write(4..8);
        assert_eq!(bytes.within(&(0..16)), [0..4, 8..16]);
        assert_eq!(bytes.within(&(5..22)), [8..16, 20..22]);
        bytes.write(0..100);
        assert!(bytes.within(&(0..24)).is_empty());
    }
}

//! Copies to and from images that are compressed without loss.
//!
//! Only passes write such images, and only textures read them. So texels go into one by a pass that draws nothing, and come out of one
//! by a kernel on the compute stream that fetches them. Both take a texel's fields apart and put them together again, bit by bit.
//! Facts: hardware/graphics-ops-products.md 8.2.

mod kernel;

use super::error::Attachment;
use super::packing::Packing;
use super::rendering::{ImageView, Rect, ResolveMode};
use super::surface::{Surface, surface};
use super::texels::{MemoryTexels, TexelSource, Transform};
use crate::command::{
    CompressedCopy, CompressedRegion, CompressedSides, Element, OwnCode, Recorder, Side,
};
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::Reach;
use crate::resource::{Aspect, FETCHES, ImageInfo, resource};
use kernel::FetchKernel;

/// Messages of refusals: a format without copies, and images between which there are none.
const NO_COPIES: &str =
    "is compressed (AFBC) and has no copies: make it for ImageUses::TRANSFER, or blit it";
const OTHER_CHANNELS: &str = "is compressed (AFBC) and is copied to such images with the same channels only: go through a buffer";

/// A copy of either kind: what [`crate::device::Drawing`] leads to.
pub(crate) fn copy_compressed<P: Platform>(
    it: &mut Recorder<'_, '_, '_, P>,
    copy: &CompressedCopy,
) -> Result<(), Error> {
    let [width, height, layers] = copy.count;
    let count = [width, height];
    for layer in 0..layers {
        match &copy.how {
            CompressedSides::From(from, to) => {
                it.download(&from.at(layer), to.at_slice(layer), (copy.element, count))?;
            }
            CompressedSides::To(from, to) => {
                it.upload(from.at_slice(layer), &to.at(layer), (copy.element, count))?;
            }
            CompressedSides::Both(from, to) => {
                it.copy_between(&from.at(layer), &to.at(layer), count)?;
            }
        }
    }
    Ok(())
}

impl CompressedRegion {
    fn at(&self, layer: u32) -> CompressedRegion {
        CompressedRegion {
            layer: self.layer.saturating_add(layer),
            ..*self
        }
    }

    fn view(&self) -> ImageView {
        ImageView {
            level: self.level,
            layer: self.layer,
            ..ImageView::of(self.image)
        }
    }

    /// So many pixels from its first on.
    fn area(&self, [width, height]: [u32; 2]) -> Rect {
        let [x, y] = self.first.map(|it| i32::try_from(it).unwrap_or(i32::MAX));
        Rect {
            x,
            y,
            width,
            height,
        }
    }
}

/// A region with what its texels are.
struct Packed {
    view: ImageView,
    attachment: Attachment,
    packing: Packing,
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    fn packed(&self, region: &CompressedRegion) -> Result<Packed, Error> {
        let info = self.device.image_info(region.image)?;
        let aspect = region.aspect.or_else(|| info.aspects().first().copied());
        let attachment = match aspect {
            Some(Aspect::Depth) => Attachment::Depth,
            Some(Aspect::Stencil) => Attachment::Stencil,
            Some(Aspect::Color) | None => Attachment::Color(0),
        };
        let packing = Packing::of(self.arch(), info.format);
        let packing = packing.ok_or_else(|| refused(&info, NO_COPIES))?;
        let color = attachment == Attachment::Color(0);
        Ok(Packed {
            view: ImageView {
                format: color.then_some(packing.format),
                ..region.view()
            },
            attachment,
            packing,
        })
    }

    /// Copies texels of memory into a layer.
    fn upload(
        &mut self,
        from: Side,
        to: &CompressedRegion,
        (element, count): (Element, [u32; 2]),
    ) -> Result<(), Error> {
        let packed = self.packed(to)?;
        let surface = surface(self.device, packed.view, packed.attachment)?;
        let texels = MemoryTexels {
            side: from,
            element,
            packing: packed.packing,
            first: to.first,
            count,
        };
        let source = TexelSource {
            surface,
            transform: Transform::Memory(texels),
            mode: ResolveMode::SampleZero,
            target: packed.attachment,
        };
        self.write_texels(source, packed.view, to.area(count))
    }

    /// Copies texels of a layer into a layer of another image.
    fn copy_between(
        &mut self,
        from: &CompressedRegion,
        to: &CompressedRegion,
        count: [u32; 2],
    ) -> Result<(), Error> {
        let packed = self.packed(to)?;
        let of = self.device.image_info(from.image)?;
        let own = self.device.image_info(to.image)?;
        if of.format.compression() != own.format.compression() {
            return Err(refused(&of, OTHER_CHANNELS));
        }
        // The source is seen in the same format, so that bits stay what they are.
        let seen = ImageView {
            format: packed.view.format,
            ..from.view()
        };
        let surface = surface(self.device, seen, packed.attachment)?;
        let [from_x, from_y] = from.first;
        let [x, y] = to.first;
        let moved = [from_x.wrapping_sub(x), from_y.wrapping_sub(y)];
        let source = TexelSource {
            surface,
            transform: Transform::Offset(moved.map(|it| it as i32)),
            mode: ResolveMode::SampleZero,
            target: packed.attachment,
        };
        self.write_texels(source, packed.view, to.area(count))
    }

    /// Copies texels of a layer into memory.
    fn download(
        &mut self,
        from: &CompressedRegion,
        to: Side,
        (element, [width, height]): (Element, [u32; 2]),
    ) -> Result<(), Error> {
        let packed = self.packed(from)?;
        let surface = surface(self.device, packed.view, packed.attachment)?;
        // What was written before is behind barriers, but texture caches may hold what was there before that.
        self.wait_for_jobs()?;
        self.flush(Reach::ReadOnly)?;
        let resources = self.fetched(&surface)?;
        let kernel = FetchKernel {
            element,
            to: to.order,
            scaled: packed.packing.scaled,
            fields: packed.packing.count(),
        };
        let uniforms = kernel.uniforms(&packed.packing, (from.first, &to), [width, height]);
        let own = OwnCode::Fetch(kernel.key());
        self.dispatch_kernel(
            (own, &kernel.code()),
            (resources, &uniforms),
            [width, height, 1],
        )
    }

    /// Resources of a kernel that fetches texels of a surface's first layer: the pointer with the number of tables.
    fn fetched(&mut self, surface: &Surface) -> Result<u64, Error> {
        let arch = self.arch();
        let plane = self.place(&surface.plane_words(arch, 0)?)?;
        let texture = surface.texture_words(arch, plane)?;
        let mut table = [0; 16];
        for (to, from) in table.iter_mut().zip(FETCHES.into_iter().chain(texture)) {
            *to = from;
        }
        let bytes = 4_u32.saturating_mul(table.len() as u32);
        let table = self.place(&table)?;
        let mut tables = [0; 16];
        for (to, from) in tables.iter_mut().zip(resource(arch, table.0, bytes)?) {
            *to = from;
        }
        // One group of entries.
        Ok(self.place(&tables)?.0 | 4)
    }
}

fn refused(info: &ImageInfo, what: &'static str) -> Error {
    info.refused(what).into()
}

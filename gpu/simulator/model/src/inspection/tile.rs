//! The tile buffer and the attachments of a render pass, as pictures need them.

use crate::gpu::Gpu;
use crate::memory::PhysicalMemory;
use crate::tile::afbc::{AfbcHeader, AfbcTexel};
use crate::tile::depth::depth_of;
use crate::tile::surface::{Surface, ZsElement};
use crate::tile::target::tile_bits;
use crate::tile::{Framebuffer, Pixel, TileBuffer};
use crate::trace::{TileColor, TileContents};
use alloc::sync::Arc;
use alloc::vec::Vec;
use eitri_descriptors::framebuffer::{ZInternalFormat, ZsFormat};

/// The number of the alpha component.
const ALPHA: u8 = 3;

/// The tile that a render pass works on.
#[derive(Clone, Copy, Debug)]
pub struct TileView<'g> {
    tile: &'g TileBuffer,
    origin: [u32; 2],
}

impl<'g> TileView<'g> {
    pub(crate) fn new(tile: &'g TileBuffer, origin: [u32; 2]) -> TileView<'g> {
        TileView { tile, origin }
    }

    /// Column and row of its upper left pixel in the framebuffer.
    pub fn origin(&self) -> [u32; 2] {
        self.origin
    }

    /// Width and height, in pixels.
    pub fn size(&self) -> [u32; 2] {
        let shape = self.tile.shape();
        [shape.width, shape.height]
    }

    /// Samples of a pixel.
    pub fn samples(&self) -> u32 {
        self.tile.samples()
    }

    /// What the tile holds of a sample of a pixel, counted from its upper left one; none outside of it.
    pub fn contents(&self, [x, y]: [u32; 2], sample: u32) -> Option<TileContents> {
        self.tile.contents(Pixel { x, y }, sample).ok()
    }
}

/// The attachments of a render pass in memory. A clone stays what it is when the pass ends.
#[derive(Clone, Debug)]
pub struct Attachments {
    framebuffer: Arc<Framebuffer>,
    space: u8,
}

impl Attachments {
    pub(crate) fn new(framebuffer: Framebuffer, space: u8) -> Attachments {
        Attachments {
            framebuffer: Arc::new(framebuffer),
            space,
        }
    }

    /// Width and height, in pixels.
    pub fn size(&self) -> [u32; 2] {
        let parameters = &self.framebuffer.parameters;
        [parameters.width, parameters.height]
    }

    /// Colour targets; those that are not written count too.
    pub fn targets(&self) -> usize {
        self.framebuffer.targets.len()
    }

    /// What memory holds of a pixel of a colour target, of its first sample; none of a target that is not written, or where nothing
    /// is mapped.
    pub fn color(
        &self,
        gpu: &Gpu,
        memory: &mut dyn PhysicalMemory,
        target: usize,
        at: [u32; 2],
    ) -> Option<TileColor> {
        let target = self.framebuffer.targets.get(target)?;
        let image = target.image.as_ref()?;
        let element = ZsElement {
            element: image.format.bytes(),
            first: 0,
            bytes: image.format.bytes(),
        };
        let bits = self.bits(gpu, memory, (&image.surface, element), at)?;
        let bits = match &image.surface {
            Surface::Afbc(surface) => surface.restored(bits),
            Surface::Elements { .. } => bits,
        };
        let bits = tile_bits(target.format, image.format, image.swizzle, bits);
        let Some(format) = target.format.blendable else {
            return Some(TileColor::Raw(bits));
        };
        let mut color = format.unpack(bits);
        if !image.format.holds(image.swizzle, ALPHA) {
            color[usize::from(ALPHA)] = 1.0;
        }
        Some(TileColor::of(color, format.is_integer()))
    }

    /// The same of depth.
    pub fn depth(&self, gpu: &Gpu, memory: &mut dyn PhysicalMemory, at: [u32; 2]) -> Option<f32> {
        let image = self.framebuffer.depth.as_ref()?;
        let element = ZsElement::of_depth(image.format);
        let bits = self.bits(gpu, memory, (&image.surface, element), at)?;
        let (format, mask) = match image.format {
            ZsFormat::D16 => (ZInternalFormat::D16, 0xffff),
            ZsFormat::D24 | ZsFormat::D24X8 | ZsFormat::D24S8 => (ZInternalFormat::D24, 0xff_ffff),
            ZsFormat::D32 => (ZInternalFormat::D32, u32::MAX),
        };
        Some(depth_of(format, bits as u32 & mask) as f32)
    }

    /// The same of stencil.
    pub fn stencil(&self, gpu: &Gpu, memory: &mut dyn PhysicalMemory, at: [u32; 2]) -> Option<u8> {
        let image = self.framebuffer.stencil.as_ref()?;
        let element = ZsElement::of_stencil(image.format);
        let bits = self.bits(gpu, memory, (&image.surface, element), at)?;
        Some(bits as u8)
    }

    /// The bits of an element.
    fn bits(
        &self,
        gpu: &Gpu,
        memory: &mut dyn PhysicalMemory,
        (surface, element): (&Surface, ZsElement),
        at: [u32; 2],
    ) -> Option<u128> {
        let [width, height] = self.size();
        if at[0] >= width || at[1] >= height {
            return None;
        }
        let mut read = |address: u64, bytes: u8| -> Option<Vec<u8>> {
            let read = gpu.peek(memory, self.space, address, bytes.into());
            (read.len() == usize::from(bytes)).then_some(read)
        };
        let first = match surface {
            Surface::Elements { .. } => surface.address(0, element.element, at)?,
            Surface::Afbc(surface) => {
                let entry = read(surface.entry_address(at), 16)?;
                let header = AfbcHeader::decode(*entry.first_chunk()?);
                match surface.texel(&header, at) {
                    AfbcTexel::At(address) | AfbcTexel::Packed(address) => address,
                    AfbcTexel::Solid(bits) => return Some(bits.into()),
                    AfbcTexel::Compressed => return None,
                }
            }
        };
        let bytes = read(first.checked_add(element.first.into())?, element.bytes)?;
        let bits = bytes.iter().rev();
        Some(bits.fold(0, |bits, byte| bits << 8 | u128::from(*byte)))
    }
}

impl Gpu {
    /// The tile that the oldest render pass works on; none between tiles.
    pub fn tile(&self) -> Option<TileView<'_>> {
        self.mcu.cores().pass()?.tile()
    }

    /// The attachments of the oldest render pass that runs.
    pub fn attachments(&self) -> Option<Attachments> {
        Some(self.mcu.cores().pass()?.attachments())
    }
}

//! Images: their memory, and texels that the host writes and reads between jobs.
//!
//! Guarantees: zero at first, and never executable. Texels go in and out without gaps, row by row, whatever their order
//! in the image.

use super::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{Image, Space};
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::planes;
use crate::resource::{Aspect, ImageError, ImageInfo, Level, TILE_BYTES, Tiling, in_tile};
use crate::resource::{IMPORTED, NO_HOST, NOT_IMPORTED};
use crate::vm::Protection;

const WHAT: Thing = Thing::Image;

/// A slice of a level of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImagePart {
    /// Aspect; without one the image's first: its colour, its depth, or its stencil if it has no depth.
    pub aspect: Option<Aspect>,
    /// Level.
    pub level: u32,
    /// Layer; of cubes also the face.
    pub layer: u32,
    /// Depth, or sample.
    pub slice: u32,
}

/// Which way texels go.
enum Way<'b> {
    In(&'b [u8]),
    Out(&'b mut [u8]),
}

impl<P: Platform> Device<'_, '_, P> {
    /// Makes an image in an address space.
    ///
    /// # Errors
    /// If there can't be such an image, or there is no memory, no address or no place in the storage for it.
    pub fn create_image(&mut self, space: Space, info: ImageInfo) -> Result<Image, Error> {
        self.check_image(&info)?;
        if info.placed.is_some() {
            return Err(info.refused(NOT_IMPORTED).into());
        }
        let texels = info.texels_start()..info.bytes();
        let kind = Kind::Image { info, texels };
        let key = self.create_object(space, "an image", info.bytes(), Protection::Data, kind)?;
        let mapping = &self.object(key, WHAT)?.mapping;
        let (address, memory) = (mapping.address(), mapping.memory());
        let arch = self.hw.properties.arch;
        if let Err(error) = planes(arch, &info, address.0, |offset, words| {
            for (word, place) in words.iter().zip((0..).step_by(4)) {
                self.hw
                    .platform
                    .store32(memory.offset(offset).offset(place), *word);
            }
        }) {
            let _ = self.destroy_object(key, WHAT);
            return Err(error.into());
        }
        self.hw.platform.clean(memory.span(info.descriptor_bytes()));
        Ok(Image(key))
    }

    /// Refuses an image that this GPU can't have.
    pub(super) fn check_image(&self, info: &ImageInfo) -> Result<(), ImageError> {
        info.check_for(self.hw.properties.arch)?;
        self.check_family(info)
    }

    /// Refuses a compressed format that the GPU does not have.
    fn check_family(&self, info: &ImageInfo) -> Result<(), ImageError> {
        let [features, ..] = self.hw.properties.texture_features;
        match info.format.compressed() {
            Some(family) if features >> family.feature_bit & 1 == 0 => Err(ImageError::Family {
                format: info.format.name,
            }),
            _ => Ok(()),
        }
    }

    /// Destroys an image.
    ///
    /// # Errors
    /// If a job in flight uses it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_image(&mut self, image: Image) -> Result<(), Error> {
        self.destroy_object(image.0, WHAT)
    }

    /// What an image is.
    ///
    /// # Errors
    /// If it was destroyed.
    pub fn image_info(&self, image: Image) -> Result<ImageInfo, Error> {
        match self.object(image.0, WHAT)?.kind {
            Kind::Image { info, .. } => Ok(info),
            _ => Err(Error::Gone { what: WHAT }),
        }
    }

    /// Writes all texels of a part. What a job in flight reads meanwhile is not defined.
    ///
    /// # Errors
    /// If there is no such part, or it has more or fewer bytes; or the GPU's caches are not cleaned in time, which costs the
    /// device.
    pub fn write_image(
        &mut self,
        image: Image,
        part: ImagePart,
        texels: &[u8],
    ) -> Result<(), Error> {
        self.copy_part(image, part, Way::In(texels))
    }

    /// Reads all texels of a part. What a job in flight writes meanwhile may be seen or not.
    ///
    /// # Errors
    /// If there is no such part, or it has more or fewer bytes; or the GPU's caches were not cleaned in time, as with
    /// [`Device::read_buffer`].
    pub fn read_image(
        &mut self,
        image: Image,
        part: ImagePart,
        texels: &mut [u8],
    ) -> Result<(), Error> {
        self.copy_part(image, part, Way::Out(texels))
    }

    fn copy_part(&mut self, image: Image, part: ImagePart, way: Way<'_>) -> Result<(), Error> {
        let info = self.image_info(image)?;
        if info.is_afbc() {
            return Err(info.refused(NO_HOST).into());
        }
        if info.placed.is_some() {
            return Err(info.refused(IMPORTED).into());
        }
        let ImagePart {
            aspect,
            level,
            layer,
            slice,
        } = part;
        let plane = info.plane(aspect).ok_or(ImageError::NoAspect {
            aspect: aspect.unwrap_or(Aspect::Color),
            format: info.format.name,
        })?;
        if level >= info.levels || layer >= info.layers || slice >= info.slices(level) {
            let missing = ImageError::NoPart {
                level,
                layer,
                slice,
            };
            return Err(missing.into());
        }
        let given = match &way {
            Way::In(texels) => texels.len(),
            Way::Out(texels) => texels.len(),
        } as u64;
        let wanted = plane.info.part_bytes(level);
        if given != wanted {
            return Err(ImageError::Bytes { given, wanted }.into());
        }
        let lies = plane.level(level, layer);
        let memory = self.object(image.0, WHAT)?.mapping.memory();
        let skipped = lies.slice.saturating_mul(slice.into());
        let offset = lies.offset.saturating_add(skipped);
        let (at, part) = (
            memory.offset(offset),
            offset..offset.saturating_add(lies.slice),
        );
        let is_in = matches!(way, Way::In(_));
        if is_in {
            self.host_writes(image.0, WHAT, &part)?;
        } else {
            self.host_reads(image.0, WHAT, &part)?;
        }
        // A cache may hold old neighbours of what is written, or old texels of what is read, which the GPU has written since.
        self.hw.platform.observe();
        self.hw.platform.invalidate(at.span(lies.slice));
        let texel = plane.info.texel_bytes() as usize;
        match info.tiling {
            Tiling::Linear => self.copy_rows(at, &lies, texel, way),
            Tiling::UInterleaved | Tiling::Afbc => {
                let side = 1 << plane.info.tile_log2();
                self.copy_tiles(at, &lies, (texel, side), way);
            }
        }
        if is_in {
            self.hw.platform.clean(at.span(lies.slice));
            self.host_wrote(image.0);
        }
        Ok(())
    }

    fn copy_rows(&mut self, at: PhysicalAddress, lies: &Level, texel: usize, way: Way<'_>) {
        let row_bytes = (lies.width as usize).saturating_mul(texel).max(1);
        let starts = (0..lies.height).map(|row| at.offset(lies.row.saturating_mul(row.into())));
        match way {
            Way::In(texels) => {
                for (start, row) in starts.zip(texels.chunks(row_bytes)) {
                    self.hw.platform.write_bytes(start, row);
                }
            }
            Way::Out(texels) => {
                for (start, row) in starts.zip(texels.chunks_mut(row_bytes)) {
                    self.hw.platform.read_bytes(start, row);
                }
            }
        }
    }

    /// Copies elements of `texel` bytes in tiles with so many along a side.
    fn copy_tiles(
        &mut self,
        at: PhysicalAddress,
        lies: &Level,
        (texel, side): (usize, u32),
        mut way: Way<'_>,
    ) {
        let mut tile = [0_u8; TILE_BYTES];
        let bytes = texel.saturating_mul(side.saturating_mul(side) as usize);
        let tile = tile.get_mut(..bytes).unwrap_or(&mut []);
        for top in (0..lies.height).step_by(side as usize) {
            for left in (0..lies.width).step_by(side as usize) {
                let row = lies.row.saturating_mul((top / side).into());
                let column = (bytes as u64).saturating_mul((left / side).into());
                let start = at.offset(row).offset(column);
                self.hw.platform.read_bytes(start, tile);
                for y in 0..side.min(lies.height.saturating_sub(top)) {
                    for x in 0..side.min(lies.width.saturating_sub(left)) {
                        let inside = (in_tile(x, y) as usize).saturating_mul(texel);
                        let inside = inside..inside.saturating_add(texel);
                        let (x, y) = (left.saturating_add(x), top.saturating_add(y));
                        let number = (y as usize)
                            .saturating_mul(lies.width as usize)
                            .saturating_add(x as usize);
                        let outside = number.saturating_mul(texel);
                        let outside = outside..outside.saturating_add(texel);
                        let (to, from) = match &mut way {
                            Way::In(texels) => (tile.get_mut(inside), texels.get(outside)),
                            Way::Out(texels) => (texels.get_mut(outside), tile.get(inside)),
                        };
                        for (to, from) in to.into_iter().flatten().zip(from.into_iter().flatten()) {
                            *to = *from;
                        }
                    }
                }
                if let Way::In(_) = way {
                    self.hw.platform.write_bytes(start, tile);
                }
            }
        }
    }
}

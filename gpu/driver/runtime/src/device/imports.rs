//! Imports: images and buffers over memory of the caller's, which the platform lends.
//!
//! Guarantees: the GPU reaches the memory until the object is destroyed, and then no more; the platform has it back.  Never: reads,
//! writes or zeroes the memory, or keeps caches of it.

use super::objects::Object;
use super::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{Buffer, Image, Space};
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::{ImageInfo, NOT_PLACED};
use crate::slab::Key;
use core::ops::Range;
use eitri_csf::page_table::PAGE_BYTES;

/// The object of an out-of-memory error where the platform does not lend the memory.
const WHAT: &str = "an import, which the platform does not lend";

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Makes an image whose texels lie in memory of the caller's, where [`ImageInfo::placed`] says: a display's picture, or a texture
    /// that another device has made. `memory` begins and ends at multiples of 4096; the platform lends it ([`Platform::lend`]). It
    /// holds whatever it held. The image is used as any other, except that the host reaches its texels where they lie: it calls
    /// [`Device::scan_out`] before it reads or writes them, and [`Device::imported_image_changed`] after it has written. Each view of
    /// it takes a place and a page of memory, as with [`Device::bind_view`].
    ///
    /// # Errors
    /// If there can't be such an image; if it is larger than the memory, or that is not whole pages; if the platform does not lend the
    /// memory; or if there is no address or no place in the storage for it.
    pub fn import_image(
        &mut self,
        space: Space,
        memory: Range<PhysicalAddress>,
        info: ImageInfo,
    ) -> Result<Image, Error> {
        self.check_image(&info)?;
        if info.placed.is_none() {
            return Err(info.refused(NOT_PLACED).into());
        }
        let (start, end) = (info.texels_start(), info.bytes());
        let size = whole_pages(&memory)?;
        if end > size {
            let bytes = end.saturating_sub(start);
            return Err(Error::Outside {
                offset: start,
                bytes,
                size,
            });
        }
        let texels = start..end;
        let key = self.import(space, memory, Kind::Image { info, texels })?;
        Ok(Image(key))
    }

    /// Makes a buffer of memory of the caller's, which begins and ends at multiples of 4096 and which the platform lends
    /// ([`Platform::lend`]). It holds whatever it held. [`Device::read_buffer`] and [`Device::write_buffer`] reach it as far as the
    /// platform's own accesses do.
    ///
    /// # Errors
    /// If the memory is not whole pages, or the platform does not lend it; or if there is no address or no place in the storage.
    pub fn import_buffer(
        &mut self,
        space: Space,
        memory: Range<PhysicalAddress>,
    ) -> Result<Buffer, Error> {
        let bytes = whole_pages(&memory)?;
        if bytes == 0 {
            return Err(Error::Empty {
                what: Thing::Buffer,
            });
        }
        let aliased = false;
        let key = self.import(space, memory, Kind::Buffer { bytes, aliased })?;
        Ok(Buffer(key))
    }

    /// Lets jobs that are submitted from here on see what the caller has written into the memory of an imported image.
    ///
    /// # Errors
    /// If it was destroyed.
    pub fn imported_image_changed(&mut self, image: Image) -> Result<(), Error> {
        self.object(image.0, Thing::Image)?;
        self.host_wrote(image.0);
        Ok(())
    }

    fn import(
        &mut self,
        space: Space,
        memory: Range<PhysicalAddress>,
        kind: Kind<'d>,
    ) -> Result<Key, Error> {
        self.check_places()?;
        let mapping = self.map_borrowed(space.0, WHAT, memory)?;
        self.insert_object(Object {
            uncached: false,
            ..Object::new(space.0, mapping, kind)
        })
    }
}

/// Bytes of memory that is whole pages.
fn whole_pages(memory: &Range<PhysicalAddress>) -> Result<u64, Error> {
    let [start, end] = [memory.start.0, memory.end.0];
    for offset in [start, end] {
        if !offset.is_multiple_of(PAGE_BYTES) {
            return Err(Error::Misaligned { offset });
        }
    }
    Ok(end.saturating_sub(start))
}

//! Loading: the image's sections into memory and into the firmware's address space.
//!
//! Guarantees: contents are as the image says and clean in memory before the microcontroller can start; code is
//! never writable.  Facts: hardware/csf-firmware.md section 3, csf-mmio.md section 16.7.

use crate::memory::{Memory, OutOfMemory, Pages};
use crate::mmu::{AddressSpace, MmuError, Part};
use crate::platform::{PhysicalAddress, Platform};
use eitri_csf::image::{CacheMode, Image, ImageError, Section, SectionFlags, section_flags};
use eitri_csf::interface::control::{SHARED_VA, SHARED_VA_END};
use eitri_csf::page_table::{Attributes, PAGE_BYTES};
use heapless::Vec;
use thiserror::Error;

/// Most sections of an image; images at hand have eight or nine.
const MAX_SECTIONS: usize = 32;

/// Why firmware can't be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LoadError {
    /// The image is not a legal one.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// More sections than the runtime keeps.
    #[error("the firmware image has more than {MAX_SECTIONS} sections")]
    TooManySections,
    /// The shared section is larger than its window.
    #[error("the firmware's shared section ends at {end:#x}, beyond {SHARED_VA_END:#x}")]
    SharedTooLarge {
        /// Its end.
        end: u32,
    },
    /// No memory for a section.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// A section can't be mapped.
    #[error("the firmware section at {address:#x} can't be mapped: {error}")]
    Mmu {
        /// Where the section begins.
        address: u32,
        /// Why.
        error: MmuError,
    },
}

/// A firmware image in memory.
#[derive(Debug)]
pub(crate) struct LoadedImage<'f> {
    image: Image<'f>,
    /// Memory of each section, in the order of the image; `None` for those that are not loaded.
    places: Vec<Option<Pages>, MAX_SECTIONS>,
    /// Where the shared section lies, and its bytes.
    shared: Option<(PhysicalAddress, u64)>,
}

impl<'f> LoadedImage<'f> {
    /// Checks an image, and takes and maps memory for its sections. [`Filling`] writes them.
    #[inline(never)]
    pub(crate) fn load<P: Platform>(
        platform: &mut P,
        memory: &mut Memory,
        space: &mut AddressSpace,
        bytes: &'f [u8],
    ) -> Result<LoadedImage<'f>, LoadError> {
        let image = Image::parse(bytes)?;
        let mut loaded = LoadedImage {
            image,
            places: Vec::new(),
            shared: None,
        };
        match loaded.load_sections(platform, memory, space) {
            Ok(()) => Ok(loaded),
            Err(error) => {
                loaded.release(platform, memory);
                Err(error)
            }
        }
    }

    fn load_sections<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        space: &mut AddressSpace,
    ) -> Result<(), LoadError> {
        for section in self.image.sections() {
            let place = if is_loaded(&section) {
                let size = u64::from(section.va.end.wrapping_sub(section.va.start));
                Some(memory.take(platform, "a firmware section", size, PAGE_BYTES)?)
            } else {
                None
            };
            if let Err(Some(pages)) = self.places.push(place) {
                memory.give_back(platform, pages);
                return Err(LoadError::TooManySections);
            }
            let Some(Some(pages)) = self.places.last() else {
                continue;
            };
            let range = u64::from(section.va.start)..u64::from(section.va.end);
            let part = Part {
                range,
                physical: pages.start(),
                attributes: attributes(section.flags),
            };
            let mapped = space.map(platform, memory, &[part]);
            mapped.map_err(|error| LoadError::Mmu {
                address: section.va.start,
                error,
            })?;
            if section.flags.has(section_flags::SHARED) && section.va.start == SHARED_VA {
                if section.va.end > SHARED_VA_END {
                    return Err(LoadError::SharedTooLarge {
                        end: section.va.end,
                    });
                }
                self.shared = Some((pages.start(), pages.bytes()));
            }
        }
        // The parser has seen a shared section, but an empty or protected one is not loaded.
        match self.shared {
            Some(_) => Ok(()),
            None => Err(LoadError::SharedTooLarge { end: SHARED_VA }),
        }
    }

    /// Gives the sections' memory back: the microcontroller is stopped and its address space is gone.
    pub(crate) fn release<P: Platform>(mut self, platform: &mut P, memory: &mut Memory) {
        while let Some(place) = self.places.pop() {
            if let Some(pages) = place {
                memory.give_back(platform, pages);
            }
        }
    }

    /// Whether a page of memory holds part of a section.
    pub(crate) fn owns(&self, page: PhysicalAddress) -> bool {
        let mut places = self.places.iter().flatten();
        places.any(|pages| {
            let offset = page.0.checked_sub(pages.start().0);
            offset.is_some_and(|offset| offset < pages.bytes())
        })
    }

    /// The image.
    pub(crate) const fn image(&self) -> &Image<'f> {
        &self.image
    }

    /// Where the shared section lies.
    pub(crate) fn shared(&self) -> (PhysicalAddress, u64) {
        // There is one once it is loaded.
        self.shared.unwrap_or((PhysicalAddress(0), 0))
    }

    /// Where the shared section ends in the firmware's address space: host-made objects come after it.
    pub(crate) fn shared_end(&self) -> u64 {
        u64::from(SHARED_VA).wrapping_add(self.shared().1)
    }

    /// How many sections were loaded, and their bytes.
    pub(crate) fn size(&self) -> (usize, u64) {
        let loaded = self.places.iter().flatten();
        loaded.fold((0, 0), |(count, bytes): (usize, u64), pages| {
            (count.saturating_add(1), bytes.saturating_add(pages.bytes()))
        })
    }
}

/// Sections for protected mode need protected memory, which there is none of; empty ones hold nothing.
fn is_loaded(section: &Section<'_>) -> bool {
    !section.va.is_empty() && !section.flags.has(section_flags::PROTECTED)
}

fn attributes(flags: SectionFlags) -> Attributes {
    let cached = flags.cache() == CacheMode::Cached;
    let attributes = if cached {
        Attributes::CACHED
    } else {
        Attributes::UNCACHED
    };
    let attributes = if flags.has(section_flags::WRITE) {
        attributes
    } else {
        attributes.read_only()
    };
    if flags.has(section_flags::EXECUTE) {
        attributes.execute()
    } else {
        attributes
    }
}

/// Bytes that are written at once.
const PART: u64 = 64 << 10;

/// The sections being written, for the first time or again, as a start after a reset needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    section: usize,
    offset: u64,
}

impl Filling {
    /// Nothing is written yet.
    pub(crate) const fn new() -> Filling {
        Filling {
            section: 0,
            offset: 0,
        }
    }

    /// Writes a part, of a bounded length; whether that was the last.
    pub(crate) fn step<P: Platform>(&mut self, platform: &mut P, image: &LoadedImage<'_>) -> bool {
        let mut sections = image.image.sections().zip(&image.places);
        let Some((section, place)) = sections.nth(self.section) else {
            return true;
        };
        let bytes = place.as_ref().map_or(0, Pages::bytes);
        let part = bytes.saturating_sub(self.offset).min(PART);
        if let Some(pages) = place {
            let at = pages.start().offset(self.offset);
            // Zeroed also without the zero flag: an image must not see what another left.
            platform.zero(at, part);
            let from = usize::try_from(self.offset).unwrap_or(usize::MAX);
            let data = section.data.get(from..).unwrap_or(&[]);
            let length = usize::try_from(part).unwrap_or(usize::MAX).min(data.len());
            platform.write_bytes(at, data.get(..length).unwrap_or(&[]));
            platform.clean(at.span(part));
        }
        self.offset = self.offset.saturating_add(part);
        if self.offset >= bytes {
            self.section = self.section.saturating_add(1);
            self.offset = 0;
        }
        self.section >= image.places.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::firmware::{control_blocks, device, image};

    /// The pages of sections, and none before or behind them.
    #[test]
    fn pages_of_sections_are_the_firmwares() {
        let bytes = image(&control_blocks());
        let device = device(&bytes);
        let image = &device.image;
        let mut ours: Vec<u64, 64> = Vec::new();
        for pages in image.places.iter().flatten() {
            for page in (0..pages.bytes()).step_by(PAGE_BYTES as usize) {
                let _ = ours.push(pages.start().0 + page);
            }
        }
        assert!(!ours.is_empty() && !ours.is_full());
        for page in &ours {
            assert!(image.owns(PhysicalAddress(*page)));
            for beside in [page - PAGE_BYTES, page + PAGE_BYTES] {
                let owned = image.owns(PhysicalAddress(beside));
                assert_eq!(owned, ours.contains(&beside), "{beside:#x}");
            }
        }
    }
}

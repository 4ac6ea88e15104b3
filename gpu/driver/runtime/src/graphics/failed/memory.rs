//! What the GPU has at its addresses, read by the host through the tables of a space.

use crate::mmu::AddressSpace;
use crate::platform::{PhysicalAddress, Platform};
use eitri_csf::page_table::PAGE_BYTES;

/// Reads double words of a space. A page is looked up once for as many as are read in a row.
pub(super) struct SpaceReader<'a, P> {
    platform: &'a mut P,
    space: &'a AddressSpace,
    page: Option<(u64, PhysicalAddress)>,
}

impl<'a, P: Platform> SpaceReader<'a, P> {
    pub(super) const fn new(platform: &'a mut P, space: &'a AddressSpace) -> Self {
        SpaceReader {
            platform,
            space,
            page: None,
        }
    }

    /// The double word at an address, a multiple of 8; `None` if nothing is mapped there.
    pub(super) fn load(&mut self, address: u64) -> Option<u64> {
        let at = self.place(address)?;
        Some(self.platform.load64(at))
    }

    /// The same of one that the GPU writes.
    pub(super) fn load_shared(&mut self, address: u64) -> Option<u64> {
        let at = self.place(address)?;
        self.platform.invalidate(at.span(8));
        Some(self.platform.load64(at))
    }

    fn place(&mut self, address: u64) -> Option<PhysicalAddress> {
        if !address.is_multiple_of(8) {
            return None;
        }
        let offset = address % PAGE_BYTES;
        let page = address.wrapping_sub(offset);
        if let Some((known, at)) = self.page
            && known == page
        {
            return Some(at.offset(offset));
        }
        let (at, _) = self.space.translate(self.platform, page)?;
        self.page = Some((page, at));
        Some(at.offset(offset))
    }
}

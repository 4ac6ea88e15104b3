//! Planes of views that have none among the image's own. They are areas of the image, and go with it.

use super::Device;
use crate::error::{Error, Thing};
use crate::handle::{Image, Space};
use crate::platform::Platform;
use crate::resource::CheckedView;
use crate::vm::Protection;

/// The tags of areas of planes among what an image refers to.
const PLANES: u32 = 1 << 16;

impl<P: Platform> Device<'_, '_, P> {
    /// Where the planes of a view stand: those of an earlier view, if they are the same.
    pub(crate) fn view_planes(&mut self, image: Image, view: &CheckedView) -> Result<u64, Error> {
        let arch = self.hw.properties.arch;
        let object = self.object(image.0, Thing::Image)?;
        let (space, address) = (Space(object.space), object.mapping.address().0);
        let bytes = view.plane_bytes();
        let mut number = 0;
        while let Some(area) = self.area_of_planes(image, number) {
            let mapping = &self.object(area, Thing::Image)?.mapping;
            let (memory, at, size) = (mapping.memory(), mapping.address(), mapping.bytes());
            let mut same = size >= bytes;
            if same {
                let platform = &mut self.hw.platform;
                view.write_planes(arch, address, |offset, words| {
                    for (word, place) in words.iter().zip((offset..).step_by(4)) {
                        same &= platform.load32(memory.offset(place)) == *word;
                    }
                })?;
            }
            if same {
                return Ok(at.0);
            }
            number = number.saturating_add(1);
        }
        let tag = (PLANES.saturating_add(number), None);
        let area = self.create_area(image.0, space, tag, "planes", bytes, Protection::Given)?;
        let mapping = &self.object(area, Thing::Image)?.mapping;
        let (memory, at) = (mapping.memory(), mapping.address());
        let platform = &mut self.hw.platform;
        view.write_planes(arch, address, |offset, words| {
            for (word, place) in words.iter().zip((offset..).step_by(4)) {
                platform.store32(memory.offset(place), *word);
            }
        })?;
        platform.clean(memory.span(bytes));
        Ok(at.0)
    }

    fn area_of_planes(&self, image: Image, number: u32) -> Option<crate::slab::Key> {
        let object = self.objects.get(image.0)?;
        let tag = PLANES.saturating_add(number);
        self.links.tagged(object.list, tag)
    }
}

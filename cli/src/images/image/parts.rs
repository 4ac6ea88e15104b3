//! Parts: what stands behind an image that was linked without it (`kernel/src/attached.rs`, `eitri_job::parts`).

use super::{Image, ImageError, MOST_BYTES};
use crate::images::revision;
use crate::outcome::Failure;
use eitri_boards::Target;
use eitri_job::parts;
use std::ops::Range;

/// The prefix of the number of bytes behind an image, and as many dots as it has digits: `kernel/src/attached.rs`.
const PARTS: &[u8] = b"eitri parts ";
const PARTS_DOTS: usize = 12;
/// Where the header of an arm64 `Image` has its size in memory: `kernel/src/entry.rs`.
const IMAGE_SIZE: Range<usize> = 16..24;

impl Image {
    /// The same with parts behind it, by name, which must fit into the memory of the board's image.
    pub(crate) fn with_parts(
        self,
        board: Target,
        parts: &[(&str, &[u8])],
    ) -> Result<Image, Failure> {
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        let image = Image {
            about: match names.as_slice() {
                [] => self.about,
                names => format!("{}, with {}", self.about, names.join("+")),
            },
            parts: parts::encode(parts),
            ..self
        };
        let bytes = image.raw()?.len();
        let room = board.linked().bytes;
        match bytes <= room {
            true => Ok(image),
            false => {
                let board = board.name();
                Err(Failure::refused(ImageError::Room { board, bytes, room }))
            }
        }
    }

    /// Whether something stands behind it, which an ELF file has no room for.
    pub(crate) fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Puts the parts behind the image's memory, where it looks for them, and says in its header how large it is now.
    pub(super) fn put_parts(&self, raw: &mut Vec<u8>) -> Result<(), Failure> {
        let memory = usize::try_from(self.address_of("image_bytes")?).unwrap_or(usize::MAX);
        if memory > MOST_BYTES as usize {
            let path = self.path.display().to_string();
            let bytes = memory as u64;
            return Err(Failure::missing(ImageError::Span { path, bytes }));
        }
        raw.resize(memory.max(raw.len()), 0);
        let count = format!("{:0PARTS_DOTS$}", self.parts.len());
        revision::put_text(raw, PARTS, PARTS_DOTS, &count);
        raw.extend_from_slice(&self.parts);
        let bytes = (raw.len() as u64).to_le_bytes();
        if let Some(place) = raw.get_mut(IMAGE_SIZE) {
            place.copy_from_slice(&bytes);
        }
        Ok(())
    }
}

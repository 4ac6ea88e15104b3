//! Lost contents: the part of an object which jobs had written to and which went with the GPU's caches, until the host has written
//! it anew.
//!
//! The part is one range. What the host writes at an end of the range makes it shorter, so that parts which are written in their
//! order are good one by one; what the host writes in the middle of it is good when one of the sides is.

use super::{Kind, Object};
use core::ops::Range;

/// A range of lost bytes, from an object's beginning on; empty where nothing is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostContents(Range<u64>);

impl LostContents {
    pub(super) const NONE: LostContents = LostContents(0..0);

    /// Whether some of `part` is lost.
    pub(super) fn overlaps(&self, part: &Range<u64>) -> bool {
        part.start < self.0.end && self.0.start < part.end
    }

    /// The host writes `part`.
    pub(super) fn restore(&mut self, part: &Range<u64>) {
        if !self.overlaps(part) {
            return;
        }
        if part.start <= self.0.start {
            self.0.start = part.end;
        } else if part.end >= self.0.end {
            self.0.end = part.start;
        }
        if self.0.is_empty() {
            *self = LostContents::NONE;
        }
    }
}

impl Object<'_> {
    /// All that users can read of the object is lost.
    pub(super) fn lose_contents(&mut self) {
        self.lost = LostContents(match &self.kind {
            Kind::Buffer { bytes, .. } => 0..*bytes,
            Kind::Image { texels, .. } => texels.clone(),
            _ => 0..self.mapping.bytes(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_good_and_the_rest_is_not() {
        let mut lost = LostContents(64..256);
        assert!(!lost.overlaps(&(0..64)) && !lost.overlaps(&(256..300)));
        lost.restore(&(0..80));
        assert!(!lost.overlaps(&(64..80)) && lost.overlaps(&(79..81)));
        lost.restore(&(200..256));
        assert_eq!(lost, LostContents(80..200));
        lost.restore(&(100..120));
        assert!(lost.overlaps(&(100..120)), "neither side is good");
        lost.restore(&(80..120));
        lost.restore(&(120..200));
        assert_eq!(lost, LostContents::NONE);
        assert!(!lost.overlaps(&(0..u64::MAX)));
    }

    #[test]
    fn one_write_of_everything_is_enough() {
        for part in [64..256, 0..u64::MAX] {
            let mut lost = LostContents(64..256);
            lost.restore(&part);
            assert_eq!(lost, LostContents::NONE);
        }
    }
}

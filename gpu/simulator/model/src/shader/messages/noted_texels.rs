//! Accesses of a direct message of textures: noted while texels are read, counted when all are.
//!
//! Texels in a row that lie in one line are noted together: what is counted of them are sums and the line's beats.
//!
//! Guarantees: counters are those of accesses that are counted one by one, in the order in which they were noted.

use super::touched::Touched;
use crate::activity::BEAT;
use crate::fabric::Fabric;
use crate::l2::LINE;
use alloc::vec::Vec;

/// Bytes of a plane descriptor.
pub(super) const PLANE_BYTES: u64 = 32;

/// The accesses of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Noted {
    accesses: Vec<Access>,
}

/// An access that is to be counted, or several of one line.
#[derive(Clone, Copy, Debug)]
struct Access {
    address: u64,
    physical: u64,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// A plane descriptor.
    Plane,
    /// Texels in a row that lie in one line: the beats of it that they touch, a bit each, and how often their page is translated for them.
    Line { beats: u8, translations: u32 },
    /// Bytes of a texel that may cross lines, and how often its page is translated for it.
    Texel { bytes: u8, translations: u32 },
}

impl Noted {
    pub(super) fn clear(&mut self) {
        self.accesses.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// A plane descriptor is read, at a virtual and a physical address.
    pub(super) fn add_plane(&mut self, (address, physical): (u64, u64)) {
        self.accesses.push(Access {
            address,
            physical,
            what: What::Plane,
        });
    }

    /// A texel of so many bytes is read, at a virtual and a physical address; whether its page is translated for it.
    #[inline]
    pub(super) fn add_texel(
        &mut self,
        (address, physical): (u64, u64),
        bytes: u8,
        translates: bool,
    ) {
        let translations = u32::from(translates);
        let is_in_beat = bytes.is_power_of_two() && physical & (u64::from(bytes) - 1) == 0;
        let what = if is_in_beat {
            let beat = 1 << (physical % LINE / BEAT);
            if let Some(last) = self.accesses.last_mut()
                && let What::Line {
                    beats,
                    translations: before,
                } = &mut last.what
                && last.address / LINE == address / LINE
            {
                *beats |= beat;
                *before += translations;
                return;
            }
            What::Line {
                beats: beat,
                translations,
            }
        } else {
            What::Texel {
                bytes,
                translations,
            }
        };
        self.accesses.push(Access {
            address,
            physical,
            what,
        });
    }

    /// Counts the accesses.
    pub(super) fn count(&self, fabric: &mut Fabric, touched: &mut Touched) {
        for Access {
            address,
            physical,
            what,
        } in &self.accesses
        {
            match *what {
                What::Plane => fabric.count_descriptor(*address, *physical, PLANE_BYTES),
                What::Line {
                    beats,
                    translations,
                } => {
                    let translations = translations.into();
                    fabric.activity.translated_often(*address, translations);
                    touched.note_beats(fabric, *physical / LINE, beats);
                }
                What::Texel {
                    bytes,
                    translations,
                } => {
                    let translations = translations.into();
                    fabric.activity.translated_often(*address, translations);
                    touched.note(fabric, *physical, bytes.into(), false);
                }
            }
        }
    }
}

//! Accesses of a direct message of textures: noted while texels are read, counted when all are.
//!
//! A list of cache lines is kept, in the order in which texels first touch them. Each line has the beats that texels touch and how many
//! translations its page needs. A message remembers [`KEPT`] lines, as [`super::touched`] does: at the next one a new part of the list
//! begins, and a line of an earlier part is requested from the L2 again. Lines of a part are found by the last bits of their number.
//!
//! Guarantees: counters are those of accesses that are counted one by one, in the order in which they were noted.

use super::touched::KEPT;
use crate::activity::BEAT;
use crate::fabric::Fabric;
use crate::l2::LINE;
use crate::memory::PAGE;
use crate::shader::footprint::{CORNERS, Footprint};
use alloc::vec::Vec;

/// Bytes of a plane descriptor.
pub(super) const PLANE_BYTES: u64 = 32;

/// Places by which lines of a part are found.
const PLACES: usize = 64;

/// The accesses of a message.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    lines: Vec<Line>,
    /// Number of the part's first line.
    part: usize,
    /// For each end of a line's number the line of the part that was noted last with it, counted from 1; 0 is none.
    places: [u32; PLACES],
    planes: Vec<Plane>,
    /// Translations of addresses that lie in a line which was noted with another address.
    elsewhere: Vec<(u64, u32)>,
}

/// A line of memory that texels lie in.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    number: u64,
    /// Number of the line in the addresses of the program.
    address: u64,
    /// How many translations of its page are counted.
    translations: u32,
    /// The beats that texels touch, a bit each.
    beats: u8,
}

/// A plane descriptor that is read.
#[derive(Clone, Copy, Debug)]
struct Plane {
    address: u64,
    physical: u64,
    /// Lines that are asked of the L2 before it: those of the parts that have ended.
    before: usize,
}

impl Default for Noted {
    fn default() -> Noted {
        Noted {
            lines: Vec::new(),
            part: 0,
            places: [0; PLACES],
            planes: Vec::new(),
            elsewhere: Vec::new(),
        }
    }
}

impl Noted {
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.begin_part();
        self.planes.clear();
        self.elsewhere.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.planes.is_empty()
    }

    /// A plane descriptor is read, at a virtual and a physical address.
    pub(super) fn add_plane(&mut self, (address, physical): (u64, u64)) {
        self.planes.push(Plane {
            address,
            physical,
            before: self.part,
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
        // The bytes lie in one page, so both addresses come to a next line together.
        let last = physical + u64::from(bytes).max(1) - 1;
        let mut line = Line {
            number: physical / LINE,
            address: address / LINE,
            translations: translates.into(),
            beats: 0,
        };
        let mut from = physical % LINE / BEAT;
        while line.number < last / LINE {
            line.beats = beats(from, LINE / BEAT - 1);
            self.touch(line);
            line.number += 1;
            line.address += 1;
            line.translations = 0;
            from = 0;
        }
        line.beats = beats(from, last % LINE / BEAT);
        self.touch(line);
    }

    /// Texels at the corners of a footprint are read, at these addresses in pages of these frames; the page of each is translated for it.
    /// Each lies in one beat.
    #[inline]
    pub(super) fn add_corners(
        &mut self,
        footprint: &Footprint,
        addresses: &[u64; CORNERS],
        frames: &[u64; CORNERS],
    ) {
        let mut noted = Line::default();
        for corner in 0..CORNERS {
            if !footprint.has(corner) {
                continue;
            }
            let address = addresses[corner];
            let number = (frames[corner] | (address % PAGE)) / LINE;
            let line = address / LINE;
            if noted.translations == 0 || (noted.number, noted.address) != (number, line) {
                if noted.translations != 0 {
                    self.touch(noted);
                }
                noted = Line {
                    number,
                    address: line,
                    translations: 0,
                    beats: 0,
                };
            }
            noted.translations += 1;
            noted.beats |= 1 << (address % LINE / BEAT);
        }
        if noted.translations != 0 {
            self.touch(noted);
        }
    }

    /// Texels touch beats of a line.
    #[inline]
    fn touch(&mut self, touched: Line) {
        let place = self.places[touched.number as usize % PLACES];
        if let Some(line) = self.lines.get_mut((place as usize).wrapping_sub(1))
            && (line.number, line.address) == (touched.number, touched.address)
        {
            line.beats |= touched.beats;
            line.translations += touched.translations;
            return;
        }
        self.touch_other(touched, place != 0);
    }

    /// Texels touch beats of a line that its place does not name. Without a line at the place the part does not have it.
    #[inline(never)]
    fn touch_other(&mut self, touched: Line, may_be_known: bool) {
        let mut known = None;
        if may_be_known {
            let mut part = self.lines[self.part..].iter();
            known = part.position(|line| line.number == touched.number);
        }
        let index = match known {
            Some(index) => {
                let index = self.part + index;
                let line = &mut self.lines[index];
                line.beats |= touched.beats;
                if line.address == touched.address {
                    line.translations += touched.translations;
                } else {
                    let elsewhere = (touched.address, touched.translations);
                    self.elsewhere.push(elsewhere);
                }
                index
            }
            None => {
                if self.lines.len() - self.part == KEPT {
                    self.begin_part();
                }
                self.lines.push(touched);
                self.lines.len() - 1
            }
        };
        self.places[touched.number as usize % PLACES] = index as u32 + 1;
    }

    /// Begins a part of the list: lines from here on are requested from the L2, whether or not an earlier part has them.
    fn begin_part(&mut self) {
        self.part = self.lines.len();
        self.places = [0; PLACES];
    }

    /// Counts the accesses as those of a core; how many lines there are.
    pub(super) fn count(&self, fabric: &mut Fabric, core: u8) -> u64 {
        let mut planes = self.planes.iter().peekable();
        let mut beats = 0;
        for (index, line) in self.lines.iter().enumerate() {
            while let Some(plane) = planes.next_if(|plane| plane.before <= index) {
                fabric.count_descriptor(plane.address, plane.physical, PLANE_BYTES);
            }
            let translations = line.translations.into();
            fabric
                .activity
                .translated_often(line.address * LINE, translations);
            fabric.line_requested(line.number, false);
            beats += u64::from(line.beats.count_ones());
        }
        for plane in planes {
            fabric.count_descriptor(plane.address, plane.physical, PLANE_BYTES);
        }
        for (address, translations) in &self.elsewhere {
            let translations = (*translations).into();
            fabric
                .activity
                .translated_often(address * LINE, translations);
        }
        fabric.activity.core(core).read_beats += beats;
        self.lines.len() as u64
    }
}

/// The beats of a line from one to another, a bit each.
#[inline]
fn beats(from: u64, to: u64) -> u8 {
    ((2u32 << to) - (1 << from)) as u8
}

#[cfg(test)]
mod tests {
    use super::super::touched::Touched;
    use super::*;
    use crate::config::Config;
    use crate::random::Random;
    use std::format;
    use std::string::String;

    /// Counts a texel as a single step does.
    fn count_one(
        fabric: &mut Fabric,
        touched: &mut Touched,
        (address, physical): (u64, u64),
        (bytes, translates): (u8, bool),
    ) {
        let translations = translates.into();
        fabric.activity.translated_often(address, translations);
        touched.note(fabric, physical, bytes.into(), false);
    }

    /// An address, and that of its page's frame. Frames are far apart, so that lines meet in a few sets of the L2, where their order shows;
    /// some pages share a frame.
    fn place(random: &mut Random, pages: u64, bytes: u8) -> (u64, u64) {
        let page = random.below(pages);
        let step = if bytes.is_power_of_two() { bytes } else { 1 };
        let offset =
            random.below(8) * LINE + random.below(LINE / u64::from(step)) * u64::from(step);
        (page * PAGE + offset, (page / 2) << 26)
    }

    #[test]
    fn counters_are_those_of_accesses_one_by_one() {
        let mut random = Random::new(32);
        let (mut at_once, mut one_by_one) = (
            Fabric::new(Config::default()),
            Fabric::new(Config::default()),
        );
        let mut noted = Noted::default();
        let mut most = 0;
        for message in 0..400 {
            noted.clear();
            let mut touched = Touched::default();
            touched.begin(0, false);
            let pages = 1 + random.below(40);
            for _ in 0..random.below(200) {
                match random.below(8) {
                    0 => {
                        let (address, frame) = place(&mut random, pages, 32);
                        let physical = frame | (address % PAGE);
                        noted.add_plane((address, physical));
                        one_by_one.count_descriptor(address, physical, PLANE_BYTES);
                    }
                    1..5 => {
                        let bytes = [1, 2, 3, 4, 6, 8, 12, 16][random.below(8) as usize];
                        let (address, frame) = place(&mut random, pages, bytes);
                        let place = (address, frame | (address % PAGE));
                        let translates = random.below(2) == 0;
                        noted.add_texel(place, bytes, translates);
                        let access = (bytes, translates);
                        count_one(&mut one_by_one, &mut touched, place, access);
                    }
                    _ => {
                        let bytes = 1 << random.below(5);
                        // Corners are mostly near each other.
                        let first = place(&mut random, pages, bytes);
                        let places: [(u64, u64); CORNERS] =
                            core::array::from_fn(|_| match random.below(4) {
                                0 => place(&mut random, pages, bytes),
                                _ => {
                                    let within = random.below(LINE) & !u64::from(bytes - 1);
                                    (first.0 & !(LINE - 1) | within, first.1)
                                }
                            });
                        let weight =
                            |random: &mut Random| if random.below(4) == 0 { 0.0 } else { 0.5 };
                        let at = [Some(0); 3];
                        let footprint = Footprint {
                            weights: core::array::from_fn(|_| weight(&mut random)),
                            ..Footprint::of_texel(at, (0, 0), 1.0)
                        };
                        let (addresses, frames) = (places.map(|it| it.0), places.map(|it| it.1));
                        noted.add_corners(&footprint, &addresses, &frames);
                        for corner in footprint.corners() {
                            let (address, frame) = places[corner];
                            let place = (address, frame | (address % PAGE));
                            count_one(&mut one_by_one, &mut touched, place, (bytes, true));
                        }
                    }
                }
            }
            let lines = noted.count(&mut at_once, 0);
            most = most.max(lines);
            assert_eq!(lines, touched.settle(&mut one_by_one), "message {message}");
            let counted = |fabric: &Fabric| -> String {
                let activity = &fabric.activity;
                format!("{:?} {:?}", activity.cores().first(), activity.slices())
            };
            assert_eq!(counted(&at_once), counted(&one_by_one), "message {message}");
        }
        assert!(most > 3 * KEPT as u64, "{most}");
    }
}

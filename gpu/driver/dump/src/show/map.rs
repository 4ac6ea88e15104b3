//! Maps: what an address space maps, as ranges, and how far an address is from them.

use crate::note::NONE;
use crate::read::Dump;
use crate::walk::{MOST_TABLES, Mapping, Met, Space, Translation};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use eitri_csf::page_table::Attributes;

use super::entry::Entry;

/// Bytes within which a mapping is told of as a neighbour: an access that misses by more has nothing to do with it.
const NEAR: u64 = 64 << 10;

/// Ranges that are kept of a space.
const MOST_RANGES: usize = 1 << 16;

/// Addresses that are mapped alike, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: u64,
    /// The first address behind it.
    pub(super) end: u64,
    pub(super) attributes: Attributes,
    /// Physical address of the start; `None` where the memory is not in one piece.
    pub(super) physical: Option<u64>,
}

/// What the driver calls a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) start: u64,
    /// The first address behind it.
    pub(super) end: u64,
    pub(super) name: String,
}

/// The labels of an address space, by their starts.
fn labels(dump: &Dump<'_>, space: u8) -> Vec<Label> {
    let of_space = dump
        .labels()
        .iter()
        .filter(|label| label.space == u32::from(space));
    let mut labels: Vec<Label> = of_space
        .map(|label| Label {
            start: label.start,
            end: label.start.saturating_add(label.bytes),
            name: match label.number {
                NONE => String::from(label.name),
                number => format!("{} {number}", label.name),
            },
        })
        .collect();
    labels.sort_by_key(|label| (label.start, core::cmp::Reverse(label.end)));
    labels
}

/// Permissions as letters.
pub(super) struct Letters(pub(super) Attributes);

impl fmt::Display for Letters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |set, letter| if set { letter } else { '-' };
        let Attributes {
            readable,
            writable,
            executable,
            ..
        } = self.0;
        let [r, w, x] = [
            letter(readable, 'r'),
            letter(readable && writable, 'w'),
            letter(executable, 'x'),
        ];
        write!(f, "{r}{w}{x}")
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end, .. } = self;
        write!(f, "{start:#x}..{end:#x} {}", Letters(self.attributes))
    }
}

/// What a space maps.
#[derive(Clone, Debug)]
pub(super) struct Map {
    pub(super) space: Space,
    pub(super) ranges: Vec<Range>,
    /// What the driver calls ranges of it, by their starts.
    pub(super) labels: Vec<Label>,
    /// Ranges that were not kept.
    dropped: u64,
    /// Tables that were not walked.
    skipped: u64,
}

impl Map {
    pub(super) fn new(dump: &Dump<'_>, space: Space) -> Map {
        let mut map = Map {
            space,
            ranges: Vec::new(),
            labels: labels(dump, space.number),
            dropped: 0,
            skipped: 0,
        };
        let mut budget = MOST_TABLES;
        let mut memory = dump;
        map.skipped = space.visit(&mut memory, &mut budget, &mut |_, met| {
            let Met::Mapping(mapping) = met else { return };
            let Mapping {
                address,
                physical,
                bytes,
                attributes,
            } = mapping;
            let end = address.saturating_add(bytes);
            if let Some(last) = map.ranges.last_mut()
                && last.end == address
                && last.attributes == attributes
            {
                let follows = |start| physical.checked_sub(start) == Some(address - last.start);
                last.physical = last.physical.filter(|start| follows(*start));
                last.end = end;
                return;
            }
            if map.ranges.len() == MOST_RANGES {
                map.dropped += 1;
                return;
            }
            map.ranges.push(Range {
                start: address,
                end,
                attributes,
                physical: Some(physical),
            });
        });
        map
    }

    /// The range that holds `address`.
    pub(super) fn range_of(&self, address: u64) -> Option<&Range> {
        let after = self.ranges.partition_point(|range| range.start <= address);
        let range = &self.ranges[after.checked_sub(1)?];
        (address < range.end).then_some(range)
    }

    /// In words, how `address` lies to what the driver has names for and to what is mapped.
    pub(super) fn place(&self, address: u64) -> String {
        let place = self.place_by_mappings(address);
        match self.place_by_labels(address) {
            Some(named) => format!("{named}; {place}"),
            None => place,
        }
    }

    /// In words, which labelled range holds `address`, or is near in front of it.
    pub(super) fn place_by_labels(&self, address: u64) -> Option<String> {
        let labels = || self.labels.iter();
        let holds = |label: &&Label| label.start <= address && address < label.end;
        // Of ranges in ranges the last begins innermost.
        if let Some(label) = labels().rfind(holds) {
            return Some(match address - label.start {
                0 => format!("at the start of {}", label.name),
                bytes => format!("{bytes:#x} bytes into {}", label.name),
            });
        }
        let past = |label: &Label| address.checked_sub(label.end);
        let label = labels().filter(|label| past(label).is_some());
        let label = label.min_by_key(|label| past(label))?;
        let bytes = past(label).filter(|bytes| *bytes < NEAR)?;
        Some(match bytes {
            0 => format!("right past the end of {}", label.name),
            bytes => format!("{bytes:#x} bytes past the end of {}", label.name),
        })
    }

    /// In words, how `address` lies to what is mapped.
    fn place_by_mappings(&self, address: u64) -> String {
        if let Some(range) = self.range_of(address) {
            return match address - range.start {
                0 => format!("at the start of {range}"),
                bytes => format!("{bytes:#x} bytes into {range}"),
            };
        }
        let after = self.ranges.partition_point(|range| range.start <= address);
        let below = after.checked_sub(1).map(|index| &self.ranges[index]);
        let above = self.ranges.get(after);
        let missed = [
            below.map(|range| address - range.end),
            above.map(|range| range.start - address),
        ];
        let near = |bytes: Option<u64>| bytes.filter(|bytes| *bytes < NEAR);
        let below = below
            .zip(near(missed[0]))
            .map(|(range, bytes)| match bytes {
                0 => format!("right past the end of {range}"),
                bytes => format!("{bytes:#x} bytes past the end of {range}"),
            });
        let above = above.zip(near(missed[1]));
        let above =
            above.map(|(range, bytes)| format!("{bytes:#x} bytes before the start of {range}"));
        match (below, above, missed.into_iter().flatten().min()) {
            (Some(below), Some(above), _) => format!("{below}; {above}"),
            (Some(only), None, _) | (None, Some(only), _) => only,
            (None, None, None) => String::from("nothing is mapped"),
            (None, None, Some(bytes)) => {
                format!("nothing is near: the nearest mapping is {bytes:#x} bytes away")
            }
        }
    }

    /// The labelled ranges that begin in a range.
    pub(super) fn labels_in(&self, range: &Range) -> impl Iterator<Item = &Label> {
        let (start, end) = (range.start, range.end);
        let inside = move |label: &&Label| (start..end).contains(&label.start);
        self.labels.iter().filter(inside)
    }

    /// The whole map.
    pub(super) fn entry(&self) -> Entry {
        let name = format!("address space {}", self.space.number);
        let text = match self.space.translation() {
            Translation::Unmapped => String::from("maps nothing"),
            Translation::Identity => String::from("virtual is physical"),
            Translation::Unknown => format!(
                "TRANSCFG {:#x}: a way to translate that is not read here",
                self.space.transcfg
            ),
            Translation::Tables { root, bits, .. } => {
                format!("tables at {root:#x}, {bits} bits")
            }
        };
        let mut entry = Entry::new(name, text);
        for range in &self.ranges {
            let bytes = range.end - range.start;
            let index = range.attributes.memory.number();
            let physical = match range.physical {
                Some(start) => format!("at {start:#x}"),
                None => String::from("in pieces"),
            };
            let accessed = match range.attributes.accessed {
                true => "",
                false => ", access flag clear",
            };
            let line = format!("{range} {bytes:#x} bytes {physical}, attribute {index}{accessed}");
            let inside = self.labels_in(range).map(|label| {
                let bytes = label.end - label.start;
                Entry::line(format!(
                    "{:#x}: {}, {bytes:#x} bytes",
                    label.start, label.name
                ))
            });
            entry.push(Entry::line(line).with(inside));
        }
        if self.dropped != 0 {
            entry.note("more", format!("{} ranges are not shown", self.dropped));
        }
        if self.skipped != 0 {
            let text = format!(
                "{} tables were not walked: no sound address space has as many",
                self.skipped
            );
            entry.note("incomplete", text);
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A space of one page at 2 MiB.
    fn map() -> Map {
        Map {
            space: Space::read(1, &mut |_| 0),
            ranges: Vec::from([Range {
                start: 0x20_0000,
                end: 0x20_1000,
                attributes: Attributes::CACHED.read_only(),
                physical: None,
            }]),
            labels: Vec::from([Label {
                start: 0x20_0100,
                end: 0x20_0200,
                name: String::from("buffer 3"),
            }]),
            dropped: 0,
            skipped: 0,
        }
    }

    #[test]
    fn an_address_is_placed_by_what_the_driver_calls_it() {
        let map = map();
        let named = |address| map.place_by_labels(address);
        assert_eq!(named(0x20_0000), None, "before it");
        assert_eq!(named(0x20_0100).unwrap(), "at the start of buffer 3");
        assert_eq!(named(0x20_0110).unwrap(), "0x10 bytes into buffer 3");
        assert_eq!(named(0x20_0200).unwrap(), "right past the end of buffer 3");
        assert_eq!(
            map.place(0x20_0210),
            "0x10 bytes past the end of buffer 3; 0x210 bytes into 0x200000..0x201000 r--"
        );
        assert_eq!(named(0x80_0000), None, "not near");
    }

    #[test]
    fn an_address_is_placed_by_what_is_near() {
        let map = map();
        let place = |address| map.place_by_mappings(address);
        assert_eq!(place(0x20_0000), "at the start of 0x200000..0x201000 r--");
        assert_eq!(place(0x20_0010), "0x10 bytes into 0x200000..0x201000 r--");
        assert_eq!(
            place(0x20_1000),
            "right past the end of 0x200000..0x201000 r--"
        );
        assert_eq!(
            place(0x20_1010),
            "0x10 bytes past the end of 0x200000..0x201000 r--"
        );
        assert_eq!(
            place(0x1F_FFF0),
            "0x10 bytes before the start of 0x200000..0x201000 r--"
        );
        assert_eq!(
            place(0x40_0000),
            "nothing is near: the nearest mapping is 0x1ff000 bytes away"
        );
    }
}

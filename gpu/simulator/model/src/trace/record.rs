//! Records: events as bytes of one length, for a sink in another machine than its reader.
//!
//! Never: instructions of streams and warps, and what comes with them: those are most of what happens, and their place is the machine
//! where they happen.

use super::{Event, JobKind};
use crate::clock::Nanoseconds;
use crate::mmu::{AccessKind, PageFault, Source};
use crate::stream::NAMES;
use eitri_csf::interface::group::CsgState;

/// Bytes of a record.
pub const RECORD_BYTES: usize = 40;

const LINES: [&str; 3] = ["job", "mmu", "gpu"];
const ACCESSES: [AccessKind; 3] = [AccessKind::Read, AccessKind::Write, AccessKind::Execute];
/// In place of the number of a slot: none.
const GLOBAL: u8 = 0xFF;

/// What kind of event a record holds.
mod kind {
    pub(super) const PAGE_FAULT: u8 = 1;
    pub(super) const JOB_STARTED: u8 = 2;
    pub(super) const JOB_ENDED: u8 = 3;
    pub(super) const REQUEST: u8 = 4;
    pub(super) const ANSWER: u8 = 5;
    pub(super) const GROUP: u8 = 6;
    pub(super) const STREAM: u8 = 7;
    pub(super) const FAULT: u8 = 8;
    pub(super) const LINE: u8 = 9;
    pub(super) const WORKGROUP: u8 = 10;
    pub(super) const READ: u8 = 11;
    pub(super) const WRITE: u8 = 12;
}

/// The parts of a record, in the order in which they stand there.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    kind: u8,
    small: [u8; 7],
    words: [u32; 4],
    long: u64,
}

impl Event {
    /// The event at `time` as a record; `None` for what there is none for.
    pub fn record(&self, time: Nanoseconds) -> Option<[u8; RECORD_BYTES]> {
        let parts = self.parts()?;
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&time.to_le_bytes());
        bytes[8] = parts.kind;
        bytes[9..16].copy_from_slice(&parts.small);
        for (to, word) in bytes[16..32].chunks_exact_mut(4).zip(parts.words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes[32..].copy_from_slice(&parts.long.to_le_bytes());
        Some(bytes)
    }

    /// The event in a record, and its time; `None` for bytes that are none.
    pub fn from_record(bytes: &[u8; RECORD_BYTES]) -> Option<(Nanoseconds, Event)> {
        let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let parts = Parts {
            kind: bytes[8],
            small: bytes[9..16].try_into().ok()?,
            words: [word(16)?, word(20)?, word(24)?, word(28)?],
            long: long(32)?,
        };
        Some((long(0)?, parts.event()?))
    }

    fn parts(&self) -> Option<Parts> {
        let of = |kind, small: &[u8], words: &[u32], long| {
            let mut parts = Parts {
                kind,
                long,
                ..Parts::default()
            };
            parts.small[..small.len()].copy_from_slice(small);
            parts.words[..words.len()].copy_from_slice(words);
            parts
        };
        Some(match *self {
            Event::PageFault(PageFault {
                space,
                address,
                kind: access,
                exception,
                source,
            }) => {
                let access = ACCESSES.iter().position(|it| *it == access)? as u8;
                let [unit, group, stream] = match source {
                    Source::Mcu => [0, 0, 0],
                    Source::StreamFetch { group, stream } => [1, group, stream],
                    Source::Stream { group, stream } => [2, group, stream],
                    Source::Core(core) => [3, core, 0],
                    Source::Texture(core) => [4, core, 0],
                    Source::TileBuffer(core) => [5, core, 0],
                    Source::Tiler => [6, 0, 0],
                };
                let small = [space, access, exception, unit, group, stream];
                of(kind::PAGE_FAULT, &small, &[], address)
            }
            Event::JobStarted {
                group,
                stream,
                number,
                kind,
                size,
            } => of(
                kind::JOB_STARTED,
                &[group, stream, kind as u8],
                &size,
                number,
            ),
            Event::JobEnded {
                group,
                stream,
                number,
                exception,
            } => of(kind::JOB_ENDED, &[group, stream, exception], &[], number),
            Event::Request { slot, bits } => {
                of(kind::REQUEST, &[slot.unwrap_or(GLOBAL)], &[bits], 0)
            }
            Event::Answer { slot, bits } => of(kind::ANSWER, &[slot.unwrap_or(GLOBAL)], &[bits], 0),
            Event::Group { group, state } => {
                of(kind::GROUP, &[group, state.number() as u8], &[], 0)
            }
            Event::Stream {
                group,
                stream,
                doing,
            } => {
                let name = NAMES.iter().position(|name| *name == doing)?;
                of(kind::STREAM, &[group, stream, name as u8], &[], 0)
            }
            Event::Fault {
                group,
                stream,
                exception,
                fatal,
            } => {
                let small = [group, stream, exception, fatal.into()];
                of(kind::FAULT, &small, &[], 0)
            }
            Event::Line { line, high } => {
                let line = LINES.iter().position(|it| *it == line)? as u8;
                of(kind::LINE, &[line, high.into()], &[], 0)
            }
            Event::Workgroup {
                group,
                stream,
                core,
                id,
                begun,
            } => of(
                kind::WORKGROUP,
                &[group, stream, core, begun.into()],
                &id,
                0,
            ),
            Event::Read { offset, value } => of(kind::READ, &[], &[offset, value], 0),
            Event::Write { offset, value } => of(kind::WRITE, &[], &[offset, value], 0),
            Event::StreamAnswer { .. }
            | Event::Instruction { .. }
            | Event::Shader { .. }
            | Event::Message { .. }
            | Event::Waited { .. }
            | Event::Turn { .. }
            | Event::Drawing { .. }
            | Event::Units { .. } => return None,
        })
    }
}

impl Parts {
    fn event(self) -> Option<Event> {
        let [a, b, c, d, e, f, _] = self.small;
        let [x, y, z, _] = self.words;
        let slot = (a != GLOBAL).then_some(a);
        let (group, stream) = (a, b);
        Some(match self.kind {
            kind::PAGE_FAULT => Event::PageFault(PageFault {
                space: a,
                address: self.long,
                kind: *ACCESSES.get(usize::from(b))?,
                exception: c,
                source: match d {
                    0 => Source::Mcu,
                    1 => Source::StreamFetch {
                        group: e,
                        stream: f,
                    },
                    2 => Source::Stream {
                        group: e,
                        stream: f,
                    },
                    3 => Source::Core(e),
                    4 => Source::Texture(e),
                    5 => Source::TileBuffer(e),
                    6 => Source::Tiler,
                    _ => return None,
                },
            }),
            kind::JOB_STARTED => Event::JobStarted {
                group,
                stream,
                number: self.long,
                kind: *JobKind::ALL.get(usize::from(c))?,
                size: [x, y, z],
            },
            kind::JOB_ENDED => Event::JobEnded {
                group,
                stream,
                number: self.long,
                exception: c,
            },
            kind::REQUEST => Event::Request { slot, bits: x },
            kind::ANSWER => Event::Answer { slot, bits: x },
            kind::GROUP => Event::Group {
                group,
                state: CsgState::from_number(b.into())?,
            },
            kind::STREAM => Event::Stream {
                group,
                stream,
                doing: NAMES.get(usize::from(c))?,
            },
            kind::FAULT => Event::Fault {
                group,
                stream,
                exception: c,
                fatal: d != 0,
            },
            kind::LINE => Event::Line {
                line: LINES.get(usize::from(a))?,
                high: b != 0,
            },
            kind::WORKGROUP => Event::Workgroup {
                group,
                stream,
                core: c,
                id: [x, y, z],
                begun: d != 0,
            },
            kind::READ => Event::Read {
                offset: x,
                value: y,
            },
            kind::WRITE => Event::Write {
                offset: x,
                value: y,
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_the_way() {
        let events = [
            Event::PageFault(PageFault {
                space: 3,
                address: 0x1234_5678_9ABC,
                kind: AccessKind::Write,
                exception: 0xC2,
                source: Source::Stream {
                    group: 1,
                    stream: 2,
                },
            }),
            Event::JobStarted {
                group: 1,
                stream: 2,
                number: 1 << 40,
                kind: JobKind::Fragment,
                size: [1, 2, u32::MAX],
            },
            Event::JobEnded {
                group: 1,
                stream: 2,
                number: 7,
                exception: 0x58,
            },
            Event::Request {
                slot: None,
                bits: 0x8000_0001,
            },
            Event::Answer {
                slot: Some(4),
                bits: 2,
            },
            Event::Group {
                group: 5,
                state: CsgState::Suspend,
            },
            Event::Stream {
                group: 1,
                stream: 0,
                doing: "waits for a sync object",
            },
            Event::Fault {
                group: 1,
                stream: 2,
                exception: 0x49,
                fatal: true,
            },
            Event::Line {
                line: "gpu",
                high: true,
            },
            Event::Workgroup {
                group: 1,
                stream: 2,
                core: 3,
                id: [4, 5, 6],
                begun: true,
            },
            Event::Read {
                offset: 0x160,
                value: 5,
            },
            Event::Write {
                offset: 0x1A0,
                value: u32::MAX,
            },
        ];
        for (time, event) in (1_u64 << 50..).zip(events) {
            let record = event.record(time).unwrap();
            assert_eq!(Event::from_record(&record), Some((time, event)));
        }
    }

    #[test]
    fn what_is_most_of_it_has_no_record_and_nonsense_is_none() {
        let event = Event::Instruction {
            group: 0,
            stream: 0,
            address: 0,
            word: 0,
        };
        assert_eq!(event.record(0), None);
        assert_eq!(Event::from_record(&[0; RECORD_BYTES]), None);
        assert_eq!(Event::from_record(&[0xFF; RECORD_BYTES]), None);
    }
}

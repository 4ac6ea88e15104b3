//! Tracks of a timeline: the lines of its picture.

/// A line of the picture, in the order of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Track {
    Firmware,
    Line(&'static str),
    Faults,
    Group(u8),
    Stream(u8, u8),
    /// A core; several workgroups at a time have a lane each.
    Core(u8, usize),
}

impl Track {
    /// Its number, which also orders the tracks.
    pub(super) fn number(self) -> u64 {
        match self {
            Track::Firmware => 1,
            Track::Line("job") => 2,
            Track::Line("mmu") => 3,
            Track::Line(_) => 4,
            Track::Faults => 5,
            Track::Group(slot) => 100 + 100 * u64::from(slot),
            Track::Stream(slot, stream) => 101 + 100 * u64::from(slot) + u64::from(stream),
            Track::Core(core, lane) => 10_000 + 100 * u64::from(core) + lane as u64,
        }
    }

    pub(super) fn name(self) -> String {
        match self {
            Track::Firmware => "firmware".to_owned(),
            Track::Line(line) => format!("interrupt {line}"),
            Track::Faults => "page faults".to_owned(),
            Track::Group(slot) => format!("slot {slot}"),
            Track::Stream(slot, stream) => format!("slot {slot} stream {stream}"),
            Track::Core(core, _) => format!("core {core}"),
        }
    }
}

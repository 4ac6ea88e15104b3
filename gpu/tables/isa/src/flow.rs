//! Flow control: what happens after an instruction and before the next.
//!
//! Facts: hardware/valhall-isa.md section 6.

use crate::arch::{Arch, ArchSet};

/// The flow-control field (bits 59..62). It acts after the instruction has executed or, for a message, been issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Flow {
    /// Go on.
    #[default]
    None = 0,
    /// Wait for slot 0.
    Wait0 = 1,
    /// Wait for slot 1.
    Wait1 = 2,
    /// Wait for slots 0 and 1.
    Wait01 = 3,
    /// Wait for slot 2.
    Wait2 = 4,
    /// Wait for slots 0 and 2.
    Wait02 = 5,
    /// Wait for slots 1 and 2.
    Wait12 = 6,
    /// Wait for slots 0, 1 and 2.
    Wait012 = 7,
    /// Wait for slots 0, 1, 2 and 6.
    Wait0126 = 8,
    /// Wait for slots 0, 1, 2, 6 and 7.
    Wait = 9,
    /// Choose again which threads of the warp run next.
    Reconverge = 10,
    /// Wait for a resource that is read (v10 and later).
    WaitResource = 12,
    /// Threads that are discarded, and helpers, stop.
    Discard = 13,
    /// v14 only; its meaning is not established.
    Continue = 14,
    /// The thread returns.
    End = 15,
}

impl Flow {
    /// Every value, with its word in both dialects and the generations that have it.
    #[rustfmt::skip]
    pub const ALL: [(Self, &'static str, ArchSet); 15] = [
        (Self::None,         "none",          ArchSet::ALL),
        (Self::Wait0,        "wait0",         ArchSet::ALL),
        (Self::Wait1,        "wait1",         ArchSet::ALL),
        (Self::Wait01,       "wait01",        ArchSet::ALL),
        (Self::Wait2,        "wait2",         ArchSet::ALL),
        (Self::Wait02,       "wait02",        ArchSet::ALL),
        (Self::Wait12,       "wait12",        ArchSet::ALL),
        (Self::Wait012,      "wait012",       ArchSet::ALL),
        (Self::Wait0126,     "wait0126",      ArchSet::ALL),
        (Self::Wait,         "wait",          ArchSet::ALL),
        (Self::Reconverge,   "reconverge",    ArchSet::ALL),
        (Self::WaitResource, "wait_resource", ArchSet::since(Arch::V10)),
        (Self::Discard,      "discard",       ArchSet::ALL),
        (Self::Continue,     "continue",      ArchSet::since(Arch::V14)),
        (Self::End,          "end",           ArchSet::ALL),
    ];

    /// The value of the four bits, if `arch` has it.
    pub fn from_bits(bits: u8, arch: Arch) -> Option<Self> {
        let index = match bits {
            0..=10 => bits,
            12..=15 => bits - 1,
            _ => return None,
        };
        let (flow, _, archs) = Self::ALL[index as usize];
        archs.contains(arch).then_some(flow)
    }

    /// The value of a word; `none` is not one, since nothing is written for it.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL[1..]
            .iter()
            .find(|(_, name, _)| *name == word)
            .map(|(flow, _, _)| *flow)
    }

    /// The generations that have it.
    pub fn archs(self) -> ArchSet {
        self.row().2
    }

    /// Its word, `none` included.
    pub fn word(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> &'static (Self, &'static str, ArchSet) {
        let bits = self as usize;
        &Self::ALL[if bits > 10 { bits - 1 } else { bits }]
    }

    /// The slots that it waits for, bit n for slot n.
    pub const fn waits_for(self) -> u8 {
        match self {
            Self::Wait0126 => 0b0100_0111,
            Self::Wait => 0b1100_0111,
            _ if (self as u8) < 8 => self as u8,
            _ => 0,
        }
    }

    /// True if the thread is over after the instruction.
    pub const fn ends_thread(self) -> bool {
        matches!(self, Self::End)
    }
}

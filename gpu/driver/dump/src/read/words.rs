//! What a dump has of groups, streams and memory.

use crate::note::{NONE, Ring};
use eitri_csf::interface::group::{CSG_CONFIG, csg_config};
use eitri_csf::table::{Register, Width};

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..at + 4).and_then(|word| word.first_chunk());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at + 4)) << 32 | u64::from(u32_at(bytes, at))
}

/// Words of an interface block: offset in the block, value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Words<'a> {
    /// All of them, in the order of the file.
    pub fn iter(self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        self.0
            .chunks_exact(8)
            .map(|pair| (u32_at(pair, 0), u32_at(pair, 4)))
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The value of a word, both halves of one of 64 bits; `None` if the dump does not have it.
    pub fn get(self, row: Register) -> Option<u64> {
        let word = |offset| {
            self.iter()
                .find(|(at, _)| *at == offset)
                .map(|(_, value)| u64::from(value))
        };
        let high = match row.width {
            Width::Bits32 => 0,
            Width::Bits64 => word(row.offset + 4)?,
        };
        Some(high << 32 | word(row.offset)?)
    }
}

/// Control, input and output words that belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockWords<'a> {
    /// What the firmware says of it.
    pub control: Words<'a>,
    /// What the host wrote.
    pub input: Words<'a>,
    /// What the firmware answered.
    pub output: Words<'a>,
}

/// A group on a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// The slot.
    pub slot: u32,
    /// Its address space, or [`crate::note::NONE`].
    pub space: u32,
    /// Its words.
    pub words: BlockWords<'a>,
}

impl Group<'_> {
    /// Its address space: of the note, or of its words where it is not on its slot any more.
    pub fn address_space(&self) -> Option<u32> {
        if self.space != NONE {
            return Some(self.space);
        }
        let config = self.words.input.get(CSG_CONFIG)?;
        Some(csg_config::JASID.get(config))
    }
}

/// A stream of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream<'a> {
    /// The group's slot.
    pub slot: u32,
    /// Its number in the group.
    pub number: u32,
    /// Its ring.
    pub ring: Ring,
    /// Its words.
    pub words: BlockWords<'a>,
}

/// Memory of the dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents<'a> {
    /// Physical address.
    pub address: u64,
    /// Bytes of memory; what `data` does not have is zero.
    pub bytes: u64,
    /// What the file has of it.
    pub data: &'a [u8],
}

//! Sections: where the tables of a program stand, and how they are read.

/// One table: `start..end` in bytes from the start of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

impl Section {
    /// The table of `count` records of `record` bytes that begins at `start`; `None` when it leaves the address space.
    pub fn after(start: usize, count: usize, record: usize) -> Option<Section> {
        let end = start.checked_add(count.checked_mul(record)?)?;
        Some(Section { start, end })
    }

    /// The bytes of this table; empty when `bytes` is too short (a parsed program never is).
    pub fn of<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes.get(self.start..self.end).unwrap_or(&[])
    }
}

/// The tables of a format: the entry point's name is the last of them, so a program ends with it.
pub trait Tables {
    /// The machine code.
    fn code(&self) -> Section;
    /// The entry point's name.
    fn entry(&self) -> Section;

    /// Bytes of the whole program.
    fn length(&self) -> usize {
        self.entry().end
    }
}

/// Bytes of an instruction word.
pub const CODE_WORD_BYTES: usize = 8;

/// The instruction words of a program's code.
pub fn code_words(code: &[u8]) -> impl ExactSizeIterator<Item = u64> + '_ {
    let words = code.chunks_exact(CODE_WORD_BYTES);
    words.map(|raw| {
        let bytes = raw.iter().rev();
        bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
    })
}

/// The little-endian word at `offset`; `None` past the end.
pub fn read_word(bytes: &[u8], offset: usize) -> Option<u32> {
    let raw = bytes.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_le_bytes(raw.try_into().ok()?))
}

/// The records of a table as words; a rest shorter than a record is left out.
pub fn records<const WORDS: usize>(bytes: &[u8]) -> impl Iterator<Item = [u32; WORDS]> + '_ {
    let record = const { WORDS * 4 };
    bytes.chunks_exact(record).map(|raw| {
        core::array::from_fn(|index| read_word(raw, index.saturating_mul(4)).unwrap_or(0))
    })
}

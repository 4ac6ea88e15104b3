//! Lines of code that lies somewhere in memory: a line table, and the instruction words by which the code is recognised.
//!
//! Whoever has loaded a program knows its lines; whoever looks at a GPU later has addresses. The words lead from one to the other
//! without either knowing where the driver put the program.
//!
//! ```text
//! first   number of the first word, as the table counts
//! words   how many
//! code    the words, 64 bits each
//! lines   the table, as it stands behind a program
//! ```
//!
//! Needs: nothing.  Guarantees: no function panics or allocates, whatever the bytes; bounded work.

use crate::error::{EncodeError, ProgramError};
use crate::lines::{LineParts, LineRow, LineTable};
use crate::section::{CODE_WORD_BYTES, Section, code_words, read_word};

/// Bytes in front of the code.
const HEAD_BYTES: usize = 8;
/// Words that are read in search of a program, so that code made to look alike everywhere costs no more.
const MOST_READS: u32 = 1 << 20;

/// What the lines of a piece of code are made of.
#[derive(Clone, Copy, Debug)]
pub struct CodeLineParts<'a> {
    /// The number of the first word, as the rows count.
    pub first: u32,
    /// The code.
    pub words: &'a [u64],
    /// Its lines.
    pub lines: LineParts<'a>,
}

impl CodeLineParts<'_> {
    /// Bytes that [`CodeLineParts::encode`] writes.
    ///
    /// # Errors
    /// [`EncodeError::TooLarge`] when they could not be counted in 32 bits.
    pub fn encoded_len(&self) -> Result<usize, EncodeError> {
        let code = Section::after(HEAD_BYTES, self.words.len(), CODE_WORD_BYTES);
        let length = code.and_then(|code| code.end.checked_add(self.lines.encoded_len().ok()?));
        let counted = length.filter(|length| u32::try_from(*length).is_ok());
        counted.ok_or(EncodeError::TooLarge)
    }

    /// Writes them to the start of `out`, and gives their length in bytes.
    ///
    /// # Errors
    /// [`EncodeError::BufferTooSmall`], [`EncodeError::TooLarge`], or what is wrong with the table.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let needed = self.encoded_len()?;
        let available = out.len();
        let small = EncodeError::BufferTooSmall { available, needed };
        let out = out.get_mut(..needed).ok_or(small)?;
        let table = HEAD_BYTES + CODE_WORD_BYTES * self.words.len();
        let (code, table) = out.split_at_mut_checked(table).ok_or(small)?;
        // The length fits 32 bits, so the count does.
        let head = [self.first, self.words.len() as u32];
        let head = head.iter().flat_map(|word| word.to_le_bytes());
        let words = self.words.iter().flat_map(|word| word.to_le_bytes());
        for (to, from) in code.iter_mut().zip(head.chain(words)) {
            *to = from;
        }
        self.lines.encode(table)?;
        Ok(needed)
    }
}

/// The lines of a piece of code, checked; borrows its bytes.
#[derive(Clone, Copy, Debug)]
pub struct CodeLines<'a> {
    first: u32,
    code: &'a [u8],
    table: LineTable<'a>,
}

impl<'a> CodeLines<'a> {
    /// Reads what [`CodeLineParts::encode`] wrote.
    ///
    /// # Errors
    /// What is wrong with it, as with programs.
    pub fn parse(bytes: &'a [u8]) -> Result<CodeLines<'a>, ProgramError> {
        let short = |wanted| ProgramError::Length {
            found: bytes.len(),
            wanted,
        };
        let first = read_word(bytes, 0).ok_or(short(HEAD_BYTES))?;
        let count = read_word(bytes, 4).ok_or(short(HEAD_BYTES))?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let code = Section::after(HEAD_BYTES, count, CODE_WORD_BYTES);
        let code = code.filter(|code| code.end <= bytes.len());
        let code = code.ok_or(short(usize::MAX))?;
        if count == 0 {
            return Err(ProgramError::NoCode);
        }
        // A note's padding may stand behind the table.
        let table = bytes.get(code.end..).unwrap_or(&[]);
        Ok(CodeLines {
            first,
            code: code.of(bytes),
            table: LineTable::at(table)?,
        })
    }

    /// The words of the code.
    pub fn words(&self) -> impl ExactSizeIterator<Item = u64> + 'a {
        code_words(self.code)
    }

    /// Whether memory holds the code from `base` on. `read` gives the word at an address.
    pub fn is_at(&self, base: u64, read: &mut dyn FnMut(u64) -> Option<u64>) -> bool {
        let mut reads = u32::MAX;
        self.stands_at(base, read, &mut reads)
    }

    fn stands_at(
        &self,
        base: u64,
        read: &mut dyn FnMut(u64) -> Option<u64>,
        reads: &mut u32,
    ) -> bool {
        self.words().zip(address_of(base)).all(|(word, address)| {
            *reads = reads.saturating_sub(1);
            *reads != 0 && address.and_then(&mut *read) == Some(word)
        })
    }

    /// File and row of the instruction at an address, if this code lies around it. `read` gives the word at an address.
    pub fn line_at(
        &self,
        address: u64,
        read: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Option<(&'a str, LineRow)> {
        let here = read(address)?;
        let mut reads = MOST_READS;
        let same = self.words().enumerate().filter(|(_, word)| *word == here);
        for (index, _) in same {
            let before = u64::try_from(index).ok()?.checked_mul(8);
            let base = before.and_then(|before| address.checked_sub(before));
            if base.is_some_and(|base| self.stands_at(base, read, &mut reads)) {
                return self.line_of(index);
            }
        }
        None
    }

    /// File and row of an instruction by its number in this code; none if it comes from no line.
    pub fn line_of(&self, index: usize) -> Option<(&'a str, LineRow)> {
        let index = u32::try_from(index).ok()?;
        self.table.line_of(self.first.checked_add(index)?)
    }

    /// For each word the file and the line that it comes from.
    pub fn lines(&self) -> impl Iterator<Item = Option<(&'a str, u32)>> + use<'a> {
        let count = self.words().len();
        self.table.lines_from(self.first).take(count)
    }
}

/// The addresses of words one behind the other; none beyond the last address.
fn address_of(base: u64) -> impl Iterator<Item = Option<u64>> {
    (0u64..).map(move |index| base.checked_add(index.checked_mul(8)?))
}

/// The place of the instruction at an address among several pieces of code, as `file:line` has it.
pub fn line_among<'a>(
    known: &[CodeLines<'a>],
    address: u64,
    read: &mut dyn FnMut(u64) -> Option<u64>,
) -> Option<(&'a str, u32)> {
    let mut found = known.iter().filter_map(|code| code.line_at(address, read));
    found.next().map(|(file, row)| (file, row.line))
}

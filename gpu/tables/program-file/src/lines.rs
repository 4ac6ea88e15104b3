//! The line table: which line of the source each instruction comes from, behind the program, for people alone.
//!
//! A program may be followed by one. Readers of programs take none of it: neither the program's length nor its sum has it, so that
//! whoever cuts it off ([`without_lines`]) has the same program.
//!
//! ```text
//! EITRILIN  version  length  sum  files  rows
//! rows:   first instruction word, file, line, column; in the order of the words
//! files:  bytes of the name, for each; then the names
//! ```
//!
//! Needs: nothing.  Guarantees: no function panics or allocates, whatever the bytes.

use crate::error::{EncodeError, ProgramError};
use crate::format::{Format, word};
use crate::header::Header;
use crate::section::{Section, read_word, records};

/// How a line table begins.
pub(crate) const FORMAT: Format = Format {
    magic: *b"EITRILIN",
    version: 1,
    header_bytes: 0x1C,
};

/// Byte offsets of the header's words, behind those that every format has.
const FILES: usize = 0x14;
const ROWS: usize = 0x18;

/// Words of a row.
const ROW_WORDS: usize = 4;
const ROW_BYTES: usize = 4 * ROW_WORDS;
const NAME_BYTES: usize = 4;
/// The table, in errors.
const TABLE: &str = "line table";

/// A place in the source from an instruction on, up to that of the next row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRow {
    /// The number of the first instruction word.
    pub word: u32,
    /// The number of the file.
    pub file: u32,
    /// From 1; 0: these instructions come from no line.
    pub line: u32,
    /// From 1; 0 if it is not known.
    pub column: u32,
}

/// What a line table is made of.
#[derive(Clone, Copy, Debug)]
pub struct LineParts<'a> {
    /// Names of files.
    pub files: &'a [&'a str],
    /// Rows by their words, each once.
    pub rows: &'a [LineRow],
}

impl LineParts<'_> {
    /// Bytes that [`LineParts::encode`] writes.
    ///
    /// # Errors
    /// [`EncodeError::TooLarge`] when they could not be counted in 32 bits.
    pub fn encoded_len(&self) -> Result<usize, EncodeError> {
        let names = self
            .files
            .iter()
            .try_fold(0usize, |all, name| all.checked_add(name.len()));
        let length = Places::of(self.files.len(), self.rows.len())
            .and_then(|places| places.names.checked_add(names?));
        let counted = length.filter(|length| u32::try_from(*length).is_ok());
        counted.ok_or(EncodeError::TooLarge)
    }

    /// Writes the table to the start of `out`, and gives its length in bytes.
    ///
    /// # Errors
    /// [`EncodeError::BufferTooSmall`], [`EncodeError::TooLarge`], or the [`EncodeError::Invalid`] that reading it back would give.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let length = self.encoded_len()?;
        // The length fits 32 bits, so every count does.
        let words = [self.files.len() as u32, self.rows.len() as u32];
        let out = FORMAT.write(out, length, &words, |writer| {
            for row in self.rows {
                writer.put_words(&[row.word, row.file, row.line, row.column]);
            }
            for name in self.files {
                writer.put_words(&[name.len() as u32]);
            }
            for name in self.files {
                writer.put(name.as_bytes());
            }
        })?;
        LineTable::parse(out)?;
        Ok(length)
    }
}

/// Where the parts of a table stand.
#[derive(Clone, Copy, Debug)]
struct Places {
    rows: Section,
    lengths: Section,
    /// The first byte of the names.
    names: usize,
}

impl Places {
    fn of(files: usize, rows: usize) -> Option<Places> {
        let rows = Section::after(FORMAT.header_bytes, rows, ROW_BYTES)?;
        let lengths = Section::after(rows.end, files, NAME_BYTES)?;
        Some(Places {
            rows,
            lengths,
            names: lengths.end,
        })
    }
}

/// A checked line table that borrows its bytes.
#[derive(Clone, Copy, Debug)]
pub struct LineTable<'a> {
    bytes: &'a [u8],
    places: Places,
}

impl<'a> LineTable<'a> {
    /// The table behind a program; none if there is no such thing.
    ///
    /// # Errors
    /// What is wrong with it, as with programs.
    pub fn behind(program: &'a [u8]) -> Result<Option<LineTable<'a>>, ProgramError> {
        let length = without_lines(program).len();
        match program.get(length..) {
            None | Some([]) => Ok(None),
            Some(bytes) => LineTable::parse(bytes).map(Some),
        }
    }

    /// The table that bytes begin with; others may follow it.
    pub(crate) fn at(bytes: &'a [u8]) -> Result<LineTable<'a>, ProgramError> {
        let length = read_word(bytes, word::LENGTH).and_then(|length| usize::try_from(length).ok());
        let table = length.and_then(|length| bytes.get(..length));
        LineTable::parse(table.unwrap_or(bytes))
    }

    fn parse(bytes: &'a [u8]) -> Result<LineTable<'a>, ProgramError> {
        let header = Header::checked(bytes, &FORMAT)?;
        let (files, rows) = (header.count(FILES)?, header.count(ROWS)?);
        let wrong = |wanted| ProgramError::Length {
            found: bytes.len(),
            wanted,
        };
        let places = Places::of(files, rows).filter(|places| places.names <= bytes.len());
        let places = places.ok_or(wrong(usize::MAX))?;
        let table = LineTable { bytes, places };
        let mut end = places.names;
        for length in table.lengths() {
            end = end.checked_add(length).ok_or(wrong(usize::MAX))?;
        }
        if end != bytes.len() {
            return Err(wrong(end));
        }
        let mut next = 0;
        for (index, record) in records::<ROW_WORDS>(places.rows.of(bytes)).enumerate() {
            let [word, file, line, _] = record;
            let known = usize::try_from(file).is_ok_and(|file| file < files);
            if word < next || !(known || line == 0) {
                return Err(Header::bad_record(TABLE, index, &record));
            }
            next = word.saturating_add(1);
        }
        let mut names = (0..files).map(|file| table.name(file).ok_or(file));
        if let Some(file) = names.find_map(Result::err) {
            return Err(Header::bad_record(TABLE, file, &[]));
        }
        Ok(table)
    }

    fn lengths(&self) -> impl Iterator<Item = usize> + 'a {
        let lengths = records::<1>(self.places.lengths.of(self.bytes));
        lengths.map(|[length]| usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn name(&self, file: usize) -> Option<&'a str> {
        let before = self.lengths().take(file);
        let start = before.fold(self.places.names, usize::saturating_add);
        let length = self.lengths().nth(file)?;
        let name = self.bytes.get(start..start.checked_add(length)?)?;
        core::str::from_utf8(name).ok()
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = LineRow> + use<'a> {
        let rows = records::<ROW_WORDS>(self.places.rows.of(self.bytes));
        rows.map(|[word, file, line, column]| LineRow {
            word,
            file,
            line,
            column,
        })
    }

    /// The file and the row of an instruction word; none if it comes from no line.
    pub fn line_of(&self, word: u32) -> Option<(&'a str, LineRow)> {
        let row = self.rows().take_while(|row| row.word <= word).last()?;
        if row.line == 0 {
            return None;
        }
        Some((self.name(usize::try_from(row.file).ok()?)?, row))
    }

    /// File and line of each instruction word, from one on, without end. Each row's name is looked up once.
    pub fn lines_from(&self, first: u32) -> impl Iterator<Item = Option<(&'a str, u32)>> + use<'a> {
        let table = *self;
        let mut rows = table.rows().peekable();
        let mut place = None;
        (first..=u32::MAX).map(move |word| {
            let mut reached = None;
            while let Some(row) = rows.next_if(|row| row.word <= word) {
                reached = Some(row);
            }
            if let Some(row) = reached {
                let name = usize::try_from(row.file).ok();
                let name = name.filter(|_| row.line != 0);
                place = name.and_then(|file| Some((table.name(file)?, row.line)));
            }
            place
        })
    }
}

/// A program without the line table behind it. What has none, or is no program, stays as it is.
pub fn without_lines(program: &[u8]) -> &[u8] {
    let length = read_word(program, word::LENGTH).and_then(|length| usize::try_from(length).ok());
    let ends = length.and_then(|length| Some((program.get(..length)?, program.get(length..)?)));
    match ends {
        Some((program, table)) if table.starts_with(&FORMAT.magic) => program,
        _ => program,
    }
}

//! The header: what is looked at before anything else of a program is believed.

use crate::error::ProgramError;
use crate::format::{Format, sum_of, word};
use crate::lines;
use crate::section::{Section, Tables, read_word};

/// A program's header: its words, after magic, version, length and sum have been found good.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    bytes: &'a [u8],
    format: &'a Format,
}

impl<'a> Header<'a> {
    /// Looks at magic, version, length and sum.
    ///
    /// # Errors
    /// The first of them that is wrong.
    pub fn checked(bytes: &'a [u8], format: &'a Format) -> Result<Header<'a>, ProgramError> {
        let mut found = [0; 8];
        for (to, from) in found.iter_mut().zip(bytes) {
            *to = *from;
        }
        let wanted = format.magic;
        if found != wanted {
            return Err(ProgramError::Magic { found, wanted });
        }
        // A line table behind the program is no part of it.
        let bytes = match found == lines::FORMAT.magic {
            true => bytes,
            false => lines::without_lines(bytes),
        };
        let header = Header { bytes, format };
        let version = header.get(word::VERSION)?;
        if version != format.version {
            return Err(ProgramError::Version {
                found: version,
                wanted: format.version,
            });
        }
        let wanted = header.count(word::LENGTH)?;
        if wanted != bytes.len() || wanted < format.header_bytes {
            return Err(ProgramError::Length {
                found: bytes.len(),
                wanted: wanted.max(format.header_bytes),
            });
        }
        let wanted = header.get(word::SUM)?;
        let found = sum_of(bytes);
        if found != wanted {
            return Err(ProgramError::Sum { found, wanted });
        }
        Ok(header)
    }

    /// The word at an offset.
    ///
    /// # Errors
    /// [`ProgramError::Length`] past the end.
    pub fn get(&self, offset: usize) -> Result<u32, ProgramError> {
        read_word(self.bytes, offset).ok_or(ProgramError::Length {
            found: self.bytes.len(),
            wanted: self.format.header_bytes,
        })
    }

    /// The same as a count.
    ///
    /// # Errors
    /// As [`Header::get`].
    pub fn count(&self, offset: usize) -> Result<usize, ProgramError> {
        usize::try_from(self.get(offset)?).map_err(|_| self.bad(offset))
    }

    /// What the word at an offset means.
    ///
    /// # Errors
    /// [`ProgramError::Header`] when it means nothing.
    pub fn meaning<T>(
        &self,
        offset: usize,
        meaning: impl FnOnce(u32) -> Option<T>,
    ) -> Result<T, ProgramError> {
        meaning(self.get(offset)?).ok_or_else(|| self.bad(offset))
    }

    /// The tables that the header promises, if they end where the program does and hold code; `None` are tables that
    /// leave the address space.
    ///
    /// # Errors
    /// [`ProgramError::Length`], [`ProgramError::NoCode`].
    pub fn tables<T: Tables>(&self, promised: Option<T>) -> Result<T, ProgramError> {
        let found = self.bytes.len();
        let wanted = promised.as_ref().map_or(usize::MAX, Tables::length);
        let tables = promised.filter(|_| wanted == found);
        let tables = tables.ok_or(ProgramError::Length { found, wanted })?;
        let Section { start, end } = tables.code();
        if start == end {
            return Err(ProgramError::NoCode);
        }
        Ok(tables)
    }

    /// The entry point's name.
    ///
    /// # Errors
    /// [`ProgramError::EntryName`] when it is not UTF-8.
    pub fn entry(&self, tables: &impl Tables) -> Result<&'a str, ProgramError> {
        let name = core::str::from_utf8(tables.entry().of(self.bytes));
        name.map_err(|error| ProgramError::EntryName {
            valid: error.valid_up_to(),
        })
    }

    /// The error of a word that means nothing.
    pub fn bad(&self, offset: usize) -> ProgramError {
        ProgramError::Header {
            offset,
            value: read_word(self.bytes, offset).unwrap_or(0),
        }
    }

    /// The error of a record that means nothing.
    pub fn bad_record(table: &'static str, index: usize, record: &[u32]) -> ProgramError {
        let at = |position: usize| record.get(position).copied().unwrap_or(0);
        ProgramError::Record {
            table,
            index,
            kind: at(0),
            value: at(1),
        }
    }
}

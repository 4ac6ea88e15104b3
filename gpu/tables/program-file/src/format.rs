//! The format: how a program begins, and how one is written.

use crate::error::EncodeError;
use crate::section::Tables;

/// Byte offsets of the header's first words, which every format has after the magic.
#[rustfmt::skip]
pub(crate) mod word {
    pub(crate) const VERSION: usize = 0x08;
    pub(crate) const LENGTH:  usize = 0x0C; // of the whole program, bytes
    pub(crate) const SUM:     usize = 0x10; // CRC-32 of everything after this word
}

/// How the sum is computed. Bit by bit in an image, where a table would be a KiB, and programs are a few.
#[cfg(any(target_os = "none", target_os = "uefi"))]
type Table = crc::NoTable;
/// How the sum is computed, where memory is plenty.
#[cfg(not(any(target_os = "none", target_os = "uefi")))]
type Table = crc::Table<16>;

/// The sum that guards a program.
static CRC: crc::Crc<u32, Table> = crc::Crc::<u32, Table>::new(&crc::CRC_32_ISO_HDLC);

/// The sum of a program's bytes.
pub(crate) fn sum_of(bytes: &[u8]) -> u32 {
    CRC.checksum(bytes.get(word::SUM + 4..).unwrap_or(&[]))
}

/// Writes length and sum of a program anew, as its bytes are now. For tests and fuzzers: damage that the sum would show goes
/// no further than the header, this takes it to what reads the rest.
pub fn seal(program: &mut [u8]) {
    // No reader takes what is longer than the word can say: the length is wrong then.
    let length = u32::try_from(program.len()).unwrap_or(u32::MAX);
    put_at(program, word::LENGTH, length);
    let sum = sum_of(program);
    put_at(program, word::SUM, sum);
}

/// Puts a word at an offset; where there is no room for it, nothing.
fn put_at(bytes: &mut [u8], offset: usize, value: u32) {
    let mut writer = Writer {
        rest: bytes.get_mut(offset..).unwrap_or(&mut []),
    };
    writer.put_words(&[value]);
}

/// A format of programs.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The first eight bytes.
    pub magic: [u8; 8],
    /// Counted up when the layout changes.
    pub version: u32,
    /// Bytes of the header, the magic among them.
    pub header_bytes: usize,
}

impl Format {
    /// Bytes of a program with these tables; `None` are tables that leave the address space.
    ///
    /// # Errors
    /// [`EncodeError::TooLarge`] when they could not be counted in 32 bits.
    pub fn length(&self, tables: Option<&impl Tables>) -> Result<usize, EncodeError> {
        let length = tables.map(Tables::length);
        let counted = length.filter(|length| u32::try_from(*length).is_ok());
        counted.ok_or(EncodeError::TooLarge)
    }

    /// Writes a program of `length` bytes ([`Format::length`]) to the start of `out`: magic, version, length and sum, the header's further
    /// words, and what `body` puts after them. Gives its bytes.
    ///
    /// # Errors
    /// [`EncodeError::BufferTooSmall`].
    pub fn write<'o>(
        &self,
        out: &'o mut [u8],
        length: usize,
        words: &[u32],
        body: impl FnOnce(&mut Writer<'_>),
    ) -> Result<&'o mut [u8], EncodeError> {
        let available = out.len();
        let Some(out) = out.get_mut(..length) else {
            return Err(EncodeError::BufferTooSmall {
                available,
                needed: length,
            });
        };
        let mut writer = Writer { rest: &mut *out };
        writer.put(&self.magic);
        let sealed_below = 0;
        writer.put_words(&[self.version, sealed_below, sealed_below]);
        writer.put_words(words);
        body(&mut writer);
        seal(out);
        Ok(out)
    }
}

/// Puts bytes one after the other; what does not fit is dropped, but the length was counted before.
pub struct Writer<'a> {
    rest: &'a mut [u8],
}

impl Writer<'_> {
    /// Bytes as they are.
    pub fn put(&mut self, bytes: &[u8]) {
        let rest = core::mem::take(&mut self.rest);
        if let Some((to, rest)) = rest.split_at_mut_checked(bytes.len()) {
            to.copy_from_slice(bytes);
            self.rest = rest;
        }
    }

    /// Words, lowest byte first.
    pub fn put_words(&mut self, words: &[u32]) {
        for word in words {
            self.put(&word.to_le_bytes());
        }
    }
}

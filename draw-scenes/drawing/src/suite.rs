//! A suite: drawings, scripts or the like in one run of bytes, as an image carries them. Each can be read without the others, so that
//! no more than one has to be in memory.
//!
//! The bytes are a magic, the length of the GPU's firmware and itself, a count, and for each entry its length and itself, in
//! `postcard`'s form.

use crate::Drawing;
use alloc::vec::Vec;
use core::marker::PhantomData;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a suite may hold.
pub trait Entry<'a>: Serialize + Deserialize<'a> {
    /// The first bytes of a suite of such entries; the last one is the version.
    const MAGIC: [u8; 8];
}

impl<'a> Entry<'a> for Drawing<'a> {
    const MAGIC: [u8; 8] = *b"EITRIDR4";
}

/// Why bytes are no suite.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SuiteError {
    /// They don't begin as one.
    #[error("no suite of this kind, or one of another version")]
    Magic,
    /// They end too early.
    #[error("the suite was cut short")]
    CutShort,
    /// An entry does not mean anything.
    #[error("entry {index} of the suite can't be read: {cause}")]
    Entry {
        /// Its place, from 0.
        index: usize,
        /// What the form says.
        cause: postcard::Error,
    },
    /// A suite of 4 GiB or more.
    #[error("the entries are too large for one suite")]
    TooLarge,
}

/// A suite that is being read.
#[derive(Clone, Debug)]
pub struct Suite<'a, T> {
    /// The firmware image of the GPU.
    pub firmware: &'a [u8],
    /// The entries.
    pub entries: Entries<'a, T>,
}

/// The entries of a suite, each read when it is asked for.
#[derive(Clone, Debug)]
pub struct Entries<'a, T> {
    rest: &'a [u8],
    count: usize,
    index: usize,
    kind: PhantomData<T>,
}

/// Puts entries into a suite.
///
/// # Errors
/// If they are too large, or one has no form.
pub fn encode<'a, T: Entry<'a>>(firmware: &[u8], entries: &[T]) -> Result<Vec<u8>, SuiteError> {
    let word = |length: usize| u32::try_from(length).map_err(|_| SuiteError::TooLarge);
    let mut bytes = Vec::from(T::MAGIC);
    bytes.extend(word(firmware.len())?.to_le_bytes());
    bytes.extend(firmware);
    bytes.extend(word(entries.len())?.to_le_bytes());
    for (index, entry) in entries.iter().enumerate() {
        let encoded =
            postcard::to_allocvec(entry).map_err(|cause| SuiteError::Entry { index, cause })?;
        bytes.extend(word(encoded.len())?.to_le_bytes());
        bytes.extend(encoded);
    }
    Ok(bytes)
}

/// Reads a suite.
///
/// # Errors
/// If the bytes are none.
pub fn read<'a, T: Entry<'a>>(bytes: &'a [u8]) -> Result<Suite<'a, T>, SuiteError> {
    let (magic, rest) = bytes.split_first_chunk().ok_or(SuiteError::Magic)?;
    if *magic != T::MAGIC {
        return Err(SuiteError::Magic);
    }
    let (firmware, rest) = counted(rest)?;
    let (count, rest) = word(rest)?;
    Ok(Suite {
        firmware,
        entries: Entries {
            rest,
            count,
            index: 0,
            kind: PhantomData,
        },
    })
}

impl<T> Entries<'_, T> {
    /// How many the suite has in all.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the suite has none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<'a, T: Entry<'a>> Iterator for Entries<'a, T> {
    type Item = Result<T, SuiteError>;

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.index;
        if index >= self.count {
            return None;
        }
        let read = counted(self.rest).and_then(|(bytes, rest)| {
            self.rest = rest;
            postcard::from_bytes(bytes).map_err(|cause| SuiteError::Entry { index, cause })
        });
        // Behind what can't be read there is nothing to be found.
        self.index = if read.is_ok() {
            index.saturating_add(1)
        } else {
            self.count
        };
        Some(read)
    }
}

/// As many bytes as the first word says, and what follows.
fn counted(bytes: &[u8]) -> Result<(&[u8], &[u8]), SuiteError> {
    let (length, rest) = word(bytes)?;
    rest.split_at_checked(length).ok_or(SuiteError::CutShort)
}

fn word(bytes: &[u8]) -> Result<(usize, &[u8]), SuiteError> {
    let (word, rest) = bytes.split_first_chunk().ok_or(SuiteError::CutShort)?;
    let word = usize::try_from(u32::from_le_bytes(*word)).map_err(|_| SuiteError::TooLarge)?;
    Ok((word, rest))
}

//! A suite: drawings in one run of bytes, as an image carries them. Each can be read without the others, so that no more than one
//! has to be in memory.
//!
//! The bytes are a magic, the length of the GPU's firmware and itself, a count, and for each drawing its length and itself, in
//! `postcard`'s form.

use crate::Drawing;
use alloc::vec::Vec;
use thiserror::Error;

/// The first bytes of every suite; the last one is the version.
const MAGIC: [u8; 8] = *b"EITRIDR4";

/// Why bytes are no suite.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SuiteError {
    /// They don't begin as one.
    #[error("no suite of drawings, or one of another version")]
    Magic,
    /// They end too early.
    #[error("the suite was cut short")]
    CutShort,
    /// A drawing does not mean anything.
    #[error("drawing {index} of the suite can't be read: {cause}")]
    Drawing {
        /// Its place, from 0.
        index: usize,
        /// What the form says.
        cause: postcard::Error,
    },
    /// A suite of 4 GiB or more.
    #[error("the drawings are too large for one suite")]
    TooLarge,
}

/// A suite that is being read.
#[derive(Clone, Debug)]
pub struct Suite<'a> {
    /// The firmware image of the GPU.
    pub firmware: &'a [u8],
    /// The drawings.
    pub drawings: Drawings<'a>,
}

/// The drawings of a suite, each read when it is asked for.
#[derive(Clone, Debug)]
pub struct Drawings<'a> {
    rest: &'a [u8],
    count: usize,
    index: usize,
}

/// Puts drawings into a suite.
///
/// # Errors
/// If they are too large, or one has no form.
pub fn encode(firmware: &[u8], drawings: &[Drawing<'_>]) -> Result<Vec<u8>, SuiteError> {
    let word = |length: usize| u32::try_from(length).map_err(|_| SuiteError::TooLarge);
    let mut bytes = Vec::from(MAGIC);
    bytes.extend(word(firmware.len())?.to_le_bytes());
    bytes.extend(firmware);
    bytes.extend(word(drawings.len())?.to_le_bytes());
    for (index, drawing) in drawings.iter().enumerate() {
        let encoded =
            postcard::to_allocvec(drawing).map_err(|cause| SuiteError::Drawing { index, cause })?;
        bytes.extend(word(encoded.len())?.to_le_bytes());
        bytes.extend(encoded);
    }
    Ok(bytes)
}

/// Reads a suite.
///
/// # Errors
/// If the bytes are none.
pub fn read(bytes: &[u8]) -> Result<Suite<'_>, SuiteError> {
    let (magic, rest) = bytes.split_first_chunk().ok_or(SuiteError::Magic)?;
    if *magic != MAGIC {
        return Err(SuiteError::Magic);
    }
    let (firmware, rest) = counted(rest)?;
    let (count, rest) = word(rest)?;
    Ok(Suite {
        firmware,
        drawings: Drawings {
            rest,
            count,
            index: 0,
        },
    })
}

impl Drawings<'_> {
    /// How many the suite has in all.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<'a> Iterator for Drawings<'a> {
    type Item = Result<Drawing<'a>, SuiteError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.index >= self.count {
            return None;
        }
        let index = self.index;
        let read = counted(self.rest).and_then(|(bytes, rest)| {
            self.rest = rest;
            postcard::from_bytes(bytes).map_err(|cause| SuiteError::Drawing { index, cause })
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

fn word(bytes: &[u8]) -> Result<(usize, &[u8]), SuiteError> {
    let (word, rest) = bytes.split_first_chunk().ok_or(SuiteError::CutShort)?;
    let word = usize::try_from(u32::from_le_bytes(*word)).map_err(|_| SuiteError::TooLarge)?;
    Ok((word, rest))
}

fn counted(bytes: &[u8]) -> Result<(&[u8], &[u8]), SuiteError> {
    let (length, rest) = word(bytes)?;
    rest.split_at_checked(length).ok_or(SuiteError::CutShort)
}

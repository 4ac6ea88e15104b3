//! A suite: scripts in one run of bytes, as an image carries them. Each can be read without the others, so that no more than
//! one has to be in memory.
//!
//! The bytes are a magic, the length of the GPU's firmware and itself, a count, and for each case its length and itself, in
//! `postcard`'s form.

use crate::{Compiled, Verdict};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The first bytes of every suite; the last one is the version.
const MAGIC: [u8; 8] = *b"EITRIAM1";
/// A count or a length.
const WORD: usize = 4;

/// A script of a suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    /// Its name in reports.
    pub name: String,
    /// Whether its name says that it must fail.
    pub must_fail: bool,
    /// What is there to run.
    pub content: Content,
}

/// What there is of a script.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Content {
    /// Nothing is left to run.
    Settled(Verdict),
    /// It is compiled.
    Script(Box<Compiled>),
}

/// Why bytes are no suite.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SuiteError {
    /// They don't begin as one.
    #[error("no suite of scripts, or one of another version")]
    Magic,
    /// They end too early.
    #[error("the suite was cut short")]
    CutShort,
    /// A case does not mean anything.
    #[error("case {index} of the suite can't be read: {cause}")]
    Case {
        /// Its place, from 0.
        index: usize,
        /// What the form says.
        cause: postcard::Error,
    },
    /// A suite of 4 GiB or more.
    #[error("the scripts are too large for one suite")]
    TooLarge,
}

/// A suite that is being read.
#[derive(Clone, Debug)]
pub struct Suite<'a> {
    /// The firmware image of the GPU.
    pub firmware: &'a [u8],
    /// The cases.
    pub cases: Cases<'a>,
}

/// The cases of a suite, each read when it is asked for.
#[derive(Clone, Debug)]
pub struct Cases<'a> {
    rest: &'a [u8],
    count: usize,
    index: usize,
}

/// The cases as a suite.
///
/// # Errors
/// If they are too large, or one has no form.
pub fn encode(firmware: &[u8], cases: &[Case]) -> Result<Vec<u8>, SuiteError> {
    let word = |length: usize| u32::try_from(length).map_err(|_| SuiteError::TooLarge);
    let mut bytes = Vec::from(MAGIC);
    bytes.extend(word(firmware.len())?.to_le_bytes());
    bytes.extend(firmware);
    bytes.extend(word(cases.len())?.to_le_bytes());
    for (index, case) in cases.iter().enumerate() {
        let encoded =
            postcard::to_allocvec(case).map_err(|cause| SuiteError::Case { index, cause })?;
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
        cases: Cases {
            rest,
            count,
            index: 0,
        },
    })
}

impl Cases<'_> {
    /// How many the suite has in all.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl Iterator for Cases<'_> {
    type Item = Result<Case, SuiteError>;

    fn next(&mut self) -> Option<Result<Case, SuiteError>> {
        if self.index >= self.count {
            return None;
        }
        let index = self.index;
        let (encoded, rest) = match counted(self.rest) {
            Ok(found) => found,
            Err(error) => {
                // Nothing behind it can be found.
                self.index = self.count;
                return Some(Err(error));
            }
        };
        (self.rest, self.index) = (rest, index.saturating_add(1));
        Some(postcard::from_bytes(encoded).map_err(|cause| SuiteError::Case { index, cause }))
    }
}

/// As many bytes as the first word says, and what follows.
fn counted(bytes: &[u8]) -> Result<(&[u8], &[u8]), SuiteError> {
    let (length, rest) = word(bytes)?;
    rest.split_at_checked(length).ok_or(SuiteError::CutShort)
}

fn word(bytes: &[u8]) -> Result<(usize, &[u8]), SuiteError> {
    let (word, rest) = bytes
        .split_first_chunk::<WORD>()
        .ok_or(SuiteError::CutShort)?;
    let value = usize::try_from(u32::from_le_bytes(*word)).map_err(|_| SuiteError::TooLarge)?;
    Ok((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(name: &str) -> Case {
        Case {
            name: name.into(),
            must_fail: false,
            content: Content::Settled(Verdict::Fail("x".into())),
        }
    }

    #[test]
    fn a_suite_gives_its_cases_back() {
        let bytes = encode(b"fw", &[settled("a"), settled("b")]).unwrap();
        let suite = read(&bytes).unwrap();
        assert_eq!((suite.firmware, suite.cases.len()), (&b"fw"[..], 2));
        let names: Vec<String> = suite.cases.map(|case| case.unwrap().name).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn a_damaged_suite_is_an_error() {
        let bytes = encode(b"fw", &[settled("a"), settled("b")]).unwrap();
        for length in 0..bytes.len() {
            let whole =
                read(&bytes[..length]).and_then(|suite| suite.cases.collect::<Result<Vec<_>, _>>());
            assert!(whole.is_err(), "{length} of {} bytes", bytes.len());
        }
        assert_eq!(read(b"EITRIAM0....").err(), Some(SuiteError::Magic));
    }
}

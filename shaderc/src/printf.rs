//! What a shader prints: each call of `debugPrintfEXT` appends a record to a storage buffer, which whoever runs the shader
//! reads afterwards.
//!
//! The buffer's first word counts the words that all records want; the records follow. A record is the number of its call
//! in [`Compiled::printf`](crate::Compiled::printf), counted from 1, and the words of its arguments: one for each scalar, two
//! for one of 64 bits. What finds no room is counted and left out.

use crate::interp::half;

/// A storage buffer that nothing else of the shader's is bound to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrintfBuffer {
    /// Its descriptor set.
    pub set: u32,
    /// Its binding, above all others of the set.
    pub binding: u32,
    /// Its bytes, a multiple of 4. All are 0 before the dispatch.
    pub bytes: u32,
}

/// What a scalar is, with its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrintfType {
    /// A boolean, as a word.
    Bool,
    /// A signed integer.
    Signed(u32),
    /// An unsigned integer.
    Unsigned(u32),
    /// A float.
    Float(u32),
}

impl PrintfType {
    /// Words of a scalar.
    const fn words(self) -> usize {
        match self {
            PrintfType::Signed(64) | PrintfType::Unsigned(64) | PrintfType::Float(64) => 2,
            _ => 1,
        }
    }

    /// The number that these bits are, of a float.
    pub fn float(self, bits: u64) -> Option<f64> {
        match self {
            PrintfType::Float(16) => Some(half::to_f32(bits as u16).into()),
            PrintfType::Float(64) => Some(f64::from_bits(bits)),
            PrintfType::Float(_) => Some(f32::from_bits(bits as u32).into()),
            _ => None,
        }
    }
}

/// A call in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrintfCall {
    /// The format, as it stands there.
    pub format: String,
    /// Its arguments: what each is, and how many of it, as a vector has.
    pub arguments: Vec<(PrintfType, u32)>,
}

impl PrintfCall {
    /// Words of its record, after the number of the call.
    pub(crate) fn words(&self) -> usize {
        let words = |(ty, count): &(PrintfType, u32)| ty.words() * *count as usize;
        self.arguments.iter().map(words).sum()
    }
}

/// What one call printed, once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrintfRecord<'c> {
    /// The call.
    pub call: &'c PrintfCall,
    /// Its arguments: the bits of each scalar.
    pub arguments: Vec<Vec<u64>>,
}

/// Reads the records of a buffer, in the order in which they were appended; and how many words found no room.
///
/// ```
/// use eitri_shaderc::printf::{PrintfCall, PrintfType, records};
///
/// let calls = [PrintfCall { format: "%u".to_owned(), arguments: vec![(PrintfType::Unsigned(32), 1)] }];
/// let buffer: Vec<u8> = [2_u32, 1, 17].into_iter().flat_map(u32::to_le_bytes).collect();
/// let (found, lost) = records(&calls, &buffer);
/// assert_eq!((found[0].arguments[0][0], lost), (17, 0));
/// ```
pub fn records<'c>(calls: &'c [PrintfCall], buffer: &[u8]) -> (Vec<PrintfRecord<'c>>, u32) {
    let (words, _) = buffer.as_chunks::<4>();
    let mut words = words.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let wanted = words.next().unwrap_or(0);
    let mut words = words.take(wanted as usize);
    let mut found = vec![];
    let mut taken = 0;
    let call = |number: u32| calls.get((number as usize).checked_sub(1)?);
    // Where a record found no room are zeros.
    while let Some(call) = words.next().and_then(call) {
        if words.len() < call.words() {
            break;
        }
        let mut scalar = |ty: PrintfType| {
            let low = u64::from(words.next().unwrap_or(0));
            match ty.words() {
                1 => low,
                _ => u64::from(words.next().unwrap_or(0)) << 32 | low,
            }
        };
        let arguments = call
            .arguments
            .iter()
            .map(|(ty, count)| (0..*count).map(|_| scalar(*ty)).collect())
            .collect();
        taken += 1 + call.words() as u32;
        found.push(PrintfRecord { call, arguments });
    }
    (found, wanted.saturating_sub(taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record is read if it is whole; what found no room is counted.
    #[test]
    fn records_are_read_as_far_as_they_are_whole() {
        let call = |arguments: &[(PrintfType, u32)]| PrintfCall {
            format: String::new(),
            arguments: arguments.to_vec(),
        };
        let (word, wide) = (PrintfType::Unsigned(32), PrintfType::Unsigned(64));
        let calls = [call(&[(word, 2)]), call(&[(wide, 1), (word, 1)]), call(&[])];
        for (buffer, expected, lost) in [
            (&[][..], vec![], 0),
            (&[0], vec![], 0),
            (&[3, 1, 8, 9], vec![vec![8, 9]], 0),
            (&[5, 3, 2, 7, 1, 6], vec![vec![], vec![1 << 32 | 7, 6]], 0),
            // The second lacks its last word: it was not written, and three words were wanted.
            (&[6, 1, 8, 9, 1, 8, 0], vec![vec![8, 9], vec![8, 0]], 0),
            (&[6, 1, 8, 9, 1, 8], vec![vec![8, 9]], 3),
            (&[9, 1, 8, 9, 0, 0, 0], vec![vec![8, 9]], 6),
            // No call has this number.
            (&[2, 4, 1], vec![], 2),
        ] {
            let bytes: Vec<u8> = buffer.iter().copied().flat_map(u32::to_le_bytes).collect();
            let (found, missing) = records(&calls, &bytes);
            let found: Vec<Vec<u64>> = found
                .iter()
                .map(|record| record.arguments.concat())
                .collect();
            assert_eq!((found, missing), (expected, lost), "{buffer:?}");
        }
    }
}

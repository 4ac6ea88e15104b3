//! Parts: named contents behind an image that was linked without them: a job, scripts, drawings, firmware.
//!
//! Each has a header of 64 bytes (its name, padded with zeros to 16; its length, 8 bytes, little-endian; zeros) and is padded to a
//! multiple of 64, so that what wants to be aligned is.
//!
//! Guarantees: [`find`] of anything that [`encode`] did not write gives what lies inside of it, or nothing.

use alloc::vec::Vec;

/// What headers and contents begin at a multiple of, in bytes.
const ALIGNMENT: usize = 64;
/// Bytes of a name.
const NAME: usize = 16;

/// The bytes of some parts; names of more than 16 bytes are cut.
pub fn encode(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut all = Vec::new();
    for (name, content) in parts {
        let start = all.len();
        all.extend(name.bytes().take(NAME));
        all.resize(start + NAME, 0);
        all.extend((content.len() as u64).to_le_bytes());
        all.resize(start + ALIGNMENT, 0);
        all.extend_from_slice(content);
        all.resize(all.len().next_multiple_of(ALIGNMENT), 0);
    }
    all
}

/// The content of the part of a name, if there is one.
pub fn find<'p>(mut parts: &'p [u8], name: &str) -> Option<&'p [u8]> {
    loop {
        let (header, rest) = parts.split_at_checked(ALIGNMENT)?;
        let (own, numbers) = header.split_first_chunk::<NAME>()?;
        let bytes = u64::from_le_bytes(*numbers.first_chunk()?);
        let bytes = usize::try_from(bytes).ok()?;
        let content = rest.get(..bytes)?;
        let end = own.iter().position(|byte| *byte == 0).unwrap_or(NAME);
        if own.get(..end) == Some(name.as_bytes()) {
            return Some(content);
        }
        parts = rest.get(bytes.checked_next_multiple_of(ALIGNMENT)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn each_part_is_found_by_its_name() {
        let large = vec![7; 200];
        let all = encode(&[("job", b"abc"), ("firmware", &large), ("empty", b"")]);
        assert_eq!(all.len() % ALIGNMENT, 0);
        assert_eq!(find(&all, "job"), Some(&b"abc"[..]));
        assert_eq!(find(&all, "firmware"), Some(&large[..]));
        assert_eq!(find(&all, "empty"), Some(&b""[..]));
        assert_eq!(find(&all, "jo"), None);
        assert_eq!(find(&[], "job"), None);
    }

    #[test]
    fn what_was_cut_short_or_damaged_has_no_part() {
        let all = encode(&[("job", &[1; 100]), ("firmware", &[2; 10])]);
        for length in 0..all.len() - ALIGNMENT {
            let found = find(&all[..length], "firmware");
            assert_eq!(found, None, "{length} bytes");
        }
        let mut long = all.clone();
        long[NAME..NAME + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(find(&long, "job"), None);
        assert_eq!(find(&long, "firmware"), None);
    }
}

//! A program that is another's, cut short, damaged, or of another version is told by name, in whatever format it is.

use eitri_program_file::{
    CODE_WORD_BYTES, EncodeError, Format, Header, ProgramError, Section, Tables, code_words, seal,
};
use proptest::prelude::*;

/// The least format: counts of code words and of the name's bytes, then both.
const FORMAT: Format = Format {
    magic: *b"EXAMPLE.",
    version: 3,
    header_bytes: 0x1C,
};

struct Layout {
    code: Section,
    entry: Section,
}

impl Layout {
    fn of(code: usize, name: usize) -> Option<Layout> {
        let code = Section::after(FORMAT.header_bytes, code, CODE_WORD_BYTES)?;
        let entry = Section::after(code.end, name, 1)?;
        Some(Layout { code, entry })
    }
}

impl Tables for Layout {
    fn code(&self) -> Section {
        self.code
    }

    fn entry(&self) -> Section {
        self.entry
    }
}

fn written(code: &[u64], name: &[u8]) -> Vec<u8> {
    let tables = Layout::of(code.len(), name.len());
    let mut bytes = vec![0; FORMAT.length(tables.as_ref()).unwrap()];
    let length = bytes.len();
    let counts = [code.len() as u32, name.len() as u32];
    let body = |writer: &mut eitri_program_file::Writer<'_>| {
        for word in code {
            writer.put(&word.to_le_bytes());
        }
        writer.put(name);
    };
    FORMAT.write(&mut bytes, length, &counts, body).unwrap();
    bytes
}

/// Code and name, as a reader of the format finds them.
fn read(bytes: &[u8]) -> Result<(Vec<u64>, &str), ProgramError> {
    let header = Header::checked(bytes, &FORMAT)?;
    let promised = Layout::of(header.count(0x14)?, header.count(0x18)?);
    let tables = header.tables(promised)?;
    let code = code_words(tables.code.of(bytes)).collect();
    Ok((code, header.entry(&tables)?))
}

fn good() -> Vec<u8> {
    written(&[1, 0x0123_4567_89AB_CDEF], b"main")
}

#[test]
fn what_is_written_is_read() {
    let (code, name) = (vec![1, 0x0123_4567_89AB_CDEF], "main");
    assert_eq!(read(&good()), Ok((code, name)));
}

#[track_caller]
fn says(bytes: &[u8], message: &str) {
    assert_eq!(read(bytes).unwrap_err().to_string(), message);
}

#[test]
fn foreign_and_damaged_bytes_are_told_apart() {
    says(
        b"\x7fELF",
        r#"not an Eitri program of this kind: the first eight bytes are "\x7fELF\x00\x00\x00\x00", not "EXAMPLE.""#,
    );
    let bytes = good();
    says(
        &bytes[..bytes.len() - 1],
        "program of 47 bytes, but its header promises 48",
    );
    let mut newer = good();
    newer[8] = 9;
    says(
        &newer,
        "program layout version 9, but this build reads version 3: compile the shader again",
    );
    let mut damaged = good();
    *damaged.last_mut().unwrap() ^= 1;
    let told = read(&damaged).unwrap_err();
    assert!(matches!(told, ProgramError::Sum { .. }), "{told}");
}

#[test]
fn what_contradicts_its_own_counts_is_told() {
    let mut bytes = good();
    // A word of code more than there is; more than there could be; and none.
    bytes[0x14] = 3;
    seal(&mut bytes);
    says(&bytes, "program of 48 bytes, but its header promises 56");
    bytes[0x14..0x18].copy_from_slice(&[0xFF; 4]);
    seal(&mut bytes);
    let told = read(&bytes).unwrap_err();
    assert!(
        matches!(told, ProgramError::Length { found: 48, .. }),
        "{told}"
    );
    says(&written(&[], b"main"), "program without code");
    says(
        &written(&[1], b"m\xFF"),
        "the entry point's name is not UTF-8 after byte 1",
    );
}

#[test]
fn what_can_not_be_counted_is_too_large() {
    let length = |code| FORMAT.length(Layout::of(code, 4).as_ref());
    assert_eq!(length(2), Ok(48));
    assert_eq!(length(usize::MAX), Err(EncodeError::TooLarge));
    assert_eq!(length(u32::MAX as usize / 8), Err(EncodeError::TooLarge));
}

proptest! {
    #[test]
    fn any_single_damage_is_noticed(at in 0usize..48, bit in 0u8..8) {
        let mut bytes = good();
        bytes[at] ^= 1 << bit;
        prop_assert!(read(&bytes).is_err(), "bit {bit} of byte {at} went unnoticed");
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let mut bytes = [&FORMAT.magic[..], &[3, 0, 0, 0], &bytes].concat();
        let _ = read(&bytes);
        seal(&mut bytes);
        let _ = read(&bytes);
    }
}

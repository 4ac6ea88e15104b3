//! Code that is recognised in memory by its words, and its lines.
use eitri_program_file::{
    CodeLineParts, CodeLines, EncodeError, LineParts, LineRow, ProgramError, line_among,
};
use proptest::prelude::*;

fn row(word: u32, file: u32, line: u32) -> LineRow {
    LineRow {
        word,
        file,
        line,
        column: 0,
    }
}

fn encoded(first: u32, words: &[u64], rows: &[LineRow]) -> Vec<u8> {
    let lines = LineParts {
        files: &["a.comp", "b.glsl"],
        rows,
    };
    let parts = CodeLineParts {
        first,
        words,
        lines,
    };
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    assert_eq!(
        parts.encode(&mut bytes[1..]),
        Err(EncodeError::BufferTooSmall {
            available: bytes.len() - 1,
            needed: bytes.len()
        })
    );
    assert_eq!(parts.encode(&mut bytes), Ok(bytes.len()));
    bytes
}

/// Memory that holds words from an address on.
fn memory(base: u64, words: &[u64]) -> impl FnMut(u64) -> Option<u64> {
    move |address| {
        let offset = address.checked_sub(base)?;
        words.get(usize::try_from(offset / 8).ok()?).copied()
    }
}

#[test]
fn an_address_leads_to_a_line_wherever_the_code_lies() {
    // The same word twice: where the code begins is known by all of it.
    let words = [7, 9, 7, 9, 8];
    let rows = [row(10, 0, 3), row(12, 1, 5), row(14, 0, 0)];
    let bytes = encoded(10, &words, &rows);
    let code = CodeLines::parse(&bytes).unwrap();
    let mut read = memory(0x1000, &[7, 7, 9, 7, 9, 8, 7]);
    assert!(code.is_at(0x1008, &mut read));
    assert!(!code.is_at(0x1000, &mut read));
    let mut line = |address| line_among(&[code], address, &mut read);
    assert_eq!(line(0x1008), Some(("a.comp", 3)));
    assert_eq!(line(0x1010), Some(("a.comp", 3)));
    assert_eq!(line(0x1018), Some(("b.glsl", 5)));
    assert_eq!(line(0x1020), Some(("b.glsl", 5)));
    // An instruction from no line, the same word behind the code, and one before it.
    assert_eq!(line(0x1028), None);
    assert_eq!(line(0x1030), None);
    assert_eq!(line(0x1000), None);
    assert_eq!(line(u64::MAX), None);
    let lines: Vec<_> = code.lines().collect();
    let [a, b] = [Some(("a.comp", 3)), Some(("b.glsl", 5))];
    assert_eq!(lines, [a, a, b, b, None]);
}

#[test]
fn another_program_that_begins_alike_is_another() {
    let bytes = encoded(0, &[1, 2, 3], &[row(0, 0, 3)]);
    let code = CodeLines::parse(&bytes).unwrap();
    assert_eq!(line_among(&[code], 8, &mut memory(0, &[1, 2, 4])), None);
}

#[test]
fn what_is_no_code_is_refused() {
    let good = encoded(0, &[1, 2, 3], &[row(0, 0, 3)]);
    assert!(matches!(
        CodeLines::parse(&good[..7]),
        Err(ProgramError::Length { .. })
    ));
    assert!(matches!(
        CodeLines::parse(&good[..20]),
        Err(ProgramError::Length { .. })
    ));
    let mut empty = good.clone();
    empty.drain(8..32);
    empty[4] = 0;
    assert_eq!(
        CodeLines::parse(&empty).map(|_| ()),
        Err(ProgramError::NoCode)
    );
    let mut damaged = good.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(matches!(
        CodeLines::parse(&damaged),
        Err(ProgramError::Sum { .. })
    ));
    // The padding of a note.
    let padded = [good.as_slice(), &[0; 3]].concat();
    assert!(CodeLines::parse(&padded).is_ok());
}

proptest! {
    #[test]
    fn no_bytes_are_believed(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..64),
        at in any::<prop::sample::Index>(),
        value in any::<u8>(),
    ) {
        let _ = CodeLines::parse(&bytes).map(|code| code.lines().count());
        bytes = encoded(3, &[1, 1, 2], &[row(3, 0, 3)]);
        let index = at.index(8);
        bytes[index] = value;
        let mut read = |_| Some(1);
        if let Ok(code) = CodeLines::parse(&bytes) {
            let _ = line_among(&[code], 8, &mut read);
            let _ = code.lines().count();
        }
    }
}

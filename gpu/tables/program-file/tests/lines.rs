//! The line table behind a program: read by people's tools, and by nobody else.
use eitri_program_file::{
    EncodeError, Format, Header, LineParts, LineRow, LineTable, ProgramError, seal, without_lines,
};

/// Where the counts of a table begin.
const COUNTS: usize = 0x14;

const EXAMPLE: Format = Format {
    magic: *b"EXAMPLE.",
    version: 1,
    header_bytes: 0x18,
};

fn row(word: u32, file: u32, line: u32) -> LineRow {
    LineRow {
        word,
        file,
        line,
        column: 0,
    }
}

fn table(files: &[&str], rows: &[LineRow]) -> Result<Vec<u8>, EncodeError> {
    let parts = LineParts { files, rows };
    let mut bytes = vec![0; parts.encoded_len()?];
    parts.encode(&mut bytes)?;
    Ok(bytes)
}

fn program() -> Vec<u8> {
    let mut bytes = vec![0; 0x18];
    EXAMPLE.write(&mut bytes, 0x18, &[7], |_| {}).unwrap();
    bytes
}

#[test]
fn a_program_is_the_same_with_its_lines_and_without() {
    let alone = program();
    let lines = table(
        &["a.comp", "b.glsl"],
        &[row(0, 0, 3), row(2, 1, 9), row(5, 0, 0)],
    );
    let all = [alone.clone(), lines.unwrap()].concat();
    assert_eq!(without_lines(&all), alone);
    assert_eq!(without_lines(&alone), alone);
    let header = Header::checked(&all, &EXAMPLE).unwrap();
    assert_eq!(header.get(0x14), Ok(7));
    let table = LineTable::behind(&all).unwrap().unwrap();
    assert_eq!(table.line_of(1), Some(("a.comp", row(0, 0, 3))));
    assert_eq!(table.line_of(4), Some(("b.glsl", row(2, 1, 9))));
    assert_eq!(table.line_of(5), None);
    assert!(LineTable::behind(&alone).unwrap().is_none());
}

#[test]
fn what_follows_a_program_must_be_a_table() {
    let mut longer = program();
    longer.extend_from_slice(b"EITRIxxx");
    let error = Header::checked(&longer, &EXAMPLE).unwrap_err();
    assert!(matches!(error, ProgramError::Length { .. }), "{error}");
}

#[test]
fn a_table_that_makes_no_sense_is_refused_by_name() {
    let unordered = table(&["a"], &[row(3, 0, 1), row(3, 0, 2)]);
    let EncodeError::Invalid(ProgramError::Record {
        table: name, index, ..
    }) = unordered.unwrap_err()
    else {
        panic!("another error");
    };
    assert_eq!((name, index), ("line table", 1));
    assert!(table(&["a"], &[row(0, 1, 1)]).is_err(), "no such file");
    let mut damaged = [program(), table(&["a"], &[row(0, 0, 1)]).unwrap()].concat();
    *damaged.last_mut().unwrap() = b'b';
    let error = LineTable::behind(&damaged).unwrap_err();
    assert!(matches!(error, ProgramError::Sum { .. }), "{error}");
}

#[test]
fn no_damage_is_a_panic() {
    let good = table(&["a.comp", "b"], &[row(0, 0, 3), row(2, 1, 9)]).unwrap();
    let start = program();
    for at in COUNTS..good.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] = value;
            seal(&mut bytes);
            let all = [start.clone(), bytes].concat();
            if let Ok(Some(table)) = LineTable::behind(&all) {
                let _ = (table.rows().count(), table.line_of(u32::MAX));
            }
        }
    }
}

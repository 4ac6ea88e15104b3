//! Adding the lines of programs to a dump that is written: by whoever compiled them, since drivers know no lines.
//!
//! Needs: a file that [`crate::write()`] wrote.  Guarantees: what it says else stays as it is, and so does a file that is no such thing.

use crate::elf::{ALIGNMENT, HEADER_BYTES, Header, MOST_SEGMENTS, PT_NOTE, SEGMENT_BYTES, Segment};
use crate::note::{Kind, OWNER};
use alloc::vec::Vec;

/// Adds a note for each element of `lines`, as [`eitri_program_file::CodeLineParts::encode`] wrote it. Whether that was possible: the
/// file begins with its headers, as ours do, and has room for one more.
///
/// The notes stand in front of all else, so that a file that is cut short later has them.
pub fn add_lines(file: &mut Vec<u8>, lines: &[impl AsRef<[u8]>]) -> bool {
    if lines.is_empty() {
        return true;
    }
    let Some(longer) = with_lines(file, lines) else {
        return false;
    };
    *file = longer;
    true
}

fn with_lines(file: &[u8], lines: &[impl AsRef<[u8]>]) -> Option<Vec<u8>> {
    let header = Header::parse(file).ok()?;
    let segments = u64::from(header.segments);
    if header.segments_at != HEADER_BYTES || usize::from(header.segments) >= MOST_SEGMENTS {
        return None;
    }
    let table = HEADER_BYTES as usize..(HEADER_BYTES + SEGMENT_BYTES * segments) as usize;
    let (segments, behind) = (file.get(table.clone())?, file.get(table.end..)?);
    let mut notes = Vec::new();
    for body in lines {
        put_note(&mut notes, body.as_ref())?;
    }
    // Memory keeps its alignment.
    let notes_at = table.end as u64 + SEGMENT_BYTES;
    let added = (SEGMENT_BYTES + notes.len() as u64).next_multiple_of(ALIGNMENT);
    let mut longer = Vec::new();
    let header = Header {
        segments: header.segments + 1,
        ..header
    };
    longer.extend_from_slice(&header.bytes());
    for bytes in segments.as_chunks().0 {
        let segment = Segment::parse(bytes);
        if segment.file_bytes != 0 && segment.offset < table.end as u64 {
            return None;
        }
        let moved = Segment {
            offset: segment.offset.checked_add(added)?,
            ..segment
        };
        longer.extend_from_slice(&moved.bytes());
    }
    let own = Segment {
        kind: PT_NOTE,
        offset: notes_at,
        address: 0,
        file_bytes: notes.len() as u64,
        memory_bytes: 0,
    };
    longer.extend_from_slice(&own.bytes());
    longer.extend_from_slice(&notes);
    longer.resize(table.end + usize::try_from(added).ok()?, 0);
    longer.extend_from_slice(behind);
    Some(longer)
}

/// A note, as the writer of dumps lays it out; none if its length has no 32 bits.
fn put_note(notes: &mut Vec<u8>, body: &[u8]) -> Option<()> {
    let head = [
        OWNER.len() as u32,
        u32::try_from(body.len()).ok()?,
        Kind::Lines as u32,
    ];
    notes.extend(head.iter().flat_map(|word| word.to_le_bytes()));
    for part in [OWNER, body] {
        notes.extend_from_slice(part);
        notes.resize(notes.len().next_multiple_of(4), 0);
    }
    Some(())
}

//! Lines of the source that instructions come from, where the dump has a table of their program.

use super::View;
use super::map::Map;
use alloc::format;
use alloc::string::String;
use eitri_program_file::CodeLines;

/// The lines of the program at an address.
pub(super) fn of_program<'d>(view: &View<'d>, map: &Map, address: u64) -> Option<CodeLines<'d>> {
    let mut read = |at| {
        let mut bytes = [0; 8];
        let word = view.read(&map.space, at, &mut bytes);
        word.ok().map(|()| u64::from_le_bytes(bytes))
    };
    let mut known = view.dump.lines().iter();
    known.find(|lines| lines.is_at(address, &mut read)).copied()
}

/// A place as people write it.
pub(super) fn text(file: &str, line: u32) -> String {
    format!("{file}:{line}")
}

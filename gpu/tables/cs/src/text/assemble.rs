//! Assembles a text: lines of `[label:] [instruction] [; comment]`.

use super::cursor::{Cursor, Fault};
use super::error::{TextError, TextFault};
use super::parse::{self, Labels, NoLabels, characters, is_label};
use crate::arch::Arch;

/// Room for a label.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabelSlot<'s> {
    name: &'s str,
    /// The instruction that follows it.
    target: usize,
    line: usize,
}

/// Assembles one instruction, without labels.
///
/// # Errors
/// What is wrong, and where.
pub fn assemble_line(line: &str, arch: Arch) -> Result<u64, TextError> {
    let mut cursor = Cursor::new(line);
    cursor.skip_spaces();
    parse::instruction(cursor, arch, &NoLabels).map_err(|fault| locate(line, 1, fault))
}

/// Finds the labels of `source`, and gives an iterator over the word, or the error, of each line with an instruction.
///
/// `labels` is room for them; as many as `source` has colons are always enough.
///
/// # Errors
/// A label stands twice, or there is no room for all.
pub fn assemble<'s>(
    source: &'s str,
    arch: Arch,
    labels: &'s mut [LabelSlot<'s>],
) -> Result<Assembly<'s>, TextError> {
    let mut found = 0;
    let mut instructions = 0;
    for (index, line) in source.lines().enumerate() {
        let number = index + 1;
        let mut cursor = Cursor::new(line);
        loop {
            cursor.skip_spaces();
            let at = cursor.at();
            let Some(name) = take_label(&mut cursor) else {
                break;
            };
            let fault = |fault| {
                let at = at..at + name.len();
                Err(locate(line, number, Fault { at, fault }))
            };
            let capacity = labels.len();
            let Some(slot) = labels.get_mut(found) else {
                return fault(TextFault::TooManyLabels { capacity });
            };
            *slot = LabelSlot {
                name,
                target: instructions,
                line: number,
            };
            found += 1;
        }
        instructions += usize::from(holds_instruction(&cursor));
    }
    let labels = &mut labels[..found];
    labels.sort_unstable_by_key(|label| (label.name, label.line));
    for pair in labels.windows(2) {
        if let [first, second] = pair
            && first.name == second.name
        {
            return Err(duplicate(source, first, second));
        }
    }
    Ok(Assembly {
        lines: source.lines(),
        line: 0,
        position: 0,
        arch,
        labels,
    })
}

fn duplicate(source: &str, first: &LabelSlot, second: &LabelSlot) -> TextError {
    let line = source.lines().nth(second.line - 1).unwrap_or("");
    // The last one in the line, should both be there.
    let start = line.match_indices(second.name).map(|(at, _)| at).last();
    let start = start.unwrap_or(0);
    let fault = TextFault::DuplicateLabel { first: first.line };
    let at = start..start + second.name.len();
    locate(line, second.line, Fault { at, fault })
}

/// Whether an instruction begins here, and not the end of the line or a comment, which may begin with `#` here.
fn holds_instruction(cursor: &Cursor) -> bool {
    !cursor.is_done() && !cursor.rest().starts_with('#')
}

/// Takes `name:`.
fn take_label<'s>(cursor: &mut Cursor<'s>) -> Option<&'s str> {
    let mut probe = *cursor;
    let name = probe.take_while(is_label);
    let is_one = !name.is_empty() && probe.take(":");
    if is_one {
        *cursor = probe;
    }
    is_one.then_some(name)
}

fn locate(line: &str, number: usize, fault: Fault) -> TextError {
    let (column, length) = characters(line, &fault.at);
    TextError {
        line: number,
        column,
        length,
        fault: fault.fault,
    }
}

/// A text that is being assembled: an iterator over its words and errors.
#[derive(Clone, Debug)]
pub struct Assembly<'s> {
    lines: core::str::Lines<'s>,
    /// The lines that have been read.
    line: usize,
    /// The instructions that have been read.
    position: usize,
    arch: Arch,
    labels: &'s [LabelSlot<'s>],
}

impl Iterator for Assembly<'_> {
    type Item = Result<u64, TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.lines.next()?;
            self.line += 1;
            let mut cursor = Cursor::new(line);
            cursor.skip_spaces();
            while take_label(&mut cursor).is_some() {
                cursor.skip_spaces();
            }
            if !holds_instruction(&cursor) {
                continue;
            }
            let word = parse::instruction(cursor, self.arch, self);
            self.position += 1;
            return Some(word.map_err(|fault| locate(line, self.line, fault)));
        }
    }
}

impl Labels for Assembly<'_> {
    fn offset_to(&self, label: &str) -> Result<i64, TextFault> {
        let found = self.labels.binary_search_by_key(&label, |slot| slot.name);
        let target = found.ok().and_then(|index| self.labels.get(index));
        let target = target.ok_or(TextFault::UnknownLabel)?.target;
        Ok(target as i64 - self.position as i64 - 1)
    }
}

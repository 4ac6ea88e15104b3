//! Entries: what is shown, as a tree that both texts and JSON are made of, so that neither holds more than the other.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// A line, and what belongs below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// What it is about; empty for lines that speak for themselves (instructions).
    pub name: String,
    /// What it says; empty for headings.
    pub text: String,
    /// What belongs below it.
    pub entries: Vec<Entry>,
}

impl Entry {
    /// A name and what it says.
    pub(crate) fn new(name: impl fmt::Display, text: impl fmt::Display) -> Entry {
        Entry {
            name: name.to_string(),
            text: text.to_string(),
            entries: Vec::new(),
        }
    }

    /// A name above others.
    pub(crate) fn heading(name: impl fmt::Display) -> Entry {
        Entry::new(name, "")
    }

    /// A line without a name.
    pub(crate) fn line(text: impl fmt::Display) -> Entry {
        Entry::new("", text)
    }

    /// The same, with `entries` below it.
    pub(crate) fn with(mut self, entries: impl IntoIterator<Item = Entry>) -> Entry {
        self.entries.extend(entries);
        self
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub(crate) fn note(&mut self, name: impl fmt::Display, text: impl fmt::Display) {
        self.entries.push(Entry::new(name, text));
    }

    /// Text whose lines are indented by two blanks a level, as entries: `name: what it says`.
    pub(crate) fn from_indented(text: &str) -> Vec<Entry> {
        let mut lines = text.lines().peekable();
        level(&mut lines, 0)
    }
}

fn level(lines: &mut core::iter::Peekable<core::str::Lines<'_>>, depth: usize) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    while let Some(line) = lines.peek() {
        let rest = line.trim_start_matches(' ');
        let found = (line.len() - rest.len()) / 2;
        if found < depth {
            break;
        }
        if found > depth
            && let Some(last) = entries.last_mut()
        {
            last.entries = level(lines, depth + 1);
            continue;
        }
        let (name, text) = rest.split_once(": ").unwrap_or((rest, ""));
        entries.push(Entry::new(name.trim_end_matches(':'), text));
        lines.next();
    }
    entries
}

fn print(f: &mut fmt::Formatter<'_>, entry: &Entry, depth: usize) -> fmt::Result {
    let Entry { name, text, .. } = entry;
    let indent = depth * 2;
    match (name.is_empty(), text.is_empty()) {
        (true, _) => writeln!(f, "{:indent$}{text}", "")?,
        (false, true) => writeln!(f, "{:indent$}{name}:", "")?,
        (false, false) => writeln!(f, "{:indent$}{name}: {text}", "")?,
    }
    for entry in &entry.entries {
        print(f, entry, depth + 1)?;
    }
    Ok(())
}

impl fmt::Display for Entry {
    /// A line an entry, indented by two blanks a level.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indented_text_becomes_a_tree_and_text_again() {
        let text = "a: 1\nb:\n  c: 2\n  d:\n    e: 3\nf: 4\n";
        let entries = Entry::from_indented(text);
        let again: String = entries.iter().map(ToString::to_string).collect();
        assert_eq!(again, text);
        // Deeper than its parent by more than a level: still below it, and read to the end.
        assert_eq!(
            Entry::from_indented("a:\n      b: 1\nc: 2")[0].entries[0].name,
            "b"
        );
    }
}

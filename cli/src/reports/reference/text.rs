//! Pages as text, for a terminal.

use super::{Code, Page, Part};
use std::fmt;

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({})", self.name, self.family.name())?;
        writeln!(f, "  {}", self.about)?;
        for (name, value) in &self.facts {
            writeln!(f, "  {name}: {value}")?;
        }
        if !self.parts.is_empty() {
            writeln!(f, "  bits:")?;
        }
        let places: Vec<String> = self
            .parts
            .iter()
            .map(|part| part.place(self.bits))
            .collect();
        let width = places.iter().map(String::len).max().unwrap_or(0);
        for (part, place) in self.parts.iter().zip(&places) {
            write!(f, "    {place:<width$}  ")?;
            line(f, part)?;
            for code in &part.codes {
                write!(f, "    {:width$}    ", "")?;
                code_line(f, code)?;
            }
        }
        if !self.codes.is_empty() {
            writeln!(f, "  values:")?;
        }
        for code in &self.codes {
            f.write_str("    ")?;
            code_line(f, code)?;
        }
        self.notes
            .iter()
            .try_for_each(|note| writeln!(f, "  {note}"))
    }
}

fn line(f: &mut fmt::Formatter<'_>, part: &Part) -> fmt::Result {
    f.write_str(&part.name)?;
    if let Some(value) = part.value {
        write!(f, " = {value:#x}")?;
        if let Some(code) = part.codes.iter().find(|code| code.number == value) {
            write!(f, " {}", code.name)?;
        }
    }
    if !part.arches.is_empty() {
        write!(f, " ({})", part.arches)?;
    }
    if !part.about.is_empty() {
        write!(f, ": {}", part.about)?;
    }
    writeln!(f)
}

fn code_line(f: &mut fmt::Formatter<'_>, code: &Code) -> fmt::Result {
    write!(f, "{} {}", code.number, code.name)?;
    if !code.about.is_empty() {
        write!(f, ": {}", code.about)?;
    }
    writeln!(f)
}

//! Which instruction a line begins with.

use super::Syntax;
use super::cursor::{Cursor, Fault, is_word};
use super::error::TextFault;
use super::template::{Piece, Pieces};
use crate::arch::Arch;
use crate::field::FieldKind;
use crate::instr::{INSTRUCTIONS, LogicOp32};
use crate::table::{ALIASES, Alias, Info};

/// A way to write an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) info: &'static Info,
    pub(super) template: &'static str,
    /// Fields that the name gives.
    pub(super) alias: Option<&'static Alias>,
}

impl Form {
    /// The name that the template begins with.
    fn name(&self) -> &'static str {
        let end = self.template.find(|c| !is_word(c));
        &self.template[..end.unwrap_or(self.template.len())]
    }

    /// Whether a word of the template follows its name without a mark between: `SYNC_WAIT64gt`.
    fn runs_on(&self) -> bool {
        let field = match Pieces(&self.template[self.name().len()..]).next() {
            Some(Piece::Field(name, _)) => self.info.field(name),
            _ => None,
        };
        field.is_some_and(|field| matches!(field.kind, FieldKind::Enum(_)))
    }
}

/// Every way to write every instruction: as Mesa 26 does on any architecture, as Mesa 24.1 does, by aliases.
fn forms() -> impl Iterator<Item = Form> {
    let of_row = |info: &'static Info| {
        let templates = [
            Some(info.text.mesa26),
            info.text.mesa26_on.map(|(_, text)| text),
            info.text.mesa24,
        ];
        templates.into_iter().flatten().map(move |template| Form {
            info,
            template: template.text(),
            alias: None,
        })
    };
    let aliases = ALIASES.iter().map(|alias| Form {
        info: &LogicOp32::INFO,
        template: alias.text,
        alias: Some(alias),
    });
    INSTRUCTIONS.iter().copied().flat_map(of_row).chain(aliases)
}

/// The ways in which the line may be meant, the most likely first: as `arch` prints it today, then the others.
pub(super) fn candidates(cursor: &Cursor, arch: Arch) -> Result<impl Iterator<Item = Form>, Fault> {
    let rest = cursor.rest();
    let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
    let initial = |text: &str| text.bytes().next().map(|byte| byte.to_ascii_uppercase());
    let begins = move |form: &Form| {
        if initial(form.template) != initial(word) {
            return false; // most forms, without looking further
        }
        let name = form.name();
        let start = word.get(..name.len());
        let same = start.is_some_and(|start| start.eq_ignore_ascii_case(name));
        same && (word.len() == name.len() || form.runs_on())
    };
    let Some(longest) = forms().filter(begins).map(|form| form.name().len()).max() else {
        return Err(cursor.fault(TextFault::UnknownInstruction {
            nearest: nearest(word, arch),
        }));
    };
    let is_meant = move |form: &Form| begins(form) && form.name().len() == longest;
    let has = move |form: &Form| form.info.archs.contains(arch);
    if let (None, Some(other)) = (
        forms().find(|form| is_meant(form) && has(form)),
        forms().find(is_meant),
    ) {
        return Err(cursor.fault(TextFault::NoSuchInstruction {
            instruction: other.info.name,
            exists: other.info.archs,
            arch,
        }));
    }
    let is_todays = move |form: &Form| form.template == form.info.template(arch, Syntax::Mesa26);
    let todays = forms().filter(move |form| is_meant(form) && has(form) && is_todays(form));
    let others = forms().filter(move |form| is_meant(form) && has(form) && !is_todays(form));
    Ok(todays.chain(others))
}

/// The name on `arch` that `word` most likely stands for.
fn nearest(word: &str, arch: Arch) -> Option<&'static str> {
    let names = forms()
        .filter(|form| form.info.archs.contains(arch))
        .map(|form| form.name());
    let (distance, name) = names
        .filter_map(|name| Some((distance(word, name)?, name)))
        .min_by_key(|&(distance, _)| distance)?;
    (distance <= 2 + word.len() / 4).then_some(name)
}

/// The longest name for which a near one is looked for.
const LONGEST: usize = 32;

/// How many letters must be put in, taken out or exchanged to make `b` from `a`; `None` for names that are too long.
fn distance(a: &str, b: &str) -> Option<usize> {
    if a.len() > LONGEST || b.len() > LONGEST {
        return None;
    }
    let mut row: [usize; LONGEST + 1] = core::array::from_fn(|i| i);
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let changed = diagonal + usize::from(!x.eq_ignore_ascii_case(&y));
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    Some(row[b.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_up_to_the_greatest_length() {
        let name = "A".repeat(LONGEST);
        let changed = format!("{}B", &name[1..]);
        assert_eq!(distance(&name, &name), Some(0));
        assert_eq!(distance(&changed, &name), Some(1));
        assert_eq!(distance(&name, &changed[1..]), Some(2));
        let longer = "A".repeat(LONGEST + 1);
        assert_eq!(distance(&longer, &name), None);
        assert_eq!(distance(&name, &longer), None);
    }
}

//! A source file with all of its mutants in it, each behind the switch.
//!
//! Guarantees: lines keep their numbers; with no mutant switched on the file means what it meant.

use super::find::{Change, Found};
use std::ops::Range;

/// The function that says whether a mutant is switched on, in each crate that has mutants.
const SWITCH: &str = "crate::mutation_switch::on";

/// Kinds of text that is put in, in their order where several stand at one place.
const END: u8 = 0;
const BODY: u8 = 1;
const BEGIN: u8 = 2;

/// A file with mutants.
pub(super) struct Rewritten {
    pub(super) text: String,
    /// For each mutant that was put in, in the order given: the bytes of `text` that belong to it alone, and all that it encloses.
    pub(super) places: Vec<Place>,
}

/// Where a mutant stands in the new text.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// What runs only if the mutant is on; empty for one that only leaves out.
    pub(super) own: Range<usize>,
    /// All from the switch to its end.
    pub(super) whole: Range<usize>,
}

/// Puts mutants into the text of their file. `mutants` have their numbers with them.
pub(super) fn rewrite(text: &str, mutants: &[(usize, &Found)]) -> Rewritten {
    let mut insertions = Vec::new();
    for (index, (number, found)) in mutants.iter().enumerate() {
        let on = format!("{SWITCH}({number})");
        let (before, after) = match &found.change {
            Change::Instead(other) => (format!("(if {on} {{ {other} }} else {{ "), " })"),
            Change::Not => (format!("({on} != ("), "))"),
            Change::Without => (format!("if !{on} {{ "), " }"),
            Change::Nothing => (format!(" if {on} {{ return; }} "), ""),
        };
        let Range { start, end } = found.place;
        match found.change {
            Change::Nothing => insertions.push((end, BODY, 0, index, before)),
            _ => {
                // At one place the longer one encloses the other; of two as long as each other the first does.
                let length = end - start;
                insertions.push((start, BEGIN, usize::MAX - length, index, before));
                insertions.push((end, END, length, usize::MAX - index, after.to_owned()));
            }
        }
    }
    insertions.sort();
    let mut places = vec![
        Place {
            own: 0..0,
            whole: 0..0
        };
        mutants.len()
    ];
    let mut new = String::with_capacity(text.len() * 3);
    let mut done = 0;
    for (at, kind, _, index, insertion) in insertions {
        new.push_str(&text[done..at]);
        done = at;
        let start = new.len();
        new.push_str(&insertion);
        let end = new.len();
        match kind {
            END => places[usize::MAX - index].whole.end = end,
            _ => {
                places[index] = Place {
                    own: start..end,
                    whole: start..end,
                }
            }
        }
    }
    new.push_str(&text[done..]);
    Rewritten { text: new, places }
}

#[cfg(test)]
mod tests {
    use super::super::find::find;
    use super::*;

    fn rewritten(text: &str) -> Rewritten {
        let found = find("a.rs", text).unwrap();
        let numbered: Vec<(usize, &Found)> = found.iter().enumerate().collect();
        rewrite(text, &numbered)
    }

    #[test]
    fn each_mutant_stands_behind_the_switch() {
        assert_eq!(
            rewritten("fn f(a: u8) -> bool { a < b }").text,
            "fn f(a: u8) -> bool { (if crate::mutation_switch::on(0) { (a) <= (b) } else { a < b }) }"
        );
    }

    #[test]
    fn mutants_in_mutants_are_in_one_another() {
        let new = rewritten("fn f() -> bool { a < 1 && b }");
        assert_eq!(
            new.text,
            "fn f() -> bool { (if crate::mutation_switch::on(0) { (a < 1) || (b) } else { \
             (if crate::mutation_switch::on(1) { (a) <= (1) } else { \
             a < (if crate::mutation_switch::on(2) { 2 } else { 1 }) }) && b }) }"
        );
        syn::parse_file(&new.text).unwrap();
        assert!(new.places[0].whole.start < new.places[1].whole.start);
        assert!(new.places[0].whole.end > new.places[1].whole.end);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let text =
            "fn f(a: u8) {\n    if a\n        < 3\n    {\n        g();\n    }\n    h();\n}\n";
        let new = rewritten(text);
        assert_eq!(new.text.lines().count(), text.lines().count());
        syn::parse_file(&new.text).unwrap();
    }

    #[test]
    fn statements_and_functions_keep_their_form() {
        let new = rewritten("fn f(a: u8) { g(); if a == 1 { h()?; } }");
        syn::parse_file(&new.text).unwrap();
        assert!(
            new.text
                .contains("if !crate::mutation_switch::on(1) { g(); }"),
            "{}",
            new.text
        );
    }
}

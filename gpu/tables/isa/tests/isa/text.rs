//! Text: every vector prints and is read as the tools that made it do.

use crate::support::{self, Vector};
use eitri_isa::{Arch, Instr, Syntax};

#[track_caller]
fn check(vector: &Vector, syntax: Syntax) {
    let Vector { place, word, text } = vector;
    let instr = Instr::decode_text(*word, Arch::V10)
        .unwrap_or_else(|error| panic!("{place}: {word:016x}: {error}"));
    let printed = instr.display(Arch::V10, syntax).to_string();
    assert_eq!(&printed, text, "{place}: {word:016x} prints otherwise");
    match Instr::assemble_text(text, Arch::V10, syntax) {
        Ok((got, _)) => assert_eq!(
            got, *word,
            "{place}: {text}: assembles to {got:016x}, expected {word:016x}"
        ),
        Err(error) => panic!("{place}: {text}: {error} at {:?}", error.span),
    }
}

#[test]
fn hand_written_cases_hold_in_both_directions() {
    for vector in support::cases() {
        check(&vector, Syntax::Mesa24);
    }
}

#[test]
fn random_words_print_and_assemble() {
    for vector in support::random() {
        check(&vector, Syntax::Mesa24);
    }
}

#[test]
fn both_dialects_print_and_assemble() {
    for (mesa24, mesa26) in support::dialects() {
        check(&mesa24, Syntax::Mesa24);
        check(&mesa26, Syntax::Mesa26);
    }
}

#[test]
fn what_an_assembler_must_refuse_is_refused() {
    for (place, text) in support::negative() {
        let result = Instr::assemble(&text, Arch::V10, Syntax::Mesa24);
        assert!(
            result.is_err(),
            "{place}: {text} assembles to {:016x}",
            result.unwrap_or_default()
        );
    }
}

//! Words: every vector decodes and encodes again.

use eitri_isa::{Arch, Instr};

use crate::support;

#[track_caller]
fn check_word(place: &str, word: u64) {
    let instr = Instr::decode_text(word, Arch::V10)
        .unwrap_or_else(|error| panic!("{place}: {word:016x} does not decode: {error}"));
    let again = instr
        .encode_text(Arch::V10)
        .unwrap_or_else(|error| panic!("{place}: {word:016x} does not encode again: {error}"));
    assert_eq!(
        again, word,
        "{place}: {word:016x} encodes as {again:016x}: {instr:?}"
    );
}

#[test]
fn every_vector_decodes_and_encodes_again() {
    for vector in support::cases().iter().chain(&support::random()) {
        check_word(&vector.place, vector.word);
    }
    for (vector, _) in support::dialects() {
        check_word(&vector.place, vector.word);
    }
}

#[test]
fn kept_vectors_are_those_of_the_facts() {
    for (file, kept, shared) in support::copies() {
        assert!(
            shared.is_empty() || kept == shared,
            "testdata/data/{file} differs from the facts: copy it again"
        );
    }
}

//! Every word of the facts' vectors is an instruction, and encodes to itself.

use eitri_ir3_isa::{Gen, Instr};

/// Word, text and generation of each line of a vector file.
pub fn vectors(file: &str) -> Vec<(u64, String, Gen)> {
    let Some(text) = eitri_testdata::read_shared(file) else {
        return Vec::new();
    };
    let vectors: Vec<_> = text.lines().map(vector).collect();
    assert!(vectors.len() > 100, "{file} has {} lines", vectors.len());
    vectors
}

fn vector(line: &str) -> (u64, String, Gen) {
    let mut columns = line.split('\t');
    let word = columns.next().expect("a word").replace('_', "");
    let word = u64::from_str_radix(&word, 16).expect("a word in hexadecimal");
    let text = columns.next().expect("a text").to_owned();
    let generation = columns.next().unwrap_or("a6xx").parse();
    (word, text, generation.expect("a generation"))
}

#[track_caller]
fn decode_and_encode(file: &str) {
    for (word, text, generation) in vectors(file) {
        let instr = Instr::decode(word, generation);
        let instr = instr.unwrap_or_else(|error| panic!("{word:#018x} `{text}`: {error}"));
        assert_eq!(instr.encode(generation), Ok(word), "{text}");
    }
}

#[test]
fn cases_decode_and_encode() {
    decode_and_encode("hardware/data/ir3-cases.txt");
}

#[test]
fn random_words_decode_and_encode() {
    decode_and_encode("hardware/data/ir3-random.txt");
}

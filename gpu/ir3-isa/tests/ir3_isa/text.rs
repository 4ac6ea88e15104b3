//! Text is that of the facts' vectors.

use crate::words::vectors;
use eitri_ir3_isa::Instr;

#[track_caller]
fn disassemble(file: &str) {
    let mut wrong = Vec::new();
    for (word, text, generation) in vectors(file) {
        let instr = Instr::decode(word, generation).expect("it decodes");
        let ours = instr.display(generation).to_string();
        if ours != text {
            wrong.push(format!("{word:#018x} {generation}: `{ours}`, not `{text}`"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} words:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn cases_disassemble() {
    disassemble("hardware/data/ir3-cases.txt");
}

#[test]
fn random_words_disassemble() {
    disassemble("hardware/data/ir3-random.txt");
}

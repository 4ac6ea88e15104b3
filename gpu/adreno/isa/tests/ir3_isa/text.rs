//! Text is that of the facts' vectors.

use crate::words::vectors;
use eitri_ir3_isa::{Instr, Loss};

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

/// Text reads back as the word, but for what it does not say; and then still as an instruction of the same text.
#[track_caller]
fn assemble(file: &str) -> (usize, usize) {
    let (mut wrong, mut exact, mut lossy) = (Vec::new(), 0, 0);
    for (word, text, generation) in vectors(file) {
        let loss = Instr::decode(word, generation)
            .expect("it decodes")
            .loss(generation);
        if let Some(Loss::Reserved(_)) = loss {
            continue;
        }
        match (Instr::parse(&text, generation), loss) {
            (Err(error), _) => wrong.push(format!(
                "{word:#018x} `{text}`: {error} at {:?}",
                error.span
            )),
            (Ok(instr), None) => {
                exact += 1;
                let ours = instr.encode(generation);
                if ours != Ok(word) {
                    wrong.push(format!("`{text}` is {word:#018x}, not {ours:018x?}"));
                }
            }
            (Ok(instr), Some(loss)) => {
                lossy += 1;
                let ours = instr.display(generation).to_string();
                if ours != text && loss != Loss::Float {
                    wrong.push(format!("`{text}` reads as `{ours}` ({loss})"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} lines:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    (exact, lossy)
}

#[test]
fn cases_assemble() {
    // What a compiler writes has all in its text.
    let (exact, lossy) = assemble("hardware/data/ir3-cases.txt");
    assert!(
        lossy <= exact / 10,
        "{lossy} of {} are lossy",
        exact + lossy
    );
}

#[test]
fn random_words_assemble() {
    assemble("hardware/data/ir3-random.txt");
}

/// An error names the place that the best attempt came to.
#[test]
fn errors_have_places() {
    use eitri_ir3_isa::Gen;
    #[rustfmt::skip]
    let rows = [
        ("",                                  0, "no instruction"),
        ("add.q r0.x, r0.y, r0.z",            0, "no instruction of this name"),
        ("(ss)add.q r0.x, r0.y, r0.z",        4, "no instruction of this name"),
        ("add.u r0.x, r0.y",                 16, "`,` and another operand expected"),
        ("add.u r0.x, r0.y, hr0.z",          19, "a full register is needed here"),
        ("add.u r0.x, r0.y, 5000",           18, "5000 is outside -1024..=1023"),
        ("add.u r0.x, r0.y, r0.z, r1.x",     22, "the instruction ends before this"),
        ("br p0.x, #nowhere",                10, "no such label"),
        ("mov.f32f32 r0.x, 1",               17, "a float in brackets expected"),
        ("ldg.u32 r0.x, g[r1.x], 9",         23, "9 is outside 0..=7"),
    ];
    for (line, place, says) in rows {
        let error = Instr::parse(line, Gen::A6xx).expect_err(line);
        assert_eq!(
            (error.span.start, error.to_string().as_str()),
            (place, says),
            "`{line}`"
        );
    }
}

/// A long run of the schema's random words found these: what their text does not say must be told.
#[test]
fn losses_are_told() {
    use eitri_ir3_isa::{Field, Gen};
    let loss = |word: u64, generation| {
        Instr::decode(word, generation)
            .expect("it decodes")
            .loss(generation)
    };
    // An alias of a kind without a name reads as one of an immediate.
    let unnamed = Some(Loss::Reserved(Field::SrcRegType));
    assert_eq!(loss(0xfc5d_8415_4842_de0f, Gen::A7xx), unnamed);
    // Two scopes of aliases are spelled alike.
    let second = Some(Loss::SameText(Field::Scope));
    assert_eq!(loss(0xfc41_0d05_0000_00f0, Gen::A7xx), second);
}

//! Properties of random instructions and of random words.

use eitri_isa::{Arch, EncodeError, Instr, Op, Rule, Syntax};
use proptest::prelude::{ProptestConfig, any, proptest};

/// A small generator (splitmix64): the same numbers for the same seed.
pub fn dice(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed >> 32) as u32
    }
}

#[track_caller]
fn check_word_and_texts(instr: &Instr, arch: Arch) {
    let word = instr
        .encode(arch)
        .unwrap_or_else(|error| panic!("{arch}: {instr:?} does not encode: {error}"));
    let decoded = Instr::decode(word, arch);
    assert_eq!(
        decoded.as_ref(),
        Ok(instr),
        "{arch}: {word:016x} decodes otherwise"
    );
    for syntax in Syntax::ALL {
        let text = instr.display(arch, syntax).to_string();
        let again = Instr::assemble(&text, arch, syntax);
        match instr.loss(arch, syntax) {
            None => assert_eq!(again, Ok(word), "{arch} {syntax}: {word:016x} = {text}"),
            Some(loss) => assert_ne!(
                again,
                Ok(word),
                "{arch} {syntax}: {word:016x} = {text} says all, yet is listed: {loss}"
            ),
        }
    }
}

#[test]
fn every_instruction_survives_word_and_text() {
    let mut next = dice(1);
    for arch in Arch::ALL {
        for op in Op::ALL {
            for _ in 0..40 {
                match Instr::random(*op, arch, &mut next) {
                    Some(instr) => check_word_and_texts(&instr, arch),
                    None => {
                        let row = op.row();
                        let known = row.archs.contains(arch) && !row.text_only;
                        assert!(!known, "{arch}: no random {op}");
                    }
                }
            }
        }
    }
}

/// A word that text can say encodes to itself, but for what the hardware ignores: the row's own bits, and a page that no
/// source reads.
#[track_caller]
fn check_any_word(word: u64, arch: Arch) {
    let Ok(instr) = Instr::decode_text(word, arch) else {
        return;
    };
    let again = match instr.encode_text(arch) {
        // The one thing that hardware takes and no assembler writes: a message that reads three uniforms or constants.
        Err(EncodeError::Rule(Rule::TooManyConstants { .. })) => return,
        again => again.unwrap_or_else(|error| {
            panic!("{arch}: {word:016x} decodes, does not encode: {error}")
        }),
    };
    let ignored = instr.row().ignored | 0b11 << 57;
    assert!(
        again & ignored & !word == 0 && (again ^ word) & !ignored == 0,
        "{arch}: {word:016x} encodes again as {again:016x}"
    );
    assert_eq!(
        Instr::decode(word, arch).is_ok(),
        instr.check(arch).is_ok(),
        "{arch}: {word:016x}: decoding and checking disagree"
    );
    for syntax in Syntax::ALL {
        let text = instr.display(arch, syntax).to_string();
        if instr.loss(arch, syntax).is_none() {
            let read = Instr::assemble_text(&text, arch, syntax).map(|(word, _)| word);
            assert_eq!(read, Ok(again), "{arch} {syntax}: {word:016x} = {text}");
        }
    }
}

/// Texts are slow to make: fewer of them without the long form.
fn texts() -> ProptestConfig {
    ProptestConfig::with_cases(if eitri_testdata::long() {
        20_000
    } else {
        4_000
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_word_decodes_or_is_refused(word in any::<u64>()) {
        check_any_word(word, Arch::V10);
    }

    #[test]
    fn a_legal_word_with_a_bit_inverted_decodes_or_is_refused(seed in any::<u64>(), op in 0..Op::ALL.len(), bit in 0..64) {
        let mut next = dice(seed);
        for arch in [Arch::V10, Arch::V14] {
            if let Some(instr) = Instr::random(Op::ALL[op], arch, &mut next) {
                check_any_word(instr.encode(arch).expect("random instructions are legal") ^ (1u64 << bit), arch);
            }
        }
    }
}

proptest! {
    #![proptest_config(texts())]

    #[test]
    fn any_text_is_read_or_refused(text in "[A-Z_0-9]{1,8}(\\.[a-z0-9]{1,6}){0,3} ([@^ru0-9x.:#\\[\\]a-z-]{0,12},? ?){0,5}\\PC{0,3}") {
        for syntax in Syntax::ALL {
            let _ = Instr::assemble(&text, Arch::V10, syntax);
        }
    }

    #[test]
    fn a_damaged_line_is_read_or_refused(seed in any::<u64>(), op in 0..Op::ALL.len(), at in any::<proptest::sample::Index>(), with in "\\PC?") {
        let mut next = dice(seed);
        let Some(instr) = Instr::random(Op::ALL[op], Arch::V10, &mut next) else { return Ok(()) };
        for syntax in Syntax::ALL {
            let mut text = instr.display(Arch::V10, syntax).to_string();
            if text.is_empty() {
                continue;
            }
            let at = at.index(text.len());
            text.replace_range(at..=at, &with);
            if let Err(error) = Instr::assemble(&text, Arch::V10, syntax) {
                let span = error.span;
                assert!(text.get(span.start..span.end).is_some(), "{text}: span {span:?} is no part of the line");
            }
        }
    }
}

//! What holds for every word and every legal instruction, tried on random ones.

use eitri_cs::instr::INSTRUCTIONS;
use eitri_cs::table::Info;
use eitri_cs::text::{Syntax, assemble_line, disassemble};
use eitri_cs::{Arch, Instr, SUPPORTED};
use proptest::prelude::*;

fn arches() -> impl Strategy<Value = Arch> {
    proptest::sample::select(SUPPORTED.iter().collect::<Vec<_>>())
}

/// A legal word of an instruction of the architecture.
fn legal_words() -> impl Strategy<Value = (u64, Arch)> {
    // Small numbers are as likely as any: runs, masks and defaults have their own text.
    let number = prop_oneof![any::<u64>(), 0..4u64, Just(0)];
    let numbers = proptest::collection::vec(number, 12);
    (arches(), any::<prop::sample::Index>(), numbers).prop_map(|(arch, row, numbers)| {
        let has = |info: &&Info| info.archs.contains(arch);
        let rows: Vec<_> = INSTRUCTIONS.iter().copied().filter(has).collect();
        let mut numbers = numbers.into_iter().cycle();
        let word = row.get(&rows).random_word(arch, || numbers.next().unwrap());
        (word, arch)
    })
}

/// Words are quick to try.
fn words() -> ProptestConfig {
    cases(20_000)
}

/// Texts are slow to make.
fn texts() -> ProptestConfig {
    cases(if eitri_testdata::long() {
        20_000
    } else {
        3_000
    })
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        // A failure becomes a test of its own; files of seeds are not kept.
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(words())]

    #[test]
    fn legal_words_decode_and_encode((word, arch) in legal_words()) {
        let instr = Instr::decode(word, arch);
        prop_assert!(instr.is_ok(), "{word:#018x} on {arch}: {instr:?}");
        let back = instr.map(|i| i.encode(arch));
        prop_assert_eq!(back, Ok(Ok(word)), "{:#018x} on {}", word, arch);
    }

    #[test]
    fn any_word_decodes_or_is_refused(word: u64, arch in arches()) {
        if let Ok(instr) = Instr::decode(word, arch) {
            prop_assert_eq!(instr.encode(arch), Ok(word), "{:?} on {}", instr, arch);
            prop_assert!(instr.usage(arch).is_ok());
        }
        if let Ok((_, reserved)) = Instr::decode_ignoring_reserved(word, arch) {
            prop_assert!(Instr::decode(word & !reserved, arch).is_ok());
        }
    }

    /// Opcodes that exist, with any payload: most random words are refused for their opcode alone.
    #[test]
    fn any_payload_decodes_or_is_refused(opcode in 0..64u64, payload: u64, arch in arches()) {
        let word = opcode << 56 | payload >> 8;
        if let Ok((instr, reserved)) = Instr::decode_ignoring_reserved(word, arch) {
            prop_assert_eq!(instr.encode(arch), Ok(word & !reserved), "{:?} on {}", instr, arch);
        }
    }
}

proptest! {
    #![proptest_config(texts())]

    #[test]
    fn legal_words_print_and_assemble((word, arch) in legal_words()) {
        let text = disassemble(word, arch, Syntax::Eitri).unwrap().to_string();
        let back = assemble_line(&text, arch);
        prop_assert_eq!(back, Ok(word), "{:#018x} on {}: `{}`", word, arch, text);
    }

    #[test]
    fn any_text_assembles_or_is_refused(text in "[A-Z_0-9]{1,16}[.a-z_#rd0-9, :{}=-]{0,40}", arch in arches()) {
        let _ = assemble_line(&text, arch);
    }

    /// Texts that are nearly right: one character of a printed instruction replaced.
    #[test]
    fn a_wrong_character_is_no_panic((word, arch) in legal_words(), at: prop::sample::Index, with: char) {
        let text = disassemble(word, arch, Syntax::Eitri).unwrap().to_string();
        let mut characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        characters[at] = with;
        let changed: String = characters.into_iter().collect();
        if let Err(error) = assemble_line(&changed, arch) {
            let end = error.column - 1 + error.length;
            prop_assert!(end <= changed.chars().count(), "`{}`: {:?}", changed, error);
        }
    }
}

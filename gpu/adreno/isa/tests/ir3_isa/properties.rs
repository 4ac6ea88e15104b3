//! Random legal instructions go through words and text and come back.

use eitri_ir3_isa::{Gen, Instr, Op};
use proptest::prelude::{any, prop, proptest};
use proptest::sample::select;

fn instr(op: Op, generation: Gen, numbers: &[u32]) -> Option<Instr> {
    // When the numbers are used up they come again, changed.
    let mut index = 0usize;
    Instr::random(op, generation, &mut || {
        let round = (index / numbers.len()) as u32;
        let number = numbers[index % numbers.len()].wrapping_add(round.wrapping_mul(0x9e37_79b9));
        index += 1;
        number
    })
}

proptest! {
    #[test]
    fn words_and_text_come_back(
        op in select(Op::ALL),
        generation in select(&Gen::ALL[..]),
        numbers in prop::collection::vec(any::<u32>(), 64),
    ) {
        let Some(instr) = instr(op, generation, &numbers) else {
            return Ok(());
        };
        let word = instr.encode(generation).expect("a random instruction is legal");
        assert_eq!(Instr::decode(word, generation), Ok(instr));
        let text = instr.display(generation).to_string();
        assert_eq!(Instr::parse(&text, generation), Ok(instr), "`{text}`");
        // An edit that changes nothing changes nothing.
        assert_eq!(instr.edit().finish(), Ok(instr), "`{text}`");
    }

    #[test]
    fn no_line_makes_the_parser_panic(line in "\\PC{0,60}") {
        let _ = Instr::parse(&line, Gen::A6xx);
    }

    #[test]
    fn no_word_makes_the_decoder_panic(word in any::<u64>(), generation in select(&Gen::ALL[..])) {
        if let Ok(instr) = Instr::decode(word, generation) {
            let _ = (instr.display(generation).to_string(), instr.loss(generation), instr.check());
            let _ = (instr.accesses().count(), instr.issue_slots());
        }
    }
}

#[test]
fn every_instruction_has_random_words() {
    for op in Op::ALL {
        for generation in Gen::ALL {
            let has = op.row().gens.contains(generation);
            let numbers: Vec<u32> = (0..256u32)
                .map(|n| (n + 7).wrapping_mul(0x85eb_ca6b).rotate_left(n % 31))
                .collect();
            assert_eq!(
                instr(*op, generation, &numbers).is_some(),
                has,
                "{op} on {generation}"
            );
        }
    }
}

#[test]
fn parts_cover_every_word() {
    for op in Op::ALL {
        let parts = op.row().parts();
        let usual = parts.filter(|bits| !matches!(bits.what, eitri_ir3_isa::What::Indirect(_)));
        let end = usual.fold(0, |end, bits| {
            assert_eq!(u32::from(bits.low), end, "{op}");
            end + u32::from(bits.width)
        });
        assert_eq!(end, 64, "{op}");
    }
}

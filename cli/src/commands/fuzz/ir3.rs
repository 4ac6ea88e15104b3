//! Words of Adreno on the tables of IR3, in every generation.

use super::Dice;
use eitri_ir3_isa::{Gen, Instr, Op};

/// Half of the words are any word at all; the others a legal instruction, every second of them with a bit inverted.
pub(super) fn word(dice: &mut Dice) -> u64 {
    let choice = dice.next();
    if choice & 1 == 0 {
        return dice.next();
    }
    let op = Op::ALL[(choice >> 32) as usize % Op::ALL.len()];
    let generation = Gen::ALL[(choice >> 16) as usize % Gen::ALL.len()];
    let instr = Instr::random(op, generation, &mut || dice.high());
    let word = instr.and_then(|instr| instr.encode(generation).ok());
    let flipped = if choice & 2 == 0 {
        0
    } else {
        1 << (choice >> 8 & 63)
    };
    word.unwrap_or_else(|| dice.next()) ^ flipped
}

/// True if a generation has the word.
pub(super) fn check(word: u64) -> Result<bool, String> {
    let mut legal = false;
    for generation in Gen::ALL {
        let Ok(instr) = Instr::decode(word, generation) else {
            continue;
        };
        legal = true;
        let again = instr.encode(generation);
        if again != Ok(word) {
            return Err(format!("{generation}: encodes again as {again:x?}"));
        }
        let text = instr.display(generation).to_string();
        match (instr.loss(generation), Instr::parse(&text, generation)) {
            (None, Ok(read)) if read == instr => {}
            (None, Ok(read)) => {
                return Err(format!("{generation}: `{text}` assembles to {read:?}"));
            }
            (None, Err(error)) => {
                return Err(format!("{generation}: `{text}` does not assemble: {error}"));
            }
            // The text does not say all.
            (Some(_), _) => {}
        }
        // What a compiler and an interpreter ask of it.
        let _ = (instr.check(), instr.issue_slots(), instr.accesses().count());
    }
    Ok(legal)
}

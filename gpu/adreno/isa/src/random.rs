//! Random legal instructions, for tests of this crate and of everyone who takes instructions.
//!
//! Guarantees: what is made encodes, breaks no rule, and its text says all of it. Needs no allocator: randomness comes from the
//! caller.

use crate::generation::Gen;
use crate::instr::Instr;
use crate::op::Op;

/// How many words are tried for an instruction; each is legal with a chance of more than one in a hundred.
const TRIES: u32 = 4096;

impl Instr {
    /// A random legal instruction: `op` with operands and modifiers drawn from `next`, each number of which should be uniform over
    /// all 32 bits. `None` if `generation` lacks the instruction.
    pub fn random(op: Op, generation: Gen, next: &mut impl FnMut() -> u32) -> Option<Self> {
        let row = op.row();
        if !row.gens.contains(generation) {
            return None;
        }
        (0..TRIES).find_map(|_| {
            let bits = u64::from(next()) << 32 | u64::from(next());
            let word = row.value | bits & row.layout.field_bits();
            let drawn = Self { op, word };
            let drawn = Self {
                op,
                word: (word & !drawn.stray_bits() & !drawn.unsaid_bits()) | row.layout.usual,
            };
            let legal = Self::decode(drawn.word, generation).is_ok()
                && drawn.loss(generation).is_none()
                && drawn.check().is_ok();
            legal.then_some(drawn)
        })
    }
}

//! What is the same for all invocations: computed of push constants, a uniform of the stage and sizes of buffers.

use super::{INPUT, Random, buffer};
use eitri_shaderc::ir::{Alu, Builder, Op, Uniform, Value};

const OPERATIONS: [Alu; 15] = [
    Alu::IAdd,
    Alu::ISub,
    Alu::IMul,
    Alu::IAnd,
    Alu::IOr,
    Alu::IXor,
    Alu::IShl,
    Alu::UShr,
    Alu::SShr,
    Alu::UMin,
    Alu::UMax,
    Alu::SMin,
    Alu::SMax,
    // No step of a machine that can take some.
    Alu::RotL,
    Alu::UMulHigh,
];

/// Words, the last ones made of those before them. `own` is one that the stage has.
pub(super) fn uniforms(b: &mut Builder<'_>, seed: u64, own: Value) -> Vec<Value> {
    // Numbers of its own, as those of halves.
    let mut random = Random(seed.rotate_left(32));
    let input = buffer(b.function, INPUT);
    let mut words = vec![
        b.uniform(Uniform::PushConstant(4)),
        own,
        b.uniform(Uniform::PushConstant(12)),
        b.inst(Op::BufferSize, &[input])[0],
    ];
    for _ in 0..random.below(8) {
        let operation = random.pick(&OPERATIONS);
        let [first, second] = [(); 2].map(|()| match random.below(3) {
            0 => {
                let word = random.word();
                b.word(word)
            }
            _ => random.pick(&words),
        });
        words.push(b.alu(operation, &[first, second]));
    }
    words
}

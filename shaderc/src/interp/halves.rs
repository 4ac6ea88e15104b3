//! Words of two halves between stages: what a load of halves gives, and the colour that a store of halves means.

use super::eval::eval;
use crate::ir::{Alu, Output, Type};

/// Floats as words of two halves each, rounded to nearest even; behind an odd number stands 0.
pub(super) fn packed(floats: &[u32]) -> Vec<u32> {
    let pairs = floats.chunks(2).map(|pair| {
        let high = pair.get(1).copied().unwrap_or(0);
        eval(
            Alu::PackHalf,
            Type::W32,
            [pair[0].into(), high.into(), 0, 0],
        ) as u32
    });
    pairs.collect()
}

/// What is stored, with a colour of halves as one of floats.
pub(super) fn as_floats(output: Output, words: Vec<u32>) -> (Output, Vec<u32>) {
    let Output::Color {
        target,
        index,
        kind,
        relaxed,
        half: true,
    } = output
    else {
        return (output, words);
    };
    let output = Output::Color {
        target,
        index,
        kind,
        relaxed,
        half: false,
    };
    let floats = words.into_iter().flat_map(|word| {
        [Alu::HalfLow, Alu::HalfHigh]
            .map(|half| eval(half, Type::W32, [word.into(), 0, 0, 0]) as u32)
    });
    (output, floats.collect())
}

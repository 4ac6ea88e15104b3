//! Floats that are whole numbers of few bits and a constant: pixels, counters. Their sums are exact, so constants may be joined
//! and the number be taken back.
//!
//! Needs: nothing.  Guarantees: every bit stays what it was, so that instructions marked exact are rewritten, too.
//! `int(gl_FragCoord.x)` is what this is for: the column, a half added to it, and cut off again.
use crate::ir::range::upper_bound;
use crate::ir::{Alu, Builder, Function, InstData, Op, Value};

/// The largest whole number.
const MOST: u32 = 0xffff;
/// Constants are multiples of one part of so many, and at most `MOST_CONSTANT`: so 24 bits hold every sum.
const PARTS: f32 = 128.0;
const MOST_CONSTANT: f32 = 32_768.0;
/// Most constants that are joined at once.
const DEPTH: u32 = 4;

/// A whole number and a constant.
struct Sum {
    /// The word.
    word: Value,
    /// The same as a float.
    float: Value,
    constant: f32,
}

/// Whether an operation is one of those that are looked at.
pub(super) fn may_match(op: Op) -> bool {
    matches!(
        op,
        Op::Alu(Alu::FAdd | Alu::FSub | Alu::F2I | Alu::F2U | Alu::FFloor | Alu::FTrunc)
    )
}

/// What an instruction gives in a simpler way.
pub(super) fn simpler(b: &mut Builder<'_>, data: &InstData) -> Option<Value> {
    let Op::Alu(alu) = data.op else {
        return None;
    };
    match alu {
        Alu::FAdd | Alu::FSub => {
            let (inner, constant) = with_constant(b.function, alu, data)?;
            let sum = sum_of(b.function, inner, DEPTH)?;
            let joined = joined(sum.constant, constant)?;
            if joined == 0.0 {
                return Some(sum.float);
            }
            let was_joined = inner == sum.float;
            (!was_joined).then(|| b.alu_float(Alu::FAdd, sum.float, joined))
        }
        Alu::F2I | Alu::F2U | Alu::FFloor | Alu::FTrunc => {
            let sum = sum_of(b.function, data.args[0], DEPTH)?;
            let whole = match alu {
                Alu::F2I | Alu::F2U => sum.word,
                _ => sum.float,
            };
            (0.0..1.0).contains(&sum.constant).then_some(whole)
        }
        _ => None,
    }
}

/// The operand to which a constant is added, and the constant.
fn with_constant(function: &Function, alu: Alu, data: &InstData) -> Option<(Value, f32)> {
    let float = |value: Value| function.as_word(value).map(f32::from_bits);
    let (first, second) = (data.args[0], data.args[1]);
    match (alu, float(first), float(second)) {
        (Alu::FAdd, None, Some(constant)) => Some((first, constant)),
        (Alu::FAdd, Some(constant), None) => Some((second, constant)),
        (Alu::FSub, None, Some(constant)) => Some((first, -constant)),
        _ => None,
    }
}

/// The sum of two constants, if it is one that may be added.
fn joined(first: f32, second: f32) -> Option<f32> {
    let fits = |constant: f32| constant.abs() <= MOST_CONSTANT && (constant * PARTS).fract() == 0.0;
    let sum = first + second;
    (fits(first) && fits(second) && fits(sum)).then_some(sum)
}

fn sum_of(function: &Function, value: Value, depth: u32) -> Option<Sum> {
    let data = function.def_inst(value)?;
    let Op::Alu(alu) = data.op else {
        return None;
    };
    match alu {
        Alu::U2F | Alu::I2F => {
            let word = data.args[0];
            (upper_bound(function, word) <= MOST).then_some(Sum {
                word,
                float: value,
                constant: 0.0,
            })
        }
        Alu::FAdd | Alu::FSub => {
            let (inner, constant) = with_constant(function, alu, data)?;
            let sum = sum_of(function, inner, depth.checked_sub(1)?)?;
            Some(Sum {
                constant: joined(sum.constant, constant)?,
                ..sum
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Constants of the least part, and others.
    fn constant() -> impl Strategy<Value = f32> {
        prop_oneof![
            (-4_194_400i32..4_194_400).prop_map(|parts| parts as f32 / PARTS),
            -2.0f32..2.0,
        ]
    }

    proptest! {
        #[test]
        fn joined_constants_give_the_same_bits(
            word in 0..=MOST, first in constant(), second in constant(), third in constant(),
        ) {
            let float = word as f32;
            let both = joined(first, second);
            let all = both.and_then(|both| joined(both, third));
            if let Some(all) = all {
                let apart = float + first + second + third;
                let together = if all == 0.0 { float } else { float + all };
                prop_assert_eq!(apart.to_bits(), together.to_bits());
            }
        }

        #[test]
        fn less_than_one_is_cut_off(word in 0..=MOST, part in 0.0f32..1.0) {
            if let Some(part) = joined(part, 0.0) {
                let sum = word as f32 + part;
                prop_assert_eq!(sum as u32, word);
                prop_assert_eq!(sum.floor(), word as f32);
            }
        }
    }

    #[test]
    fn constants_have_few_bits() {
        assert_eq!(joined(0.5, -0.5), Some(0.0));
        assert_eq!(joined(32_768.0, 0.0), Some(32_768.0));
        assert_eq!(joined(32_768.0, 1.0), None);
        assert_eq!(joined(1.0 / 256.0, 0.0), None);
        assert_eq!(joined(f32::NAN, 0.0), None);
    }
}

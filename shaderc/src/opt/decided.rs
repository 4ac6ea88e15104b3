//! Comparisons that ranges decide: how large the operands can be at most, and a constant part that they have at least.

use crate::ir::range::upper_bound;
use crate::ir::{Alu, Function, InstData, Op, Value};

/// Whether an operation is one of those that are looked at.
pub(super) fn may_match(op: Op) -> bool {
    matches!(op, Op::Alu(Alu::ULt | Alu::UGe | Alu::SLt | Alu::SGe))
}

/// What a comparison always gives; none if that isn't known.
pub(super) fn decided(function: &Function, data: &InstData) -> Option<bool> {
    let Op::Alu(alu) = data.op else {
        return None;
    };
    let (less, signed) = match alu {
        Alu::ULt => (true, false),
        Alu::UGe => (false, false),
        Alu::SLt => (true, true),
        Alu::SGe => (false, true),
        _ => return None,
    };
    let [a, b] = [data.args[0], data.args[1]].map(|value| range(function, value));
    if signed && is_at_least_a_smaller_one(function, data) {
        return Some(!less);
    }
    // Of numbers that aren't negative both orders are the same.
    if signed && a.1.max(b.1) > i32::MAX.cast_unsigned() {
        return None;
    }
    if a.1 < b.0 {
        Some(less)
    } else if a.0 >= b.1 {
        Some(!less)
    } else {
        None
    }
}

/// Whether a constant is compared with the smaller one of a constant up to it and something else, as signed.
fn is_at_least_a_smaller_one(function: &Function, data: &InstData) -> bool {
    let smaller = function
        .def_inst(data.args[1])
        .filter(|smaller| smaller.op == Op::Alu(Alu::SMin));
    let most = smaller.and_then(|smaller| function.as_word(smaller.args[1]));
    let constant = function.as_word(data.args[0]);
    constant
        .zip(most)
        .is_some_and(|(constant, most)| constant.cast_signed() >= most.cast_signed())
}

/// The least and the largest that a word can be, as unsigned.
fn range(function: &Function, value: Value) -> (u32, u32) {
    if let Some(word) = function.as_word(value) {
        return (word, word);
    }
    let most = upper_bound(function, value);
    let least = function.def_inst(value).and_then(|data| {
        if data.op != Op::Alu(Alu::IAdd) {
            return None;
        }
        let constant = function.as_word(data.args[1])?;
        let whole = upper_bound(function, data.args[0]).checked_add(constant);
        whole.map(|_| constant)
    });
    (least.unwrap_or(0), most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::eval::eval;
    use crate::ir::Type;
    use crate::ir::random_expression::expressions;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn what_is_decided_is_what_comes_out(
            made in expressions(), first in any::<prop::sample::Index>(), second in any::<prop::sample::Index>(), word in any::<u32>(),
        ) {
            let mut made = made;
            let words: Vec<(Value, u64)> = made
                .values
                .iter()
                .filter(|(value, _)| made.function.ty(*value) == Type::W32)
                .map(|(value, bits)| (*value, *bits))
                .collect();
            if words.is_empty() {
                return Ok(());
            }
            let constant = (made.function.word(word & 0xff), u64::from(word & 0xff));
            let pairs = [
                (words[first.index(words.len())], words[second.index(words.len())]),
                (words[first.index(words.len())], constant),
                (constant, words[second.index(words.len())]),
            ];
            for ((a, a_bits), (b, b_bits)) in pairs {
                for alu in [Alu::ULt, Alu::UGe, Alu::SLt, Alu::SGe] {
                    let inst = made.function.new_inst(Op::Alu(alu), [a, b].as_slice(), false, crate::ir::PositionId::UNKNOWN);
                    let data = made.function.inst(inst).clone();
                    if let Some(decided) = decided(&made.function, &data) {
                        let comes_out = eval(alu, Type::W32, [a_bits, b_bits, 0, 0]) != 0;
                        prop_assert_eq!(decided, comes_out, "{:?} of {:#x} and {:#x}\n{}", alu, a_bits, b_bits, made.function);
                    }
                }
            }
        }
    }
}

//! Ranges: how large a word can be at most, from how it is computed.
//!
//! Needs: nothing.  Guarantees: never too small a bound; `u32::MAX` when nothing is known. Where the IR leaves a result
//! open (a division by zero) the bound holds whatever a later pass makes of it.
//! Checked by: the property test below, over random expressions.
use super::{Alu, Function, Held, Op, Type, Value};

/// Deepest expression that is looked at.
const DEPTH: u32 = 8;

/// The largest value that a word can have, as unsigned.
pub fn upper_bound(function: &Function, value: Value) -> u32 {
    bound(function, value, DEPTH)
}

fn bound(function: &Function, value: Value, depth: u32) -> u32 {
    if function.ty(value) != Type::W32 {
        return u32::try_from(function.ty(value).mask()).unwrap_or(u32::MAX);
    }
    if let Some(word) = function.as_word(value) {
        return word;
    }
    let (Some(data), Some(depth)) = (function.def_inst(value), depth.checked_sub(1)) else {
        return u32::MAX;
    };
    let of = |index: usize| bound(function, data.args[index], depth);
    let constant = |index: usize| function.as_word(data.args[index]);
    let alu = match data.op {
        Op::Alu(alu) => alu,
        Op::SysVal(sys_val) => return sys_val.upper_bound(function),
        Op::Load(access) if access.held == Held::Zero => {
            return u32::try_from(access.elem.mask()).unwrap_or(u32::MAX);
        }
        _ => return u32::MAX,
    };
    match alu {
        Alu::IAdd => of(0).saturating_add(of(1)),
        Alu::IMul => of(0).saturating_mul(of(1)),
        Alu::IShl => match constant(1) {
            Some(by) => {
                let bits = u64::from(of(0)) << (by & 31);
                u32::try_from(bits).unwrap_or(u32::MAX)
            }
            None => u32::MAX,
        },
        Alu::UShr => match constant(1) {
            Some(by) => of(0) >> (by & 31),
            None => of(0),
        },
        Alu::IAnd | Alu::UMin => of(0).min(of(1)),
        Alu::IOr | Alu::IXor => all_ones(of(0) | of(1)),
        Alu::UMax => of(0).max(of(1)),
        Alu::Select => of(1).max(of(2)),
        // Division by zero gives some value, which `lower/division` makes larger than the dividend.
        Alu::UDiv => match constant(1) {
            Some(divisor) if divisor != 0 => of(0) / divisor,
            _ => u32::MAX,
        },
        // The remainder is less than the divisor.
        Alu::UMod => match constant(1) {
            Some(divisor) if divisor != 0 => of(0).min(divisor - 1),
            _ => u32::MAX,
        },
        Alu::B2I => 1,
        Alu::BitCount | Alu::Clz => 64,
        Alu::U2U32 => of(0),
        _ => u32::MAX,
    }
}

/// The least number of the form 2^n - 1 that isn't less.
fn all_ones(word: u32) -> u32 {
    u32::MAX.checked_shr(word.leading_zeros()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::random_expression::expressions;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn no_value_is_above_its_bound(made in expressions()) {
            for (value, bits) in &made.values {
                if made.function.ty(*value) != Type::W32 {
                    continue;
                }
                let bound = upper_bound(&made.function, *value);
                prop_assert!(
                    *bits <= bound.into(),
                    "{value} is {bits:#x}, which is above its bound {bound:#x}\n{}",
                    made.function
                );
            }
        }
    }
}

//! Ranges: how large a word can be at most, from how it is computed.
//!
//! Needs: nothing.  Guarantees: never too small a bound; `u32::MAX` when nothing is known. Where the IR leaves a result
//! open (a division by zero) the bound holds whatever a later pass makes of it.
//! Checked by: the property test below, over random expressions.
use rustc_hash::FxHashMap as HashMap;

use super::cfg::Cfg;
use super::{Alu, BlockId, Function, Held, InstData, Op, Terminator, Type, Value};

/// Deepest expression that is looked at.
const DEPTH: u32 = 8;

/// The largest value that a word can have, as unsigned.
pub fn upper_bound(function: &Function, value: Value) -> u32 {
    bound(function, value, &Tested::default(), DEPTH)
}

/// What the branches that lead to a block have shown of values.
#[derive(Default)]
pub struct Tested {
    /// Values with the largest that they can have there.
    most: HashMap<Value, u32>,
    /// Values with the least that they can have there.
    least: HashMap<Value, u32>,
}

impl Tested {
    /// Most blocks that are looked at on the way to one.
    const FAR: usize = 32;

    /// What holds in a block.
    pub fn at(function: &Function, cfg: &Cfg, block: BlockId) -> Tested {
        let mut tested = Tested::default();
        let mut at = block;
        for _ in 0..Tested::FAR {
            let Some(above) = cfg.idom(at) else { break };
            if let Terminator::Branch {
                condition,
                then,
                otherwise,
            } = function.block(above).terminator
                && cfg.predecessors(at) == [above]
                && then != otherwise
            {
                tested.note(function, condition, at == then, DEPTH);
            }
            at = above;
        }
        tested
    }

    /// A condition is known to have come out so.
    fn note(&mut self, function: &Function, condition: Value, holds: bool, depth: u32) {
        let (Some(data), Some(depth)) = (function.def_inst(condition), depth.checked_sub(1)) else {
            return;
        };
        let Op::Alu(alu) = data.op else { return };
        match (alu, holds) {
            (Alu::BAnd, true) | (Alu::BOr, false) => {
                self.note(function, data.args[0], holds, depth);
                self.note(function, data.args[1], holds, depth);
            }
            (Alu::BNot, _) => self.note(function, data.args[0], !holds, depth),
            (Alu::ULt, true) | (Alu::UGe, false) => {
                let [low, high] = [data.args[0], data.args[1]];
                // Nothing is below 0: then nobody comes here.
                let most = upper_bound(function, high).saturating_sub(1);
                let known = self.most.entry(low).or_insert(u32::MAX);
                *known = (*known).min(most);
            }
            (Alu::ULt, false) | (Alu::UGe, true) => {
                let [high, low] = [data.args[0], data.args[1]];
                if let Some(word) = function.as_word(low) {
                    let known = self.least.entry(high).or_insert(0);
                    *known = (*known).max(word);
                }
            }
            (Alu::IEq, true) | (Alu::INe, false) => {
                if let Some(word) = function.as_word(data.args[1]) {
                    let known = self.most.entry(data.args[0]).or_insert(u32::MAX);
                    *known = (*known).min(word);
                }
            }
            (Alu::INe, true) | (Alu::IEq, false) if function.as_word(data.args[1]) == Some(0) => {
                let known = self.least.entry(data.args[0]).or_insert(0);
                *known = (*known).max(1);
            }
            _ => {}
        }
    }

    /// The largest value that a word can have there, as unsigned.
    pub fn upper_bound(&self, function: &Function, value: Value) -> u32 {
        bound(function, value, self, DEPTH)
    }

    /// Whether a bit of a word, which `bit` has alone, is known to be 0 there.
    pub fn is_clear(&self, function: &Function, value: Value, bit: u32) -> bool {
        if self.upper_bound(function, value) < bit {
            return true;
        }
        // Of the low part of the word, with that bit in it.
        self.most.iter().any(|(part, most)| {
            let mask = function.def_inst(*part).and_then(|data| {
                let constant = function.as_word(*data.args.get(1)?)?;
                match data.op {
                    Op::Alu(Alu::IAnd) if data.args[0] == value => Some(constant),
                    Op::Alu(Alu::UMod) if data.args[0] == value && constant.is_power_of_two() => {
                        Some(constant - 1)
                    }
                    _ => None,
                }
            });
            *most < bit && mask.is_some_and(|mask| mask & bit != 0)
        })
    }

    /// The difference of a value and a constant that it is known to reach.
    fn difference(
        &self,
        function: &Function,
        data: &InstData,
        less: u32,
        depth: u32,
    ) -> Option<u32> {
        let value = data.args[0];
        let reaches = less != 0 && self.least(function, value, depth) >= less;
        reaches.then(|| bound(function, value, self, depth).saturating_sub(less))
    }

    /// The least value that a word can have there, as unsigned.
    fn least(&self, function: &Function, value: Value, depth: u32) -> u32 {
        let tested = self.least.get(&value).copied().unwrap_or(0);
        let computed = self.computed_least(function, value, depth).unwrap_or(0);
        tested.max(computed)
    }

    /// That of what grows with an operand, where it can't leave 32 bits.
    fn computed_least(&self, function: &Function, value: Value, depth: u32) -> Option<u32> {
        let depth = depth.checked_sub(1)?;
        if self.least.is_empty() {
            return None;
        }
        let data = function.def_inst(value)?;
        let Op::Alu(alu) = data.op else { return None };
        let constant = function.as_word(*data.args.get(1)?)?;
        let grows = |word: u32| match alu {
            Alu::IAdd => word.checked_add(constant),
            Alu::IMul => word.checked_mul(constant),
            Alu::IShl => word.checked_mul(1 << (constant & 31)),
            _ => None,
        };
        grows(bound(function, data.args[0], self, depth))?;
        grows(self.least(function, data.args[0], depth))
    }
}

fn bound(function: &Function, value: Value, tested: &Tested, depth: u32) -> u32 {
    let computed = computed_bound(function, value, tested, depth);
    let most = tested.most.get(&value).copied().unwrap_or(u32::MAX);
    computed.min(most)
}

fn computed_bound(function: &Function, value: Value, tested: &Tested, depth: u32) -> u32 {
    if function.ty(value) != Type::W32 {
        return u32::try_from(function.ty(value).mask()).unwrap_or(u32::MAX);
    }
    if let Some(word) = function.as_word(value) {
        return word;
    }
    let (Some(data), Some(depth)) = (function.def_inst(value), depth.checked_sub(1)) else {
        return u32::MAX;
    };
    let of = |index: usize| bound(function, data.args[index], tested, depth);
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
        Alu::IAdd => {
            let less = constant(1).map_or(0, u32::wrapping_neg);
            let difference = tested.difference(function, data, less, depth);
            difference.unwrap_or_else(|| of(0).saturating_add(of(1)))
        }
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

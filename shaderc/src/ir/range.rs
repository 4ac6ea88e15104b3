//! Ranges: how large a word can be at most, from how it is computed.
//!
//! Needs: nothing.  Guarantees: never too small a bound; `u32::MAX` when nothing is known. Where the IR leaves a result
//! open (a division by zero) the bound holds whatever a later pass makes of it.
//! Checked by: the property tests in `range_tests.rs`, over random expressions and behind random branches.
use rustc_hash::FxHashMap as HashMap;

use super::cfg::Cfg;
use super::{Alu, BlockId, Function, Held, InstData, Op, Terminator, Type, Value};

/// Deepest expression that is looked at.
const DEPTH: u32 = 8;

/// The same of signed ones: as deep as the offset of a place in a grid.
const SIGNED_DEPTH: u32 = 6;

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
    /// Values with the least and the largest that they can have there as signed.
    signed: HashMap<Value, Signed>,
}

/// The least and the largest of signed words.
type Signed = (i64, i64);

/// All of them.
const ALL_SIGNED: Signed = (i32::MIN as i64, i32::MAX as i64);

/// Those of both; no order of the two ends if there are none.
fn both((low, high): Signed, other: Signed) -> Signed {
    (low.max(other.0), high.min(other.1))
}

/// All of them where an operation may have left 32 bits.
fn unless_wrapped(range: Signed) -> Signed {
    let fits = both(range, ALL_SIGNED) == range;
    if fits { range } else { ALL_SIGNED }
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
        tested.shift(function);
        tested
    }

    /// What is known of `x + 4` tells of `x`, if no sum can have left 32 bits.
    fn shift(&mut self, function: &Function) {
        let known: Vec<(Value, Signed)> = self.signed.iter().map(|(v, r)| (*v, *r)).collect();
        for (value, (low, high)) in known {
            let Some(data) = function.def_inst(value) else {
                continue;
            };
            if data.op == Op::Alu(Alu::IAdd)
                && let Some(word) = function.as_word(data.args[1])
            {
                let by = i64::from(word.cast_signed());
                self.note_signed(data.args[0], unless_wrapped((low - by, high - by)));
            }
        }
    }

    fn note_signed(&mut self, value: Value, range: Signed) {
        let known = self.signed.entry(value).or_insert(ALL_SIGNED);
        *known = both(*known, range);
    }

    /// A word is known to be at most so large, as unsigned.
    fn note_most(&mut self, value: Value, most: u32) {
        let known = self.most.entry(value).or_insert(u32::MAX);
        *known = (*known).min(most);
        if let Ok(most) = i32::try_from(most) {
            self.note_signed(value, (0, most.into()));
        }
    }

    /// A word is known to be less than another one, as signed.
    fn note_less(&mut self, function: &Function, low: Value, high: Value, or_equal: bool) {
        let constant = |value: Value| Some(i64::from(function.as_word(value)?.cast_signed()));
        let apart = i64::from(!or_equal);
        if let Some(high) = constant(high) {
            self.note_signed(low, (ALL_SIGNED.0, high - apart));
        }
        if let Some(low) = constant(low) {
            self.note_signed(high, (low + apart, ALL_SIGNED.1));
        }
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
            // Either, as flattened branches have it.
            (Alu::Select, false) if data.args[0] == data.args[1] => {
                self.note(function, data.args[0], false, depth);
                self.note(function, data.args[2], false, depth);
            }
            (Alu::SLt, true) | (Alu::SGe, false) => {
                self.note_less(function, data.args[0], data.args[1], false);
            }
            (Alu::SLt, false) | (Alu::SGe, true) => {
                self.note_less(function, data.args[1], data.args[0], true);
            }
            (Alu::ULt, true) | (Alu::UGe, false) => {
                let [low, high] = [data.args[0], data.args[1]];
                // Nothing is below 0: then nobody comes here.
                let most = upper_bound(function, high).saturating_sub(1);
                self.note_most(low, most);
            }
            (Alu::ULt, false) | (Alu::UGe, true) => {
                let [high, low] = [data.args[0], data.args[1]];
                self.note_most(low, upper_bound(function, high));
                if let Some(word) = function.as_word(low) {
                    let known = self.least.entry(high).or_insert(0);
                    *known = (*known).max(word);
                }
            }
            (Alu::IEq, true) | (Alu::INe, false) => {
                if let Some(word) = function.as_word(data.args[1]) {
                    self.note_most(data.args[0], word);
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
        let most = bound(function, value, self, DEPTH);
        // What has a bound by then is no sum or product of negative numbers.
        if most < i32::MAX.cast_unsigned() {
            return most;
        }
        match self.signed_range(function, value, SIGNED_DEPTH) {
            // A negative number is large as unsigned; and without any order nobody comes here.
            (low, high) if 0 <= low && low <= high => most.min(u32::try_from(high).unwrap_or(most)),
            _ => most,
        }
    }

    /// The least and the largest value that a word can have there, as signed.
    fn signed_range(&self, function: &Function, value: Value, depth: u32) -> Signed {
        if self.signed.is_empty() || function.ty(value) != Type::W32 {
            return ALL_SIGNED;
        }
        let computed = self.computed_signed(function, value, depth);
        let tested = self.signed.get(&value).copied();
        both(computed, tested.unwrap_or(ALL_SIGNED))
    }

    fn computed_signed(&self, function: &Function, value: Value, depth: u32) -> Signed {
        if let Some(word) = function.as_word(value) {
            let word = i64::from(word.cast_signed());
            return (word, word);
        }
        let (Some(data), Some(depth)) = (function.def_inst(value), depth.checked_sub(1)) else {
            return ALL_SIGNED;
        };
        let of = |index: usize| self.signed_range(function, data.args[index], depth);
        let constant = || function.as_word(*data.args.get(1)?);
        let scaled = |by: i64| {
            let (low, high) = of(0);
            unless_wrapped((low * by, high * by))
        };
        match data.op {
            Op::Alu(Alu::IAdd) => {
                let (one, other) = (of(0), of(1));
                unless_wrapped((one.0 + other.0, one.1 + other.1))
            }
            Op::Alu(Alu::IShl) if let Some(by) = constant() => scaled(1 << (by & 31)),
            Op::Alu(Alu::IMul) if let Some(by @ 0..0x8000_0000) = constant() => scaled(by.into()),
            _ => {
                let most = bound(function, value, self, depth);
                unless_wrapped((0, most.into()))
            }
        }
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
    // Where one operand has no bound, the others are not asked: each may be a tree of operations.
    let largest = |indices: &[usize]| {
        let mut most = 0;
        for index in indices {
            most = most.max(of(*index));
            if most == u32::MAX {
                break;
            }
        }
        most
    };
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
            difference.unwrap_or_else(|| match of(0) {
                u32::MAX => u32::MAX,
                most => most.saturating_add(of(1)),
            })
        }
        Alu::IMul => match of(0) {
            u32::MAX if constant(1) != Some(0) => u32::MAX,
            most => most.saturating_mul(of(1)),
        },
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
        Alu::IOr | Alu::IXor => match all_ones(of(0)) {
            u32::MAX => u32::MAX,
            most => all_ones(most | of(1)),
        },
        Alu::UMax => largest(&[0, 1]),
        Alu::Select => largest(&[1, 2]),
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
#[path = "range_tests.rs"]
mod tests;

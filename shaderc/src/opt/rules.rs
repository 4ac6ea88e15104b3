//! The algebraic rules: one a line, what is found and what takes its place.
//!
//! Lower-case letters are values: `a` to `d` any, `k`, `l`, `m` word constants. A letter that stands twice is the same
//! value. Operands of operations that commute match in either order. `~` marks a rule that changes rounding, the sign
//! of zero or NaN: it never touches exact instructions. `if` gives a condition on the constants. `(once x)` matches only
//! if nothing else reads the value: where it lives on, doing its work again costs more than the rule saves.
//! Facts: hardware/compiler-correctness.md 1.4 says which float rules are right; hardware/compiler-isel.md 4 why the
//! right-hand sides are better.
use crate::interp::half;
use crate::ir::Alu;

/// A tree of operations.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pattern {
    /// Any value.
    Any(usize),
    /// A word constant.
    Constant(usize),
    /// This word.
    Word(u32),
    /// This boolean.
    Bool(bool),
    /// An operation.
    Op(Alu, &'static [Pattern]),
    /// One that nothing else reads.
    Once(&'static Pattern),
}

/// Whether the rule changes what a float operation gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    Exact,
    Inexact,
}

/// A rule.
pub(super) struct Rule {
    pub find: Pattern,
    pub give: Pattern,
    pub rounding: Rounding,
    /// None or one.
    conditions: &'static [fn(u32, u32) -> bool],
}

/// Number of the first constant's letter; the second follows.
const K: usize = 4;

impl Rule {
    /// The operation at the root of what is found.
    pub fn root(&self) -> Alu {
        match self.find {
            Pattern::Op(alu, _) => alu,
            // Every row begins with an operation; the test below holds it.
            _ => Alu::IAdd,
        }
    }

    /// Whether the condition holds of the constants.
    pub fn holds(&self, constant: impl Fn(usize) -> Option<u32>) -> bool {
        let word = |variable| constant(variable).unwrap_or(0);
        let mut conditions = self.conditions.iter();
        conditions.all(|condition| condition(word(K), word(K + 1)))
    }
}

macro_rules! pattern {
    (a) => { Pattern::Any(0) };
    (b) => { Pattern::Any(1) };
    (c) => { Pattern::Any(2) };
    (d) => { Pattern::Any(3) };
    (k) => { Pattern::Constant(K) };
    (l) => { Pattern::Constant(K + 1) };
    (m) => { Pattern::Constant(K + 2) };
    (true) => { Pattern::Bool(true) };
    (false) => { Pattern::Bool(false) };
    ([$float:expr]) => { Pattern::Word(f32::to_bits($float)) };
    ($word:literal) => { Pattern::Word($word) };
    ((once $part:tt)) => { Pattern::Once(&pattern!($part)) };
    (($op:ident $($part:tt)*)) => { Pattern::Op(Alu::$op, &[$(pattern!($part)),*]) };
}

macro_rules! rules {
    (@rounding =>) => { Rounding::Exact };
    (@rounding ~) => { Rounding::Inexact };
    ($($find:tt $arrow:tt $give:tt $(if $condition:expr)?;)*) => {
        /// All rules; of several that match, the first counts.
        pub(super) const RULES: &[Rule] = &[$(Rule {
            find: pattern!($find),
            give: pattern!($give),
            rounding: rules!(@rounding $arrow),
            conditions: &[$($condition)?],
        }),*];
    };
}

const ONES: u32 = u32::MAX;

#[rustfmt::skip]
rules! {
    // Sums. Constants move outwards and join, so that addresses look like `x + constant`.
    (IAdd a 0)                                  => a;
    (ISub a 0)                                  => a;
    (ISub a a)                                  => 0;
    (ISub 0 a)                                  => (INeg a);
    (ISub a k)                                  => (IAdd a (INeg k));
    (ISub a (INeg b))                           => (IAdd a b);
    (IAdd a (INeg b))                           => (ISub a b);
    (INeg (INeg a))                             => a;
    (INeg (ISub a b))                           => (ISub b a);
    (IAdd (IAdd a k) l)                         => (IAdd a (IAdd k l));
    (IAdd (IAdd a k) b)                         => (IAdd (IAdd a b) k)              if part_of_offset;
    (IAdd (once (IAdd a k)) b)                  => (IAdd (IAdd a b) k);
    (ISub (IAdd a k) b)                         => (IAdd (ISub a b) k)              if part_of_offset;
    (ISub (once (IAdd a k)) b)                  => (IAdd (ISub a b) k);
    (ISub k (IAdd a l))                         => (ISub (ISub k l) a);
    (IAdd (ISub a b) b)                         => a;
    (ISub (IAdd a b) b)                         => a;
    // What sums four products takes a fifth term for nothing.
    (IAdd (once (UDot4x8 a b 0)) c)             => (UDot4x8 a b c);
    (IAdd (once (SDot4x8 a b 0)) c)             => (SDot4x8 a b c);
    // Products.
    (IMul a 0)                                  => 0;
    (IMul a 1)                                  => a;
    (IMul a 0xffff_ffff)                        => (INeg a);
    (IMul (IMul a k) l)                         => (IMul a (IMul k l));
    (IMul (IAdd a k) l)                         => (IAdd (IMul a l) (IMul k l))     if |k, l| part_of_offset(k, 0) && part_of_offset(k.wrapping_mul(l), 0);
    (IMul (once (IAdd a k)) l)                  => (IAdd (IMul a l) (IMul k l));
    (IMul (IShl a k) l)                         => (IMul a (IShl l k));
    (IMul a k)                                  => (IShl a (FindLsb k))             if |k, _| k.is_power_of_two();
    (UDiv a 1)                                  => a;
    (SDiv a 1)                                  => a;
    (UMod a 1)                                  => 0;
    // Shifts.
    (IShl a 0)                                  => a;
    (UShr a 0)                                  => a;
    (SShr a 0)                                  => a;
    (RotL a 0)                                  => a;
    (IShl (IShl a k) l)                         => (IShl a (IAdd k l))              if |k, l| k < 32 && l < 32 && k + l < 32;
    (UShr (UShr a k) l)                         => (UShr a (IAdd k l))              if |k, l| k < 32 && l < 32 && k + l < 32;
    (IShl (IAdd a k) l)                         => (IAdd (IShl a l) (IShl k l))     if part_of_address;
    (IShl (UShr a k) k)                         => (IAnd a (IShl 0xffff_ffff k));
    (UShr (IShl a k) k)                         => (IAnd a (UShr 0xffff_ffff k));
    (SShr (IAnd a k) l)                         => (SShr a l)                       if |k, l| l < 32 && ONES.wrapping_shl(l) & !k == 0;
    // Of an amount the lower five bits count, and those that a shift fills are zeros.
    (IShl a (IShl (IAnd b k) l))                => (IShl a (IShl b l))              if |k, l| l < 32 && !(k << l) & 31 & (ONES << l) == 0;
    (UShr a (IShl (IAnd b k) l))                => (UShr a (IShl b l))              if |k, l| l < 32 && !(k << l) & 31 & (ONES << l) == 0;
    (SShr a (IShl (IAnd b k) l))                => (SShr a (IShl b l))              if |k, l| l < 32 && !(k << l) & 31 & (ONES << l) == 0;
    (IShl a (IAnd b k))                         => (IShl a b)                       if |k, _| k & 31 == 31;
    (UShr a (IAnd b k))                         => (UShr a b)                       if |k, _| k & 31 == 31;
    (SShr a (IAnd b k))                         => (SShr a b)                       if |k, _| k & 31 == 31;
    (IOr  (IShl a k) (UShr a l))                => (RotL a k)                       if rotates;
    (IXor (IShl a k) (UShr a l))                => (RotL a k)                       if rotates;
    (IAdd (IShl a k) (UShr a l))                => (RotL a k)                       if rotates;
    (IOr (IShl a b) (UShr a (ISub 32 b)))       => (RotL a b);
    (IOr (UShr a b) (IShl a (ISub 32 b)))       => (RotL a (INeg b));
    // Logic.
    (IAnd a 0)                                  => 0;
    (IAnd a 0xffff_ffff)                        => a;
    (IAnd a a)                                  => a;
    (IOr  a 0)                                  => a;
    (IOr  a 0xffff_ffff)                        => 0xffff_ffff;
    (IOr  a a)                                  => a;
    (IXor a 0)                                  => a;
    (IXor a 0xffff_ffff)                        => (INot a);
    (IXor a a)                                  => 0;
    (INot (INot a))                             => a;
    (IAnd (IAnd a k) l)                         => (IAnd a (IAnd k l));
    (IOr  (IOr  a k) l)                         => (IOr  a (IOr  k l));
    (IXor (IXor a k) l)                         => (IXor a (IXor k l));
    (IAnd (UShr a k) l)                         => (UShr a k)                       if |k, l| ONES.wrapping_shr(k) & !l == 0;
    (IAnd (IShl a k) l)                         => (IShl a k)                       if |k, l| ONES.wrapping_shl(k) & !l == 0;
    (IOr  (IAnd a b) (IAnd (INot a) c))         => (BitSelect a b c);
    (IXor (IAnd a b) (IAnd (INot a) c))         => (BitSelect a b c);
    (IXor c (IAnd a (IXor b c)))                => (BitSelect a b c);
    (IOr  (IAnd a b) (IAnd c (IOr a b)))        => (BitSelect (IXor a b) c a);
    (IOr  (IOr (IAnd a b) (IAnd a c)) (IAnd b c))   => (BitSelect (IXor b c) a b);
    (IXor (IXor (IAnd a b) (IAnd a c)) (IAnd b c))  => (BitSelect (IXor b c) a b);
    (BitSelect 0 a b)                           => b;
    (BitSelect 0xffff_ffff a b)                 => a;
    (BitSelect a b b)                           => b;
    // Minima and maxima.
    (UMin a a)                                  => a;
    (UMax a a)                                  => a;
    (SMin a a)                                  => a;
    (SMax a a)                                  => a;
    (UMin a 0)                                  => 0;
    (UMax a 0)                                  => a;
    (UMin a 0xffff_ffff)                        => a;
    (UMax a 0xffff_ffff)                        => 0xffff_ffff;
    (UMin (UMin a k) l)                         => (UMin a (UMin k l));
    (UMax (UMax a k) l)                         => (UMax a (UMax k l));
    (IAbs (IAbs a))                             => (IAbs a);
    (IAbs (INeg a))                             => (IAbs a);
    // Comparisons.
    (IEq a a)                                   => true;
    (INe a a)                                   => false;
    (ULt a a)                                   => false;
    (UGe a a)                                   => true;
    (SLt a a)                                   => false;
    (SGe a a)                                   => true;
    (ULt a 0)                                   => false;
    (UGe a 0)                                   => true;
    (ULt a 1)                                   => (IEq a 0);
    (ULt 0 a)                                   => (INe a 0);
    (UGe a 1)                                   => (INe a 0);
    (UGe 0 a)                                   => (IEq a 0);
    (IEq (IAdd a k) l)                          => (IEq a (ISub l k));
    (INe (IAdd a k) l)                          => (INe a (ISub l k));
    (IEq (IXor a k) l)                          => (IEq a (IXor l k));
    (INe (IXor a k) l)                          => (INe a (IXor l k));
    (IEq (ISub a b) 0)                          => (IEq a b);
    (INe (ISub a b) 0)                          => (INe a b);
    (IEq (IXor a b) 0)                          => (IEq a b);
    (INe (IXor a b) 0)                          => (INe a b);
    (INe (B2I a) 0)                             => a;
    (IEq (B2I a) 0)                             => (BNot a);
    (IEq (B2I a) 1)                             => a;
    (INe (B2I a) 1)                             => (BNot a);
    (INe (Select a k 0) 0)                      => a                                if |k, _| k != 0;
    (IEq (Select a k 0) 0)                      => (BNot a)                         if |k, _| k != 0;
    // Booleans. A float comparison other than equality has no opposite: NaN fails both.
    (BNot (BNot a))                             => a;
    (BNot (IEq a b))                            => (INe a b);
    (BNot (INe a b))                            => (IEq a b);
    (BNot (ULt a b))                            => (UGe a b);
    (BNot (UGe a b))                            => (ULt a b);
    (BNot (SLt a b))                            => (SGe a b);
    (BNot (SGe a b))                            => (SLt a b);
    (BNot (FEq a b))                            => (FNe a b);
    (BNot (FNe a b))                            => (FEq a b);
    (BAnd a true)                               => a;
    (BAnd a false)                              => false;
    (BAnd a a)                                  => a;
    (BOr  a true)                               => true;
    (BOr  a false)                              => a;
    (BOr  a a)                                  => a;
    // Between 0 and a constant is one comparison.
    (BOr  (SLt a 0) (SGe a k))                  => (UGe a k)                        if not_negative;
    (BOr  (SLt a 0) (SLt k a))                  => (ULt k a)                        if not_negative;
    (BAnd (SGe a 0) (SLt a k))                  => (ULt a k)                        if not_negative;
    (BAnd (SGe a 0) (SGe k a))                  => (UGe k a)                        if not_negative;
    (BOr  (BOr b (SLt a 0)) (SGe a k))          => (BOr b (UGe a k))                if not_negative;
    (BOr  (BOr b (SLt a 0)) (SLt k a))          => (BOr b (ULt k a))                if not_negative;
    (BAnd (BAnd b (SGe a 0)) (SLt a k))         => (BAnd b (ULt a k))               if not_negative;
    (BAnd (BAnd b (SGe a 0)) (SGe k a))         => (BAnd b (UGe k a))               if not_negative;
    (BOr  (BOr b (SLt a 0)) (BOr c (SGe a k)))  => (BOr (BOr b c) (UGe a k))        if not_negative;
    (BOr  (BOr b (SLt a 0)) (BOr c (SLt k a)))  => (BOr (BOr b c) (ULt k a))        if not_negative;
    (BAnd (BAnd b (SGe a 0)) (BAnd c (SLt a k)))    => (BAnd (BAnd b c) (ULt a k))  if not_negative;
    (BAnd (BAnd b (SGe a 0)) (BAnd c (SGe k a)))    => (BAnd (BAnd b c) (UGe k a))  if not_negative;
    (BXor a false)                              => a;
    (BXor a true)                               => (BNot a);
    (BXor a a)                                  => false;
    // Selections.
    (Select true a b)                           => a;
    (Select false a b)                          => b;
    (Select a true false)                       => a;
    (Select a false true)                       => (BNot a);
    (Select a b false)                          => (BAnd a b);
    (Select a true b)                           => (BOr a b);
    (Select a false b)                          => (BAnd (BNot a) b);
    (Select a b true)                           => (BOr (BNot a) b);
    (Select a b b)                              => b;
    (Select a a b)                              => (BOr a b);
    (Select a b a)                              => (BAnd a b);
    (Select (SLt a b) c (SGe a b))              => (BOr (SGe a b) c);
    (Select (ULt a b) c (UGe a b))              => (BOr (UGe a b) c);
    (Select (IEq a b) c (INe a b))              => (BOr (INe a b) c);
    (Select (SGe a b) c (SLt a b))              => (BOr (SLt a b) c);
    (Select (UGe a b) c (ULt a b))              => (BOr (ULt a b) c);
    (Select (INe a b) c (IEq a b))              => (BOr (IEq a b) c);
    (Select (BNot a) b c)                       => (Select a c b);
    (Select a (Select a b c) d)                 => (Select a b d);
    (Select a b (Select a c d))                 => (Select a b d);
    (Select a 1 0)                              => (B2I a);
    (Select (SLt a b) a b)                      => (SMin a b);
    (Select (SLt a b) b a)                      => (SMax a b);
    (Select (ULt a b) a b)                      => (UMin a b);
    (Select (ULt a b) b a)                      => (UMax a b);
    (Select (SGe a b) a b)                      => (SMax a b);
    (Select (SGe a b) b a)                      => (SMin a b);
    (Select (UGe a b) a b)                      => (UMax a b);
    (Select (UGe a b) b a)                      => (UMin a b);
    // Floats.
    (FNeg (FNeg a))                             => a;
    (FAbs (FNeg a))                             => (FAbs a);
    (FAbs (FAbs a))                             => (FAbs a);
    (FNeg (FSub a b))                           ~  (FSub b a);
    (FAdd a [-0.0])                             => a;
    (FAdd a 0)                                  ~  a;
    (FSub a 0)                                  => a;
    (FSub 0 a)                                  ~  (FNeg a);
    (FSub [-0.0] a)                             => (FNeg a);
    (FAdd a (FNeg b))                           => (FSub a b);
    (FSub a (FNeg b))                           => (FAdd a b);
    (FMul a [1.0])                              => a;
    (FMul a [-1.0])                             => (FNeg a);
    (FMul a [2.0])                              => (FAdd a a);
    (FMul (FNeg a) (FNeg b))                    => (FMul a b);
    (FMul (FMul a k) l)                         ~  (FMul a (FMul k l))              if normal_product;
    (FDiv a [1.0])                              => a;
    (FDiv [1.0] (FSqrt a))                      ~  (FRsq a);
    (FRcp (FRcp a))                             ~  a;
    (FFma a [1.0] b)                            => (FAdd a b);
    (FMin (FMax a 0) [1.0])                     => (FSat a);
    (FSat (FSat a))                             => (FSat a);
    (FSat (FMax a 0))                           => (FSat a);
    (FSat (B2F a))                              => (B2F a);
    (FFloor (FFloor a))                         => (FFloor a);
    (FTrunc (FTrunc a))                         => (FTrunc a);
    (F2I (FTrunc a))                            => (F2I a);
    (F2U (FTrunc a))                            => (F2U a);
    (FNe (B2F a) 0)                             => a;
    (FEq (B2F a) 0)                             => (BNot a);
    (HalfLow  (PackHalf (HalfLow a) b))         => (HalfLow a);
    (HalfLow  (PackHalf (HalfHigh a) b))        => (HalfHigh a);
    (HalfLow  (UShr a 16))                      => (HalfHigh a);
    (HalfHigh (IShl a 16))                      => (HalfLow a);
    (HalfLow  (IAnd a k))                       => (HalfLow a)                      if |k, _| k & 0xffff == 0xffff;
    (HalfLow  (PackHalf (FMax (HalfLow  a) k) b))   => (FMax (HalfLow a) k)         if |k, _| is_half(k);
    (HalfLow  (PackHalf (FMax (HalfHigh a) k) b))   => (FMax (HalfHigh a) k)        if |k, _| is_half(k);
    (HalfLow  (PackHalf (FMin (HalfLow  a) k) b))   => (FMin (HalfLow a) k)         if |k, _| is_half(k);
    (HalfLow  (PackHalf (FMin (HalfHigh a) k) b))   => (FMin (HalfHigh a) k)        if |k, _| is_half(k);
    (IOr  (PackHalf a 0) (IShl (PackHalf b 0) 16))  => (PackHalf a b);
    (PackHalf (HalfLow a) (HalfHigh a))         ~  a;
    // Halves of words.
    (IOr  (IAnd a 0xffff) (IShl b 16))          => (Pack16 a b);
    (Pack16 a (UShr a 16))                      => a;
    (Pack16 a 0)                                => (IAnd a 0xffff);
    (Pack16 0 a)                                => (IShl a 16);
    (Pack16 (IAnd a k) b)                       => (Pack16 a b)                     if |k, _| k & 0xffff == 0xffff;
    (Pack16 a (IAnd b k))                       => (Pack16 a b)                     if |k, _| k & 0xffff == 0xffff;
    (Pack16 (IAnd a k) (UShr (IAnd a l) 16))    => (IAnd a l)                       if |k, l| k == l & 0xffff;
    (Pack16 (Pack16 a b) c)                     => (Pack16 a c);
    (Pack16 a (Pack16 b c))                     => (Pack16 a b);
    (Pack16 (PackHalf a b) (PackHalf c d))      => (PackHalf a c);
    (Pack16 (IXor a 0x8000_8000) (IXor b 0x8000_8000))  => (IXor (Pack16 a b) 0x8000_8000);
    (Pack16 (IAnd a 0x7fff_7fff) (IAnd b 0x7fff_7fff))  => (IAnd (Pack16 a b) 0x7fff_7fff);
    (UShr (Pack16 a b) 16)                      => (IAnd b 0xffff);
    (IAnd (Pack16 a b) 0xffff)                  => (IAnd a 0xffff);
    (HalfLow  (Pack16 a b))                     => (HalfLow a);
    (HalfHigh (Pack16 a b))                     => (HalfLow b);
    (HalfLow  (IXor a 0x8000_8000))             => (FNeg (HalfLow a));
    (HalfHigh (IXor a 0x8000_8000))             => (FNeg (HalfHigh a));
    (HalfLow  (IAnd a 0x7fff_7fff))             => (FAbs (HalfLow a));
    (HalfHigh (IAnd a 0x7fff_7fff))             => (FAbs (HalfHigh a));
    (FMin2 (FMax2 a 0) 0x3c00_3c00)             => (FSat2 a);
    (FSat2 (FSat2 a))                           => (FSat2 a);
}

/// Whether a constant may be part of a byte offset, which an access takes for nothing.
fn part_of_offset(term: u32, _: u32) -> bool {
    term.cast_signed().unsigned_abs() < 4096
}

/// Whether a shifted sum looks like a byte offset, in rows of 1 KiB at most, whose constant an access takes for nothing. Other
/// sums stay whole: what is rotated is often one.
fn part_of_address(term: u32, shift: u32) -> bool {
    let bytes = term.wrapping_shl(shift);
    shift <= 10 && part_of_offset(term, 0) && i16::try_from(bytes.cast_signed()).is_ok()
}

/// Whether a constant is at least 0 as a signed number.
fn not_negative(constant: u32, _: u32) -> bool {
    constant.cast_signed() >= 0
}

/// Whether a binary32 is one of the values that binary16 has.
fn is_half(float: u32) -> bool {
    let value = f32::from_bits(float);
    !value.is_nan() && half::to_f32(half::from_f32(value)).to_bits() == float
}

/// Two shifts that make a rotation; with shifts of 1 to 31 the parts don't overlap.
fn rotates(left: u32, right: u32) -> bool {
    (1..32).contains(&left) && right == 32 - left
}

/// Whether two float constants may be multiplied beforehand: not if the product leaves the range.
fn normal_product(k: u32, l: u32) -> bool {
    (f32::from_bits(k) * f32::from_bits(l)).is_normal()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::interp::eval::eval;
    use proptest::prelude::*;

    /// The value of a pattern, booleans as 0 or 1.
    fn value(pattern: &Pattern, variables: &[u32; 8]) -> u32 {
        match pattern {
            Pattern::Any(variable) | Pattern::Constant(variable) => variables[*variable],
            Pattern::Word(bits) => *bits,
            Pattern::Bool(value) => (*value).into(),
            Pattern::Op(alu, parts) => {
                let mut args = [0; 4];
                for (arg, part) in args.iter_mut().zip(*parts) {
                    *arg = value(part, variables);
                }
                let width = match alu.operands()[0] {
                    crate::ir::Kind::B => crate::ir::Type::Bool,
                    _ => crate::ir::Type::W32,
                };
                // A choice has the width of what is chosen from.
                let width = match alu {
                    Alu::Select => crate::ir::Type::W32,
                    _ => width,
                };
                eval(*alu, width, args.map(u64::from)) as u32
            }
            Pattern::Once(part) => value(part, variables),
        }
    }

    /// Which variables a pattern reads as booleans.
    pub(in crate::opt) fn booleans(
        pattern: &Pattern,
        wanted: Option<crate::ir::Type>,
        found: &mut [bool; 8],
    ) {
        match pattern {
            Pattern::Any(variable) => {
                found[*variable] |= wanted == Some(crate::ir::Type::Bool);
            }
            Pattern::Op(alu, parts) => {
                // A selection is of booleans where a boolean is wanted, or stands beside it.
                let mut common = wanted;
                if parts.iter().any(|part| matches!(part, Pattern::Bool(_))) {
                    common = Some(crate::ir::Type::Bool);
                }
                for (part, kind) in parts.iter().zip(alu.operands()) {
                    booleans(part, kind.ty().or(common), found);
                }
            }
            Pattern::Once(part) => booleans(part, wanted, found),
            Pattern::Constant(_) | Pattern::Word(_) | Pattern::Bool(_) => {}
        }
    }

    fn nan(bits: u32) -> bool {
        f32::from_bits(bits).is_nan()
    }

    /// Words that are likely to find mistakes.
    fn word() -> impl Strategy<Value = u32> {
        let special = vec![
            0,
            1,
            2,
            31,
            32,
            33,
            0x7f,
            0x80,
            0xff,
            0xffff,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            1 << 23,
        ];
        prop_oneof![
            proptest::sample::select(special),
            0u32..40,
            any::<u32>(),
            (-100.0f32..100.0).prop_map(f32::to_bits),
        ]
    }

    #[test]
    fn every_row_begins_with_an_operation() {
        for rule in RULES {
            assert!(matches!(rule.find, Pattern::Op(..)), "{:?}", rule.find);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn exact_rules_keep_every_value(words in proptest::array::uniform8(word())) {
            for rule in RULES.iter().filter(|rule| rule.rounding == Rounding::Exact) {
                let mut variables = words;
                let mut found = [false; 8];
                booleans(&rule.find, None, &mut found);
                booleans(&rule.give, rule.root().result().ty(), &mut found);
                for (variable, boolean) in variables.iter_mut().zip(found) {
                    if boolean {
                        *variable &= 1;
                    }
                }
                if !rule.holds(|variable| Some(variables[variable])) {
                    continue;
                }
                let before = value(&rule.find, &variables);
                let after = value(&rule.give, &variables);
                let same = before == after || nan(before) && nan(after);
                prop_assert!(
                    same,
                    "{:?} => {:?} of {variables:x?}: {before:#x} is not {after:#x}",
                    rule.find, rule.give
                );
            }
        }
    }
}

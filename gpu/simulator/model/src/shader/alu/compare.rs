//! Comparisons and selects.
//!
//! Facts: hardware/valhall-isa.md 8.2 (float conditions), 8.4 (results and accumulation), 9.5.

use super::FloatType;
use crate::shader::float::{FloatPolicy, flush32, wide16};
use crate::shader::lanes::{Lanes, Part, halves, words};
use core::cmp::Ordering;

/// The relation that is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Equal.
    Equal,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterEqual,
    /// Not equal; true for unordered floats.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessEqual,
    /// Ordered and different (floats).
    Different,
    /// Less or equal in IEEE 754's total order (floats).
    TotalOrder,
}

impl Condition {
    #[inline(always)]
    fn ordered<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Condition::Equal => a == b,
            Condition::Greater => a > b,
            Condition::GreaterEqual => a >= b,
            // True for unordered floats.
            Condition::NotEqual => a != b,
            Condition::Less => a < b,
            Condition::LessEqual | Condition::TotalOrder => a <= b,
            Condition::Different => (a < b) | (a > b),
        }
    }

    /// Whether the condition holds for two binary32 values.
    #[inline(always)]
    pub(crate) fn singles(self, a: u32, b: u32) -> bool {
        if self == Condition::TotalOrder {
            return total_key(a, 31) <= total_key(b, 31);
        }
        self.ordered(f32::from_bits(a), f32::from_bits(b))
    }

    #[inline(always)]
    fn halves(self, a: u16, b: u16) -> bool {
        if self == Condition::TotalOrder {
            return total_key(a.into(), 15) <= total_key(b.into(), 15);
        }
        self.ordered(wide16(a), wide16(b))
    }
}

/// An integer that orders float bits as IEEE 754's totalOrder does; `sign` is the sign's bit number.
#[inline(always)]
fn total_key(bits: u32, sign: u32) -> i64 {
    let magnitude = i64::from(bits & !(1 << sign));
    if bits >> sign & 1 != 0 {
        -magnitude - 1
    } else {
        magnitude
    }
}

/// What a comparison yields where it holds; it yields 0 elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// 1.
    One,
    /// 1.0 of the part's float type.
    Float,
    /// All ones.
    Mask,
    /// The ordering itself as -1, 0 or 1 (chained comparisons only).
    Ordering,
}

impl ResultType {
    /// The result in a part of so many bits where the comparison holds.
    #[inline(always)]
    fn yes(self, bits: u32) -> i64 {
        match (self, bits) {
            (ResultType::Float, 32) => 0x3f80_0000,
            (ResultType::Float, 16) => 0x3c00,
            (ResultType::Mask, _) => -1,
            _ => 1,
        }
    }
}

/// How a comparison is joined with its third source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// It holds, or the source is not 0.
    Or,
    /// It holds, and the source is not 0.
    And,
}

impl Combine {
    fn joins(self) -> Joins {
        let is_and = self == Combine::And;
        Joins {
            previous: !is_and,
            both: is_and,
        }
    }
}

/// The same as factors, so that a loop over lanes needs no branch: what holds if the third source alone holds, and with both.
#[derive(Clone, Copy)]
struct Joins {
    /// The third source suffices, and so does the comparison.
    previous: bool,
    /// Both are needed.
    both: bool,
}

impl Joins {
    #[inline(always)]
    fn with(self, holds: bool, previous: bool) -> bool {
        (holds & (previous | !self.both)) | (previous & self.previous)
    }
}

/// A comparison or select.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compare {
    /// (A cond B) ? C : D on integers.
    Select { part: Part, condition: Condition },
    /// (A cond B) ? C : D on floats; C and D pass unchanged.
    SelectFloat {
        float: FloatType,
        condition: Condition,
    },
    /// A cond B on integers, joined with C.
    Integer {
        part: Part,
        condition: Condition,
        result: ResultType,
        combine: Combine,
    },
    /// A cond B on floats, joined with C.
    Float {
        float: FloatType,
        condition: Condition,
        result: ResultType,
        combine: Combine,
    },
    /// The order of A and B, or where they are equal that of C to 0; then the condition on it.
    Chained {
        part: Part,
        condition: Condition,
        result: ResultType,
    },
}

/// Runs a loop over lanes with a condition that the compiler knows: the loop is compiled once for each, without branches.
macro_rules! known {
    ($condition:expr, $known:ident => $loop:expr) => {
        match $condition {
            Condition::Equal => known!(@ Equal, $known => $loop),
            Condition::Greater => known!(@ Greater, $known => $loop),
            Condition::GreaterEqual => known!(@ GreaterEqual, $known => $loop),
            Condition::NotEqual => known!(@ NotEqual, $known => $loop),
            Condition::Less => known!(@ Less, $known => $loop),
            Condition::LessEqual => known!(@ LessEqual, $known => $loop),
            Condition::Different => known!(@ Different, $known => $loop),
            Condition::TotalOrder => known!(@ TotalOrder, $known => $loop),
        }
    };
    (@ $name:ident, $known:ident => $loop:expr) => {{
        const $known: Condition = Condition::$name;
        $loop
    }};
}

impl Compare {
    pub(super) fn run(self, [a, b, c, d]: [&Lanes; 4], out: &mut Lanes, policy: FloatPolicy) {
        match self {
            // Words in 32-bit arithmetic: four of them in a vector, not two.
            Compare::Select {
                part: Part::U32,
                condition,
            } => known!(condition, KNOWN => words([a, b, c, d], out, |[a, b, c, d]| {
                if KNOWN.ordered(a, b) { c } else { d }
            })),
            Compare::Select {
                part: Part::S32,
                condition,
            } => known!(condition, KNOWN => words([a, b, c, d], out, |[a, b, c, d]| {
                if KNOWN.ordered(a.cast_signed(), b.cast_signed()) { c } else { d }
            })),
            Compare::Select { part, condition } => known!(condition, KNOWN => {
                part.map([a, b, c, d], out, |[a, b, c, d]| {
                    if KNOWN.ordered(a, b) { c } else { d }
                })
            }),
            Compare::SelectFloat {
                float: FloatType::Single,
                condition,
            } => {
                let flush = policy.flush32;
                known!(condition, KNOWN => words([a, b, c, d], out, |[a, b, c, d]| {
                    let holds = KNOWN.singles(input32(a, flush), input32(b, flush));
                    if holds { c } else { d }
                }));
            }
            Compare::SelectFloat {
                float: FloatType::Halves,
                condition,
            } => {
                let (a, b) = (flushed(a, policy), flushed(b, policy));
                known!(condition, KNOWN => halves([&a, &b, c, d], out, |[a, b, c, d]| {
                    if KNOWN.halves(a, b) { c } else { d }
                }));
            }
            Compare::Integer {
                part: part @ (Part::U32 | Part::S32),
                condition,
                result,
                combine,
            } => {
                let (yes, joins) = (result.yes(32) as u32, combine.joins());
                // Signed values order as unsigned ones with the other sign bit.
                let sign = if part.signed() { 1 << 31 } else { 0 };
                known!(condition, KNOWN => words([a, b, c], out, |[a, b, c]| {
                    let holds = KNOWN.ordered(a ^ sign, b ^ sign);
                    if joins.with(holds, c != 0) { yes } else { 0 }
                }));
            }
            Compare::Integer {
                part,
                condition,
                result,
                combine,
            } => {
                let (yes, joins) = (result.yes(part.bits()), combine.joins());
                known!(condition, KNOWN => part.map([a, b, c], out, |[a, b, c]| {
                    if joins.with(KNOWN.ordered(a, b), c != 0) { yes } else { 0 }
                }));
            }
            Compare::Float {
                float: FloatType::Single,
                condition,
                result,
                combine,
            } => {
                let (yes, joins) = (result.yes(32) as u32, combine.joins());
                let flush = policy.flush32;
                known!(condition, KNOWN => words([a, b, c], out, |[a, b, c]| {
                    let holds = KNOWN.singles(input32(a, flush), input32(b, flush));
                    if joins.with(holds, c != 0) { yes } else { 0 }
                }));
            }
            Compare::Float {
                float: FloatType::Halves,
                condition,
                result,
                combine,
            } => {
                let (a, b) = (flushed(a, policy), flushed(b, policy));
                let (yes, joins) = (result.yes(16) as u16, combine.joins());
                known!(condition, KNOWN => halves([&a, &b, c], out, |[a, b, c]| {
                    if joins.with(KNOWN.halves(a, b), c != 0) { yes } else { 0 }
                }));
            }
            Compare::Chained {
                part,
                condition,
                result,
            } => part.map([a, b, c], out, |[a, b, c]| {
                // The third source's sign decides, whatever the type of the first two.
                let order = a.cmp(&b).then(i64::from(c as i32).cmp(&0));
                match result {
                    ResultType::Ordering => order as i64,
                    _ if condition.ordered(order, Ordering::Equal) => result.yes(32),
                    _ => 0,
                }
            }),
        }
    }
}

/// A binary32 operand under the policy.
#[inline(always)]
fn input32(bits: u32, flush: bool) -> u32 {
    if flush { flush32(bits) } else { bits }
}

fn flushed(lanes: &Lanes, policy: FloatPolicy) -> Lanes {
    lanes.map(|bits| policy.input16x2(bits))
}

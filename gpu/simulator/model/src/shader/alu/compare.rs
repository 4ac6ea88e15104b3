//! Comparisons and selects.
//!
//! Facts: hardware/valhall-isa.md 8.2 (float conditions), 8.4 (results and accumulation), 9.5.

use super::FloatType;
use crate::shader::float::{FloatPolicy, wide16};
use crate::shader::lanes::{Lanes, Part, halves, words};
use core::cmp::Ordering;

/// The relation that is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
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
    /// Whether the condition holds for an ordering; `None` is unordered.
    #[inline(always)]
    fn holds(self, order: Option<Ordering>) -> bool {
        match (self, order) {
            (Condition::NotEqual, None) => true,
            (_, None) => false,
            (Condition::Equal, Some(order)) => order.is_eq(),
            (Condition::Greater, Some(order)) => order.is_gt(),
            (Condition::GreaterEqual, Some(order)) => order.is_ge(),
            (Condition::NotEqual | Condition::Different, Some(order)) => order.is_ne(),
            (Condition::Less, Some(order)) => order.is_lt(),
            (Condition::LessEqual | Condition::TotalOrder, Some(order)) => order.is_le(),
        }
    }

    #[inline(always)]
    fn integers(self, a: i64, b: i64) -> bool {
        self.holds(Some(a.cmp(&b)))
    }

    /// Whether the condition holds for two binary32 values.
    #[inline(always)]
    pub(crate) fn singles(self, a: u32, b: u32) -> bool {
        if self == Condition::TotalOrder {
            return total_key(a, 31) <= total_key(b, 31);
        }
        self.holds(f32::from_bits(a).partial_cmp(&f32::from_bits(b)))
    }

    fn halves(self, a: u16, b: u16) -> bool {
        if self == Condition::TotalOrder {
            return total_key(a.into(), 15) <= total_key(b.into(), 15);
        }
        self.holds(wide16(a).partial_cmp(&wide16(b)))
    }
}

/// An integer that orders float bits as IEEE 754's totalOrder does; `sign` is the sign's bit number.
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
pub(crate) enum ResultType {
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
    #[inline(always)]
    fn of(self, holds: bool, bits: u32) -> i64 {
        if !holds {
            return 0;
        }
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
pub(crate) enum Combine {
    /// It holds, or the source is not 0.
    Or,
    /// It holds, and the source is not 0.
    And,
}

impl Combine {
    #[inline(always)]
    fn with(self, holds: bool, previous: i64) -> bool {
        match self {
            Combine::Or => holds | (previous != 0),
            Combine::And => holds & (previous != 0),
        }
    }
}

/// A comparison or select.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Compare {
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

impl Compare {
    pub(super) fn run(self, [a, b, c, d]: [&Lanes; 4], out: &mut Lanes, policy: FloatPolicy) {
        match self {
            Compare::Select { part, condition } => part.map([a, b, c, d], out, |[a, b, c, d]| {
                if condition.integers(a, b) { c } else { d }
            }),
            Compare::SelectFloat {
                float: FloatType::Single,
                condition,
            } => words([a, b, c, d], out, |[a, b, c, d]| {
                if condition.singles(policy.input32(a), policy.input32(b)) {
                    c
                } else {
                    d
                }
            }),
            Compare::SelectFloat {
                float: FloatType::Halves,
                condition,
            } => {
                let (a, b) = (flushed(a, policy), flushed(b, policy));
                halves([&a, &b, c, d], out, |[a, b, c, d]| {
                    if condition.halves(a, b) { c } else { d }
                });
            }
            Compare::Integer {
                part,
                condition,
                result,
                combine,
            } => part.map([a, b, c], out, |[a, b, c]| {
                result.of(combine.with(condition.integers(a, b), c), part.bits())
            }),
            Compare::Float {
                float: FloatType::Single,
                condition,
                result,
                combine,
            } => words([a, b, c], out, |[a, b, c]| {
                let holds = condition.singles(policy.input32(a), policy.input32(b));
                result.of(combine.with(holds, c.into()), 32) as u32
            }),
            Compare::Float {
                float: FloatType::Halves,
                condition,
                result,
                combine,
            } => {
                let (a, b) = (flushed(a, policy), flushed(b, policy));
                halves([&a, &b, c], out, |[a, b, c]| {
                    let holds = condition.halves(a, b);
                    result.of(combine.with(holds, c.into()), 16) as u16
                });
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
                    _ => result.of(condition.holds(Some(order)), 32),
                }
            }),
        }
    }
}

fn flushed(lanes: &Lanes, policy: FloatPolicy) -> Lanes {
    lanes.map(|bits| policy.input16x2(bits))
}

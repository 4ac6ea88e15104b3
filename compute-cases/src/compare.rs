//! Comparison of outputs: the rules by which contents are good (shared/kernels/README.md, "Compare rules").

use crate::element::{Element, Number};
use serde::Deserialize;
use std::fmt;

/// How an output is compared.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "ComparisonEntry")]
pub struct Comparison {
    /// What one element must satisfy.
    pub rule: Rule,
    /// How many elements may fail it.
    pub allow_mismatch: usize,
}

/// What an element must satisfy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// The bytes are equal.
    Exact {
        /// What people see of it; not every case says so.
        element: Option<Element>,
    },
    /// |got - expected| <= abs + rel * |expected|; infinities equal themselves, a NaN equals any NaN.
    Float {
        /// A real type.
        element: Element,
        /// The part of the tolerance that does not depend on the number.
        abs: f64,
        /// The part that grows with it.
        rel: f64,
    },
    /// At most so many representable numbers apart; the two zeros are one number.
    Ulp {
        /// A real type.
        element: Element,
        /// The most.
        ulp: u64,
    },
    /// Integers that differ by at most so much.
    Integer {
        /// An integer type.
        element: Element,
        /// The most.
        max_diff: u64,
    },
}

/// A comparison as it is written.
#[derive(Deserialize)]
struct ComparisonEntry {
    rule: RuleName,
    #[serde(rename = "type")]
    element: Option<Element>,
    abs: Option<f64>,
    rel: Option<f64>,
    ulp: Option<u64>,
    max_diff: Option<u64>,
    #[serde(default)]
    allow_mismatch: usize,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RuleName {
    Exact,
    Float,
    Ulp,
    Integer,
}

impl TryFrom<ComparisonEntry> for Comparison {
    type Error = &'static str;

    fn try_from(entry: ComparisonEntry) -> Result<Comparison, &'static str> {
        let real = entry.element.filter(|element| element.is_real());
        let rule = match entry.rule {
            RuleName::Exact => Rule::Exact {
                element: entry.element,
            },
            RuleName::Float => match (real, entry.abs, entry.rel) {
                (Some(element), Some(abs), Some(rel)) => Rule::Float { element, abs, rel },
                _ => return Err("rule `float` needs a real `type`, `abs` and `rel`"),
            },
            RuleName::Ulp => match (real, entry.ulp) {
                (Some(element), Some(ulp)) => Rule::Ulp { element, ulp },
                _ => return Err("rule `ulp` needs a real `type` and `ulp`"),
            },
            RuleName::Integer => match (entry.element, real, entry.max_diff) {
                (Some(element), None, Some(max_diff)) => Rule::Integer { element, max_diff },
                _ => return Err("rule `integer` needs an integer `type` and `max_diff`"),
            },
        };
        Ok(Comparison {
            rule,
            allow_mismatch: entry.allow_mismatch,
        })
    }
}

impl Rule {
    /// The element type, where the rule names one.
    pub fn element(&self) -> Option<Element> {
        match *self {
            Rule::Exact { element } => element,
            Rule::Float { element, .. }
            | Rule::Ulp { element, .. }
            | Rule::Integer { element, .. } => Some(element),
        }
    }

    fn holds(&self, got: &[u8], expected: &[u8]) -> bool {
        if got == expected {
            return true;
        }
        match *self {
            Rule::Exact { .. } => false,
            Rule::Float { element, abs, rel } => {
                match (element.number(got), element.number(expected)) {
                    (Number::Real(got), Number::Real(expected)) => {
                        got == expected
                            || (got.is_nan() && expected.is_nan())
                            || (expected.is_finite()
                                && (got - expected).abs() <= abs + rel * expected.abs())
                    }
                    _ => false,
                }
            }
            Rule::Ulp { element, ulp } => {
                let is_nan = |bytes: &[u8]| matches!(element.number(bytes), Number::Real(value) if value.is_nan());
                match (is_nan(got), is_nan(expected)) {
                    (false, false) => {
                        element.ordinal(got).abs_diff(element.ordinal(expected)) <= ulp
                    }
                    (one, other) => one == other,
                }
            }
            Rule::Integer { element, max_diff } => {
                match (element.number(got), element.number(expected)) {
                    (Number::Integer(got), Number::Integer(expected)) => {
                        got.abs_diff(expected) <= max_diff
                    }
                    _ => false,
                }
            }
        }
    }
}

/// How an output differs from what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Elements that differ.
    pub elements: usize,
    /// Of so many.
    pub of: usize,
    /// The first of them.
    pub first: usize,
    /// Its type.
    pub element: Element,
    /// What is there, as text.
    pub got: String,
    /// What should be.
    pub expected: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ty = format!("{:?}", self.element).to_lowercase();
        write!(
            f,
            "element {} (byte {:#x}, {ty}): got {}, expected {}; {} of {} elements differ",
            self.first,
            self.first * self.element.bytes(),
            self.got,
            self.expected,
            self.elements,
            self.of
        )
    }
}

impl Comparison {
    /// The elements in which an output of this length is compared and shown.
    fn element(&self, bytes: usize) -> Element {
        match self.rule.element() {
            Some(element) => element,
            // Only the strictest count is right where some may differ.
            None if bytes.is_multiple_of(4) && self.allow_mismatch == 0 => Element::U32,
            None => Element::U8,
        }
    }

    /// Compares an output with what is expected. Both have the same length.
    ///
    /// # Errors
    /// The first element that fails the rule, if more fail than may.
    pub fn check(&self, got: &[u8], expected: &[u8]) -> Result<(), Mismatch> {
        let element = self.element(expected.len());
        let width = element.bytes();
        let mut pairs = got.chunks(width).zip(expected.chunks(width)).enumerate();
        let fails =
            |(_, (got, expected)): &(usize, (&[u8], &[u8]))| !self.rule.holds(got, expected);
        let Some((first, (there, wanted))) = pairs.find(fails) else {
            return Ok(());
        };
        let elements = 1 + pairs.filter(fails).count();
        if elements <= self.allow_mismatch {
            return Ok(());
        }
        Err(Mismatch {
            elements,
            of: expected.len().div_ceil(width),
            first,
            element,
            got: element.show(there),
            expected: element.show(wanted),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, got: &[u8], expected: &[u8]) -> String {
        let comparison: Comparison = serde_json::from_str(json).unwrap();
        match comparison.check(got, expected) {
            Ok(()) => "good".to_owned(),
            Err(mismatch) => mismatch.to_string(),
        }
    }

    fn f32s(values: &[f32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    #[test]
    fn exact_shows_words() {
        let rule = r#"{"rule": "exact", "why": "integers"}"#;
        assert_eq!(check(rule, &[1, 2, 3, 4], &[1, 2, 3, 4]), "good");
        assert_eq!(
            check(rule, &[0; 8], &[0, 0, 0, 0, 1, 0, 0, 0]),
            "element 1 (byte 0x4, u32): got 0, expected 1; 1 of 2 elements differ"
        );
        assert_eq!(
            check(rule, &[0, 0], &[0, 7]),
            "element 1 (byte 0x1, u8): got 0, expected 7; 1 of 2 elements differ"
        );
        let typed = r#"{"rule": "exact", "type": "f32"}"#;
        assert_eq!(
            check(typed, &f32s(&[0.0]), &f32s(&[-0.0])),
            "element 0 (byte 0x0, f32): got 0.0, expected -0.0; 1 of 1 elements differ"
        );
    }

    #[test]
    fn floats_may_be_off_by_a_tolerance() {
        let rule = r#"{"rule": "float", "type": "f32", "abs": 0.5, "rel": 0.25}"#;
        assert_eq!(check(rule, &f32s(&[5.5, -0.0]), &f32s(&[4.0, 0.0])), "good");
        assert_eq!(
            check(rule, &f32s(&[5.75]), &f32s(&[4.0])),
            "element 0 (byte 0x0, f32): got 5.75 (0x40b80000), expected 4.0; 1 of 1 elements differ"
        );
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        assert_eq!(check(rule, &f32s(&[inf, -nan]), &f32s(&[inf, nan])), "good");
        assert_ne!(check(rule, &f32s(&[inf]), &f32s(&[-inf])), "good");
        assert_ne!(check(rule, &f32s(&[1.0]), &f32s(&[inf])), "good");
        assert_ne!(check(rule, &f32s(&[inf]), &f32s(&[1.0])), "good");
        assert_ne!(check(rule, &f32s(&[nan]), &f32s(&[1.0])), "good");
    }

    #[test]
    fn some_elements_may_fail() {
        let rule = r#"{"rule": "integer", "type": "i8", "max_diff": 1, "allow_mismatch": 1}"#;
        assert_eq!(check(rule, &[0xff, 0, 9], &[0, 0, 0]), "good");
        assert_eq!(
            check(rule, &[0xff, 8, 9], &[0, 0, 0]),
            "element 1 (byte 0x1, i8): got 8, expected 0; 2 of 3 elements differ"
        );
    }

    #[test]
    fn rules_without_their_members_are_refused() {
        #[rustfmt::skip]
        let table = [
            (r#"{"rule": "near"}"#,                                     "unknown variant `near`"),
            (r#"{"rule": "float", "type": "u32", "abs": 1, "rel": 1}"#, "rule `float` needs a real `type`, `abs` and `rel`"),
            (r#"{"rule": "ulp", "type": "f32"}"#,                       "rule `ulp` needs a real `type` and `ulp`"),
            (r#"{"rule": "integer", "type": "f32", "max_diff": 1}"#,    "rule `integer` needs an integer `type` and `max_diff`"),
        ];
        for (text, part) in table {
            let error = serde_json::from_str::<Comparison>(text)
                .unwrap_err()
                .to_string();
            assert!(error.contains(part), "no {part:?} in {error:?}");
        }
    }

    #[test]
    fn ulps_count_numbers() {
        let rule = r#"{"rule": "ulp", "type": "f32", "ulp": 1}"#;
        let next = f32::from_bits(1.0f32.to_bits() + 1);
        assert_eq!(
            check(rule, &f32s(&[next, -0.0]), &f32s(&[1.0, 0.0])),
            "good"
        );
        assert_ne!(
            check(
                rule,
                &f32s(&[f32::from_bits(1.0f32.to_bits() + 2)]),
                &f32s(&[1.0])
            ),
            "good"
        );
        assert_ne!(
            check(rule, &f32s(&[f32::NAN]), &f32s(&[f32::INFINITY])),
            "good"
        );
        assert_eq!(
            check(
                r#"{"rule": "ulp", "type": "f16", "ulp": 2}"#,
                &[1, 0],
                &[1, 0x80]
            ),
            "good"
        );
    }
}

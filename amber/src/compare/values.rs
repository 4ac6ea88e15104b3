//! `EXPECT b IDX offset OP values`: value by value, in the component's own type.

use super::is_close;
use crate::literal::Literal;
use crate::script::{Comparator, Tolerance};
use crate::types::{Element, Number, Scalar};
use crate::words::Word;
use core::fmt;

/// How far `EQ` lets floats be off: relative, in double precision.
const EXACT: Tolerance = Tolerance::Percent(1e-6);

/// The first value that is not as it should be, and how many there are.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueMismatch {
    /// Its place in the list of values, from 0.
    pub index: usize,
    /// Byte offset in the buffer.
    pub offset: usize,
    /// Its type.
    pub scalar: Scalar,
    /// What is there.
    pub found: Number,
    /// How it was compared.
    pub comparator: Comparator,
    /// With what.
    pub wanted: Number,
    /// Values that are not as they should be.
    pub count: usize,
    /// Values that were compared.
    pub of: usize,
}

impl fmt::Display for ValueMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, wanted) = (self.found, self.wanted);
        let (scalar, comparator) = (self.scalar.text(), self.comparator.text());
        write!(
            f,
            "{scalar} {found} {comparator} {wanted} does not hold at index {}, byte {}",
            self.index, self.offset
        )?;
        write!(f, " ({} of {} values differ)", self.count, self.of)
    }
}

/// Compares the values from byte `offset` of a buffer on. The buffer is long enough: a value beyond its end is a mismatch
/// with zero.
pub fn values(
    element: &Element,
    bytes: &[u8],
    offset: usize,
    comparator: Comparator,
    tolerance: Option<Tolerance>,
    expected: &[Literal],
) -> Option<ValueMismatch> {
    let mut first: Option<ValueMismatch> = None;
    for (index, literal) in expected.iter().enumerate() {
        let Some((scalar, at)) = element.place(index) else {
            continue;
        };
        let at = offset.saturating_add(at);
        let found = scalar.load(bytes.get(at..).unwrap_or(&[]));
        let wanted = scalar.convert(*literal);
        if holds(found, comparator, tolerance, wanted) {
            continue;
        }
        let mismatch = first.get_or_insert(ValueMismatch {
            index,
            offset: at,
            scalar,
            found,
            comparator,
            wanted,
            count: 0,
            of: expected.len(),
        });
        mismatch.count += 1;
    }
    first
}

fn holds(
    found: Number,
    comparator: Comparator,
    tolerance: Option<Tolerance>,
    wanted: Number,
) -> bool {
    use Comparator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let order = match (found, wanted) {
        (Number::Signed(a), Number::Signed(b)) => Some(a.cmp(&b)),
        (Number::Unsigned(a), Number::Unsigned(b)) => Some(a.cmp(&b)),
        (a, b) => a.as_f64().partial_cmp(&b.as_f64()),
    };
    let is_float = matches!(found, Number::Float(_));
    let equal = || match (tolerance, is_float) {
        (Some(tolerance), _) => {
            is_close(found.as_f64(), wanted.as_f64(), tolerance, wanted.as_f64())
        }
        (None, true) => is_close(found.as_f64(), wanted.as_f64(), EXACT, wanted.as_f64()),
        (None, false) => order.is_some_and(|order| order.is_eq()),
    };
    match comparator {
        Equal => equal(),
        NotEqual => !equal(),
        // What can't be ordered fails nothing.
        Less => order.is_none_or(|order| order.is_lt()),
        LessOrEqual => order.is_none_or(|order| order.is_le()),
        Greater => order.is_none_or(|order| order.is_gt()),
        GreaterOrEqual => order.is_none_or(|order| order.is_ge()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Layout, Numeric, Type};

    fn element(name: &str) -> Element {
        Type::Numeric(Numeric::named(name).unwrap())
            .element(Layout::Std430)
            .unwrap()
    }

    #[track_caller]
    fn check(
        scalar: &str,
        found: Literal,
        op: &str,
        tolerance: Option<Tolerance>,
        wanted: Literal,
        holds: bool,
    ) {
        let element = element(scalar);
        let mut bytes = vec![0; element.stride];
        element.components[0].scalar.store(found, &mut bytes);
        let op = Comparator::from_text(op).unwrap();
        let mismatch = values(&element, &bytes, 0, op, tolerance, &[wanted]);
        assert_eq!(
            mismatch.is_none(),
            holds,
            "{found} {op:?} {wanted} as {scalar}: {mismatch:?}"
        );
    }

    fn int(value: i64) -> Literal {
        Literal::Integer {
            negative: value < 0,
            magnitude: value.unsigned_abs(),
        }
    }

    fn float(value: f64) -> Literal {
        Literal::Float(value)
    }

    #[test]
    fn integers_compare_in_their_own_type() {
        check("uint8", int(255), "EQ", None, int(-1), true);
        check("int8", int(-1), "LT", None, int(0), true);
        check("uint8", int(-1), "LT", None, int(0), false);
        check("uint64", int(-1), "EQ", None, Literal::Hex(u64::MAX), true);
        // Beyond 53 bits every bit counts.
        check(
            "uint64",
            Literal::Hex(1 << 60),
            "EQ",
            None,
            Literal::Hex(1 << 60 | 1),
            false,
        );
        check(
            "int32",
            int(5),
            "EQ",
            Some(Tolerance::Absolute(1.0)),
            int(6),
            true,
        );
        check(
            "int32",
            int(5),
            "EQ",
            Some(Tolerance::Absolute(1.0)),
            int(7),
            false,
        );
        check(
            "int32",
            int(95),
            "EQ",
            Some(Tolerance::Percent(5.0)),
            int(100),
            true,
        );
        check(
            "int32",
            int(94),
            "EQ",
            Some(Tolerance::Percent(5.0)),
            int(100),
            false,
        );
        check("int32", int(5), "NE", None, int(6), true);
        check("int32", int(6), "GE", None, int(6), true);
        check("int32", int(6), "GT", None, int(6), false);
    }

    #[test]
    fn floats_compare_exactly_unless_told_otherwise() {
        check("float", float(1.1), "EQ", None, float(1.1), true);
        check(
            "float",
            Literal::Float(f64::from(1.1f32.next_up())),
            "EQ",
            None,
            float(1.1),
            false,
        );
        check("float", int(0), "EQ", None, float(-0.0), true);
        check("float", float(f64::NAN), "EQ", None, float(f64::NAN), true);
        check("float", float(f64::NAN), "EQ", None, float(1.0), false);
        check(
            "float",
            float(f64::NAN),
            "EQ",
            Some(Tolerance::Absolute(1e9)),
            float(1.0),
            false,
        );
        check("float", float(f64::NAN), "NE", None, float(1.0), true);
        check("float", float(f64::NAN), "LT", None, float(1.0), true);
        check(
            "float",
            float(f64::INFINITY),
            "EQ",
            None,
            float(1e300),
            true,
        );
        check("float", float(2.0), "LE", None, float(1.0), false);
        check("float16", float(2.4), "EQ", None, float(2.4), false);
        check("float16", float(2.5), "EQ", None, float(2.5), true);
        check("double", float(0.1), "EQ", None, float(0.1), true);
        check("double", float(0.1), "EQ", None, float(0.100_000_01), false);
    }

    #[test]
    fn padding_is_skipped_and_the_first_mismatch_told() {
        let element = element("vec3<uint8>");
        let bytes = [1, 2, 3, 99, 4, 5, 6, 99];
        let list = |values: &[i64]| values.iter().map(|value| int(*value)).collect::<Vec<_>>();
        let check = |expected: &[i64]| {
            values(
                &element,
                &bytes,
                0,
                Comparator::Equal,
                None,
                &list(expected),
            )
        };
        assert_eq!(check(&[1, 2, 3, 4, 5, 6]), None);
        let mismatch = check(&[1, 2, 3, 4, 7, 8]).unwrap();
        assert_eq!(
            mismatch.to_string(),
            "uint8 5 EQ 7 does not hold at index 4, byte 5 (2 of 6 values differ)"
        );
    }
}

//! Numbers: decimal, or with 0x, 0o, 0b.

use super::{Expected, ParseError, ParseErrorKind, Token};

/// A number from `least` to `greatest`.
pub(super) fn parse(token: Token<'_>, least: i64, greatest: i64) -> Result<i64, ParseError> {
    let wrong = token.error(ParseErrorKind::Expected(Expected::Number));
    let (negative, digits) = match token.text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, token.text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return Err(wrong);
    }
    // Digits alone: the only failure left is a number too long, which is out of any range.
    let magnitude = i64::from_str_radix(digits, radix).unwrap_or(i64::MAX);
    let value = if negative { -magnitude } else { magnitude };
    if value < least || value > greatest {
        return Err(token.error(ParseErrorKind::OutOfRange {
            value,
            least,
            greatest,
        }));
    }
    Ok(value)
}

//! Text to tokens: language reference, section 2.
//!
//! Guarantees: any text gives tokens or an error; spans are byte ranges of the source on character boundaries.

use crate::error::{Located, Problem};
use crate::literal::Literal;
use std::fmt;
use std::ops::Range;

/// A token and the bytes that it is made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token<'s> {
    pub(crate) kind: TokenKind<'s>,
    pub(crate) span: Range<usize>,
}

/// Kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind<'s> {
    /// A word, `(`, `)` or `,`.
    Identifier(&'s str),
    /// A string, its escapes replaced.
    String(String),
    Number(Literal),
    EndOfLine,
    EndOfScript,
}

impl fmt::Display for TokenKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenKind::Identifier(word) => write!(f, "`{word}`"),
            TokenKind::String(text) => write!(f, "the string {text:?}"),
            TokenKind::Number(literal) => write!(f, "{literal}"),
            TokenKind::EndOfLine => f.write_str("the end of the line"),
            TokenKind::EndOfScript => f.write_str("the end of the script"),
        }
    }
}

/// A place in the source, from which the next token is read.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'s> {
    source: &'s str,
    at: usize,
    end: usize,
}

impl<'s> Lexer<'s> {
    /// Reads `range` of the source.
    pub(crate) fn new(source: &'s str, range: Range<usize>) -> Lexer<'s> {
        Lexer {
            source,
            at: range.start,
            end: range.end,
        }
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..self.end).unwrap_or("")
    }

    fn take(&mut self, bytes: usize) -> Range<usize> {
        let start = self.at;
        self.at = (start + bytes).min(self.end);
        start..self.at
    }

    /// Skips white space, comments and continued line ends.
    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let word = rest.trim_start_matches([' ', '\t', '\r', '\x0C', '\0']);
            self.at += rest.len() - word.len();
            if word.starts_with('#') {
                let line = word.find('\n').unwrap_or(word.len());
                self.at += line;
            } else if word.starts_with("\\\n") {
                self.at += 2;
            } else if word.starts_with("\\\r\n") {
                self.at += 3;
            } else {
                return;
            }
        }
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Result<Token<'s>, Located> {
        self.skip_blank();
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(Token {
                kind: TokenKind::EndOfScript,
                span: self.at..self.at,
            });
        };
        let unsigned = rest.strip_prefix('-').unwrap_or(rest);
        let number = unsigned.starts_with(|c: char| c.is_ascii_digit());
        let fraction = rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        match first {
            '\n' => Ok(Token {
                kind: TokenKind::EndOfLine,
                span: self.take(1),
            }),
            '(' | ')' | ',' => Ok(self.identifier(1)),
            '"' => Ok(self.string()),
            _ if number || fraction => self.number(),
            _ => {
                let length = rest.find(is_separator).unwrap_or(rest.len());
                let token = self.identifier(length);
                Ok(match &token.kind {
                    TokenKind::Identifier(word) if word.eq_ignore_ascii_case("nan") => Token {
                        kind: TokenKind::Number(Literal::Float(f64::NAN)),
                        span: token.span,
                    },
                    _ => token,
                })
            }
        }
    }

    fn identifier(&mut self, bytes: usize) -> Token<'s> {
        let span = self.take(bytes);
        let word = self.source.get(span.clone()).unwrap_or("");
        Token {
            kind: TokenKind::Identifier(word),
            span,
        }
    }

    /// A number: only the part of the word that is one; the rest is a token of its own.
    fn number(&mut self) -> Result<Token<'s>, Located> {
        let rest = self.rest();
        if let Some(digits) = rest.strip_prefix("0x") {
            let count = count_while(digits, |c| c.is_ascii_hexdigit());
            let text = &rest[..2 + count];
            let span = self.take(text.len());
            return match u64::from_str_radix(&digits[..count], 16) {
                Ok(value) => Ok(Token {
                    kind: TokenKind::Number(Literal::Hex(value)),
                    span,
                }),
                Err(_) => {
                    let text = text.to_owned();
                    Err((span, Problem::Hexadecimal { text }))
                }
            };
        }
        let negative = rest.starts_with('-');
        let sign = usize::from(negative);
        let whole = count_while(&rest[sign..], |c| c.is_ascii_digit());
        let mut length = sign + whole;
        if !rest[length..].starts_with('.') {
            let digits = &rest[sign..length];
            let span = self.take(length);
            // Only digits: the one error is that there are too many.
            let magnitude = digits.parse().unwrap_or(u64::MAX);
            let literal = Literal::Integer {
                negative,
                magnitude,
            };
            return Ok(Token {
                kind: TokenKind::Number(literal),
                span,
            });
        }
        length += 1;
        length += count_while(&rest[length..], |c| c.is_ascii_digit());
        length += exponent(&rest[length..]);
        let text = &rest[..length];
        let span = self.take(length);
        // The text has the form that Rust reads; a value out of range is an infinity or zero, no error.
        let value = text.parse().unwrap_or(f64::NAN);
        Ok(Token {
            kind: TokenKind::Number(Literal::Float(value)),
            span,
        })
    }

    fn string(&mut self) -> Token<'s> {
        let rest = self.rest();
        let mut text = String::new();
        let mut characters = rest.char_indices().skip(1);
        let mut length = rest.len();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    length = at + 1;
                    break;
                }
                '\\' => text.extend(characters.next().map(|(_, escaped)| match escaped {
                    'a' => '\x07',
                    'b' => '\x08',
                    't' => '\t',
                    'n' => '\n',
                    'v' => '\x0B',
                    'f' => '\x0C',
                    'r' => '\r',
                    other => other,
                })),
                other => text.push(other),
            }
        }
        Token {
            span: self.take(length),
            kind: TokenKind::String(text),
        }
    }

    /// Text up to the first `END`, which must be a whole word; `None` when it isn't there.
    pub(crate) fn raw_text(&mut self) -> Option<&'s str> {
        let rest = self.rest();
        let length = rest.find("END")?;
        let after = rest[length + 3..].chars().next();
        if !after.is_none_or(is_separator) {
            return None;
        }
        self.take(length + 3);
        Some(&rest[..length])
    }
}

fn is_separator(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\r' | '\n' | '\x0C' | '\0' | '(' | ')' | ','
    )
}

fn count_while(text: &str, wanted: impl Fn(char) -> bool) -> usize {
    text.find(|c| !wanted(c)).unwrap_or(text.len())
}

/// Length of an exponent, `e5` or `E-7`; 0 where there is none.
fn exponent(text: &str) -> usize {
    let Some(after) = text.strip_prefix(['e', 'E']) else {
        return 0;
    };
    let digits = after.strip_prefix(['+', '-']).unwrap_or(after);
    match count_while(digits, |c| c.is_ascii_digit()) {
        0 => 0,
        count => text.len() - digits.len() + count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let mut lexer = Lexer::new(source, 0..source.len());
        let mut found = Vec::new();
        loop {
            match lexer.next() {
                Ok(token) if token.kind == TokenKind::EndOfScript => break,
                Ok(token) => found.push(token.kind.to_string()),
                Err((_, problem)) => {
                    found.push(problem.to_string());
                    break;
                }
            }
        }
        assert_eq!(found.join(" "), expected, "{source:?}");
    }

    #[test]
    fn words_and_punctuation() {
        check("a#b (c),d", "`a#b` `(` `c` `)` `,` `d`");
        check("a # b\nc", "`a` the end of the line `c`");
        check("a \\\n b \\\r\n c", "`a` `b` `c`");
        check("a \\ \n", "`a` `\\` the end of the line");
        check("+5 -.5 inf -nan", "`+5` `-.5` `inf` `-nan`");
    }

    #[test]
    fn numbers_end_where_they_end() {
        check("5% 12abc 1/R8_UINT", "5 `%` 12 `abc` 1 `/R8_UINT`");
        check(
            "1e5 1.5e-7 .5 -1. 2.e",
            "1 `e5` 0.00000015 0.5 -1.0 2.0 `e`",
        );
        check("0xff 0xFFFFFFFFFFFFFFFF -5", "0xff 0xffffffffffffffff -5");
        check("99999999999999999999999", "18446744073709551615");
        check("NaN", "NaN");
        check("0x", "`0x` is no hexadecimal number of at most 64 bits");
        check(
            "0x10000000000000000",
            "`0x10000000000000000` is no hexadecimal number of at most 64 bits",
        );
    }

    #[test]
    fn strings_have_escapes_and_may_lack_an_end() {
        check(r#""a\"\\\n""#, r#"the string "a\"\\\n""#);
        check("\"a\nb", r#"the string "a\nb""#);
    }

    #[test]
    fn raw_text_ends_at_a_whole_word() {
        let text = |source: &'static str| Lexer::new(source, 0..source.len()).raw_text();
        assert_eq!(text("a b\nEND\nc"), Some("a b\n"));
        assert_eq!(text("a ENDIF\nEND"), None);
        assert_eq!(text("a b"), None);
    }
}

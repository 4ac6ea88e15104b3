//! Text and hex that people hand to `asm`, `disasm` and their like: a line at a time, with the fault underlined.
//!
//! Guarantees: without `--keep-going` the first fault ends the command with status 2; with it every line is tried, and
//! a line that fails prints `error: …` in its place.

use crate::input::buffer_source;
use crate::outcome::{Failure, Status};
use crate::output::source_text;
use crate::output::streams::{talk, unless_reader_gone};
use miette::{Diagnostic, NamedSource, SourceSpan};
use std::io::Write;
use std::ops::Range;
use thiserror::Error;

/// Where the input comes from, and what to do when a line is wrong.
#[derive(clap::Args)]
pub(crate) struct InputArgs {
    /// The input file; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: String,
    /// Try every line; a line that fails prints `error: …` in its place.
    #[arg(long)]
    pub(crate) keep_going: bool,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// One line, without a full stop.
    pub(crate) message: String,
    /// Bytes of the line that are to blame; an empty range is a position.
    pub(crate) columns: Range<usize>,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Problem {
    /// A problem of the whole line.
    pub(crate) fn of_line(line: &str, message: impl Into<String>) -> Problem {
        Problem {
            message: message.into(),
            columns: line.len() - line.trim_start().len()..line.trim_end().len(),
        }
    }
}

/// A [`Problem`] with its place, as a person sees it.
#[derive(Debug, Error, Diagnostic)]
#[error("{name}:{place}: {message}")]
pub(crate) struct TextError {
    name: String,
    /// Line and column; of raw input the byte.
    place: String,
    message: String,
    #[source_code]
    source_code: NamedSource<String>,
    #[label("here")]
    span: SourceSpan,
}

/// A word of the input.
pub(crate) struct Word<'i> {
    /// Its line, from 0 on.
    pub(crate) line: usize,
    /// The text of the line.
    pub(crate) text: &'i str,
    /// What it says.
    pub(crate) value: Result<u64, Problem>,
}

/// Raw input that ends within a word.
#[derive(Debug, Error, Diagnostic)]
#[error("{name}: {bytes} bytes are no whole number of 64-bit words")]
#[diagnostic(help("without --raw the input is read as text: a word of 16 hex digits a line"))]
struct PartOfWord {
    name: String,
    bytes: usize,
}

/// The whole input.
pub(crate) struct Input {
    name: String,
    bytes: Vec<u8>,
    /// The input was raw words, which are a line each now.
    is_raw: bool,
}

impl Input {
    /// Reads the file, or standard input.
    pub(crate) fn read(file: &str) -> Result<Input, Failure> {
        let name = if file == "-" { "<stdin>" } else { file };
        Ok(Input {
            name: name.to_owned(),
            bytes: buffer_source::read(file)?,
            is_raw: false,
        })
    }

    /// Reads words: of `raw` bytes, lowest first, or as text. Raw ones become text, a word of 16 hex digits a line, so that
    /// a fault is shown in its word.
    pub(crate) fn read_words(file: &str, raw: bool) -> Result<Input, Failure> {
        let input = Input::read(file)?;
        if !raw {
            return Ok(input);
        }
        let (words, rest) = input.bytes.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(Failure::refused(PartOfWord {
                name: input.name,
                bytes: input.bytes.len(),
            }));
        }
        let line = |word: &[u8; 8]| format!("{:016x}\n", u64::from_le_bytes(*word));
        Ok(Input {
            bytes: words.iter().map(line).collect::<String>().into_bytes(),
            name: input.name,
            is_raw: true,
        })
    }

    /// The input as it is.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The words of the input; blank lines and comments are left out.
    pub(crate) fn words(&self) -> Result<Vec<Word<'_>>, Failure> {
        let lines = self.text()?.lines().enumerate();
        let lines = lines.filter(|(_, text)| !is_blank(text));
        let word = |(line, text)| Word {
            line,
            text,
            value: hex_word(text),
        };
        Ok(lines.map(word).collect())
    }

    /// The input as text.
    ///
    /// # Errors
    /// Input that is not UTF-8, with the line and column of the first byte that is not.
    pub(crate) fn text(&self) -> Result<&str, Failure> {
        std::str::from_utf8(&self.bytes).map_err(|error| {
            let good = self.bytes.get(..error.valid_up_to()).unwrap_or(&[]);
            let line = good.iter().filter(|byte| **byte == b'\n').count();
            let start = good
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |at| at + 1);
            let column = good.len() - start;
            let problem = Problem {
                message: "not UTF-8".to_owned(),
                columns: column..column,
            };
            let shown = String::from_utf8_lossy(&self.bytes);
            Failure::refused(self.error_in(&shown, line, &problem))
        })
    }

    /// The error for a problem in line `line`, counted from 0.
    pub(crate) fn error(&self, line: usize, problem: &Problem) -> TextError {
        self.error_in(&String::from_utf8_lossy(&self.bytes), line, problem)
    }

    /// Where a problem of line `line` (from 0), which reads `content`, is.
    fn place(&self, line: usize, content: &str, problem: &Problem) -> String {
        let before = content.get(..problem.columns.start).unwrap_or(content);
        match self.is_raw {
            true => format!(" byte {:#x}", 8 * line),
            false => format!("{}:{}", line + 1, before.chars().count() + 1),
        }
    }

    fn error_in(&self, text: &str, line: usize, problem: &Problem) -> TextError {
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let content = text
            .get(start..)
            .and_then(|rest| rest.lines().next())
            .unwrap_or("");
        let before = content.get(..problem.columns.start).unwrap_or(content);
        TextError {
            name: self.name.clone(),
            place: self.place(line, content, problem),
            message: problem.message.clone(),
            source_code: source_text::shown(&self.name, text),
            span: (start + before.len(), problem.columns.len()).into(),
        }
    }
}

/// Prints one result a line; a reader that has gone away is no error.
pub(crate) struct Results {
    out: std::io::BufWriter<std::io::StdoutLock<'static>>,
    failed: bool,
    keep_going: bool,
}

impl Results {
    pub(crate) fn new(keep_going: bool) -> Results {
        Results {
            out: std::io::BufWriter::new(std::io::stdout().lock()),
            failed: false,
            keep_going,
        }
    }

    /// Prints a good result, or deals with the problem of line `line` (from 0) as the user asked.
    pub(crate) fn put(
        &mut self,
        input: &Input,
        line: usize,
        result: Result<impl std::fmt::Display, Problem>,
    ) -> Result<(), Failure> {
        let written = match result {
            Ok(text) => writeln!(self.out, "{text}"),
            Err(problem) if self.keep_going => {
                self.failed = true;
                writeln!(self.out, "error: {}", problem.message)
            }
            Err(problem) => {
                // What was good before it is shown first.
                self.flush()?;
                return Err(Failure::refused(input.error(line, &problem)));
            }
        };
        unless_reader_gone(written)
    }

    /// Says on standard error what is to be known of line `line` (from 0), which reads `content` and whose result is good all
    /// the same.
    pub(crate) fn note(
        &mut self,
        input: &Input,
        line: usize,
        content: &str,
        problem: &Problem,
    ) -> Result<(), Failure> {
        // After the results before it, where both go to one place.
        self.flush()?;
        let place = input.place(line, content, problem);
        talk!("note: {}:{place}: {}", input.name, problem.message);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let flushed = self.out.flush();
        unless_reader_gone(flushed)
    }

    /// Ends the output, and gives the status: refused when any line failed.
    pub(crate) fn finish(mut self) -> Result<Status, Failure> {
        self.flush()?;
        Ok(if self.failed {
            Status::Refused
        } else {
            Status::Good
        })
    }
}

/// Whether a line holds nothing to translate: blank, or a comment that starts with `#`.
pub(crate) fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// A 64-bit word as people write it: 16 hex digits (`0x` and one `_` allowed), or eight byte pairs, lowest byte first.
pub(crate) fn hex_word(line: &str) -> Result<u64, Problem> {
    let pairs: Vec<(usize, &str)> = words_of(line).collect();
    match pairs.as_slice() {
        [(at, digits)] => {
            // Some write the two halves apart: `00a4c010_0000d001`.
            let bare = digits
                .strip_prefix("0x")
                .unwrap_or(digits)
                .replacen('_', "", 1);
            let good = bare.len() == 16 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
            let word = good.then(|| u64::from_str_radix(&bare, 16).ok()).flatten();
            word.ok_or_else(|| Problem {
                message: format!("`{digits}` is not a word of 16 hex digits"),
                columns: *at..at + digits.len(),
            })
        }
        pairs if pairs.len() == 8 => {
            let mut word = 0;
            for (at, digits) in pairs.iter().rev() {
                let good = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let byte = good.then(|| u64::from_str_radix(digits, 16).ok()).flatten();
                let byte = byte.ok_or_else(|| Problem {
                    message: format!("`{digits}` is not a byte of two hex digits"),
                    columns: *at..at + digits.len(),
                })?;
                word = word << 8 | byte;
            }
            Ok(word)
        }
        pairs => Err(Problem::of_line(
            line,
            format!(
                "{} items: a line holds one word of 16 hex digits, or eight bytes",
                pairs.len()
            ),
        )),
    }
}

/// The blank-separated words of a line, each with its byte offset.
fn words_of(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split_whitespace().map(move |word| {
        // Both point into the same line.
        (word.as_ptr().addr() - line.as_ptr().addr(), word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_both_forms() {
        assert_eq!(hex_word("0123456789abcdef"), Ok(0x0123_4567_89ab_cdef));
        assert_eq!(hex_word("01234567_89abcdef"), Ok(0x0123_4567_89ab_cdef));
        assert_eq!(
            hex_word(" ef cd ab 89 67 45 23 01 "),
            Ok(0x0123_4567_89ab_cdef)
        );
    }

    #[track_caller]
    fn refused(line: &str, message: &str, columns: Range<usize>) {
        let message = message.to_owned();
        assert_eq!(hex_word(line), Err(Problem { message, columns }));
    }

    #[test]
    fn what_is_no_word_is_underlined() {
        refused("0123", "`0123` is not a word of 16 hex digits", 0..4);
        refused(
            "00 01 02 03 04 05 06 xx",
            "`xx` is not a byte of two hex digits",
            21..23,
        );
        refused(
            "00 01",
            "2 items: a line holds one word of 16 hex digits, or eight bytes",
            0..5,
        );
    }

    #[test]
    fn an_error_names_line_and_column() {
        let input = Input {
            name: "x.s".to_owned(),
            bytes: b"one\ntwo three\n".to_vec(),
            is_raw: false,
        };
        let problem = Problem {
            message: "no".to_owned(),
            columns: 4..9,
        };
        assert_eq!(input.error(1, &problem).to_string(), "x.s:2:5: no");
    }
}

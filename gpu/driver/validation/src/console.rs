//! Console: the suite's lines, as TAP, for LAVA's monitors, or for people.
//!
//! Guarantees: the plan comes first, each line is handed on whole and at once, ASCII, at most [`LINE`] bytes; `# done` is the
//! last. A serial line loses and changes bytes: in the forms for programs the lines of a test are followed by `# @C` and their
//! CRC-32, each line with a line feed behind it.  Facts: hardware/boards-labs.md 1 (lines, what must never be printed) and 3.3 (LAVA's patterns).

use crate::result::{Status, Summary, TestResult};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use crc32fast::Hasher;

/// Longest line, without its end.
pub const LINE: usize = 200;

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The Test Anything Protocol, version 14.
    #[default]
    Tap,
    /// Lines for monitors of LAVA's: `@R name pass`, and all measured numbers once more behind the tests, `@N name 20 us`: a monitor
    /// takes a line with a result or one with a number, and monitors work one after another.
    Lava,
    /// For people.
    Plain,
}

impl Form {
    /// All, with the words that name them on a command line.
    pub const ALL: [(&'static str, Form); 3] = [
        ("tap", Form::Tap),
        ("lava", Form::Lava),
        ("plain", Form::Plain),
    ];

    /// The form of a word.
    pub fn named(word: &str) -> Option<Form> {
        let row = Form::ALL.iter().find(|(name, _)| *name == word);
        row.map(|(_, form)| *form)
    }
}

/// Who hears of tests, and of how things go.
pub trait Listener {
    /// So many tests will be run.
    fn plan(&mut self, tests: usize);

    /// A test begins.
    fn begin(&mut self, name: &str) {
        let _ = name;
    }

    /// What was found out on the way, one line.
    fn note(&mut self, line: &str) {
        let _ = line;
    }

    /// A test is over.
    fn result(&mut self, result: &TestResult);

    /// All are.
    fn done(&mut self, summary: Summary);
}

/// Hears nothing.
impl Listener for () {
    fn plan(&mut self, _: usize) {}
    fn result(&mut self, _: &TestResult) {}
    fn done(&mut self, _: Summary) {}
}

/// Writes what it hears, a line at a time, to a function that takes whole lines.
pub struct Console<'t, W> {
    form: Form,
    /// What stands in the first line behind `EITRI-START`: version, board, build.
    title: &'t str,
    write: W,
    /// Of the lines of the test that is told of.
    sum: Hasher,
    /// What was measured, as it is told again behind the tests.
    numbers: Vec<String>,
}

impl<'t, W: FnMut(&str)> Console<'t, W> {
    /// Lines in this form for `write`, which adds the line's end.
    pub fn new(form: Form, title: &'t str, write: W) -> Console<'t, W> {
        Console {
            form,
            title,
            write,
            sum: Hasher::new(),
            numbers: Vec::new(),
        }
    }

    fn line(&mut self, text: &str) {
        (self.write)(&clean(text));
    }

    /// A line that the checksum is of.
    fn summed(&mut self, text: &str) {
        let line = clean(text);
        self.sum.update(line.as_bytes());
        self.sum.update(b"\n");
        (self.write)(&line);
    }
}

/// One line of printable ASCII of at most [`LINE`] bytes.
fn clean(text: &str) -> String {
    let mut line: String = text
        .chars()
        .map(|c| match c {
            ' '..='~' => c,
            '\n' | '\t' => ' ',
            _ => '?',
        })
        .take(LINE)
        .collect();
    line.truncate(line.trim_end().len());
    line
}

/// A reason, where a `#` would begin a directive of TAP.
fn reason(text: &str) -> String {
    text.replace('#', "no.")
}

impl<W: FnMut(&str)> Listener for Console<'_, W> {
    fn plan(&mut self, tests: usize) {
        let start = format!("EITRI-START {}", self.title);
        match self.form {
            Form::Tap => {
                self.line("TAP version 14");
                self.line(&format!("1..{tests}"));
                self.line(&format!("# {start}"));
            }
            Form::Lava => {
                self.line(&start);
                self.line(&format!("# plan 1..{tests}"));
            }
            Form::Plain => self.line(&format!("{tests} tests, {}", self.title)),
        }
    }

    fn begin(&mut self, name: &str) {
        // A test that hangs is known by its name.
        if self.form == Form::Lava {
            self.line(&format!("# begin {name}"));
        }
    }

    fn note(&mut self, line: &str) {
        self.line(&format!("# {line}"));
    }

    fn result(&mut self, result: &TestResult) {
        let TestResult {
            number, name, why, ..
        } = result;
        let why = reason(why);
        let line = match (self.form, result.status) {
            (Form::Tap, Status::Passed) => format!("ok {number} {name}"),
            (Form::Tap, Status::Failed) => format!("not ok {number} {name} # {why}"),
            (Form::Tap, Status::Skipped) => format!("ok {number} {name} # SKIP {why}"),
            (Form::Lava, Status::Passed) => format!("@R {name} pass"),
            // The reason comes first: the line of the result ends with the verdict.
            (Form::Lava, Status::Failed) => {
                self.line(&format!("# {name}: {why}"));
                format!("@R {name} fail")
            }
            (Form::Lava, Status::Skipped) => {
                self.line(&format!("# {name}: {why}"));
                format!("@R {name} skip")
            }
            (Form::Plain, Status::Passed) => format!("passed   {name}"),
            (Form::Plain, Status::Failed) => format!("FAILED   {name}: {why}"),
            (Form::Plain, Status::Skipped) => format!("skipped  {name}: {why}"),
        };
        self.summed(&line);
        for it in &result.measured {
            let (name, value, unit) = (&it.name, it.value, it.unit);
            if self.form == Form::Lava {
                self.numbers.push(format!("@N {name} {value} {unit}"));
            }
            self.summed(&match self.form {
                Form::Tap => format!("# @M {name} {value} {unit}"),
                Form::Lava => format!("@M {name} {value} {unit}"),
                Form::Plain => format!("         {name} = {value} {unit}"),
            });
        }
        let sum = core::mem::take(&mut self.sum).finalize();
        if self.form != Form::Plain {
            self.line(&format!("# @C {sum:08x}"));
        }
    }

    fn done(&mut self, summary: Summary) {
        let Summary {
            passed,
            failed,
            skipped,
        } = summary;
        let end = format!("EITRI-END {passed} {failed} {skipped}");
        match self.form {
            Form::Tap => self.line(&format!("# {end}")),
            Form::Lava => {
                self.line(&end);
                self.line("EITRI-NUMBERS");
                for line in core::mem::take(&mut self.numbers) {
                    self.line(&line);
                }
            }
            Form::Plain => {}
        }
        self.line(&format!(
            "# done: {passed} passed, {failed} failed, {skipped} skipped"
        ));
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::result::{Measurement, Unit};

    #[track_caller]
    fn check(form: Form, expected: &[&str]) {
        let mut lines: Vec<String> = Vec::new();
        let mut console = Console::new(form, "0.1 board build", |line: &str| {
            lines.push(line.into())
        });
        let mut result = TestResult {
            number: 1,
            name: "power.l2".into(),
            status: Status::Passed,
            why: String::new(),
            measured: alloc::vec![Measurement {
                name: "power.l2.on".into(),
                value: 20,
                unit: Unit::Microseconds,
            }],
        };
        console.plan(3);
        console.result(&result);
        result.measured.clear();
        (result.number, result.status, result.why) = (2, Status::Failed, "bit #3\nhangs".into());
        console.result(&result);
        (result.number, result.status, result.why) = (3, Status::Skipped, "no part".into());
        console.result(&result);
        console.done(Summary {
            passed: 1,
            failed: 1,
            skipped: 1,
        });
        assert_eq!(lines, expected, "{form:?}");
    }

    #[test]
    fn each_form_has_its_lines() {
        check(
            Form::Tap,
            &[
                "TAP version 14",
                "1..3",
                "# EITRI-START 0.1 board build",
                "ok 1 power.l2",
                "# @M power.l2.on 20 us",
                "# @C 08b10db4",
                "not ok 2 power.l2 # bit no.3 hangs",
                "# @C 8307ae6b",
                "ok 3 power.l2 # SKIP no part",
                "# @C 76914870",
                "# EITRI-END 1 1 1",
                "# done: 1 passed, 1 failed, 1 skipped",
            ],
        );
        check(
            Form::Lava,
            &[
                "EITRI-START 0.1 board build",
                "# plan 1..3",
                "@R power.l2 pass",
                "@M power.l2.on 20 us",
                "# @C 67ace265",
                "# power.l2: bit no.3 hangs",
                "@R power.l2 fail",
                "# @C 1dc08e43",
                "# power.l2: no part",
                "@R power.l2 skip",
                "# @C 3c0a2b88",
                "EITRI-END 1 1 1",
                "EITRI-NUMBERS",
                "@N power.l2.on 20 us",
                "# done: 1 passed, 1 failed, 1 skipped",
            ],
        );
        check(
            Form::Plain,
            &[
                "3 tests, 0.1 board build",
                "passed   power.l2",
                "         power.l2.on = 20 us",
                "FAILED   power.l2: bit no.3 hangs",
                "skipped  power.l2: no part",
                "# done: 1 passed, 1 failed, 1 skipped",
            ],
        );
    }

    #[test]
    fn a_line_is_one_line_of_ascii() {
        assert_eq!(clean("a\nb\tc\u{e9}"), "a b c?");
        assert_eq!(clean(&"x".repeat(300)).len(), LINE);
    }
}

//! Reading: a console's lines, in each of the forms that the suite has.

use super::prefix::{Line, line_of};
use super::{Log, Outcome, Told};
use crate::results::Number;

/// Lines that are kept of what was printed during a test.
const OUTPUT_LINES: usize = 200;

/// Whether nothing of interest comes after this line.
pub(crate) fn said_end(line: &str) -> bool {
    let line = line_of(line).text;
    line.starts_with("# done: ") || line.starts_with("exit status ")
}

/// A test's name, and what stands behind a `#`.
fn name_and_reason(rest: &str) -> Option<(&str, &str)> {
    let (name, reason) = match rest.split_once(" # ") {
        Some((name, reason)) => (name, reason),
        None => (rest, ""),
    };
    let name = name.trim().trim_start_matches("- ");
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, reason.trim()))
}

/// A line of TAP: `ok 3 NAME`, with its reason.
fn of_tap(line: &str) -> Option<(&str, Outcome, &str)> {
    let (good, rest) = match line.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok ")?),
    };
    let (number, rest) = rest.split_once(' ')?;
    number.parse::<usize>().ok()?;
    let (name, reason) = name_and_reason(rest)?;
    Some(match (good, reason.strip_prefix("SKIP")) {
        (_, Some(why)) => (name, Outcome::Skipped, why.trim()),
        (true, None) => (name, Outcome::Passed, reason),
        (false, None) => (name, Outcome::Failed, reason),
    })
}

/// A line for LAVA's monitors: `@R NAME pass`.
fn of_lava(line: &str) -> Option<(&str, Outcome)> {
    let (name, word) = line.strip_prefix("@R ")?.rsplit_once(' ')?;
    let (name, _) = name_and_reason(name)?;
    let outcome = match word {
        "pass" => Outcome::Passed,
        "fail" => Outcome::Failed,
        "skip" => Outcome::Skipped,
        _ => return None,
    };
    Some((name, outcome))
}

/// A line for people: `FAILED   NAME: why`.
fn of_plain(line: &str) -> Option<(&str, Outcome, &str)> {
    let (outcome, rest) = if let Some(rest) = line.strip_prefix("passed   ") {
        (Outcome::Passed, rest)
    } else if let Some(rest) = line.strip_prefix("FAILED   ") {
        (Outcome::Failed, rest)
    } else {
        (Outcome::Skipped, line.strip_prefix("skipped  ")?)
    };
    let (name, why) = rest.split_once(": ").unwrap_or((rest, ""));
    let (name, _) = name_and_reason(name)?;
    Some((name, outcome, why))
}

/// `@M NAME VALUE UNIT`, in TAP behind `#`; or `NAME = VALUE UNIT`.
fn number(line: &str) -> Option<Number> {
    let line = line.strip_prefix("# ").unwrap_or(line);
    let (name, value, unit) = match line.strip_prefix("@M ") {
        Some(rest) => {
            let mut words = rest.split(' ');
            (words.next()?, words.next()?, words.next()?)
        }
        None => {
            let (name, rest) = line.split_once(" = ")?;
            let (value, unit) = rest.split_once(' ')?;
            (name, value, unit)
        }
    };
    let (name, _) = name_and_reason(name)?;
    Some(Number {
        name: name.to_owned(),
        value: value.parse().ok()?,
        unit: unit.to_owned(),
    })
}

/// `# @C 01234567`: the sum of a test's lines.
fn sum(line: &str) -> Option<u32> {
    let digits = line.strip_prefix("# @C ")?;
    u32::from_str_radix(digits, 16).ok()
}

/// `1..N`, however it is announced.
fn plan(line: &str) -> Option<usize> {
    let tap = line.strip_prefix("# plan ").unwrap_or(line);
    if let Some(count) = tap.strip_prefix("1..") {
        return count.parse().ok();
    }
    let (count, rest) = line.split_once(" tests, ")?;
    let count = count.parse().ok()?;
    (!rest.is_empty()).then_some(count)
}

/// `# done: 3 passed, 1 failed, 2 skipped`.
fn end(line: &str) -> Option<[usize; 3]> {
    let mut counts = line.strip_prefix("# done: ")?.split(", ");
    let mut next = |word: &str| counts.next()?.strip_suffix(word)?.trim().parse().ok();
    Some([next("passed")?, next("failed")?, next("skipped")?])
}

/// A log while it is read.
#[derive(Default)]
struct Reader {
    log: Log,
    /// What LAVA's form says of a test before its result.
    reason: Option<(String, String)>,
    /// The time of the last line that had one, and of the begin of what runs now.
    now: Option<f64>,
    begun: Option<f64>,
    /// What was printed since the last result.
    output: Vec<String>,
    /// The lines of the last result, each with a line feed, until their sum comes.
    summed: String,
}

/// What a log tells.
pub(crate) fn read(text: &str) -> Log {
    let mut reader = Reader::default();
    for line in text.lines() {
        let Line { seconds, text } = line_of(line);
        reader.now = seconds.or(reader.now);
        reader.line(&text);
    }
    reader.log.waited = reader.since_begin();
    reader.log
}

impl Reader {
    /// How long what runs now has run.
    fn since_begin(&self) -> Option<f64> {
        let since = self.now? - self.begun?;
        // A clock that was set, or midnight, is no duration.
        (since >= 0.0).then_some(since)
    }

    fn line(&mut self, line: &str) {
        let log = &mut self.log;
        let comment = line.strip_prefix("# ").unwrap_or(line);
        if let Some(title) = comment.strip_prefix("EITRI-START ") {
            begin(log, title);
            self.begun = self.now;
            self.output.clear();
        } else if let Some(rest) = line.strip_prefix("eitri ") {
            first_line(log, rest);
        } else if let Some(rest) = line.strip_prefix("image: revision ") {
            describe(log, rest);
        } else if let Some(rest) = line.strip_prefix("machine: ") {
            identify(log, rest);
        } else if let Some(count) = plan(line) {
            if let Some((_, title)) = line.split_once(" tests, ") {
                begin(log, title);
            }
            log.planned = Some(count);
            self.begun = self.now;
        } else if let Some(name) = line.strip_prefix("# begin ") {
            log.begun = Some(name.to_owned());
            self.begun = self.now;
        } else if let Some(sum) = sum(line) {
            self.check(sum);
        } else if let Some(found) = number(line) {
            self.summed.extend([line, "\n"]);
            if let Some(test) = log.tests.last_mut() {
                test.numbers.push(found);
            }
        } else if let Some(counts) = end(line) {
            log.end = Some(counts);
        } else if let Some(why) = line.strip_prefix("EITRI-CRASH ") {
            log.crash.get_or_insert_with(|| why.to_owned());
        } else if let Some((name, outcome, why)) = of_tap(line).or_else(|| of_plain(line)) {
            self.tell(name, outcome, why);
            self.summed = format!("{line}\n");
        } else if let Some((name, outcome)) = of_lava(line) {
            let why = self.reason.take().filter(|(of, _)| of == name);
            let why = why.map_or(String::new(), |(_, why)| why);
            self.tell(name, outcome, &why);
            self.summed = format!("{line}\n");
        } else {
            if let Some((name, why)) = comment.split_once(": ") {
                if let ("check interface", Some(rest)) = (name, why.strip_prefix("interface ")) {
                    let version = rest.split(',').next().unwrap_or_default();
                    version.clone_into(&mut log.interface);
                }
                self.reason = Some((name.to_owned(), why.to_owned()));
            }
            if self.output.len() < OUTPUT_LINES {
                self.output.push(line.to_owned());
            }
        }
    }

    /// The sum of the last result's lines has come.
    fn check(&mut self, sum: u32) {
        let lines = std::mem::take(&mut self.summed);
        let log = &mut self.log;
        log.has_sums = true;
        let Some(test) = log.tests.last_mut() else {
            log.damaged.push("the first test".to_owned());
            return;
        };
        match crc32fast::hash(lines.as_bytes()) == sum {
            true => test.is_summed = true,
            false => log.damaged.push(test.name.clone()),
        }
    }

    fn tell(&mut self, name: &str, outcome: Outcome, why: &str) {
        let seconds = self.since_begin();
        self.begun = self.now;
        let log = &mut self.log;
        log.begun = None;
        // A board that has started again says things twice: the last counts.
        log.tests.retain(|test| test.name != name);
        let output = std::mem::take(&mut self.output);
        log.tests.push(Told {
            name: name.to_owned(),
            outcome,
            why: why.to_owned(),
            numbers: Vec::new(),
            seconds,
            is_summed: false,
            output: match outcome {
                Outcome::Failed => output.join("\n"),
                _ => String::new(),
            },
        });
    }
}

/// The suite begins: `VERSION BOARD BUILD`.
fn begin(log: &mut Log, title: &str) {
    log.starts += 1;
    log.title = title.to_owned();
    let mut words = title.split(' ');
    let (version, board, build) = (words.next(), words.next(), words.next());
    version.unwrap_or("").clone_into(&mut log.version);
    log.board = board.unwrap_or("").to_owned();
    if let Some(build) = build {
        log.build = build.to_owned();
    }
}

/// The kernel's first line: `0.1.0 on BOARD, build ID`.
fn first_line(log: &mut Log, rest: &str) {
    if let Some((_, build)) = rest.rsplit_once(", build ")
        && rest.contains(" on ")
    {
        log.build = build.to_owned();
        let version = rest.split(' ').next().unwrap_or_default();
        log.version = version.to_owned();
    }
}

/// What the machine says of itself: `model NAME; serial NUMBER; loader WHAT`, as far as it knows.
fn identify(log: &mut Log, rest: &str) {
    for part in rest.split("; ") {
        let Some((name, value)) = part.split_once(' ') else {
            continue;
        };
        let place = match name {
            "model" => &mut log.model,
            "serial" => &mut log.serial,
            "loader" => &mut log.loader,
            _ => continue,
        };
        value.clone_into(place);
    }
}

/// Its second: `image: revision REVISION, PACKAGE, with FEATURE+FEATURE`.
fn describe(log: &mut Log, rest: &str) {
    let mut parts = rest.split(", ");
    let mut next = || parts.next().unwrap_or_default().to_owned();
    (log.revision, log.image) = (next(), next());
    let features = next();
    features
        .strip_prefix("with ")
        .unwrap_or_default()
        .clone_into(&mut log.features);
}

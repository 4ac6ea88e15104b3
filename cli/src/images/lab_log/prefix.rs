//! What stands before a line of a console: time stamps and wrappers of the programs that record it.
//!
//! Known are `[12.345]`, `[2026-11-23 16:00:00]` and the like in brackets (kernel, labgrid, grabserial), ISO times (`ts`), times of the
//! day (tio), dates of syslog (conserver), and LAVA's own log as it is downloaded.

use serde_json::Value;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// A line without what stands before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Line {
    /// When it came, in seconds of whatever clock.
    pub(super) seconds: Option<f64>,
    pub(super) text: String,
}

/// A line without its prefixes, escapes and control characters.
pub(super) fn line_of(line: &str) -> Line {
    let plain = without_escapes(line);
    let mut seconds = None;
    let mut rest = plain.trim();
    if let Some(text) = rest.strip_prefix("- {")
        && let Some(line) = of_lava(text)
    {
        return line;
    }
    while let Some((stamp, after)) = stamp(rest) {
        seconds = stamp.or(seconds);
        rest = after.trim_start();
    }
    Line {
        seconds,
        text: rest.to_owned(),
    }
}

/// `{"dt": "…", "lvl": "target", "msg": "…"}`, without its first brace.
fn of_lava(text: &str) -> Option<Line> {
    let value: Value = serde_json::from_str(&format!("{{{text}")).ok()?;
    // What LAVA itself says of the job is no line of the board's.
    if value["lvl"] != "target" {
        return Some(Line::default());
    }
    let inner = line_of(value["msg"].as_str()?);
    let (_, time) = value["dt"].as_str()?.split_once('T')?;
    let seconds = inner.seconds.or_else(|| of_day(time));
    Some(Line { seconds, ..inner })
}

/// A time stamp at the begin of a line, and what comes behind it.
fn stamp(rest: &str) -> Option<(Option<f64>, &str)> {
    if let Some(behind) = rest.strip_prefix('[') {
        let (stamp, after) = behind.split_once(']')?;
        let is_stamp = |c: char| c.is_ascii_digit() || " .:-TZ+".contains(c);
        let is_number = stamp.contains(|c: char| c.is_ascii_digit());
        return (is_number && stamp.chars().all(is_stamp)).then(|| (seconds(stamp), after));
    }
    let (word, after) = rest.split_once(' ')?;
    if is_date(word) {
        // A date of its own, and then the time.
        let (time, after) = after.split_once(' ')?;
        return Some((Some(of_day(time)?), after));
    }
    if MONTHS.contains(&word) {
        let (_, after) = after.trim_start().split_once(' ')?;
        let (time, after) = after.split_once(' ')?;
        return Some((Some(of_day(time)?), after));
    }
    let time = word.split_once('T').filter(|(date, _)| is_date(date));
    let time = time.map_or(word, |(_, time)| time);
    Some((Some(of_day(time)?), after))
}

/// The seconds of a stamp in brackets: a number of seconds, or a time of the day in it.
fn seconds(stamp: &str) -> Option<f64> {
    let stamp = stamp.trim();
    let last = stamp.rsplit([' ', 'T']).next()?;
    of_day(last).or_else(|| stamp.split(' ').next()?.parse().ok())
}

/// `2026-11-23`.
fn is_date(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts[..], [year, month, day]
        if year.len() == 4 && month.len() == 2 && day.len() == 2 && parts.iter().all(|part| digits(part)))
}

/// `16:00:01.123`, with a zone behind it or without, as seconds of the day.
fn of_day(time: &str) -> Option<f64> {
    let end = time.find(|c: char| !c.is_ascii_digit() && !":.,".contains(c));
    let (time, zone) = time.split_at(end.unwrap_or(time.len()));
    let is_zone = zone.is_empty() || zone.starts_with(['Z', '+', '-']);
    let mut parts = time.split(':');
    let mut part = || parts.next();
    let (hour, minute, second) = (part()?, part()?, part()?);
    let is_time = is_zone && part().is_none() && hour.len() == 2 && minute.len() == 2;
    let hour: f64 = hour.parse().ok()?;
    let minute: f64 = minute.parse().ok()?;
    let second: f64 = second.replace(',', ".").parse().ok()?;
    is_time.then_some(hour * 3600.0 + minute * 60.0 + second)
}

/// A line without escape sequences of terminals and other control characters.
fn without_escapes(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            if chars.next_if_eq(&'[').is_some() {
                // Parameters, then one letter.
                for c in chars.by_ref() {
                    if ('@'..='~').contains(&c) {
                        break;
                    }
                }
            }
            continue;
        }
        match c {
            '\t' => plain.push(' '),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_prefix_is_taken_off() {
        let same = |line: &str, seconds: Option<f64>| {
            let expected = Line {
                seconds,
                text: "ok 1 a.b".to_owned(),
            };
            assert_eq!(line_of(line), expected, "{line:?}");
        };
        same("ok 1 a.b\r", None);
        same("[   12.345000] ok 1 a.b", Some(12.345));
        same("[0.5 0.1] ok 1 a.b", Some(0.5));
        same("[2026-11-23 00:01:00] ok 1 a.b", Some(60.0));
        same("[2026-11-23T00:01:00.5Z] ok 1 a.b", Some(60.5));
        same("2026-11-23T00:01:00.250+01:00 ok 1 a.b", Some(60.25));
        same("2026-11-23 00:01:00 ok 1 a.b", Some(60.0));
        same("00:01:00.125 ok 1 a.b", Some(60.125));
        same("Nov  3 00:01:00 ok 1 a.b", Some(60.0));
        same("\x1b[0m\x1b[31mok 1 a.b\x07", None);
        same(
            "- {\"dt\": \"2026-11-23T00:01:00.5\", \"lvl\": \"target\", \"msg\": \"ok 1 a.b\"}",
            Some(60.5),
        );
    }

    #[test]
    fn what_is_no_prefix_stays() {
        for line in [
            "1..4",
            "[fd, b3] x",
            "12:30 x",
            "- {no json}",
            "@M a.b 20 us",
            "[] x",
        ] {
            assert_eq!(line_of(line).text, line);
        }
    }
}

//! TAP: the Test Anything Protocol, version 13, as the command and the images write it.
//!
//! The plan comes first, so that what was not run is noticed; each result is one piece of text; the last line is `# done`.

use crate::Verdict;
use alloc::string::String;
use alloc::vec::Vec;

/// What stands before the first result.
pub fn start(count: usize) -> String {
    format!("TAP version 13\n1..{count}\n")
}

/// The result of test `number`, from 1.
pub fn result(number: usize, name: &str, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Pass => format!("ok {number} - {name}\n"),
        Verdict::Skip(reason) => format!("ok {number} - {name} # SKIP {}\n", escaped(reason)),
        Verdict::Fail(why) => format!("not ok {number} - {name}\n{}", commented("Fail", why)),
    }
}

/// What stands behind the last result.
pub fn end(summary: &str) -> String {
    format!("# {summary}\n# done\n")
}

/// A verdict's word and message, each line a comment.
pub fn commented(word: &str, message: &str) -> String {
    let text = format!("{word}: {message}");
    text.lines().map(|line| format!("# {line}\n")).collect()
}

fn escaped(text: &str) -> String {
    text.replace('\n', " ").replace('#', "\\#")
}

/// What an image has said: the results, in order, and whether the last line is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many results there should be; none if not even that was said.
    pub planned: Option<usize>,
    /// Results: their numbers and verdicts.
    pub results: Vec<(usize, Verdict)>,
    /// Whether it came to its end.
    pub done: bool,
}

/// Reads what an image has said. Lines that are none of this are left out.
pub fn read(text: &str) -> Report {
    let mut report = Report::default();
    for line in text.lines() {
        if let Some(count) = line.strip_prefix("1..") {
            report.planned = count.trim().parse().ok();
        } else if line.trim() == "# done" {
            report.done = true;
        } else if let Some(rest) = line.strip_prefix("not ok ") {
            if let Some((number, _)) = numbered(rest) {
                report.results.push((number, Verdict::Fail(String::new())));
            }
        } else if let Some(rest) = line.strip_prefix("ok ") {
            if let Some((number, rest)) = numbered(rest) {
                let verdict = match rest.split_once(" # SKIP ") {
                    Some((_, reason)) => Verdict::Skip(reason.trim().replace("\\#", "#")),
                    None => Verdict::Pass,
                };
                report.results.push((number, verdict));
            }
        } else if let Some(said) = line.strip_prefix("# ")
            && let Some((_, Verdict::Fail(why))) = report.results.last_mut()
        {
            match why.is_empty() {
                true => why.push_str(said.strip_prefix("Fail: ").unwrap_or(said)),
                false => {
                    why.push('\n');
                    why.push_str(said);
                }
            }
        }
    }
    report
}

/// `3 - name`: the number, and what follows.
fn numbered(rest: &str) -> Option<(usize, &str)> {
    let (number, rest) = rest.split_once(" - ")?;
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let verdicts = [
            Verdict::Pass,
            Verdict::Fail("a:1: one\ntwo".into()),
            Verdict::Skip("x # y".into()),
        ];
        let mut text = start(verdicts.len());
        for (index, verdict) in verdicts.iter().enumerate() {
            text.push_str(&result(index + 1, "name.amber", verdict));
        }
        let cut = read(&text);
        assert!(!cut.done);
        assert_eq!(cut.planned, Some(3));
        text.push_str(&end("1 passed"));
        let report = read(&text);
        let read: Vec<Verdict> = report
            .results
            .into_iter()
            .map(|(_, verdict)| verdict)
            .collect();
        assert!(report.done);
        assert_eq!(read, verdicts);
    }
}

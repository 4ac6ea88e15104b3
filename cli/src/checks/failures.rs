//! The part of a failed check's output that is shown: the tests that failed with their messages, or else the last lines.

use crate::process::End;

/// The most lines that are shown; the log has them all.
const LINES: usize = 120;

/// The part of `output` to show; `end` says how the command ended.
pub(super) fn shown(output: &str, end: &End) -> String {
    let failed = of_tests(output);
    let lines: Vec<&str> = output.lines().collect();
    let mut text = if failed.is_empty() {
        let from = lines.len().saturating_sub(LINES);
        lines.get(from..).unwrap_or(&[]).join("\n")
    } else {
        let more = failed.len().saturating_sub(LINES);
        let mut text = failed.get(..LINES).unwrap_or(&failed).join("\n");
        if more > 0 {
            text.push_str(&format!("\n{more} more lines are in the log"));
        }
        text
    };
    if matches!(end, End::TimedOut) {
        text.push_str("\nstopped: it ran into its time limit");
    }
    text
}

/// The lines that libtest prints about failed tests, of all test programs. Programs that run later print their results behind them.
fn of_tests(output: &str) -> Vec<&str> {
    let mut failed = Vec::new();
    let mut inside = false;
    for line in output.lines() {
        // The first such line begins the messages, the second one the list of names.
        inside |= line == "failures:";
        if line.starts_with("test result: ") {
            inside = false;
        }
        if inside && line != "failures:" {
            failed.push(line);
        }
    }
    failed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_failed_is_shown_though_many_passed_after_it() {
        let passed = "test later ... ok\n".repeat(1000);
        let output = format!(
            "running 2 tests\ntest early ... FAILED\n\nfailures:\n\n---- early stdout ----\nleft: 1\n\n\
             failures:\n    early\n\ntest result: FAILED. 0 passed; 1 failed\n{passed}test result: ok. 1000 passed\n"
        );
        let shown = shown(&output, &End::TimedOut);
        assert!(shown.contains("---- early stdout ----\nleft: 1"), "{shown}");
        assert!(!shown.contains("later"), "{shown}");
        assert!(shown.contains("time limit"), "{shown}");
    }

    #[test]
    fn what_is_no_test_shows_its_end() {
        let output = "a line\n".repeat(1000) + "error: could not compile\n";
        let shown = shown(&output, &End::TimedOut);
        assert!(shown.contains("could not compile"), "{shown}");
        assert!(shown.lines().count() < 200, "{shown}");
    }
}

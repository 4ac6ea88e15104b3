//! The status page: what passes, what fails, and what is skipped for which reason.

use super::report::Tally;
use super::verdict::Verdict;
use super::workers::Outcome;
use std::collections::BTreeMap;

/// The page as Markdown.
pub(crate) fn page(outcomes: &[Outcome]) -> String {
    let tally = Tally::of(outcomes.iter().map(|outcome| &outcome.verdict));
    let mut text = format!(
        "# Amber scripts\n\nMade by `eitri amber --status`; not written by hand. {tally}.\n\n\
         A script is skipped for what the hardware lacks, by the first reason found, or for what Eitri does not do yet: `graphics`.\n"
    );
    let failed = outcomes.iter().filter(|outcome| outcome.verdict.failed());
    let failed: Vec<String> = failed
        .map(|outcome| {
            format!(
                "- `{}`: {}: {}\n",
                outcome.script.name,
                outcome.verdict.word(),
                plain(outcome)
            )
        })
        .collect();
    if !failed.is_empty() {
        text.push_str(&format!(
            "\n## Failed ({})\n\n{}",
            failed.len(),
            failed.concat()
        ));
    }
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for outcome in outcomes {
        if let Verdict::Skip(reason) = &outcome.verdict {
            reasons
                .entry(reason)
                .or_default()
                .push(&outcome.script.name);
        }
    }
    if !reasons.is_empty() {
        text.push_str("\n## Skipped, by reason\n\n| scripts | reason |\n|---|---|\n");
        let mut rows: Vec<(&&str, &Vec<&str>)> = reasons.iter().collect();
        rows.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
        for (reason, names) in &rows {
            text.push_str(&format!(
                "| {} | {} |\n",
                names.len(),
                reason.replace('|', "\\|")
            ));
        }
        for (reason, names) in rows {
            text.push_str(&format!("\n### {reason}\n\n"));
            names
                .iter()
                .for_each(|name| text.push_str(&format!("- `{name}`\n")));
        }
    }
    let passed: Vec<&str> = outcomes
        .iter()
        .filter(|outcome| outcome.verdict == Verdict::Pass)
        .map(|outcome| &outcome.script.name[..])
        .collect();
    if !passed.is_empty() {
        text.push_str("\n## Passed\n\n");
        passed
            .iter()
            .for_each(|name| text.push_str(&format!("- `{name}`\n")));
    }
    text
}

/// The first line of a failure, without the path of the machine that it was found on.
fn plain(outcome: &Outcome) -> String {
    let path = outcome.script.path.display().to_string();
    outcome
        .verdict
        .summary()
        .replace(&path, &outcome.script.name)
}

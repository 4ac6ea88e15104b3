//! `eitri broken`: labelled shaders, and what the checkers find, miss and tell in vain.
//!
//! A folder has an `index.json`: a list of rows, each a shader with what must be told of it. Lines must be right, and the binding.

use crate::input::check_arguments::UnwrittenArgument;
use crate::input::gpu_choice::GpuArgument;
use crate::input::job_arguments::JobArguments;
use crate::input::shader_file;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::runs::checked::{self, Subject};
use crate::runs::parallel;
use clap::Parser;
use eitri_checks::{Finding, Level, PushAddress, Rule};
use eitri_shaderc::Options;
use miette::Diagnostic;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder with the shaders and their `index.json`.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    gpu: GpuArgument,
    /// Take only shaders whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Print the table as JSON, with what was told of each shader.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Error, Diagnostic)]
enum BrokenError {
    #[error("{path}: {why}")]
    Index { path: String, why: String },
    #[error("{name}: {why}")]
    Row { name: String, why: String },
}

/// The options of a row.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct RowOptions {
    #[command(flatten)]
    job: JobArguments,
    #[arg(long = "unwritten")]
    unwritten: Vec<UnwrittenArgument>,
}

/// A finding that the index expects of a shader, or allows.
struct Expected {
    kind: String,
    lines: Vec<u32>,
    binding: Option<u32>,
    secondary: bool,
}

/// A labelled shader.
struct Row {
    name: String,
    class: String,
    label: String,
    expected: Vec<Expected>,
    options: Vec<String>,
}

/// The result for one shader.
struct Judged {
    findings: Vec<Finding>,
    verdict: Verdict,
    /// Warnings and errors that nothing expected.
    extra: Vec<usize>,
    problem: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// As the label has it.
    Right,
    /// Something must be told, and is not.
    Missed,
    /// Nothing may be told, and something is.
    Vain,
    /// Both ways are right.
    Open,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Right => "right",
            Verdict::Missed => "missed",
            Verdict::Vain => "in vain",
            Verdict::Open => "open",
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let rows = read(&args.folder, args.filter.as_deref())?;
    let target = args.gpu.choice().target();
    let work = |row: &Row| {
        let options = Options {
            target,
            ..Options::default()
        };
        judge(&args.folder, row, options)
    };
    let mut all = vec![];
    parallel::in_order(&rows, parallel::available(), work, |_, judged| {
        all.push(judged);
        Ok::<(), Failure>(())
    })?;
    let mut judged = vec![];
    for (row, result) in rows.iter().zip(all) {
        judged.push((row, result?));
    }
    match args.json {
        true => print_json(&judged)?,
        false => print_table(&judged)?,
    }
    let right = judged.iter().all(|(_, judged)| {
        matches!(judged.verdict, Verdict::Right | Verdict::Open) && judged.extra.is_empty()
    });
    Ok(match right {
        true => Status::Good,
        false => Status::CheckFailed,
    })
}

fn read(folder: &Path, filter: Option<&str>) -> Result<Vec<Row>, Failure> {
    let path = folder.join("index.json");
    let wrong = |why: String| {
        Failure::refused(BrokenError::Index {
            path: path.display().to_string(),
            why,
        })
    };
    let text = std::fs::read(&path).map_err(|cause| Failure::unreadable(&path, cause))?;
    let value: Value = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    let rows = value
        .as_array()
        .ok_or_else(|| wrong("not a list".to_owned()))?;
    let mut found = vec![];
    for value in rows {
        let row = row(value).ok_or_else(|| wrong(format!("a row lacks something: {value}")))?;
        if filter.is_none_or(|filter| row.name.contains(filter)) {
            found.push(row);
        }
    }
    Ok(found)
}

fn row(value: &Value) -> Option<Row> {
    let text = |name: &str| Some(value[name].as_str()?.to_owned());
    let run = &value["run"];
    let mut options = vec![];
    for argument in run["args"].as_array()? {
        options.push(argument.as_str()?.to_owned());
    }
    for part in run["unwritten"].as_array().map_or(&[][..], Vec::as_slice) {
        let binding = part["binding"].as_str()?;
        let range = match (part["from_byte"].as_u64(), part["to_byte"].as_u64()) {
            (Some(from), Some(to)) => format!("={from}..{to}"),
            _ => String::new(),
        };
        options.extend(["--unwritten".to_owned(), format!("{binding}{range}")]);
    }
    let number = |value: &Value| u32::try_from(value.as_u64()?).ok();
    let expected = |finding: &Value| {
        let lines = finding["lines"].as_array()?;
        Some(Expected {
            kind: finding["kind"].as_str()?.to_owned(),
            lines: lines.iter().filter_map(number).collect(),
            binding: finding["binding"]
                .as_str()
                .and_then(|text| text.parse().ok()),
            secondary: finding["secondary"].as_bool().unwrap_or(false),
        })
    };
    Some(Row {
        name: text("name")?,
        class: text("class")?,
        label: text("label")?,
        expected: value["findings"]
            .as_array()?
            .iter()
            .filter_map(expected)
            .collect(),
        options,
    })
}

fn judge(folder: &Path, row: &Row, options: Options) -> Result<Judged, Failure> {
    let wrong = |why: String| {
        Failure::refused(BrokenError::Row {
            name: row.name.clone(),
            why,
        })
    };
    let given =
        RowOptions::try_parse_from(&row.options).map_err(|error| wrong(error.to_string()))?;
    let path = folder.join(format!("{}.spv", row.name));
    let shader = shader_file::load(&path.display().to_string())?;
    let options = Options {
        target: options.target,
        ..given.job.options()
    };
    let unwritten: Vec<_> = given
        .unwritten
        .iter()
        .map(UnwrittenArgument::part)
        .collect();
    let addresses: Vec<PushAddress> = given.job.push_address().into_iter().map(address).collect();
    let checked = checked::run(&Subject {
        spirv: &shader.spirv,
        options: &options,
        groups: given.job.groups(),
        push_constants: &given.job.push_constants(&shader)?,
        resources: &given.job.resources()?,
        unwritten: &unwritten,
        addresses: &addresses,
        step_limit: checked::STEP_LIMIT,
    });
    Ok(match checked {
        Ok(checked) => verdict(row, checked.findings),
        Err(problem) => Judged {
            findings: vec![],
            verdict: match row.label.as_str() {
                "broken" => Verdict::Missed,
                _ => Verdict::Open,
            },
            extra: vec![],
            problem: Some(problem),
        },
    })
}

/// An address that push constants are, from their start.
pub(crate) fn address(
    (name, plus): (crate::input::buffer_source::BindingName, u64),
) -> PushAddress {
    PushAddress {
        at: 0,
        key: (name.set, name.binding, name.element),
        plus,
    }
}

/// Whether a finding matches an expected one in kind, lines and binding.
fn matches(expected: &Expected, finding: &Finding) -> bool {
    let kinds: &[Rule] = match expected.kind.as_str() {
        "race" => &[Rule::Race],
        // Of a variable of one invocation both are right.
        "uninit" | "undefined-use" => &[Rule::Uninit, Rule::UndefinedUse],
        "out-of-bounds" => &[Rule::OutOfBounds],
        "misaligned" => &[Rule::Misaligned],
        "barrier-divergent" => &[Rule::BarrierDivergent],
        "subgroup" => &[Rule::Subgroup],
        "nonuniform" => &[Rule::NonUniform],
        "arithmetic" => &[Rule::Arithmetic],
        "infinite-loop" | "deadlock" => &[Rule::NoProgress],
        _ => &[],
    };
    let lines: Vec<u32> = finding
        .places
        .iter()
        .filter_map(|related| Some(related.place.as_ref()?.line))
        .collect();
    let right = match finding.rule {
        Rule::Race => {
            let sorted = |lines: &[u32]| {
                let mut lines = lines.to_vec();
                lines.sort_unstable();
                lines
            };
            sorted(&lines) == sorted(&expected.lines)
        }
        _ => lines.first() == expected.lines.first(),
    };
    let number = finding.binding.map(|(_, number)| number);
    let same = expected.binding.is_none() || number.is_none() || expected.binding == number;
    kinds.contains(&finding.rule) && right && same
}

fn verdict(row: &Row, findings: Vec<Finding>) -> Judged {
    let loud = |finding: &&Finding| finding.level > Level::Note;
    let told = |expected: &Expected, least: Level| {
        let mut all = findings.iter();
        all.any(|finding| finding.level >= least && matches(expected, finding))
    };
    let unexpected = |finding: &Finding| {
        finding.level > Level::Note && !row.expected.iter().any(|it| matches(it, finding))
    };
    let numbers = 0..findings.len();
    let extra: Vec<usize> = numbers.filter(|at| unexpected(&findings[*at])).collect();
    let verdict = match row.label.as_str() {
        "broken" => {
            let mut primary = row.expected.iter().filter(|it| !it.secondary);
            match primary.any(|expected| told(expected, Level::Warning)) {
                true => Verdict::Right,
                false => Verdict::Missed,
            }
        }
        // To be told apart: as a note.
        "benign" => match findings.iter().any(|finding| loud(&finding)) {
            true => Verdict::Vain,
            false => match row
                .expected
                .iter()
                .any(|expected| told(expected, Level::Note))
            {
                true => Verdict::Right,
                false => Verdict::Missed,
            },
        },
        "disputed" => Verdict::Open,
        _ => match findings.is_empty() {
            true => Verdict::Right,
            false => Verdict::Vain,
        },
    };
    Judged {
        findings,
        verdict,
        extra,
        problem: None,
    }
}

/// How many of a class were judged how.
#[derive(Default)]
struct Tally {
    broken: usize,
    found: usize,
    benign: usize,
    apart: usize,
    clean: usize,
    vain: usize,
    extra: usize,
}

impl Tally {
    fn add(&mut self, row: &Row, judged: &Judged) {
        let right = usize::from(judged.verdict == Verdict::Right);
        match row.label.as_str() {
            "broken" => {
                self.broken += 1;
                self.found += right;
                self.extra += usize::from(!judged.extra.is_empty());
            }
            "benign" => {
                self.benign += 1;
                self.apart += right;
            }
            "clean" => {
                self.clean += 1;
                self.vain += usize::from(judged.verdict == Verdict::Vain);
            }
            _ => {}
        }
    }

    fn line(&self, name: &str) -> String {
        format!(
            "{name:24} {:>3} of {:<3} {:>6} {:>4} of {:<3} {:>5} of {}",
            self.found, self.broken, self.extra, self.apart, self.benign, self.vain, self.clean
        )
    }
}

fn print_table(judged: &[(&Row, Judged)]) -> Result<(), Failure> {
    let mut classes: Vec<(&str, Tally)> = vec![];
    let mut all = Tally::default();
    for (row, judged) in judged {
        if !matches!(judged.verdict, Verdict::Right | Verdict::Open) || !judged.extra.is_empty() {
            outln!("{}: {}", row.name, described(row, judged))?;
        }
        all.add(row, judged);
        match classes.iter_mut().find(|(class, _)| *class == row.class) {
            Some((_, tally)) => tally.add(row, judged),
            None => {
                let mut tally = Tally::default();
                tally.add(row, judged);
                classes.push((&row.class, tally));
            }
        }
    }
    outln!("class                    found        beside  apart        in vain")?;
    for (class, tally) in &classes {
        outln!("{}", tally.line(class))?;
    }
    outln!("{}", all.line("all"))
}

fn described(row: &Row, judged: &Judged) -> String {
    let told: Vec<String> = judged.findings.iter().map(one_line).collect();
    let wanted: Vec<String> = row
        .expected
        .iter()
        .map(|expected| format!("{} {:?}", expected.kind, expected.lines))
        .collect();
    let problem = judged
        .problem
        .as_ref()
        .map_or(String::new(), |why| format!(" ({why})"));
    format!(
        "{}{problem}: expected {}, told {}",
        judged.verdict.name(),
        listed(&wanted),
        listed(&told)
    )
}

fn listed(texts: &[String]) -> String {
    match texts.is_empty() {
        true => "nothing".to_owned(),
        false => texts.join("; "),
    }
}

fn one_line(finding: &Finding) -> String {
    let lines: Vec<u32> = finding
        .places
        .iter()
        .map(|related| related.place.as_ref().map_or(0, |place| place.line))
        .collect();
    format!("{} {} {lines:?}", finding.level.name(), finding.rule.name())
}

fn print_json(judged: &[(&Row, Judged)]) -> Result<(), Failure> {
    let rows: Vec<Value> = judged
        .iter()
        .map(|(row, judged)| {
            json!({
                "name": row.name,
                "class": row.class,
                "label": row.label,
                "verdict": judged.verdict.name(),
                "beside": judged.extra.len(),
                "problem": judged.problem,
                "told": judged.findings.iter().map(one_line).collect::<Vec<_>>(),
            })
        })
        .collect();
    let value = json!({ "schema": SCHEMA, "shaders": rows });
    outln!("{value:#}")
}

//! What checkers have found: as text with the source, as JSON, as SARIF.

use crate::input::check_arguments::CheckArguments;
use crate::outcome::Failure;
use crate::output::source_text;
use crate::output::streams::talk;
use crate::output::whole_file;
use eitri_checks::{Finding, Level, Place, Related, Rule};
use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The version of the form of the JSON.
const JSON_VERSION: u32 = 1;
/// Of the same rule, how many are shown at most; the files have all.
const SHOWN: usize = 16;

/// The sources that findings are in, read once.
pub(crate) struct Sources {
    /// The folder of the shader, where files are looked for that are not where they are said to be.
    folder: PathBuf,
    texts: BTreeMap<String, Option<NamedSource<String>>>,
}

impl Sources {
    /// Those of a shader.
    pub(crate) fn beside(shader: &str) -> Sources {
        Sources {
            folder: Path::new(shader)
                .parent()
                .unwrap_or(Path::new(""))
                .to_owned(),
            texts: BTreeMap::new(),
        }
    }

    fn find(&mut self, file: &str) -> Option<&NamedSource<String>> {
        let folder = &self.folder;
        let read = || {
            let name = Path::new(file);
            let beside = name.file_name().map(|name| folder.join(name));
            let ways = [Some(name.to_owned()), Some(folder.join(name)), beside];
            ways.into_iter().flatten().find_map(|path| {
                let text = std::fs::read_to_string(&path).ok()?;
                Some(source_text::shown(&path.display().to_string(), &text))
            })
        };
        self.texts
            .entry(file.to_owned())
            .or_insert_with(read)
            .as_ref()
    }
}

/// A finding as miette shows it.
#[derive(Debug)]
struct Shown {
    finding: Finding,
    source: Option<NamedSource<String>>,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.finding.message)
    }
}

impl std::error::Error for Shown {}

impl Diagnostic for Shown {
    fn code(&self) -> Option<Box<dyn fmt::Display + '_>> {
        Some(Box::new(self.finding.rule.name()))
    }

    fn severity(&self) -> Option<Severity> {
        Some(match self.finding.level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Note => Severity::Advice,
        })
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        let help = self.help.as_ref()?;
        Some(Box::new(help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let source = self.source.as_ref()?;
        Some(source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// The bytes of a line without the white space around, from the column on if there is one.
fn span(text: &str, place: &Place) -> Option<(usize, usize)> {
    let number = (place.line as usize).checked_sub(1)?;
    let line = text.split_inclusive('\n').nth(number)?;
    let before: usize = text.split_inclusive('\n').take(number).map(str::len).sum();
    let indent = line.len() - line.trim_start().len();
    let from = match place.column as usize {
        // glslang counts columns, but says 1 of nearly everything.
        0 | 1 => indent,
        column => (column - 1).clamp(indent, line.trim_end().len()),
    };
    Some((
        before + from,
        line.trim_end().len().saturating_sub(from).max(1),
    ))
}

/// Shows findings on standard error.
pub(crate) fn show(findings: &[Finding], sources: &mut Sources) {
    let mut shown: BTreeMap<Rule, usize> = BTreeMap::new();
    for finding in findings {
        let count = shown.entry(finding.rule).or_default();
        *count += 1;
        if *count <= SHOWN {
            let report = miette::Report::new(with_source(finding, sources));
            talk!("{report:?}");
        }
    }
    for (rule, count) in shown {
        if count > SHOWN {
            talk!("{}: {} more like these", rule.name(), count - SHOWN);
        }
    }
}

fn with_source(finding: &Finding, sources: &mut Sources) -> Shown {
    let all = || finding.places.iter().chain(&finding.related);
    let file = all()
        .find_map(|related| related.place.as_ref())
        .map(|place| place.file.clone());
    let source = file.as_ref().and_then(|file| sources.find(file)).cloned();
    let mut labels = vec![];
    let mut help = vec![];
    for related in all() {
        let text = source.as_ref().map_or("", |source| source.inner().as_str());
        let place = related.place.as_ref();
        let own = place.filter(|place| Some(&place.file) == file.as_ref());
        match own.and_then(|place| span(text, place)) {
            Some((offset, length)) => {
                labels.push(LabeledSpan::new(Some(related.text.clone()), offset, length));
            }
            None => help.push(line_of(related)),
        }
    }
    if finding.count > 1 {
        help.push(format!("{} times at these lines", finding.count));
    }
    Shown {
        finding: finding.clone(),
        source,
        labels,
        help: (!help.is_empty()).then(|| help.join("\n")),
    }
}

fn line_of(related: &Related) -> String {
    match &related.place {
        Some(place) => format!("{place}: {}", related.text),
        None => format!("`{}`: {}", related.instruction, related.text),
    }
}

/// All that a finding is, as JSON.
fn json_of(finding: &Finding) -> Value {
    let related = |related: &Related| {
        json!({
            "text": related.text,
            "file": related.place.as_ref().map(|place| &place.file),
            "line": related.place.as_ref().map(|place| place.line),
            "column": related.place.as_ref().map(|place| place.column),
            "instruction": related.instruction,
        })
    };
    json!({
        "rule": finding.rule.name(),
        "level": finding.level.name(),
        "message": finding.message,
        "places": finding.places.iter().map(related).collect::<Vec<_>>(),
        "related": finding.related.iter().map(related).collect::<Vec<_>>(),
        "space": finding.space,
        "variable": finding.variable,
        "set": finding.binding.map(|(set, _)| set),
        "binding": finding.binding.map(|(_, binding)| binding),
        "count": finding.count,
    })
}

/// Writes findings into the files that are asked for.
pub(crate) fn write_files(
    arguments: &CheckArguments,
    shader: &str,
    findings: &[Finding],
) -> Result<(), Failure> {
    if let Some(file) = &arguments.sarif {
        write_sarif(file, shader, findings)?;
    }
    if let Some(file) = &arguments.findings {
        write_json(file, shader, findings)?;
    }
    Ok(())
}

/// Writes findings as JSON.
pub(crate) fn write_json(path: &str, shader: &str, findings: &[Finding]) -> Result<(), Failure> {
    let value = json!({
        "form": "eitri-findings",
        "version": JSON_VERSION,
        "shader": shader,
        "findings": findings.iter().map(json_of).collect::<Vec<_>>(),
    });
    whole_file::write(path, format!("{value:#}\n").as_bytes())
}

fn location(related: &Related, shader: &str) -> Value {
    let file = related
        .place
        .as_ref()
        .map_or(shader, |place| place.file.as_str());
    let mut physical = json!({ "artifactLocation": { "uri": file } });
    if let Some(place) = &related.place {
        let mut region = json!({ "startLine": place.line });
        if place.column > 1 {
            region["startColumn"] = json!(place.column);
        }
        physical["region"] = region;
    }
    json!({ "physicalLocation": physical, "message": { "text": related.text } })
}

fn result(finding: &Finding, shader: &str) -> Value {
    let rule = Rule::ALL.iter().position(|rule| *rule == finding.rule);
    let places = finding.places.iter().map(|place| location(place, shader));
    let related = finding.places.iter().skip(1).chain(&finding.related);
    json!({
        "ruleId": finding.rule.name(),
        "ruleIndex": rule,
        "level": finding.level.name(),
        "message": { "text": finding.message },
        "locations": places.take(1).collect::<Vec<_>>(),
        "relatedLocations": related.map(|place| location(place, shader)).collect::<Vec<_>>(),
        "occurrenceCount": finding.count,
        "properties": {
            "variable": finding.variable,
            "binding": finding.binding.map(|(set, binding)| format!("{set}:{binding}")),
            "space": finding.space,
        },
    })
}

/// Writes findings as SARIF 2.1.0.
pub(crate) fn write_sarif(path: &str, shader: &str, findings: &[Finding]) -> Result<(), Failure> {
    let rules = Rule::ALL.map(|rule| (rule.name(), rule.text()));
    let results = findings.iter().map(|finding| result(finding, shader));
    let results: Vec<Value> = results.collect();
    let value = sarif(&rules, &results);
    whole_file::write(path, format!("{value:#}\n").as_bytes())
}

/// An instruction of a program as SARIF has places: a line where there is text, and an address.
pub(crate) struct LogicalPlace {
    pub(crate) file: String,
    pub(crate) line: Option<u32>,
    pub(crate) address: u64,
    pub(crate) text: String,
}

impl LogicalPlace {
    pub(crate) fn location(&self) -> Value {
        let mut physical = json!({
            "artifactLocation": { "uri": self.file },
            "address": { "absoluteAddress": self.address },
        });
        if let Some(line) = self.line {
            physical["region"] = json!({ "startLine": line });
        }
        json!({ "physicalLocation": physical, "message": { "text": self.text } })
    }
}

/// A SARIF document: rules by name, with a sentence, and what was found.
pub(crate) fn sarif(rules: &[(&str, &str)], results: &[Value]) -> Value {
    let rules = rules.iter().map(|(name, text)| {
        json!({
            "id": name,
            "shortDescription": { "text": text },
        })
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "eitri",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<_>>(),
            }},
            "results": results,
        }],
    })
}

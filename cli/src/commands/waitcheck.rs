//! `eitri waitcheck`: results that machine code reads before it has waited for them, found without running it.
//!
//! Facts: hardware/valhall-isa.md section 6.

use crate::input::machine_code::{self, FoundCode, StageArgument};
use crate::outcome::{Failure, Status};
use crate::output::findings::{self, LogicalPlace};
use crate::output::streams::{outln, talk};
use crate::output::whole_file;
use eitri_isa::{Arch, Instr, Syntax};
use eitri_waits::{Code, Finding, Kind, Report, check};
use serde_json::{Value, json};

/// Version of the JSON; a member that goes or changes its meaning makes a new one.
const SCHEMA: u32 = 1;

/// A FILE is a program binary of `eitri compile`, a core dump (each program that a job of it names), instructions as text, or words of
/// 16 hex digits, one a line. Exit status 1 if something is found.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The files; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The input is the program's bytes.
    #[arg(long)]
    raw: bool,
    /// The generation, of words and text; v10 if not given.
    #[arg(long, value_name = "ARCH")]
    arch: Option<Arch>,
    /// Whose threads run the program, of words and text. Without it, it is guessed from the instructions.
    #[arg(long, value_enum)]
    stage: Option<StageArgument>,
    /// How instructions are printed and read: as Mesa 24.1 (`mesa24`) or as Mesa 26.2 (`mesa26`).
    #[arg(long, default_value_t)]
    syntax: Syntax,
    /// Print JSON (`eitri schema waitcheck`).
    #[arg(long)]
    json: bool,
    /// Write the findings as SARIF 2.1.0 as well.
    #[arg(long, value_name = "FILE")]
    sarif: Option<String>,
}

/// A program with its result.
struct Checked {
    file: String,
    code: FoundCode,
    report: Report,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut all = vec![];
    for file in &args.files {
        let found = machine_code::read(&machine_code::Request {
            file,
            raw: args.raw,
            arch: args.arch,
            stage: args.stage,
            syntax: args.syntax,
        })?;
        if found.is_empty() {
            talk!("{file}: no job of this dump names a program");
        }
        all.extend(found.into_iter().map(|code| Checked::of(file, code)));
    }
    if args.json {
        outln!("{:#}", as_json(args.syntax, &all))?;
    } else {
        print_text(args, &all)?;
    }
    if let Some(path) = &args.sarif {
        let document = as_sarif(args, &all);
        whole_file::write(path, format!("{document:#}\n").as_bytes())?;
    }
    Ok(match all.iter().all(|it| it.report.findings.is_empty()) {
        true => Status::Good,
        false => Status::CheckFailed,
    })
}

impl Checked {
    fn of(file: &str, code: FoundCode) -> Checked {
        let report = check(&Code {
            arch: code.arch,
            stage: code.stage,
            base: code.base,
            words: &code.words,
        });
        Checked {
            file: file.to_owned(),
            code,
            report,
        }
    }

    /// The text of an instruction.
    fn text(&self, index: usize, syntax: Syntax) -> String {
        let word = self.code.words.get(index).copied().unwrap_or(0);
        match Instr::decode_text(word, self.code.arch) {
            Ok(instr) => instr.display(self.code.arch, syntax).to_string(),
            Err(_) => format!("{word:#018x}"),
        }
    }

    /// The line of the source that an instruction comes from, if the program has its lines.
    fn source_line(&self, index: usize) -> Option<String> {
        let source = self.code.source(index)?;
        Some(format!("    from {source}"))
    }

    /// What is wrong, with the instruction, the message and the path.
    fn lines(&self, finding: &Finding, syntax: Syntax) -> Vec<String> {
        let mut lines = vec![
            format!(
                "{:#x}: {}: {}",
                finding.address,
                finding.kind.name(),
                finding.kind
            ),
            format!(
                "  {:#x}: {}",
                finding.address,
                self.text(finding.index, syntax)
            ),
        ];
        lines.extend(self.source_line(finding.index));
        if let Some((address, index)) = finding.message.zip(finding.message_index) {
            lines.push(format!(
                "  not waited for: {address:#x}: {}",
                self.text(index, syntax)
            ));
            lines.extend(self.source_line(index));
        }
        if let Some(path) = path(finding) {
            lines.push(format!("  {path}"));
        }
        lines
    }
}

/// The branches of a path in words; nothing if there is none to name.
fn path(finding: &Finding) -> Option<String> {
    let from = match finding.kind {
        Kind::NoInstruction { .. } | Kind::NoEnd => return None,
        Kind::FragmentOrder { .. } => "from the start",
        _ => "from there",
    };
    let jumps = finding.path.iter();
    let jumps: Vec<String> = jumps
        .map(|jump| format!("{:#x} to {:#x}", jump.from, jump.to))
        .collect();
    Some(match jumps.is_empty() {
        true => format!("path: {from}, without a branch"),
        false => format!("path: {from}, by the branches {}", jumps.join(", ")),
    })
}

fn print_text(args: &Args, all: &[Checked]) -> Result<(), Failure> {
    let mut findings = 0;
    for checked in all {
        let Checked { code, report, .. } = checked;
        if !report.findings.is_empty() {
            outln!("{}: {} program", code.name, report.stage.name())?;
        }
        for finding in &report.findings {
            for line in checked.lines(finding, args.syntax) {
                outln!("{line}")?;
            }
        }
        findings += report.findings.len();
    }
    let instructions: usize = all.iter().map(|it| it.report.reached).sum();
    let jumps: usize = all.iter().map(|it| it.report.unfollowed.len()).sum();
    let count = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    let unfollowed = match jumps {
        0 => String::new(),
        _ => format!(", {} not followed", count(jumps, "indirect jump")),
    };
    outln!(
        "{}, {}, {}{unfollowed}",
        count(all.len(), "program"),
        count(instructions, "instruction"),
        count(findings, "finding")
    )
}

fn as_json(syntax: Syntax, all: &[Checked]) -> Value {
    let finding = |checked: &Checked, finding: &Finding| {
        json!({
            "rule": finding.kind.name(),
            "message": finding.kind.to_string(),
            "address": finding.address,
            "instruction": checked.text(finding.index, syntax),
            "register": finding.kind.register(),
            "slot": finding.kind.slot(),
            "awaited_address": finding.message,
            "awaited": finding.message_index.map(|index| checked.text(index, syntax)),
            "path": finding.path.iter().map(|jump| json!({ "from": jump.from, "to": jump.to })).collect::<Vec<_>>(),
        })
    };
    let programs = all.iter().map(|checked| {
        let Checked { code, report, .. } = checked;
        let findings = report.findings.iter().map(|it| finding(checked, it));
        json!({
            "file": checked.file,
            "name": code.name,
            "arch": code.arch.to_string(),
            "stage": report.stage.name(),
            "address": code.base,
            "instructions": report.reached,
            "indirect_jumps": report.unfollowed,
            "findings": findings.collect::<Vec<_>>(),
        })
    });
    json!({
        "schema": SCHEMA,
        "programs": programs.collect::<Vec<_>>(),
    })
}

fn as_sarif(args: &Args, all: &[Checked]) -> Value {
    let place = |checked: &Checked, index: usize, address: u64| LogicalPlace {
        file: checked.file.clone(),
        line: checked.code.lines.get(index).copied(),
        address,
        text: checked.text(index, args.syntax),
    };
    let mut results = vec![];
    for checked in all {
        for finding in &checked.report.findings {
            let index = Kind::RULES
                .iter()
                .position(|(name, _)| *name == finding.kind.name());
            let message = finding.message.zip(finding.message_index);
            let related = message.map(|(address, index)| place(checked, index, address).location());
            results.push(json!({
                "ruleId": finding.kind.name(),
                "ruleIndex": index,
                "level": "error",
                "message": { "text": format!("{} ({})", finding.kind, checked.code.name) },
                "locations": [place(checked, finding.index, finding.address).location()],
                "relatedLocations": related.into_iter().collect::<Vec<_>>(),
                "properties": {
                    "register": finding.kind.register(),
                    "slot": finding.kind.slot(),
                    "path": path(finding),
                },
            }));
        }
    }
    findings::sarif(&Kind::RULES, &results)
}

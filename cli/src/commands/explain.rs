//! `eitri explain`: what the tables know of a name or a number, and what the code of an error says.

use crate::images::error_code;
use crate::input::instruction_set::InstructionSet;
use crate::input::nearest::suggestion;
use crate::outcome::{Failure, Status};
use crate::output::streams::{self, outln};
use crate::reports::reference::{Page, SCHEMA, hexadecimal, ir3, numbered, pages, register_value};
use eitri_runtime::CodeError;
use miette::Diagnostic;
use serde_json::json;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// An instruction, register, field (`GPU_STATUS.PAGE_FAULT`), descriptor, enumeration, exception code, pixel format,
    /// product (`G610`) or architecture (`v10`); a register's value (`GPU_STATUS=0x1`, `GPU_ID=…`, `pte=…`, `ESR_EL1=…` of
    /// the CPU); or a number: a fault code, a GPU_ID, or a word of 16 hex digits (instruction, page-table entry); or the code of an error, as small
    /// images print it (`eitri-error 2 …`).
    #[arg(value_name = "NAME|HEX", required = true)]
    name: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The generation by which a word or the source of a fault is decoded. With a5xx, a6xx or a7xx names and words are those of
    /// Adreno's instructions.
    #[arg(long, default_value = "v10")]
    arch: InstructionSet,
}

/// A name that no table has.
#[derive(Debug, Error, Diagnostic)]
#[error("nothing is called `{name}`")]
struct Unknown {
    name: String,
    #[help]
    help: String,
}

/// A value that is no number.
#[derive(Debug, Error, Diagnostic)]
#[error("`{value}` is no number")]
#[diagnostic(help("such as `GPU_STATUS=0x1`"))]
struct NoNumber {
    value: String,
}

/// A code that can't be read.
#[derive(Debug, Error, Diagnostic)]
#[error("{0}")]
#[diagnostic(help("a code is one line, from `eitri-error` to its end"))]
struct NoCode(CodeError);

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let name = args.name.join(" ");
    if let Some(error) = error_code::find(&name) {
        let error = error.map_err(|why| Failure::refused(NoCode(why)))?;
        match args.json {
            true => outln!(
                "{}",
                json!({ "schema": SCHEMA, "query": name, "entries": [], "error": error.to_string() })
            )?,
            false => outln!("{error}")?,
        }
        return Ok(Status::Good);
    }
    let found = match args.arch {
        InstructionSet::Valhall(arch) => find(name.trim(), arch)?,
        InstructionSet::Ir3(generation) => find_ir3(name.trim(), generation)?,
    };
    if args.json {
        let entries: Vec<_> = found.iter().map(Page::json).collect();
        outln!(
            "{}",
            json!({ "schema": SCHEMA, "query": name, "entries": entries })
        )?;
    } else {
        let texts: Vec<_> = found.iter().map(Page::to_string).collect();
        streams::put(texts.join("\n").as_bytes())?;
    }
    Ok(Status::Good)
}

fn find(name: &str, arch: eitri_isa::Arch) -> Result<Vec<Page>, Failure> {
    if let Some((register, value)) = name.split_once('=') {
        let (register, value) = (register.trim(), value.trim());
        let number = eitri_csf::explain::number(value);
        let number = number.ok_or_else(|| {
            Failure::refused(NoNumber {
                value: value.to_owned(),
            })
        })?;
        return register_value(register, number, arch).ok_or_else(|| unknown(register, &pages()));
    }
    let all = pages();
    let mut found: Vec<Page> = all
        .iter()
        .filter(|page| page.answers_to(name))
        .cloned()
        .collect();
    if found.is_empty() {
        found.extend(numbered(name));
    }
    if found.is_empty() {
        found = field(name, &all);
    }
    if found.is_empty()
        && let Some((value, digits)) = hex(name)
    {
        found = hexadecimal(value, digits, arch);
    }
    if found.is_empty() {
        Err(unknown(name, &all))
    } else {
        Ok(found)
    }
}

/// An instruction of Adreno by its name, or by a word of 16 hex digits.
fn find_ir3(name: &str, generation: eitri_ir3_isa::Gen) -> Result<Vec<Page>, Failure> {
    let all = ir3::pages(Some(generation));
    let mut found: Vec<Page> = all
        .iter()
        .filter(|page| page.answers_to(name))
        .cloned()
        .collect();
    if found.is_empty()
        && let Some((word, 9..)) = hex(name)
    {
        found.extend(ir3::word(word, generation));
    }
    if found.is_empty() {
        return Err(unknown(name, &all));
    }
    Ok(found)
}

/// `REGISTER.FIELD`, `Structure.Field`, or a field's name alone: the pages that have it, with that part only.
fn field(name: &str, all: &[Page]) -> Vec<Page> {
    let (owner, field) = match name.rsplit_once('.') {
        Some((owner, field)) => (Some(owner), field),
        None => (None, name),
    };
    let with_field = |page: &Page| {
        let mut page = page.clone();
        page.parts
            .retain(|part| eitri_descriptors::same_name(&part.name, field));
        page
    };
    let owners = all
        .iter()
        .filter(|page| owner.is_none_or(|owner| page.answers_to(owner)));
    owners
        .map(with_field)
        .filter(|page| !page.parts.is_empty())
        .collect()
}

/// A number in hexadecimal, with or without `0x`, and how many digits it was written with.
fn hex(text: &str) -> Option<(u64, usize)> {
    let digits: String = text
        .trim_start_matches("0x")
        .trim_start_matches("0X")
        .chars()
        .filter(|letter| *letter != '_')
        .collect();
    Some((u64::from_str_radix(&digits, 16).ok()?, digits.len()))
}

fn unknown(name: &str, all: &[Page]) -> Failure {
    let names = all
        .iter()
        .flat_map(|page| std::iter::once(&page.name).chain(&page.aliases));
    let help = suggestion(
        name,
        names.map(String::as_str),
        "docs/reference lists all names",
    );
    Failure::refused(Unknown {
        name: name.to_owned(),
        help,
    })
}

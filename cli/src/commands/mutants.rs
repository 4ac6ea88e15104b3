//! `eitri mutants`: slips in the code, one at a time, and whether a test catches each.

use crate::mutants::{self, Equivalents, Judgement, Mutant, Suite, Tree};
use crate::outcome::{Failure, Status};
use crate::output::list::{self, ListForm, Row};
use crate::output::streams::{outln, talk};
use crate::results::{self, Recorder, ResultOptions};
use crate::runs::parallel;
use crate::workspace::Workspace;
use eitri_launch::tools::{self, Tool};
use miette::Diagnostic;
use serde_json::json;
use std::num::NonZero;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The crate, or a part of one, whose code gets mutants: runtime, model, shaderc, cs, csf, ir3-interp, firmware, stream. All
    /// without it.
    #[arg(value_name = "CRATE")]
    name: Option<String>,
    /// Try so many, chosen by the seed.
    #[arg(long, value_name = "N", default_value = "40")]
    sample: NonZero<usize>,
    /// Another seed, other mutants.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Only mutants of files whose path contains this.
    #[arg(long, value_name = "TEXT")]
    file: Option<String>,
    #[command(flatten)]
    results: ResultOptions,
    /// Print the mutants, and try none.
    #[arg(long, value_name = "FORM", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    list: Option<ListForm>,
}

#[derive(Debug, Error, Diagnostic)]
#[error("no crate named `{name}` gets mutants")]
#[diagnostic(help("these do: {known}"))]
struct NoSuchSubject {
    name: String,
    known: String,
}

#[derive(Debug, Error, Diagnostic)]
#[error("no file whose path contains `{file}` has mutants")]
struct NoSuchFile {
    file: String,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let workspace = Workspace::find()?;
    let subjects = match &args.name {
        None => mutants::subjects(),
        Some(name) => vec![mutants::of_name(name).map_err(|known| {
            let (name, known) = (name.clone(), known.join(", "));
            Failure::refused(NoSuchSubject { name, known })
        })?],
    };
    tools::ensure(&workspace, &[Tool::Glslang, Tool::SpirvAs])?;
    let tree = Tree::grow(&workspace, &subjects)?;
    let equivalents = Equivalents::read(&workspace)?;
    let (numbers, all): (Vec<usize>, Vec<Mutant>) = tree.mutants().into_iter().unzip();
    let page = equivalents.check(&all);
    let of_file = |mutant: &Mutant| {
        args.file
            .as_ref()
            .is_none_or(|file| mutant.file.contains(file))
    };
    let (numbers, all): (Vec<usize>, Vec<Mutant>) = numbers
        .into_iter()
        .zip(all)
        .filter(|(_, mutant)| of_file(mutant))
        .unzip();
    if let (Some(file), true) = (args.file.clone(), all.is_empty()) {
        return Err(Failure::refused(NoSuchFile { file }));
    }
    if let Some(form) = args.list {
        let rows: Vec<Row> = all
            .iter()
            .map(|mutant| {
                Row::named(mutant.name().to_string())
                    .with("place", json!(mutant.place().to_string()))
            })
            .collect();
        list::print(form, "mutants", &rows, |row| {
            let place = row.more.as_ref().and_then(|(_, place)| place.as_str());
            format!("{} {}", place.unwrap_or_default(), row.name)
        })?;
        return Ok(page);
    }
    let sample = mutants::sample(&all, args.sample.get(), args.seed);
    let chosen: Vec<(usize, &Mutant)> = sample
        .into_iter()
        .map(|index| (numbers[index], &all[index]))
        .collect();
    let chosen = args.results.part(chosen);
    let seed = args.seed.to_string();
    let recorder = args.results.record("mutants", &[("seed", &seed)]);
    let suite = Suite::of(&workspace, &tree, &subjects)?;
    let tally = judge(&suite, &equivalents, &chosen, &recorder)?;
    recorder.finish()?;
    talk!("{} mutants compile, {} don't", all.len(), tree.left_out());
    outln!(
        "{} caught, {} survived, {} equivalent",
        tally.caught,
        tally.survived,
        tally.equivalent
    )?;
    Ok(match (tally.survived, page) {
        (0, Status::Good) => Status::Good,
        _ => Status::CheckFailed,
    })
}

/// How many mutants of a sample were caught, and how many were not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) caught: usize,
    pub(crate) survived: usize,
    /// The page says why no test can catch them.
    pub(crate) equivalent: usize,
}

/// Tries mutants, and prints a line for each.
fn judge(
    suite: &Suite,
    equivalents: &Equivalents,
    chosen: &[(usize, &Mutant)],
    recorder: &Recorder,
) -> Result<Tally, Failure> {
    talk!("{} tests, {} mutants", suite.len(), chosen.len());
    let mut tally = Tally::default();
    let ask = |(number, _): &(usize, &Mutant)| suite.judge(*number);
    parallel::in_order(
        chosen,
        parallel::available(),
        ask,
        |(_, mutant), verdict| {
            let (place, name) = (mutant.place(), mutant.name());
            let judgement = Judgement::of(mutant, verdict?, equivalents);
            recorder.add(case(&format!("{place} {name}"), &judgement));
            match judgement {
                Judgement::Caught { by } => {
                    tally.caught += 1;
                    outln!("caught     {place} {name}\n           by {by}")
                }
                Judgement::Equivalent { reason } => {
                    tally.equivalent += 1;
                    outln!("equivalent {place} {name}\n           {reason}")
                }
                Judgement::Survived { why } => {
                    tally.survived += 1;
                    outln!("SURVIVED   {place} {name}\n           {why}")
                }
            }
        },
    )?;
    suite.clean()?;
    Ok(tally)
}

/// A mutant as other programs get it: one that survives has failed.
fn case(name: &str, judgement: &Judgement) -> results::Case {
    let (status, why) = match judgement {
        Judgement::Caught { .. } => (results::Status::Pass, ""),
        Judgement::Equivalent { reason } => (results::Status::Skip, reason.as_str()),
        Judgement::Survived { why } => (results::Status::Fail, why.as_str()),
    };
    results::Case::new(name, status, why)
}

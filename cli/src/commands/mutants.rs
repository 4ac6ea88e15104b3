//! `eitri mutants`: slips in the code, one at a time, and whether a test catches each.

use crate::mutants::{self, Equivalents, Judgement, Mutant, Subject, Suite, Tree};
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
    /// Crates, or parts of one, whose code gets mutants: runtime, model, shaderc, cs, csf, ir3-interp, firmware, stream. All
    /// together without any.
    #[arg(value_name = "CRATE")]
    names: Vec<String>,
    /// Try so many of each crate that is named, chosen by the seed.
    #[arg(long, value_name = "N", default_value = "40")]
    sample: NonZero<usize>,
    /// Another seed, other mutants. Several give a sample each, in one build.
    #[arg(long, value_name = "S", value_delimiter = ',', default_value = "1")]
    seed: Vec<u64>,
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

/// Mutants of one crate that one seed has chosen.
struct Sample {
    /// The crate and the seed.
    name: String,
    numbers: Vec<usize>,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let workspace = Workspace::find()?;
    let subjects = named(&args.names)?;
    let mut tree = Tree::of(&workspace, &subjects)?;
    let all = tree.mutants();
    let equivalents = Equivalents::read(&workspace)?;
    let page = equivalents.check(&all);
    let of_file = |number: &usize| {
        args.file
            .as_ref()
            .is_none_or(|file| all[*number].file.contains(file))
    };
    let numbers: Vec<usize> = (0..all.len()).filter(of_file).collect();
    if let (Some(file), true) = (args.file.clone(), numbers.is_empty()) {
        return Err(Failure::refused(NoSuchFile { file }));
    }
    if let Some(form) = args.list {
        print_list(form, numbers.iter().map(|number| &all[*number]))?;
        return Ok(page);
    }
    tools::ensure(&workspace, &[Tool::Glslang, Tool::SpirvAs])?;
    let (names, lists): (Vec<String>, Vec<Vec<usize>>) =
        lists(args, &subjects, &all, &numbers).into_iter().unzip();
    let planted = tree.plant(&workspace, &subjects, &lists, args.sample.get())?;
    let samples: Vec<Sample> = names
        .into_iter()
        .zip(planted)
        .map(|(name, numbers)| Sample {
            name,
            numbers: args.results.part(numbers),
        })
        .collect();
    let seed: Vec<String> = args.seed.iter().map(u64::to_string).collect();
    let recorder = args.results.record("mutants", &[("seed", &seed.join(","))]);
    let suite = Suite::of(&workspace, &tree, &subjects)?;
    let (planted, left_out) = tree.planted();
    talk!(
        "{planted} of {} mutants put in, {left_out} don't compile",
        all.len()
    );
    let mut status = page;
    for sample in &samples {
        let tally = judge(&suite, &equivalents, &all, sample, &recorder)?;
        outln!(
            "{}: {} caught, {} survived, {} equivalent",
            sample.name,
            tally.caught,
            tally.survived,
            tally.equivalent
        )?;
        if tally.survived > 0 {
            status = Status::CheckFailed;
        }
    }
    suite.clean()?;
    recorder.finish()?;
    Ok(status)
}

/// The subjects of these names; all without any.
fn named(names: &[String]) -> Result<Vec<&'static Subject>, Failure> {
    if names.is_empty() {
        return Ok(mutants::subjects());
    }
    let of_name = |name: &String| {
        mutants::of_name(name).map_err(|known| {
            let (name, known) = (name.clone(), known.join(", "));
            Failure::refused(NoSuchSubject { name, known })
        })
    };
    names.iter().map(of_name).collect()
}

fn print_list<'a>(
    form: ListForm,
    mutants: impl Iterator<Item = &'a Mutant>,
) -> Result<(), Failure> {
    let row = |mutant: &Mutant| {
        Row::named(mutant.name().to_string()).with("place", json!(mutant.place().to_string()))
    };
    let rows: Vec<Row> = mutants.map(row).collect();
    list::print(form, "mutants", &rows, |row| {
        let place = row.more.as_ref().and_then(|(_, place)| place.as_str());
        format!("{} {}", place.unwrap_or_default(), row.name)
    })
}

/// For each crate that is named, or all together, and each seed: its mutants in the order in which they are chosen.
fn lists(
    args: &Args,
    subjects: &[&Subject],
    all: &[Mutant],
    numbers: &[usize],
) -> Vec<(String, Vec<usize>)> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    if args.names.is_empty() {
        groups.push(("all", numbers.to_vec()));
    } else {
        for subject in subjects {
            let own = |number: &&usize| subject.has(&all[**number].file);
            groups.push((subject.name, numbers.iter().filter(own).copied().collect()));
        }
    }
    let mut lists = Vec::new();
    for (name, numbers) in groups {
        for seed in &args.seed {
            let order = mutants::shuffled(all, numbers.clone(), *seed);
            lists.push((format!("{name}, seed {seed}"), order));
        }
    }
    lists
}

/// How many mutants of a sample were caught, and how many were not.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    caught: usize,
    survived: usize,
    /// The page says why no test can catch them.
    equivalent: usize,
}

/// Tries the mutants of a sample, and prints a line for each.
fn judge(
    suite: &Suite,
    equivalents: &Equivalents,
    all: &[Mutant],
    sample: &Sample,
    recorder: &Recorder,
) -> Result<Tally, Failure> {
    let Sample { name, numbers } = sample;
    talk!("{name}: {} tests, {} mutants", suite.len(), numbers.len());
    let mut tally = Tally::default();
    let ask = |number: &usize| suite.judge(*number);
    parallel::in_order(numbers, parallel::available(), ask, |number, verdict| {
        let mutant = &all[*number];
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
    })?;
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

//! `eitri dump replay`: the work of a dump once more, on the model.

use super::{parse, read};
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::output::whole_file;
use crate::runs::replay::{Options, StreamName, replay};
use eitri_dump::{Dump, show};
use std::time::Duration;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The dump; `-` is standard input.
    file: String,
    /// Write a dump of the GPU afterwards to this file; `-` is standard output.
    #[arg(short, value_name = "FILE")]
    output: Option<String>,
    /// Run this stream alone: `0.1` is stream 1 of group 0.
    #[arg(long, value_name = "GROUP.STREAM")]
    stream: Option<StreamName>,
    /// Begin at this position of the ring, counted as INSERT is.
    #[arg(long, value_name = "OFFSET", requires = "stream", value_parser = |text: &str|
        eitri_csf::explain::number(text).ok_or("a number, such as 0x40"))]
    from: Option<u64>,
    /// How long it may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u32,
}

/// Status 1 if the work failed again, or the model has something to say against it.
pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let file = read(&args.file)?;
    let dump = parse(&args.file, &file)?;
    let options = Options {
        only: args.stream,
        from: args.from,
        timeout: Duration::from_secs(args.timeout.into()),
    };
    let replayed = replay(&dump, &options)?;
    let after = parse("the dump afterwards", &replayed.file)?;
    let good = show::is_free_of_faults(&after)
        && replayed.diagnoses.is_empty()
        && replayed.unfinished.is_empty();
    if args.output.as_deref() != Some("-") {
        print(&after, &replayed)?;
    }
    if let Some(output) = &args.output {
        whole_file::write(output, &replayed.file)?;
    }
    Ok(if good {
        Status::Good
    } else {
        Status::CheckFailed
    })
}

fn print(after: &Dump<'_>, replayed: &crate::runs::replay::Replayed) -> Result<(), Failure> {
    for diagnosis in &replayed.diagnoses {
        outln!("model: {diagnosis}")?;
    }
    for note in &replayed.notes {
        outln!("model: note: {note}")?;
    }
    for stream in &replayed.unfinished {
        outln!("stream {stream} did not consume its ring")?;
    }
    let options = show::Options::default();
    if let Some(fault) = show::entries(after, &options).first() {
        crate::output::streams::print(format_args!("{fault}"))?;
    }
    Ok(())
}

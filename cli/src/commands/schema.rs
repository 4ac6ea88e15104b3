//! `eitri schema`: the forms of what this command writes as JSON, as JSON Schema.

use crate::input::nearest;
use crate::outcome::{Failure, Status};
use crate::output::streams::{outln, print};
use miette::Diagnostic;
use thiserror::Error;

/// The schemas by name.
const SCHEMAS: &[(&str, &str)] = &[
    ("bench-boot", include_str!("../../schemas/bench-boot.json")),
    (
        "bench-checkpoint",
        include_str!("../../schemas/bench-checkpoint.json"),
    ),
    ("bench-code", include_str!("../../schemas/bench-code.json")),
    (
        "bench-compile",
        include_str!("../../schemas/bench-compile.json"),
    ),
    ("bench-draw", include_str!("../../schemas/bench-draw.json")),
    (
        "bench-graphics",
        include_str!("../../schemas/bench-graphics.json"),
    ),
    (
        "bench-image",
        include_str!("../../schemas/bench-image.json"),
    ),
    (
        "bench-model",
        include_str!("../../schemas/bench-model.json"),
    ),
    (
        "bench-record",
        include_str!("../../schemas/bench-record.json"),
    ),
    ("broken", include_str!("../../schemas/broken.json")),
    (
        "compile-report",
        include_str!("../../schemas/compile-report.json"),
    ),
    (
        "compile-stats",
        include_str!("../../schemas/compile-stats.json"),
    ),
    ("counters", include_str!("../../schemas/counters.json")),
    ("doctor", include_str!("../../schemas/doctor.json")),
    ("dump", include_str!("../../schemas/dump.json")),
    ("every-gpu", include_str!("../../schemas/every-gpu.json")),
    ("explain", include_str!("../../schemas/explain.json")),
    ("fidelity", include_str!("../../schemas/fidelity.json")),
    ("firmware", include_str!("../../schemas/firmware.json")),
    ("list", include_str!("../../schemas/list.json")),
    ("messages", include_str!("../../schemas/messages.json")),
    ("profile", include_str!("../../schemas/profile.json")),
    ("programs", include_str!("../../schemas/programs.json")),
    ("reflect", include_str!("../../schemas/reflect.json")),
    ("results", include_str!("../../schemas/results.json")),
    ("waitcheck", include_str!("../../schemas/waitcheck.json")),
];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which; without it their names are listed.
    name: Option<String>,
}

#[derive(Debug, Error, Diagnostic)]
#[error("there is no schema `{name}`")]
#[diagnostic(help("{help}"))]
struct NoSchema {
    name: String,
    help: String,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let names = SCHEMAS.iter().map(|(name, _)| *name);
    let Some(name) = &args.name else {
        names.into_iter().try_for_each(|name| outln!("{name}"))?;
        return Ok(Status::Good);
    };
    match SCHEMAS.iter().find(|(of, _)| of == name) {
        Some((_, text)) => print(format_args!("{text}"))?,
        None => {
            let all = names.clone().collect::<Vec<_>>().join(", ");
            return Err(Failure::refused(NoSchema {
                name: name.clone(),
                help: nearest::suggestion(name, names, &format!("there are {all}")),
            }));
        }
    }
    Ok(Status::Good)
}

//! `eitri pack`: a descriptor from named fields, or a file of packed examples.

use crate::input::buffer_source;
use crate::input::descriptor_names::{NameError, field_error, structure};
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::reports::descriptor_vectors as vectors;
use eitri_descriptors::{Arch, Dynamic, SUPPORTED};
use miette::Diagnostic;
use serde_json::Value as Json;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The structure, as the facts name it; case, blanks, `_` and `-` don't count.
    #[arg(value_name = "STRUCT", required_unless_present = "vectors")]
    structure: Option<String>,
    /// Fields: a number, `true`, a name of the field's enumeration, a Vulkan format, a swizzle such as `RGB1`. A field of
    /// a nested structure is `Structure.Field`. What is not given is stored as zero, but for the type of the descriptor.
    #[arg(value_name = "FIELD=VALUE", allow_hyphen_values = true)]
    fields: Vec<String>,
    /// The generation.
    #[arg(long, default_value = "v10", value_parser = |text: &str| SUPPORTED.parse(text))]
    arch: Arch,
    /// Give the fields that are not given their default instead of zero.
    #[arg(long)]
    defaults: bool,
    /// Check a file in the format of hardware/data/descriptor-vectors.json: a line a vector, and a summary.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["structure", "fields", "defaults"])]
    vectors: Option<String>,
}

/// A file that holds no vectors.
#[derive(Debug, Error, Diagnostic)]
enum FileProblem {
    #[error("{file}: {cause}")]
    Syntax {
        file: String,
        cause: serde_json::Error,
    },
    #[error("{file}: no list `vectors`")]
    #[diagnostic(help("the format is that of hardware/data/descriptor-vectors.json"))]
    NoVectors { file: String },
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    match (&args.vectors, &args.structure) {
        (Some(file), _) => check_vectors(file),
        (None, Some(name)) => {
            outln!("{}", pack(args, name)?)?;
            Ok(Status::Good)
        }
        // clap asks for one of them.
        (None, None) => Ok(Status::Refused),
    }
}

fn pack(args: &Args, name: &str) -> Result<String, NameError> {
    let layout = structure(name)?;
    let mut words = [0; 32];
    let mut target = match args.defaults {
        true => Dynamic::with_defaults(layout, args.arch, &mut words)?,
        false => Dynamic::zeroed(layout, args.arch, &mut words)?,
    };
    for row in layout.fields(args.arch).filter(|row| row.fixed) {
        let set = target.set(row.name, eitri_descriptors::Value::Number(row.default));
        set.map_err(|cause| field_error(layout, args.arch, row.name, row.name, cause))?;
    }
    let mut given = Vec::new();
    for argument in &args.fields {
        let no_value = || NameError::NoValue {
            argument: argument.clone(),
        };
        let (path, value) = argument.split_once('=').ok_or_else(no_value)?;
        let (path, value) = (path.trim(), value.trim());
        let wrong = |cause| field_error(layout, args.arch, argument, path, cause);
        target.set_text(path, value).map_err(wrong)?;
        given.push((argument, path, target.stored(path).map_err(wrong)?));
    }
    for (argument, path, stored) in given {
        if target.stored(path) != Ok(stored) {
            return Err(NameError::Conflict {
                argument: argument.clone(),
            });
        }
    }
    let bytes: Vec<u8> = target
        .words()
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let length = layout
        .size(args.arch)
        .map_or(bytes.len(), |bytes| bytes as usize);
    Ok(vectors::hex(bytes.get(..length).unwrap_or(&bytes)))
}

fn check_vectors(file: &str) -> Result<Status, Failure> {
    let bytes = buffer_source::read(file)?;
    let syntax = |cause| {
        Failure::refused(FileProblem::Syntax {
            file: file.to_owned(),
            cause,
        })
    };
    let json: Json = serde_json::from_slice(&bytes).map_err(syntax)?;
    let list = json["vectors"].as_array().or(json.as_array());
    let list = list.ok_or_else(|| {
        Failure::refused(FileProblem::NoVectors {
            file: file.to_owned(),
        })
    })?;
    let mut failed = 0;
    for vector in list {
        match vectors::check(vector) {
            Ok(()) => outln!("ok {}", vectors::id(vector))?,
            Err(error) => {
                failed += 1;
                outln!("FAIL {}: {error}", vectors::id(vector))?;
            }
        }
    }
    outln!("{} passed, {failed} failed", list.len() - failed)?;
    Ok(if failed == 0 {
        Status::Good
    } else {
        Status::CheckFailed
    })
}

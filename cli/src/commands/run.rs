//! `eitri run`: from a shader to its results on a bare-metal image or on the model.

use crate::buffer_source::{
    self, BindingName, BufferArgument, SaveArgument, SourceError, hex_bytes,
};
use crate::dispatch::{self, Place, Ran, Request, Talk};
use crate::outcome::{Failure, Status};
use crate::passes::{self, PassArguments, Told};
use crate::shader_file;
use crate::specialisation::SpecConstant;
use crate::streams::{self, outln};
use crate::whole_file::Pending;
use eitri_shaderc::{Compiled, Options, Robust};
use miette::Diagnostic;
use std::path::Path;
use std::time::Duration;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shader: .wgsl, .comp or .glsl, .spv, .spvasm.
    #[arg(required_unless_present = "list_passes")]
    shader: Option<String>,
    /// Entry point; needed when the module has several.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// What a buffer holds before the dispatch. BINDING is N (set 0) or SET:N; SOURCE is a file, zero:BYTES,
    /// iota-u32:COUNT, iota-f32:COUNT, fill-u32|i32|f32:VALUE:COUNT, random-u32:SEED:COUNT or hex:DIGITS.
    #[arg(long = "buffer", value_name = "BINDING=SOURCE")]
    buffers: Vec<BufferArgument>,
    /// Push constants as hex digits, lowest byte first.
    #[arg(long, value_name = "HEX", value_parser = push_constants)]
    push: Option<PushConstants>,
    /// Workgroups.
    #[arg(long, value_name = "X[,Y[,Z]]", default_value = "1")]
    groups: Groups,
    /// Where the content of a buffer goes after the dispatch; `-` is standard output.
    #[arg(long = "save", value_name = "BINDING=FILE")]
    saves: Vec<SaveArgument>,
    /// Where the job runs.
    #[arg(long, value_enum, default_value_t = Place::Qemu)]
    on: Place,
    /// A firmware image instead of the stub, such as the vendor's mali_csffw.bin.
    #[arg(long, value_name = "FILE")]
    firmware: Option<String>,
    /// Value of a specialisation constant.
    #[arg(long = "spec", value_name = "ID=VALUE")]
    specialisation: Vec<SpecConstant>,
    /// Print the compiler's figures.
    #[arg(long)]
    stats: bool,
    /// Print the machine code as text.
    #[arg(long)]
    disasm: bool,
    /// Whether accesses outside of their memory do no harm; `off` trusts the shader, and makes smaller code.
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, default_value_t = RobustArgument::On)]
    robust: RobustArgument,
    /// Longest that the job may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=3600))]
    timeout: u32,
    /// Show the image's console, or with `--on host` each step of the bring-up.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    passes: PassArguments,
}

/// `--robust`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RobustArgument {
    On,
    Off,
}

impl From<RobustArgument> for Robust {
    fn from(argument: RobustArgument) -> Robust {
        match argument {
            RobustArgument::On => Robust::On,
            RobustArgument::Off => Robust::Off,
        }
    }
}

/// The bytes of `--push`.
#[derive(Clone, Debug)]
struct PushConstants(Vec<u8>);

fn push_constants(text: &str) -> Result<PushConstants, SourceError> {
    hex_bytes(text).map(PushConstants)
}

/// `X[,Y[,Z]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Groups([u32; 3]);

/// What is wrong with an argument of `run`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum ArgumentError {
    #[error("`{text}` is not X, X,Y or X,Y,Z with numbers of workgroups of at least 1")]
    Groups { text: String },
}

impl std::str::FromStr for Groups {
    type Err = ArgumentError;

    fn from_str(text: &str) -> Result<Groups, ArgumentError> {
        let error = || ArgumentError::Groups {
            text: text.to_owned(),
        };
        let mut groups = [1; 3];
        let mut parts = text.split(',');
        for (place, part) in groups.iter_mut().zip(parts.by_ref()) {
            *place = part.trim().parse().map_err(|_| error())?;
        }
        match parts.next().is_none() && !groups.contains(&0) {
            true => Ok(Groups(groups)),
            false => Err(error()),
        }
    }
}

#[derive(Debug, Error, Diagnostic)]
#[error("--save {name} is given twice for the same file or binding")]
struct SavedTwice {
    name: BindingName,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    if args.passes.list_passes {
        outln!("{}", passes::list().trim_end())?;
        return Ok(Status::Good);
    }
    args.passes.check()?;
    check_saves(&args.saves)?;
    // clap has seen to it that there is one.
    let shader = shader_file::load(args.shader.as_deref().unwrap_or_default())?;
    let options = args.passes.apply(Options {
        entry: args.entry.clone(),
        spec_constants: args
            .specialisation
            .iter()
            .map(|spec| (spec.id, spec.bits))
            .collect(),
        robust: args.robust.into(),
        ..Options::default()
    });
    if let Some(pass) = args.passes.last() {
        let text = dispatch::compile_until(&shader, &options, pass)?;
        let text = text.ok_or_else(|| args.passes.not_reached())?;
        outln!("{}", text.trim_end())?;
        return Ok(Status::Good);
    }
    let compiled = dispatch::compile(&shader, &options)?;
    args.passes.tell(&shader.path, &Told::of(&compiled));
    let request = Request {
        buffers: args
            .buffers
            .iter()
            .map(load_buffer)
            .collect::<Result<_, Failure>>()?,
        push_constants: args.push.as_ref().map_or(Vec::new(), |push| push.0.clone()),
        groups: args.groups.0,
        saves: args.saves.iter().map(|save| save.name).collect(),
        firmware: args
            .firmware
            .as_deref()
            .map(buffer_source::read)
            .transpose()?,
        limit: Duration::from_secs(args.timeout.into()),
        talk: match args.verbose {
            true => Talk::Verbose,
            false => Talk::Quiet,
        },
    };
    let ran = dispatch::run(&shader.path, &compiled, &request, args.on)?;
    save(&args.saves, &ran)?;
    report(args, &compiled)?;
    Ok(Status::Good)
}

fn load_buffer(argument: &BufferArgument) -> Result<(BindingName, Vec<u8>), Failure> {
    Ok((argument.name, argument.source.bytes()?))
}

fn check_saves(saves: &[SaveArgument]) -> Result<(), Failure> {
    for (index, save) in saves.iter().enumerate() {
        let same = |other: &SaveArgument| other.name == save.name || other.path == save.path;
        if saves.iter().take(index).any(same) {
            return Err(Failure::refused(SavedTwice { name: save.name }));
        }
    }
    Ok(())
}

/// Writes every file, and only then makes any of them visible.
fn save(saves: &[SaveArgument], ran: &Ran) -> Result<(), Failure> {
    let mut pending = Vec::new();
    for save in saves {
        let found = ran.saved.iter().find(|(name, _)| *name == save.name);
        let bytes = found.map_or(&[][..], |(_, bytes)| bytes);
        pending.push(Pending::write(&save.path, bytes)?);
    }
    pending.into_iter().try_for_each(Pending::commit)
}

/// What was asked for on standard output; a person's own data there is left alone.
fn report(args: &Args, compiled: &Compiled) -> Result<(), Failure> {
    let name = Path::new(args.shader.as_deref().unwrap_or_default())
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let data_on_stdout = args.saves.iter().any(|save| save.path == "-");
    let mut text = String::new();
    if args.stats {
        text.push_str(&format!(
            "{name} - compute shader: {}\n",
            compiled.statistics
        ));
    }
    if args.disasm {
        text.push_str(&compiled.listing);
    }
    match data_on_stdout {
        true => streams::say(format_args!("{text}")),
        false => streams::put(text.as_bytes())?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_one_to_three_numbers() {
        assert_eq!("4".parse(), Ok(Groups([4, 1, 1])));
        assert_eq!("4,5,6".parse(), Ok(Groups([4, 5, 6])));
        for bad in ["", "0", "4,", "1,2,3,4", "x"] {
            let error = bad.parse::<Groups>().unwrap_err();
            assert!(
                error.to_string().contains("workgroups of at least 1"),
                "{bad}: {error}"
            );
        }
    }
}

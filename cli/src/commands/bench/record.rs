//! `eitri bench record`: what the CPU does to record and submit, counted by the CPU itself in QEMU.

use crate::images::console;
use crate::images::image::{self, Builder, Parts};
use crate::input::shader_file;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::output::whole_file;
use crate::runs::dispatch;
use crate::runs::qemu::{self, Boot, Start};
use crate::workspace::Workspace;
use eitri_launch::tools::{self, Tool};
use eitri_shaderc::Options;
use miette::Diagnostic;
use serde_json::json;
use std::time::Duration;
use thiserror::Error;

/// Package and program of the image.
const IMAGE: &str = "eitri-bench";
/// A shader with a set and push constants.
const SHADER: &str = "cli/demo/saxpy.comp";
/// Longest that the image may run.
const LIMIT: Duration = Duration::from_secs(60);
/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The image did not say what it was to say.
#[derive(Debug, Error, Diagnostic)]
#[error("the image has not counted `{missing}`\n{console}{monitor}")]
struct NotCounted {
    missing: &'static str,
    console: String,
    monitor: String,
}

/// What is counted: its name on the console, what it is, and the bytes that any driver must write for it, with the reason.
struct Row {
    name: &'static str,
    what: &'static str,
    least: u64,
    why: &'static str,
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { name: "empty",    what: "begin and end",            least: 0,  why: "nothing" },
    Row { name: "first",    what: "the first dispatch",       least: 40, why: "addresses of shader, set and push constants, 8 bytes of these, RUN_COMPUTE" },
    Row { name: "dispatch", what: "each further dispatch",    least: 24, why: "8 bytes of push constants, their address, RUN_COMPUTE" },
    Row { name: "barrier",  what: "a barrier after each",     least: 8,  why: "a WAIT" },
    Row { name: "submit",   what: "a submission",             least: 32, why: "address, length, CALL; INSERT" },
];

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let workspace = Workspace::find()?;
    tools::ensure(&workspace, Tool::OF_QEMU)?;
    let folder = workspace.target_folder().join("eitri/bench");
    let shader = shader_file::load(&workspace.root().join(SHADER).to_string_lossy())?;
    let compiled = dispatch::compile(&shader, &Options::default())?;
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        whole_file::put(&path, bytes).map(|()| path)
    };
    let firmware = put("firmware.bin", &eitri_model::stub_firmware())?;
    let program = put("saxpy.program", &compiled.program)?;
    let builder = Builder::new()?;
    let monitor = builder.build("eitri-monitor", "eitri-monitor")?;
    let monitor = put("monitor.elf", &monitor.elf)?;
    let files = &[(image::FIRMWARE, &*firmware), (image::PROGRAM, &*program)];
    let built = builder.build_with(IMAGE, IMAGE, &Parts { board: None, files })?;
    let raw = put("bench.raw", &built.raw()?)?;
    let booted = qemu::boot(&Boot {
        start: Start::Monitor {
            monitor: &monitor,
            image: &raw,
            tree: None,
        },
        words: &[],
        folder: &folder,
        limit: LIMIT,
    })?;
    let console = console::decode(&booted.console, &built.elf);
    let mut counted = Vec::new();
    for row in ROWS {
        let found = console.lines().find_map(|line| counts(line, row.name));
        let counts = found.ok_or_else(|| {
            Failure::missing(NotCounted {
                missing: row.name,
                console: console.clone(),
                monitor: booted.monitor.clone(),
            })
        })?;
        counted.push((row, counts));
    }
    if args.json {
        let rows = counted.iter().map(|(row, (instructions, stored))| {
            json!({
                "name": row.name, "what": row.what, "instructions": instructions, "bytes": stored,
                "least": row.least, "why": row.why,
            })
        });
        outln!(
            "{}",
            json!({ "schema": SCHEMA, "rows": rows.collect::<Vec<_>>() })
        )?;
        return Ok(Status::Good);
    }
    outln!(
        "{:<24} {:>12} {:>7} {:>7}",
        "",
        "instructions",
        "bytes",
        "least"
    )?;
    for (row, (instructions, stored)) in &counted {
        let Row {
            what, least, why, ..
        } = row;
        outln!("{what:<24} {instructions:>12} {stored:>7} {least:>7}  {why}")?;
    }
    Ok(Status::Good)
}

/// Instructions and bytes in a line about `name`.
fn counts(line: &str, name: &str) -> Option<(u64, u64)> {
    let mut words = line.trim().strip_prefix("bench ")?.split(' ');
    let of_name = words.next() == Some(name);
    let (instructions, stored) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    of_name.then_some((instructions, stored))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_image_are_read() {
        assert_eq!(counts("bench submit 210 80\r", "submit"), Some((210, 80)));
        assert_eq!(counts("bench submit 210 80", "empty"), None);
        assert_eq!(counts("bench submit", "submit"), None);
    }
}

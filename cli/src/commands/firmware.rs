//! `eitri firmware`: the firmware of the GPU's microcontroller as a file, and what such a file holds.

use crate::input::firmware_file;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::output::whole_file;
use eitri_csf::image::{Image, Release};
use eitri_model::stub_firmware;
use serde_json::{Value, json};

/// Version of the JSON; a member that goes or changes its meaning makes a new one.
const SCHEMA: u32 = 1;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Write the stub: a firmware image that the model runs, for drivers that load one. No GPU runs it.
    Stub(StubArgs),
    /// Print what a firmware image holds: its interface, its build, its sections.
    Show(ShowArgs),
}

#[derive(clap::Args)]
pub(crate) struct StubArgs {
    /// Where the image goes; `-` is standard output.
    #[arg(long, short, value_name = "FILE")]
    output: String,
}

#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// The image, such as the vendor's mali_csffw.bin.
    file: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &Command) -> Result<Status, Failure> {
    match command {
        Command::Stub(args) => whole_file::write(&args.output, &stub_firmware())?,
        Command::Show(args) => show(args)?,
    }
    Ok(Status::Good)
}

fn show(args: &ShowArgs) -> Result<(), Failure> {
    let bytes = firmware_file::read(&args.file)?;
    // `read` has parsed it once.
    let Ok(image) = Image::parse(&bytes) else {
        return Ok(());
    };
    match args.json {
        true => outln!("{:#}", json_of(&args.file, &bytes, &image)),
        false => outln!("{}", text_of(&args.file, &bytes, &image).trim_end()),
    }
}

/// The released image that this is, by the vectors at the begin of its code.
fn release(image: &Image<'_>) -> Option<&'static Release> {
    let code = image.sections().find(|section| section.va.start == 0)?;
    let word = |at: usize| {
        let bytes = code.data.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    Release::of_vectors(word(0)?, word(4)?)
}

/// A section's name without the zeros behind it.
fn name(name: &[u8]) -> String {
    let end = name
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(name.len());
    String::from_utf8_lossy(name.get(..end).unwrap_or(name)).into_owned()
}

fn text_of(path: &str, bytes: &[u8], image: &Image<'_>) -> String {
    let mut text = format!("{path}: firmware of {} bytes\n", bytes.len());
    if let Some(version) = image.version() {
        text += &format!("interface  {version}\n");
    }
    if let Some(build) = image.build_info() {
        text += &format!("build      {build}\n");
    }
    text += &match release(image) {
        Some(release) => format!("release    {} (linux-firmware)\n", release.name),
        None => "release    none that is known\n".to_owned(),
    };
    text += "\naddresses                   bytes in file  flags\n";
    for section in image.sections() {
        text += &format!(
            "{:#010x}..{:#010x}  {:>13}  {} {}\n",
            section.va.start,
            section.va.end,
            section.data.len(),
            section.flags,
            name(section.name)
        );
    }
    let others = image.entries().filter(|entry| entry.kind.is_none()).count();
    if others > 0 {
        text += &format!("{others} entries of kinds that are not known\n");
    }
    text
}

fn json_of(path: &str, bytes: &[u8], image: &Image<'_>) -> Value {
    let sections = image.sections().map(|section| {
        json!({
            "start": section.va.start,
            "end": section.va.end,
            "bytes_in_file": section.data.len(),
            "flags": section.flags.to_string(),
            "name": name(section.name),
        })
    });
    json!({
        "schema": SCHEMA,
        "file": path,
        "bytes": bytes.len(),
        "interface": image.version().map(|version| version.to_string()),
        "build": image.build_info(),
        "release": release(image).map(|release| release.name),
        "sections": sections.collect::<Vec<_>>(),
    })
}

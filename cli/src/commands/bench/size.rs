//! `eitri bench image`: bytes of code, constants and variables of the image, and what a queue takes of memory.

use crate::images::image::{self, Builder, Parts};
use crate::input::shader_file;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::output::whole_file;
use crate::runs::dispatch;
use crate::workspace::Workspace;
use eitri_model::{Config, stub_firmware};
use eitri_on_model::Machine;
use eitri_runtime::{Device, Options, QueueConfig, Storage};
use miette::Diagnostic;
use serde_json::json;
use std::error::Error;

/// The image: a user's own firmware with the runtime in it.
const IMAGE: &str = "eitri-embed";
/// Its shader.
const SHADER: &str = "examples/embed/double.wgsl";
/// Version of the JSON's shape.
const SCHEMA: u32 = 1;
/// An image without firmware and shaders is to have at most so many bytes.
const IMAGE_AIM: u64 = 192 << 10;
/// One queue is to take at most so many of memory, tables and storage of the driver included.
const QUEUE_AIM: u64 = 512 << 10;

/// Storage for one queue with its jobs.
type OneQueue<'d> = Storage<'d, 1, 8, 32>;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The driver could not do it.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("no queue: {0}")]
struct NoQueue(String);

/// A row: what it is, its bytes, and the aim if there is one.
type Row = (&'static str, u64, Option<u64>);

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut rows: Vec<Row> = Vec::new();
    let [code, constants, variables, zeroed] = sizes()?;
    rows.push(("code", code, None));
    rows.push(("constants", constants, None));
    rows.push(("variables", variables, None));
    rows.push((
        "image without firmware and shaders",
        code + constants + variables,
        Some(IMAGE_AIM),
    ));
    rows.push(("variables that begin as zero, stacks", zeroed, None));
    let queue = queue().map_err(|error| Failure::refused(NoQueue(error.to_string())))?;
    let storage = size_of::<OneQueue<'_>>() as u64;
    rows.push(("memory of a queue", queue, None));
    rows.push(("storage of the driver for it", storage, None));
    rows.push(("one queue", queue + storage, Some(QUEUE_AIM)));
    if args.json {
        let rows = rows.iter();
        let rows =
            rows.map(|(what, bytes, aim)| json!({ "what": what, "bytes": bytes, "aim": aim }));
        outln!(
            "{}",
            json!({ "schema": SCHEMA, "rows": rows.collect::<Vec<_>>() })
        )?;
        return Ok(Status::Good);
    }
    for (what, bytes, aim) in rows {
        match aim {
            None => outln!("{what:<40} {bytes:>9}")?,
            Some(aim) => outln!("{what:<40} {bytes:>9}  aim {aim}")?,
        }
    }
    Ok(Status::Good)
}

/// Bytes of code, constants, variables, and variables that begin as zero, of the image that brings a GPU up and runs a shader as
/// a user's own does. It is built with both in it, so that nothing of the driver is left out, and they are not counted.
fn sizes() -> Result<[u64; 4], Failure> {
    let workspace = Workspace::find()?;
    let shader = shader_file::load(&workspace.root().join(SHADER).to_string_lossy())?;
    let program = dispatch::compile(&shader, &eitri_shaderc::Options::default())?.program;
    let firmware = stub_firmware();
    let folder = workspace.target_folder().join("eitri/bench");
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        whole_file::put(&path, bytes).map(|()| path)
    };
    let (firmware_file, program_file) =
        (put("firmware.bin", &firmware)?, put("program", &program)?);
    let files = &[
        (image::FIRMWARE, &*firmware_file),
        (image::PROGRAM, &*program_file),
    ];
    let built = Builder::new()?.build_small(IMAGE, &Parts { board: None, files })?;
    let mut sizes = [0; 4];
    let [code, constants, variables, zeroed] = &mut sizes;
    for section in built.sections()? {
        // As linker/image.ld names them.
        let to = match section.name.as_str() {
            ".text" => &mut *code,
            ".data" => &mut *variables,
            ".bss" | ".heap" | ".stack" => &mut *zeroed,
            _ => &mut *constants,
        };
        *to += section.bytes;
    }
    *constants -= (firmware.len() + program.len()) as u64;
    Ok(sizes)
}

/// Bytes that a device takes for a queue: its rings, pages, suspend buffers and tables.
fn queue() -> Result<u64, Box<dyn Error>> {
    let machine = Machine::new(Config::default());
    let firmware = stub_firmware();
    let mut storage = OneQueue::new();
    let options = Options::default();
    let mut device = Device::bring_up(machine.clone(), &firmware, &mut storage, options, &mut ())?;
    let before = machine.memory_in_use();
    device.create_queue(QueueConfig::default())?;
    Ok(machine.memory_in_use() - before)
}

//! `eitri bench image`: bytes of code, constants and variables of the image, and what a queue takes of memory.

use crate::image::Builder;
use crate::outcome::{Failure, Status};
use crate::streams::outln;
use eitri_model::{Config, stub_firmware};
use eitri_on_model::Machine;
use eitri_runtime::{Device, Options, QueueConfig, Storage};
use miette::Diagnostic;
use serde_json::json;
use std::error::Error;

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
    let image = Builder::new()?.build("eitri-image", "eitri-image")?;
    let mut rows: Vec<Row> = Vec::new();
    let (mut code, mut constants, mut variables, mut zeroed) = (0, 0, 0, 0);
    for section in image.sections()? {
        // As linker/image.ld names them; a job is firmware and shader.
        let to = match section.name.as_str() {
            ".text" => &mut code,
            ".data" => &mut variables,
            ".bss" | ".heap" | ".stack" => &mut zeroed,
            ".eitri.job" => continue,
            _ => &mut constants,
        };
        *to += section.bytes;
    }
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

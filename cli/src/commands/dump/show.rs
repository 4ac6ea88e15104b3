//! `eitri dump show`: a dump as people read it, or as JSON.

use super::{parse, read};
use crate::outcome::{Failure, Status};
use crate::output::streams::{self, outln};
use eitri_dump::show::{Entry, Options, entries};
use serde_json::{Value, json};

/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The dump; `-` is standard input.
    file: String,
    /// Show every instruction that is still in the rings, every job, and every register and interface word.
    #[arg(long)]
    all: bool,
    /// Print JSON, which holds all that the text holds.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let file = read(&args.file)?;
    let dump = parse(&args.file, &file)?;
    let shown = entries(&dump, &Options { all: args.all });
    if args.json {
        let shown: Vec<Value> = shown.iter().map(value).collect();
        outln!(
            "{}",
            json!({ "schema": SCHEMA, "file": args.file, "entries": shown })
        )?;
    } else {
        let text: Vec<String> = shown.iter().map(Entry::to_string).collect();
        streams::put(text.join("\n").as_bytes())?;
    }
    Ok(Status::Good)
}

/// An entry as JSON; what is empty is left out.
fn value(entry: &Entry) -> Value {
    let mut value = serde_json::Map::new();
    for (key, text) in [("name", &entry.name), ("text", &entry.text)] {
        if !text.is_empty() {
            value.insert(key.to_owned(), json!(text));
        }
    }
    if !entry.entries.is_empty() {
        let entries: Vec<Value> = entry.entries.iter().map(self::value).collect();
        value.insert("entries".to_owned(), Value::Array(entries));
    }
    Value::Object(value)
}

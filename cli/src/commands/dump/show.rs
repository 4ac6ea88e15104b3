//! `eitri dump show`: a dump as people read it, or as JSON.

use super::{parse, read};
use crate::outcome::{Failure, Status};
use crate::output::streams::{self, outln};
use crate::output::whole_file;
use crate::pages;
use eitri_dump::Dump;
use eitri_dump::note::Reporter;
use eitri_dump::show::{
    CandidateFacts, Entry, Facts, FaultFacts, LabelFacts, MappingFacts, Options, StreamFacts,
    entries, facts,
};
use serde_json::{Value, json};

/// Version of the JSON's shape.
const SCHEMA: u32 = 2;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The dump; `-` is standard input.
    file: String,
    /// Show every instruction that is still in the rings, every job, and every register and interface word.
    #[arg(long)]
    all: bool,
    /// Print JSON (`eitri schema dump`): faults, mappings, streams as values, and all that the text holds.
    #[arg(long)]
    json: bool,
    /// Write it as an HTML page, which needs no other file: the fault first, memory as a picture, all the rest linked.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let file = read(&args.file)?;
    let dump = parse(&args.file, &file)?;
    let shown = entries(&dump, &Options { all: args.all });
    let as_value = || {
        let shown: Vec<Value> = shown.iter().map(value).collect();
        let mut value = values(&dump);
        value["schema"] = json!(SCHEMA);
        value["file"] = json!(args.file);
        value["entries"] = json!(shown);
        value
    };
    if let Some(path) = &args.html {
        whole_file::write(path, pages::dump(as_value())?.as_bytes())?;
    } else if args.json {
        outln!("{:#}", as_value())?;
    } else {
        let text: Vec<String> = shown.iter().map(Entry::to_string).collect();
        streams::put(text.join("\n").as_bytes())?;
    }
    Ok(Status::Good)
}

/// What programs look for.
fn values(dump: &Dump<'_>) -> Value {
    let Facts {
        faults,
        mappings,
        streams,
        labels,
    } = facts(dump);
    let memory = dump.memory().iter();
    let memory = memory.map(|it| json!({ "address": it.address, "bytes": it.bytes }));
    let incomplete = dump.incomplete();
    json!({
        "gpu_id": dump.gpu_id().map(|id| id.0),
        "producer": dump.producer(),
        "faults": faults.iter().map(fault).collect::<Vec<_>>(),
        "streams": streams.iter().map(stream).collect::<Vec<_>>(),
        "mappings": mappings.iter().map(mapping).collect::<Vec<_>>(),
        "labels": labels.iter().map(label).collect::<Vec<_>>(),
        "memory": memory.collect::<Vec<_>>(),
        "missing": {
            "cut": dump.cut(),
            "no_room": incomplete.no_room,
            "unreadable": incomplete.unreadable,
            "tables": incomplete.tables,
        },
    })
}

fn fault(fault: &FaultFacts) -> Value {
    let reporter = match fault.reporter {
        Reporter::AddressSpace => "address-space",
        Reporter::Gpu => "gpu",
        Reporter::StreamFault => "stream-fault",
        Reporter::StreamFatal => "stream-fatal",
        Reporter::Timeout => "timeout",
        Reporter::Firmware => "firmware",
    };
    json!({
        "reporter": reporter,
        "code": fault.code,
        "what": fault.what,
        "slot": fault.slot,
        "stream": fault.stream,
        "space": fault.space,
        "status": fault.status,
        "address": fault.address,
        "access": fault.access,
        "source": fault.source,
        "mapped": fault.mapped,
        "place": fault.place,
        "candidates": fault.candidates.as_ref().map(|all| all.iter().map(candidate).collect::<Vec<_>>()),
    })
}

fn candidate(candidate: &CandidateFacts) -> Value {
    json!({
        "address": candidate.address,
        "word": format!("{:016x}", candidate.word),
        "text": candidate.text,
        "program": candidate.program,
        "source": candidate.source,
    })
}

fn label(label: &LabelFacts) -> Value {
    json!({ "space": label.space, "start": label.start, "end": label.end, "name": label.name })
}

fn stream(stream: &StreamFacts) -> Value {
    let ring = stream.ring;
    let submissions = stream.submissions.iter().map(|it| {
        json!({ "sequence": it.sequence, "position": it.position, "bytes": it.bytes, "start": it.start })
    });
    json!({
        "slot": stream.slot,
        "stream": stream.stream,
        "space": stream.space,
        "ring": {
            "address": ring.address,
            "bytes": ring.bytes,
            "insert": ring.insert,
            "extract": ring.extract,
        },
        "command_pointer": stream.command_pointer,
        "submissions": submissions.collect::<Vec<_>>(),
    })
}

fn mapping(mapping: &MappingFacts) -> Value {
    let may = mapping.attributes;
    json!({
        "space": mapping.space,
        "start": mapping.start,
        "end": mapping.end,
        "readable": may.readable,
        "writable": may.readable && may.writable,
        "executable": may.executable,
        "attribute": may.memory.number(),
        "physical": mapping.physical,
        "label": mapping.label,
    })
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

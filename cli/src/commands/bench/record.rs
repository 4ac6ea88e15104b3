//! `eitri bench record`: what the CPU does to record, submit, poll and wait, counted by the CPU itself in QEMU.

use crate::images::console;
use crate::images::image::{self, Builder, Parts};
use crate::input::shader_file;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::output::whole_file;
use crate::runs::boot::{Boot, Start, boot};
use crate::runs::dispatch;
use crate::workspace::Workspace;
use eitri_boards::qemu_virt::BOARD;
use eitri_launch::tools::{self, Tool};
use eitri_shaderc::Options;
use miette::Diagnostic;
use serde_json::json;
use std::time::Duration;
use thiserror::Error;

/// Package and program of the image.
const IMAGE: &str = "eitri-bench";
/// A shader with a set and push constants, and another.
const SHADERS: [(&str, &str); 2] = [
    ("saxpy.program", "cli/demo/saxpy.comp"),
    ("scale.program", "qemu-tests/bench/shaders/scale.comp"),
];
/// Shaders of draws: of vertices, and of fragments.
const DRAW_SHADERS: [&str; 2] = [
    "qemu-tests/bench/shaders/draw.vert",
    "qemu-tests/bench/shaders/draw.frag",
];
/// Longest that the image may run.
const LIMIT: Duration = Duration::from_secs(300);
/// Version of the JSON's shape.
const SCHEMA: u32 = 2;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Count the rows of one part alone.
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
}

/// A part of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Recording dispatches.
    Dispatches,
    /// Recording draws and passes.
    Draws,
    /// Submitting, polling and waiting.
    Submissions,
    /// What many objects cost.
    Growth,
}

impl Part {
    /// Its name on the command line of the image.
    const fn name(self) -> &'static str {
        match self {
            Part::Dispatches => "dispatches",
            Part::Draws => "draws",
            Part::Submissions => "submissions",
            Part::Growth => "growth",
        }
    }
}

/// The image did not say what it was to say.
#[derive(Debug, Error, Diagnostic)]
#[error("the image has not counted `{missing}`\n{console}{monitor}")]
struct NotCounted {
    missing: &'static str,
    console: String,
    monitor: String,
}

/// The shaders of draws do not compile.
#[derive(Debug, Error, Diagnostic)]
#[error("the shaders of draws do not compile: {0}")]
struct NotCompiled(String);

/// What is counted: its name on the console, what it is, and the bytes that any driver must write for it, with the reason.
struct Row {
    name: &'static str,
    what: &'static str,
    least: Option<(u64, &'static str)>,
}

const fn row(name: &'static str, what: &'static str) -> Row {
    Row {
        name,
        what,
        least: None,
    }
}

impl Row {
    /// Any driver must write so many bytes, for this.
    const fn least(self, bytes: u64, why: &'static str) -> Row {
        Row {
            least: Some((bytes, why)),
            ..self
        }
    }
}

/// The rows of each part.
#[rustfmt::skip]
const ROWS: &[(Part, &[Row])] = &[
    (Part::Dispatches, &[
        row("empty",            "begin and end").least(0, "nothing"),
        row("first",            "the first dispatch").least(40, "addresses of shader, set and push constants, 8 bytes of these, RUN_COMPUTE"),
        row("dispatch",         "a further dispatch, the same but for its push constants").least(24, "8 bytes of push constants, their address, RUN_COMPUTE"),
        row("barrier",          "a barrier after each").least(8, "a WAIT"),
        row("groups",           "another number of workgroups").least(32, "the same, and the number"),
        row("two-sets",         "two sets in turn").least(32, "address of the set; as a further dispatch"),
        row("random-sets",      "one of 65 sets"),
        row("two-pipelines",    "two pipelines of two programs with their sets in turn").least(40, "addresses of shader and set; as a further dispatch"),
        row("random-pipelines", "one of 65 pipelines of two programs with its set"),
        row("indirect",         "an indirect dispatch").least(40, "as a further dispatch; the counts' address, LOAD_MULTIPLE"),
    ]),
    (Part::Draws, &[
        row("draw-same",        "a further draw, the same").least(8, "RUN_IDVS"),
        row("draw-push",        "the same but for its push constants (aim: 150)").least(56, "20 bytes of push constants for each stage, the address of each, RUN_IDVS"),
        row("draw-all",         "the same but for its set, vertex buffer and push constants (aim: 500)").least(88, "the same; addresses of set and vertex buffer, and of their table"),
        row("draw-pipeline",    "the same with another pipeline, and its set (aim: 800)"),
        row("draw-vertices",    "the same but for its vertex buffer").least(32, "address of the vertex buffer, that of its table, and RUN_IDVS"),
        row("draw-set",         "the same but for its set").least(16, "address of the set, RUN_IDVS"),
        row("draw-count",       "the same but for its number of vertices").least(16, "the number, RUN_IDVS"),
        row("draw-random-sets", "one of 65 sets, with other push constants"),
        row("draw-random-pipelines", "one of 65 pipelines with its set, and other push constants"),
        row("draw-indexed",     "an indexed draw: other indices of the same buffer, and another vertex offset").least(24, "first index, vertex offset, RUN_IDVS"),
        row("draw-indices",     "the same of another index buffer and another vertex buffer").least(40, "addresses of index buffer and vertex buffer, and of their table, RUN_IDVS"),
        row("draw-instanced",   "an instanced draw: other instances, and more or fewer of them").least(24, "number of instances, where they begin, RUN_IDVS"),
        row("draw-indirect",    "an indirect draw").least(24, "address of its parameters, LOAD_MULTIPLE, RUN_IDVS"),
        row("draw-indirect-8",  "eight indirect draws in one call"),
        row("draw-indirect-instanced", "an indirect draw of instances"),
        row("draw-secondary",   "a draw in a secondary command buffer, the same but for its push constants").least(56, "as in a pass"),
        row("execute-secondary", "a secondary command buffer, executed by a pass").least(24, "its address, its length, CALL"),
        row("pass",             "a pass that clears, to the same image (aim: 1,500)").least(200, "a framebuffer with a target; its address, RUN_FRAGMENT"),
        row("pass-other",       "the same to two images in turn"),
        row("pass-draw",        "the same to one image, with a draw (aim: 2,300)"),
        row("pass-first",       "the first pass of a recording, with a draw"),
    ]),
    (Part::Submissions, &[
        row("submit",           "a submission, once around the ring").least(32, "address, length, CALL; INSERT"),
        row("filling",          "a submission, the first time around the ring"),
        row("submit-first",     "the first submission of a recording"),
        row("submit-first-65",  "the same, of 65 pipelines and sets"),
        row("first-job",        "the first submission to a queue"),
        row("submit-wait",      "a submission that waits for a semaphore"),
        row("submit-signal",    "a submission that signals a semaphore"),
        row("submit-4-4",       "a submission with 4 waits and 4 signals"),
        row("wait",             "from a submission to Done"),
        row("wait-awake",       "the same, the platform's own wait aside"),
        row("poll-idle",        "a poll with nothing to do, 1 queue"),
        row("poll-idle-9",      "the same, 9 queues of which each has had a job"),
        row("poll-busy",        "a poll with a job in flight"),
        row("cached-dispatch",  "a further dispatch, memory cached by the CPU"),
        row("cached-submit",    "a submission, the same"),
        row("cached-wait",      "from it to Done, the same"),
        row("cached-wait-awake", "the same, the platform's own wait aside"),
        row("cached-poll-idle", "a poll with nothing to do, the same"),
    ]),
    (Part::Growth, &[
        row("create-sets-10",     "sets made with 2 buffers: each of 10"),
        row("create-sets-100",    "the same of 100"),
        row("create-sets-1000",   "the same of 1,000"),
        row("create-sets-10000",  "the same of 10,000"),
        row("sets-10",          "a dispatch with a set of its own: each of 10"),
        row("sets-100",         "the same of 100"),
        row("sets-1000",        "the same of 1,000"),
        row("sets-10000",       "the same of 10,000"),
        row("pipelines-10",     "a dispatch with a pipeline and a set of its own: each of 10"),
        row("pipelines-100",    "the same of 100"),
        row("pipelines-1000",   "the same of 1,000"),
        row("create-queues-1",    "a queue made with what it runs: each of 1"),
        row("create-queues-10",   "the same of 10"),
        row("create-queues-100",  "the same of 100"),
        row("create-queues-1000", "the same of 1,000"),
        row("poll-idle-1",      "a poll with nothing to do, 1 further queue"),
        row("poll-idle-10",     "the same of 10"),
        row("poll-idle-100",    "the same of 100"),
        row("poll-idle-1000",   "the same of 1,000"),
        row("queues-1",         "the first job of each queue, from submission to Done: of 1"),
        row("queues-10",        "the same of 10"),
        row("queues-100",       "the same of 100"),
        row("queues-1000",      "the same of 1,000"),
        row("destroy-queues-1",    "a queue destroyed: each of 1"),
        row("destroy-queues-10",   "the same of 10"),
        row("destroy-queues-100",  "the same of 100"),
        row("destroy-queues-1000", "the same of 1,000"),
    ]),
];

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let workspace = Workspace::find()?;
    tools::ensure(&workspace, Tool::OF_QEMU)?;
    let folder = workspace.target_folder().join("eitri/bench");
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        whole_file::put(&path, bytes).map(|()| path)
    };
    let firmware = put("firmware.bin", &eitri_model::stub_firmware())?;
    let compile = |(name, path): (&str, &str)| {
        let shader = shader_file::load(&workspace.root().join(path).to_string_lossy())?;
        let compiled = dispatch::compile(&shader, &Options::default())?;
        put(name, &compiled.program)
    };
    let [first, second] = SHADERS;
    let (program, other) = (compile(first)?, compile(second)?);
    let [vertex, fragment] = draw_programs(&workspace)?;
    let vertex = put("draw.vertex", &vertex)?;
    let fragment = put("draw.fragment", &fragment)?;
    let builder = Builder::new()?;
    let monitor = builder.build("eitri-monitor", "eitri-monitor")?;
    let monitor = put("monitor.elf", &monitor.elf)?;
    let files = &[
        (image::FIRMWARE, &*firmware),
        (image::PROGRAM, &*program),
        (image::OTHER_PROGRAM, &*other),
        (image::VERTEX_PROGRAM, &*vertex),
        (image::FRAGMENT_PROGRAM, &*fragment),
    ];
    let built = builder.build_with(IMAGE, IMAGE, &Parts { board: None, files })?;
    let raw = put("bench.raw", &built.raw()?)?;
    let only = args.only.map(|part| format!("only={}", part.name()));
    let words: Vec<String> = only.into_iter().collect();
    let booted = boot(&Boot {
        start: Start::Monitor {
            monitor: &monitor,
            image: &raw,
            at: BOARD.memory.image.base,
            tree: None,
        },
        words: &words,
        folder: &folder,
        limit: LIMIT,
        model: None,
    })?;
    let console = console::decode(&booted.console, &built.elf);
    let mut counted = Vec::new();
    let parts = ROWS
        .iter()
        .filter(|(part, _)| args.only.is_none_or(|only| only == *part));
    for row in parts.flat_map(|(_, rows)| *rows) {
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
    match args.json {
        true => print_json(&counted),
        false => print_table(&counted),
    }
}

/// The programs of draws, compiled together.
fn draw_programs(workspace: &Workspace) -> Result<[Vec<u8>; 2], Failure> {
    let [vertex, fragment] = DRAW_SHADERS.map(|path| {
        let path = workspace.root().join(path);
        shader_file::load(&path.to_string_lossy())
    });
    let (vertex, fragment) = (vertex?, fragment?);
    let options = Options::default();
    let source = |spirv| (spirv, &options);
    let compiled = eitri_shaderc::compile_graphics(
        source(vertex.spirv.as_slice()),
        Some(source(fragment.spirv.as_slice())),
    );
    let compiled = compiled.map_err(|errors| Failure::missing(NotCompiled(errors.to_string())))?;
    let fragment = compiled.fragment.map(|stage| stage.program);
    Ok([compiled.vertex.program, fragment.unwrap_or_default()])
}

fn print_json(counted: &[(&Row, Counts)]) -> Result<Status, Failure> {
    let rows = counted.iter().map(|(row, counts)| {
        let (least, why) = row.least.unzip();
        json!({
            "name": row.name, "what": row.what, "instructions": counts.instructions, "bytes": counts.bytes,
            "polls": counts.polls, "least": least, "why": why,
        })
    });
    outln!(
        "{}",
        json!({ "schema": SCHEMA, "rows": rows.collect::<Vec<_>>() })
    )?;
    Ok(Status::Good)
}

fn print_table(counted: &[(&Row, Counts)]) -> Result<Status, Failure> {
    let (instructions, bytes, least, polls) = ("instructions", "bytes", "least", "polls");
    outln!(
        "{:<60} {instructions:>12} {polls:>6} {bytes:>7} {least:>7}",
        ""
    )?;
    for (row, counts) in counted {
        let Counts {
            instructions,
            bytes,
            polls,
        } = counts;
        let polls = polls.map_or(String::new(), |polls| polls.to_string());
        let (least, why) = row.least.unzip();
        let least = least.map_or(String::new(), |least| least.to_string());
        let line = format!(
            "{:<60} {instructions:>12} {polls:>6} {bytes:>7} {least:>7}  {}",
            row.what,
            why.unwrap_or("")
        );
        outln!("{}", line.trim_end())?;
    }
    Ok(Status::Good)
}

/// What a line of the image says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    instructions: u64,
    bytes: u64,
    /// Of waits.
    polls: Option<u64>,
}

/// Counts in a line about `name`.
fn counts(line: &str, name: &str) -> Option<Counts> {
    let mut words = line.trim().strip_prefix("bench ")?.split(' ');
    let of_name = words.next() == Some(name);
    let (instructions, bytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let polls = words.next().and_then(|word| word.parse().ok());
    of_name.then_some(Counts {
        instructions,
        bytes,
        polls,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_image_are_read() {
        let of = |line, name| counts(line, name).map(|it| (it.instructions, it.bytes, it.polls));
        assert_eq!(of("bench submit 210 80\r", "submit"), Some((210, 80, None)));
        assert_eq!(of("bench wait 9 0 3\r", "wait"), Some((9, 0, Some(3))));
        assert_eq!(of("bench submit 210 80", "empty"), None);
        assert_eq!(of("bench submit", "submit"), None);
    }
}

//! Shaders in both places: QEMU and the host must give the same bytes, and the demos those of a CPU.

use super::Case;
use crate::commands::demo::request;
use crate::input::buffer_source::{BindingName, BufferArgument, SourceError};
use crate::input::given::Given;
use crate::input::gpu_choice::GpuChoice;
use crate::input::shader_file;
use crate::outcome::Failure;
use crate::runs::demo::{self, Picture};
use crate::runs::dispatch::{self, Place, Request, Talk};
use crate::runs::known_lines::KnownLines;
use crate::runs::qemu;
use crate::workspace::Workspace;
use eitri_dump::{Dump, show};
use eitri_job::{CoreDump, Wants};
use eitri_model::{Event, Nanoseconds, Sink};
use eitri_shaderc::{Options, Robust};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// A shader as a user would run it.
struct UserShader {
    file: &'static str,
    buffers: &'static [&'static str],
    groups: [u32; 3],
    saves: &'static [(u32, u32)],
}

#[rustfmt::skip]
const USER_SHADERS: &[UserShader] = &[
    UserShader { file: "histogram.comp",     groups: [4, 1, 1], saves: &[(0, 1)],         buffers: &["0=random-u32:1:256", "1=zero:1024"] },
    UserShader { file: "matmul.comp",        groups: [2, 1, 1], saves: &[(1, 0)],         buffers: &["0=iota-f32:512", "1=fill-f32:0.5:512", "1:0=zero:2048"] },
    UserShader { file: "prefix_sum.wgsl",    groups: [2, 1, 1], saves: &[(0, 1), (0, 2)], buffers: &["0=random-u32:2:512", "1=zero:2048", "2=zero:8"] },
    UserShader { file: "collatz.wgsl",       groups: [3, 1, 1], saves: &[(0, 0)],         buffers: &["0=iota-u32:90"] },
    UserShader { file: "rotate_points.comp", groups: [1, 1, 1], saves: &[(0, 2)],         buffers: &["0=iota-f32:128", "1=fill-f32:1:8", "2=zero:256"] },
];

/// Longest that one shader may take.
const LIMIT: Duration = Duration::from_secs(60);

/// What is run, from which file, and what a CPU says of it, if anything.
struct Run {
    name: &'static str,
    folder: &'static str,
    request: Request,
    expected: Option<Vec<u8>>,
}

/// Runs every demo and every user's shader in both places.
pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let mut runs: Vec<Run> = Vec::new();
    for demo in demo::all(&Picture::WHOLE_SET) {
        runs.push(Run {
            name: demo.file,
            folder: "cli/demo",
            request: request(&demo),
            expected: Some(demo.expected),
        });
    }
    for shader in USER_SHADERS {
        runs.push(Run {
            name: shader.file,
            folder: "cli/tests/shaders",
            request: shader.request()?,
            expected: None,
        });
    }
    let mut cases = runs
        .iter()
        .map(|run| run.compare(workspace))
        .collect::<Result<Vec<_>, _>>()?;
    cases.push(endless(workspace)?);
    cases.push(dumped(workspace)?);
    cases.extend(non_coherent(workspace)?);
    Ok(cases)
}

/// Counts the workgroups that a model tells of.
struct Workgroups(Rc<Cell<u32>>);

impl Sink for Workgroups {
    fn event(&mut self, _: Nanoseconds, event: Event) {
        if let Event::Workgroup { begun: true, .. } = event {
            self.0.set(self.0.get() + 1);
        }
    }

    fn wants_instructions(&self) -> bool {
        false
    }
}

/// Caches that the GPU does not see, in QEMU, before a GPU of another generation: an image that keeps them up gets its result
/// without a word, and is traced; of one that does not it is told which line it has not cleaned, and where it wrote it.
fn non_coherent(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    const MISSED: &str = " of the GPU reads the line of 0x";
    let [demo, ..] = demo::all(&Picture::WHOLE_SET);
    let path = workspace.root().join("cli/demo").join(demo.file);
    let shader = shader_file::load(&path.to_string_lossy())?;
    let gpu: GpuChoice = "G615".parse().map_err(Failure::refused)?;
    let options = Options {
        target: gpu.target(),
        ..Options::default()
    };
    let compiled = dispatch::compile(&shader, &options)?;
    let bundle = dispatch::bundle(demo.file, &compiled, &request(&demo))?;
    let workgroups = Rc::new(Cell::new(0));
    let run = |words: &[&str], trace: Option<Box<dyn Sink>>| {
        let setting = qemu::Setting {
            gpu,
            limit: LIMIT,
            talk: Talk::Quiet,
            words,
        };
        qemu::run_job(&bundle, &KnownLines::of_compute(&compiled), &setting, trace)
    };
    let done = run(
        qemu::NON_COHERENT,
        Some(Box::new(Workgroups(Rc::clone(&workgroups)))),
    )?;
    let written = done.result.buffers.first().map(|buffer| &buffer.bytes);
    let failure = match (done.result.failure, done.diagnoses.first()) {
        (Some(failure), _) => Some(failure.text),
        (None, Some(diagnosis)) => Some(diagnosis.clone()),
        (None, None) if written != Some(&demo.expected) => Some("not what a CPU says".to_owned()),
        (None, None) if workgroups.get() != demo.groups[0] => {
            Some(format!("{} workgroups were traced", workgroups.get()))
        }
        (None, None) => None,
    };
    let kept_up = Case::ran("caches that are kept up", failure);
    let words = [qemu::NON_COHERENT, &["careless"]].concat();
    let done = run(&words, None)?;
    let told = done.diagnoses.iter().any(|line| line.contains(MISSED));
    let told_by = done
        .diagnoses
        .iter()
        .any(|line| line.contains("in which the code at 0x"));
    let failure = match done.result.failure {
        None => Some("the job went well without upkeep".to_owned()),
        Some(_) if told && told_by => None,
        Some(failure) => {
            let found = done.diagnoses.join("\n");
            Some(format!("no {MISSED:?} in {found}\n{}", failure.text))
        }
    };
    let missed = Case::ran("caches that are not kept up", failure);
    Ok(vec![kept_up, missed])
}

/// A shader that never ends is stopped by the driver in the image, which tells what the GPU was doing.
fn endless(workspace: &Workspace) -> Result<Case, Failure> {
    const SAID: &str = "was still running after 1s";
    let path = workspace.root().join("cli/tests/shaders/endless.wgsl");
    let shader = shader_file::load(&path.to_string_lossy())?;
    let compiled = dispatch::compile(&shader, &Options::default())?;
    let name = BindingName::new(0, 0);
    let request = Request {
        resources: vec![Given::buffer(name, vec![0; 8])],
        push_constants: Vec::new(),
        groups: [1; 3],
        saves: vec![name],
        gpu: GpuChoice::default(),
        coherent: true,
        firmware: None,
        limit: Duration::from_secs(1),
        wants: Wants::default(),
        talk: Talk::Quiet,
    };
    let failure = match dispatch::run("endless.wgsl", &compiled, &request, Place::Qemu) {
        Ok(_) => Some("it ended".to_owned()),
        Err(failure) => {
            let text = failure.to_string();
            (!text.contains(SAID)).then(|| format!("no {SAID:?} in {text}"))
        }
    };
    Ok(Case::ran("endless.wgsl", failure))
}

/// A shader that stores outside of its buffer leaves a core dump, which says so.
fn dumped(workspace: &Workspace) -> Result<Case, Failure> {
    const SHOWN: &str = "TRANSLATION_FAULT_2 (0xc2): the address is not mapped";
    let path = workspace.root().join("cli/tests/shaders/wild.wgsl");
    let shader = shader_file::load(&path.to_string_lossy())?;
    let options = Options {
        robust: Robust::Off,
        ..Options::default()
    };
    let compiled = dispatch::compile(&shader, &options)?;
    let name = BindingName::new(0, 0);
    let request = Request {
        resources: vec![Given::buffer(name, vec![0; 256])],
        push_constants: Vec::new(),
        groups: [1; 3],
        saves: vec![name],
        gpu: GpuChoice::default(),
        coherent: true,
        firmware: None,
        limit: LIMIT,
        wants: Wants {
            dump: CoreDump::OnFailure,
            ..Wants::default()
        },
        talk: Talk::Quiet,
    };
    let done = dispatch::execute("wild.wgsl", &compiled, &request, Place::Qemu, None)?;
    let failure = match Dump::parse(&done.result.dump) {
        Err(error) => Some(format!("no core dump: {error}")),
        Ok(dump) => {
            let shown = show::entries(&dump, &show::Options::default());
            let first = shown.first().map_or("".to_owned(), ToString::to_string);
            (!first.contains(SHOWN)).then(|| format!("no {SHOWN:?} in the core dump: {first}"))
        }
    };
    Ok(Case::ran("a core dump of wild.wgsl", failure))
}

impl UserShader {
    fn request(&self) -> Result<Request, Failure> {
        let load = |text: &&str| {
            let argument: Result<BufferArgument, SourceError> = text.parse();
            let argument = argument.map_err(Failure::refused)?;
            Ok(Given::buffer(argument.name, argument.source.bytes()?))
        };
        Ok(Request {
            resources: self
                .buffers
                .iter()
                .map(load)
                .collect::<Result<_, Failure>>()?,
            push_constants: Vec::new(),
            groups: self.groups,
            saves: self
                .saves
                .iter()
                .map(|(set, binding)| BindingName::new(*set, *binding))
                .collect(),
            gpu: GpuChoice::default(),
            coherent: true,
            firmware: None,
            limit: LIMIT,
            wants: Wants::default(),
            talk: Talk::Quiet,
        })
    }
}

impl Run {
    fn compare(&self, workspace: &Workspace) -> Result<Case, Failure> {
        let path = workspace.root().join(self.folder).join(self.name);
        let shader = shader_file::load(&path.to_string_lossy())?;
        let compiled = dispatch::compile(&shader, &Options::default())?;
        let on = |place| dispatch::run(self.name, &compiled, &self.request, place);
        let (host, qemu) = (on(Place::Host)?.saved, on(Place::Qemu)?.saved);
        let different = host.iter().zip(&qemu).find(|(host, qemu)| host != qemu);
        let wrong = self.expected.as_deref().zip(host.first());
        let wrong = wrong.is_some_and(|(expected, (_, bytes))| expected != bytes.as_slice());
        let untouched = host
            .iter()
            .all(|(_, bytes)| bytes.iter().all(|byte| *byte == 0));
        let failure = match different {
            Some(((name, _), _)) => Some(format!("binding {name} differs between host and QEMU")),
            None if host.len() != qemu.len() || host.is_empty() => {
                Some("buffers are missing".to_owned())
            }
            None if wrong => Some("both places agree, but not with a CPU".to_owned()),
            None if untouched => Some("the shader wrote nothing".to_owned()),
            None => None,
        };
        Ok(Case::ran(self.name, failure))
    }
}

//! One dispatch from start to end: compile, check what the user gave against what the shader wants, run, read back.

use crate::input::buffer_source::BindingName;
use crate::input::given::{Given, Want, kind_of};
use crate::input::gpu_choice::GpuChoice;
use crate::input::shader_file::Shader;
use crate::outcome::Failure;
use crate::output::streams::talk;
use crate::runs::host;
use crate::runs::known_lines::KnownLines;
use crate::runs::qemu;
use crate::runs::screen::Show;
use eitri_job::result::{FailureKind, JobResult, Step};
use eitri_job::{Content, Job, Resource, Wants};
use eitri_model::{Fidelity, UnitTimes};
use eitri_program::{Binding, Program, ProgramError};
use eitri_shaderc::Compiled;
use miette::Diagnostic;
use std::time::Duration;
use thiserror::Error;

/// Where a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Place {
    /// A bare-metal image in QEMU, with the model behind its GPU's registers.
    Qemu,
    /// The same driver and the same model in this process.
    Host,
}

/// What is told of a run on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Talk {
    /// What goes wrong, and progress.
    Quiet,
    /// The image's console too, or each step on the host.
    Verbose,
}

/// What a user asks for.
pub(crate) struct Request {
    pub(crate) resources: Vec<Given>,
    pub(crate) push_constants: Vec<u8>,
    pub(crate) groups: [u32; 3],
    pub(crate) saves: Vec<BindingName>,
    pub(crate) gpu: GpuChoice,
    /// Whether the GPU sees the caches of the CPU; otherwise the driver has to keep them up.
    pub(crate) coherent: bool,
    /// A firmware image; the stub where there is none.
    pub(crate) firmware: Option<Vec<u8>>,
    /// Longest that the job may take; in this process, longest without progress.
    pub(crate) limit: Duration,
    /// What is wanted besides buffers.
    pub(crate) wants: Wants,
    pub(crate) talk: Talk,
}

/// What came of it.
pub(crate) struct Ran {
    pub(crate) steps: Vec<Step>,
    /// Contents of the buffers that were to be saved.
    pub(crate) saved: Vec<(BindingName, Vec<u8>)>,
    /// What performance counters have counted, by name, if they were wanted.
    pub(crate) counters: Vec<(String, u64)>,
    /// For how long the units of each core were busy; nothing is known of QEMU's.
    pub(crate) cores: Vec<UnitTimes>,
    /// How far the results can be trusted, if that was followed.
    pub(crate) fidelity: Fidelity,
}

/// What a job left behind, good or bad.
pub(crate) struct Done {
    pub(crate) result: JobResult,
    /// What the model says of how it was used, a line each.
    pub(crate) diagnoses: Vec<String>,
    /// For how long the units of each core were busy; nothing is known of QEMU's.
    pub(crate) cores: Vec<UnitTimes>,
    /// How far the results can be trusted, if that was followed.
    pub(crate) fidelity: Fidelity,
}

/// What the user gave does not fit what the shader wants, or the job failed.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum DispatchError {
    #[error("{path}: {errors}")]
    Compile {
        path: String,
        errors: eitri_shaderc::Errors,
    },
    #[error("{path}: the compiler wrote a program that can't be read back")]
    Program {
        path: String,
        #[source]
        cause: ProgramError,
    },
    #[error("{path}: {}", lacks(missing))]
    #[diagnostic(help("add {}", added(missing)))]
    NotGiven {
        path: String,
        missing: Vec<NotGiven>,
    },
    #[error("{path}: binding {name} is {kind}, so {what} can't be bound to it")]
    OtherKind {
        path: String,
        name: BindingName,
        kind: &'static str,
        what: &'static str,
    },
    #[error("{path}: the shader has no binding {name}{}", listed(used))]
    NoBinding {
        path: String,
        name: BindingName,
        used: Vec<BindingName>,
    },
    #[error("binding {name} is given twice")]
    Twice { name: BindingName },
    #[error(
        "{path}: the buffer for binding {name} has {bytes} bytes, the shader's block needs at least {needed}"
    )]
    TooSmall {
        path: String,
        name: BindingName,
        bytes: usize,
        needed: u32,
    },
    #[error("{path}: push constants of {given} bytes, but the shader has {wanted}")]
    #[diagnostic(help("--push takes {} hex digits, or values by name: `eitri reflect` has the names", wanted * 2))]
    PushConstants {
        path: String,
        given: usize,
        wanted: u32,
    },
    #[error("{groups:?} workgroups: each number must be at least 1")]
    NoGroups { groups: [u32; 3] },
    #[error("the job failed: {text}")]
    Failed { text: String },
}

fn listed(used: &[BindingName]) -> String {
    if used.is_empty() {
        return "; it has none".to_owned();
    }
    let names: Vec<String> = used.iter().map(BindingName::to_string).collect();
    format!("; it has {}", names.join(", "))
}

/// Something that the shader uses and nobody has given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotGiven {
    /// A resource of a binding.
    Resource {
        name: BindingName,
        kind: &'static str,
        want: Want,
        bytes: u32,
    },
    /// All of the push constants.
    PushConstants { bytes: u32 },
}

impl NotGiven {
    /// In a sentence.
    fn text(&self) -> String {
        match self {
            NotGiven::Resource {
                name, kind, want, ..
            } => format!(
                "binding {name} ({kind}) is used by the shader, but no {} is given for it",
                want.text()
            ),
            NotGiven::PushConstants { bytes } => {
                format!("the shader has {bytes} bytes of push constants, and none are given")
            }
        }
    }

    /// An option that gives it.
    fn option(&self) -> String {
        match self {
            NotGiven::Resource {
                name, want, bytes, ..
            } => want.option(*name, *bytes),
            NotGiven::PushConstants { bytes } => format!("--push {}", "00".repeat(*bytes as usize)),
        }
    }
}

fn lacks(missing: &[NotGiven]) -> String {
    let lines: Vec<String> = missing.iter().map(NotGiven::text).collect();
    match lines.len() {
        1 => lines.join(""),
        count => format!("{count} things are not given:\n{}", lines.join("\n")),
    }
}

fn added(missing: &[NotGiven]) -> String {
    let options: Vec<String> = missing.iter().map(NotGiven::option).collect();
    options.join(" ")
}

/// The names of all elements of a binding.
fn names_of(binding: &Binding) -> impl Iterator<Item = BindingName> + use<> {
    let Binding {
        set,
        binding,
        count,
        ..
    } = *binding;
    (0..count).map(move |element| BindingName {
        set,
        binding,
        element,
    })
}

/// Compiles one entry point.
pub(crate) fn compile(
    shader: &Shader,
    options: &eitri_shaderc::Options,
) -> Result<Compiled, Failure> {
    eitri_shaderc::compile(&shader.spirv, options).map_err(|errors| {
        Failure::refused(DispatchError::Compile {
            path: shader.path.clone(),
            errors,
        })
    })
}

/// The IR of one entry point after the first run of a pass; none if it does not run.
pub(crate) fn compile_until(
    shader: &Shader,
    options: &eitri_shaderc::Options,
    pass: &str,
) -> Result<Option<String>, Failure> {
    eitri_shaderc::compile_until(&shader.spirv, options, pass).map_err(|errors| {
        Failure::refused(DispatchError::Compile {
            path: shader.path.clone(),
            errors,
        })
    })
}

/// Runs a compiled shader. What is to be said of how the GPU was used goes to stderr.
pub(crate) fn run(
    path: &str,
    compiled: &Compiled,
    request: &Request,
    place: Place,
) -> Result<Ran, Failure> {
    run_traced(path, compiled, request, place, None)
}

/// As [`run`]; `trace` is told what happens inside of the GPU.
pub(crate) fn run_traced(
    path: &str,
    compiled: &Compiled,
    request: &Request,
    place: Place,
    trace: Option<Box<dyn eitri_model::Sink>>,
) -> Result<Ran, Failure> {
    finished(execute(path, compiled, request, place, trace)?)
}

/// As [`run`], but all that came of it is returned. `trace` is told what happens inside of the GPU.
pub(crate) fn execute(
    path: &str,
    compiled: &Compiled,
    request: &Request,
    place: Place,
    trace: Option<Box<dyn eitri_model::Sink>>,
) -> Result<Done, Failure> {
    let bundle = bundle(path, compiled, request)?;
    let lines = KnownLines::of_compute(compiled);
    match place {
        Place::Host => host::run(&bundle, request, lines, trace, &mut || false),
        Place::Qemu => qemu::run_job(&bundle, &lines, &in_qemu(request), trace),
    }
}

/// As [`execute`] on the host; behind that the dispatch runs again, with the same inputs, for as long as `again` says.
pub(crate) fn execute_again_while(
    path: &str,
    compiled: &Compiled,
    request: &Request,
    trace: Option<Box<dyn eitri_model::Sink>>,
    again: &mut dyn FnMut() -> bool,
) -> Result<Done, Failure> {
    let bundle = bundle(path, compiled, request)?;
    let lines = KnownLines::of_compute(compiled);
    host::run(&bundle, request, lines, trace, again)
}

/// As [`execute`] in QEMU, where an image that the shader leaves is then shown. Gives what the screen showed too, if that is kept.
pub(crate) fn execute_shown(
    path: &str,
    compiled: &Compiled,
    request: &Request,
    show: &Show,
    trace: Option<Box<dyn eitri_model::Sink>>,
) -> Result<(Done, Option<Vec<u8>>), Failure> {
    let bundle = bundle(path, compiled, request)?;
    let lines = KnownLines::of_compute(compiled);
    qemu::run_job_shown(&bundle, &lines, &in_qemu(request), show, trace)
}

fn in_qemu(request: &Request) -> qemu::Setting<'static> {
    qemu::Setting {
        gpu: request.gpu,
        limit: request.limit,
        talk: request.talk,
        words: match request.coherent {
            true => &[],
            false => qemu::NON_COHERENT,
        },
    }
}

/// Refuses a request that does not fit what the shader wants: resources that are missing, say.
pub(crate) fn refuse_what_does_not_fit(
    path: &str,
    compiled: &Compiled,
    request: &Request,
) -> Result<(), Failure> {
    let program = Program::parse(&compiled.program).map_err(|cause| {
        let path = path.to_owned();
        Failure::refused(DispatchError::Program { path, cause })
    })?;
    check(path, &program, request).map_err(Failure::refused)
}

/// The bundle for a request, once everything about it has been checked.
pub(crate) fn bundle(
    path: &str,
    compiled: &Compiled,
    request: &Request,
) -> Result<Vec<u8>, Failure> {
    let program = Program::parse(&compiled.program).map_err(|cause| {
        let path = path.to_owned();
        Failure::refused(DispatchError::Program { path, cause })
    })?;
    check(path, &program, request).map_err(Failure::refused)?;
    let stub;
    let firmware = match &request.firmware {
        Some(image) => image,
        None => {
            stub = eitri_model::stub_firmware();
            &stub
        }
    };
    let resources: Vec<Resource<'_>> = request
        .resources
        .iter()
        .map(|given| Resource {
            set: given.name.set,
            binding: given.name.binding,
            element: given.name.element,
            content: given.content,
            data: &given.bytes,
            // `buffer_source` bounds every buffer far below 4 GiB, `image_source` every image.
            bytes: given.bytes.len() as u32,
            save: request.saves.contains(&given.name)
                && !matches!(given.content, Content::Sampler(_)),
            part: given.part,
        })
        .collect();
    let job = Job {
        program: &compiled.program,
        firmware,
        push_constants: &request.push_constants,
        groups: request.groups,
        limit_ms: u32::try_from(request.limit.as_millis()).unwrap_or(u32::MAX),
        wants: request.wants,
        resources: &resources,
    };
    Ok(job.encode())
}

/// Whether what the user gave fits what the shader wants.
fn check(path: &str, program: &Program<'_>, request: &Request) -> Result<(), DispatchError> {
    let path = path.to_owned();
    let used: Vec<BindingName> = program
        .bindings()
        .flat_map(|binding| names_of(&binding))
        .collect();
    let is_sampler = |given: &Given| matches!(given.content, Content::Sampler(_));
    for (index, given) in request.resources.iter().enumerate() {
        // An image may have a sampler beside it.
        let same =
            |other: &Given| other.name == given.name && is_sampler(other) == is_sampler(given);
        if request.resources.iter().take(index).any(same) {
            return Err(DispatchError::Twice { name: given.name });
        }
    }
    let given = request.resources.iter().map(|given| &given.name);
    if let Some(name) = given
        .chain(&request.saves)
        .find(|name| !used.contains(name))
    {
        let name = *name;
        return Err(DispatchError::NoBinding { path, name, used });
    }
    let mut missing = Vec::new();
    for binding in program.bindings() {
        let kind = kind_of(&binding);
        let wants = Want::of(binding.kind);
        for name in names_of(&binding) {
            let here = || request.resources.iter().filter(|given| given.name == name);
            let fits = |given: &&Given| wants.iter().any(|want| want.is(&given.content));
            for &want in wants {
                let is_buffer = want == Want::Buffer;
                let needed = if is_buffer {
                    binding.min_bytes.max(1)
                } else {
                    0
                };
                let Some(given) = here().find(|given| want.is(&given.content)) else {
                    // Something else was given for it?
                    if let Some(other) = here().find(|given| !fits(given)) {
                        let what = what_of(&other.content);
                        return Err(DispatchError::OtherKind {
                            path,
                            name,
                            kind,
                            what,
                        });
                    }
                    missing.push(NotGiven::Resource {
                        name,
                        kind,
                        want,
                        bytes: needed,
                    });
                    continue;
                };
                let bytes = given.seen_bytes();
                if bytes < needed as usize {
                    return Err(DispatchError::TooSmall {
                        path,
                        name,
                        bytes,
                        needed,
                    });
                }
            }
        }
    }
    let (given, wanted) = (request.push_constants.len(), program.push_constant_bytes());
    if given == 0 && wanted > 0 {
        missing.push(NotGiven::PushConstants { bytes: wanted });
    }
    if !missing.is_empty() {
        return Err(DispatchError::NotGiven { path, missing });
    }
    if given != wanted as usize {
        return Err(DispatchError::PushConstants {
            path,
            given,
            wanted,
        });
    }
    let groups = request.groups;
    if groups.contains(&0) {
        return Err(DispatchError::NoGroups { groups });
    }
    Ok(())
}

fn what_of(content: &Content) -> &'static str {
    match content {
        Content::Buffer => "a plain buffer",
        Content::Texels(_) => "a buffer of texels",
        Content::Image(_) => "an image",
        Content::Sampler(_) => "a sampler",
    }
}

/// Says what the model has to say of a job, and takes what came of it.
pub(crate) fn finished(done: Done) -> Result<Ran, Failure> {
    for diagnosis in &done.diagnoses {
        talk!("{diagnosis}");
    }
    let result = done.result;
    if let Some(failure) = result.failure {
        let cause = DispatchError::Failed { text: failure.text };
        return Err(match failure.kind {
            FailureKind::Refused | FailureKind::Unsupported => Failure::refused(cause),
            FailureKind::Device => Failure::check(cause),
        });
    }
    let saved = result.buffers.into_iter().map(|buffer| {
        let name = BindingName {
            set: buffer.set,
            binding: buffer.binding,
            element: buffer.element,
        };
        (name, buffer.bytes)
    });
    Ok(Ran {
        steps: result.steps,
        saved: saved.collect(),
        counters: result.counters,
        cores: done.cores,
        fidelity: done.fidelity,
    })
}

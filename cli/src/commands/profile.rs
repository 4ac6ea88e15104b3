//! `eitri profile`: runs a shader, a kernel or a scene on the model, and tells what each line and each instruction cost.

use crate::commands::debug::{self, Origin};
use crate::commands::draw::read_scenes;
use crate::draw::{self, Made, Manner, ModelArguments, PipelineCode, Run, Verdict, is_model};
use crate::input::gpu_choice::GpuArgument;
use crate::input::job_arguments::JobArguments;
use crate::input::shader_file::LanguageArgument;
use crate::outcome::{Failure, Status};
use crate::output::streams::{self, talk};
use crate::output::whole_file;
use crate::pages;
use crate::profile::{Code, Gpu, Profile, Recorder, View};
use crate::reports::timeline::{Both, Timeline, Timelines};
use crate::runs::debug_source;
use crate::runs::debugged::DebugLevel;
use crate::runs::dispatch::{self, Place};
use eitri_model::Sink;
use eitri_shaderc::{Compiled, CompiledStage, Options};
use miette::Diagnostic;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shader: .wgsl, .comp or .glsl, .spv, .spvasm; a kernel, NAME.json or its folder; a drawn scene, NAME.json or its folder; or a
    /// glTF model.
    #[arg(value_name = "SHADER|KERNEL.json|SCENE.json|MODEL.glb")]
    subject: String,
    #[command(flatten)]
    language: LanguageArgument,
    #[command(flatten)]
    job: JobArguments,
    #[command(flatten)]
    gpu: GpuArgument,
    /// What is printed, in this order: jobs with what bounds them, the hottest lines, figures beside the source, beside the compiler's
    /// representation, beside the machine code. `jobs,hot,source` if no file is asked for, else `jobs`.
    #[arg(long, value_enum, value_name = "VIEW", value_delimiter = ',')]
    view: Vec<View>,
    /// Write one page for a browser: source, representation and machine code side by side, linked, with all figures.
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Write the profile as JSON (`eitri schema profile`); `-` is standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Write stacks for speedscope.app.
    #[arg(long, value_name = "FILE")]
    speedscope: Option<String>,
    /// Write callgrind's format, for kcachegrind and callgrind_annotate.
    #[arg(long, value_name = "FILE")]
    callgrind: Option<String>,
    /// Write a profile for pprof.
    #[arg(long, value_name = "FILE")]
    pprof: Option<String>,
    /// Write a timeline for ui.perfetto.dev, in which jobs have the names of their shaders and units are counters beside their peak.
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    #[command(flatten)]
    models: ModelArguments,
}

/// Time that the commands of a scene have at least: a picture has many more instructions than a dispatch, and each is recorded.
const SCENE_LIMIT: Duration = Duration::from_secs(60);

/// A subject that can't be profiled, and why.
#[derive(Debug, Error, Diagnostic)]
enum ProfileError {
    #[error("{path}: {why}")]
    Subject { path: String, why: String },
    #[error("{path}: {count} scenes: name one")]
    ManyScenes { path: String, count: usize },
    #[error("{path}: what was executed can't be decoded: {cause}")]
    #[diagnostic(help("this is a defect of eitri: please report it"))]
    Word {
        path: String,
        cause: eitri_isa::DecodeError,
    },
}

/// The profile of a run, and how the run ended: a job that failed has a profile too.
struct Ran {
    title: String,
    recorder: Recorder,
    timeline: Timeline,
    codes: Vec<Code>,
    ended: Result<(), Failure>,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let path = Path::new(&args.subject);
    let ran = match is_model(path) || is_scene(path) {
        true => args.run_scene(path)?,
        false => args.run_dispatch()?,
    };
    let config = args.gpu.choice().config();
    let gpu = Gpu {
        name: args.gpu.choice().to_string(),
        cores: config.product.part.shader_present.count_ones(),
        clock_hz: config.clock_hz,
        memory_bandwidth: config.memory_bandwidth,
    };
    let arch = args.gpu.choice().arch();
    // Beside the subject, or in it.
    let inside = path.join("x").display().to_string();
    let read = |file: &str| {
        let found = debug_source::read(&args.subject, file);
        found.or_else(|| debug_source::read(&inside, file))
    };
    let profile = Profile::new(&ran.title, &ran.recorder, &ran.codes, (gpu, arch), read);
    let profile = profile.map_err(|cause| {
        let path = args.subject.clone();
        Failure::refused(ProfileError::Word { path, cause })
    })?;
    args.write(&profile, &ran.timeline)?;
    ran.ended.map(|()| Status::Good)
}

/// Whether a path is a scene, or a folder with one, and not a kernel: both are JSON.
fn is_scene(path: &Path) -> bool {
    let named = path.file_name().unwrap_or_default();
    let inside = path.join(named).with_extension("json");
    let file = if path.is_dir() { &inside } else { path };
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    value.get("pipelines").is_some()
}

impl Args {
    /// Runs one dispatch.
    fn run_dispatch(&self) -> Result<Ran, Failure> {
        let origin = Origin {
            subject: &self.subject,
            language: &self.language,
            job: &self.job,
            gpu: self.gpu.choice(),
        };
        let prepared = debug::prepare(&origin, DebugLevel::Machine)?;
        let options = Options {
            representation: true,
            printf: None,
            ..prepared.options.clone()
        };
        let compiled = eitri_shaderc::compile(&prepared.spirv, &options);
        let compiled = compiled.map_err(|errors| self.refuse(errors.to_string()))?;
        let compiled = self.with_lines(&prepared.path, compiled, &options);
        let request = prepared.request();
        let (recorder, timeline) = (Recorder::default(), Timeline::default());
        let sink = Some(both(&recorder, &timeline));
        let done = dispatch::execute(&prepared.path, &compiled, &request, Place::Host, sink)?;
        let name = options.entry.as_deref().unwrap_or("main");
        Ok(Ran {
            title: prepared.path.clone(),
            recorder,
            timeline,
            codes: vec![compute_code(name, &compiled)],
            ended: dispatch::finished(done).map(|_| ()),
        })
    }

    /// The same shader with source lines: if the module of a kernel names none and its text lies beside it, that is compiled. Where
    /// it becomes other code than the module, that is said.
    fn with_lines(&self, path: &str, compiled: Compiled, options: &Options) -> Compiled {
        let text = Path::new(path).with_extension("comp");
        let text = text.display().to_string();
        let has_lines = compiled.listing.rows().any(|row| row.source.is_some());
        if has_lines || !Path::new(&text).is_file() {
            return compiled;
        }
        let shader = self.language.load(&text);
        let found = shader.ok().and_then(|shader| {
            let compiled = eitri_shaderc::compile(&shader.spirv, options);
            compiled.ok()
        });
        let Some(found) = found else {
            talk!("{path} names no source lines, and {text} can't be compiled here");
            return compiled;
        };
        if found.code != compiled.code {
            talk!("{path} names no source lines: {text} was compiled in its place");
        }
        found
    }

    /// Draws one scene.
    fn run_scene(&self, path: &Path) -> Result<Ran, Failure> {
        let mut scenes = read_scenes(&[PathBuf::from(path)], &self.models, None)?;
        let (Some(scene), 0) = (scenes.pop(), scenes.len()) else {
            return Err(Failure::refused(ProfileError::ManyScenes {
                path: self.subject.clone(),
                count: scenes.len() + 1,
            }));
        };
        let manner = Manner {
            optimised: false,
            target: self.gpu.choice().target(),
            representation: true,
        };
        let codes = draw::pipeline_codes(&scene, manner, 1);
        let codes = codes.map_err(|verdict| self.refuse(why(&verdict)))?;
        let how = Run {
            place: Place::Host,
            gpu: self.gpu.choice(),
            optimised: false,
            limit: self.job.limit().max(SCENE_LIMIT),
            dump: false,
            jobs: NonZero::<usize>::MIN,
            check: false,
            timelines: None,
            pixel: None,
        };
        let (recorder, timeline) = (Recorder::default(), Timeline::default());
        let sink = Some(both(&recorder, &timeline));
        let ended = match how.measure_traced(&scene, sink) {
            Ok(_) => Ok(()),
            Err(Verdict::Failed(why)) => Err(Failure::check(ProfileError::Subject {
                path: self.subject.clone(),
                why,
            })),
            Err(other) => Err(self.refuse(why(&other))),
        };
        Ok(Ran {
            title: scene.file.name.clone(),
            recorder,
            timeline,
            codes: scene_codes(&codes),
            ended,
        })
    }

    fn refuse(&self, why: String) -> Failure {
        let path = self.subject.clone();
        Failure::refused(ProfileError::Subject { path, why })
    }

    /// Writes all that was asked for.
    fn write(&self, profile: &Profile, timeline: &Timeline) -> Result<(), Failure> {
        let files = [
            &self.html,
            &self.json,
            &self.speedscope,
            &self.callgrind,
            &self.pprof,
            &self.trace,
        ];
        if let Some(path) = &self.html {
            whole_file::write(path, pages::profile(profile)?.as_bytes())?;
        }
        if let Some(path) = &self.json {
            whole_file::write(path, format!("{:#}\n", profile.json()).as_bytes())?;
        }
        if let Some(path) = &self.speedscope {
            whole_file::write(path, profile.speedscope().to_string().as_bytes())?;
        }
        if let Some(path) = &self.callgrind {
            whole_file::write(path, profile.callgrind().as_bytes())?;
        }
        if let Some(path) = &self.pprof {
            whole_file::write(path, &profile.pprof())?;
        }
        if let Some(path) = &self.trace {
            for job in &profile.jobs {
                timeline.set_title(job.number, &profile.title_of(job));
            }
            let timelines = Timelines::default();
            timelines.add(&profile.title, timeline);
            timelines.write(path)?;
        }
        let on_stdout = files.iter().any(|file| file.as_deref() == Some("-"));
        let default: &[View] = match files.iter().all(|file| file.is_none()) {
            true => &[View::Jobs, View::Hot, View::Source],
            false => &[View::Jobs],
        };
        let views = if self.view.is_empty() {
            default
        } else {
            &self.view
        };
        let text = profile.text(views);
        match on_stdout {
            // Somebody's data is there already.
            true => streams::say(format_args!("{text}")),
            false => streams::put(text.as_bytes())?,
        }
        Ok(())
    }
}

fn both(recorder: &Recorder, timeline: &Timeline) -> Box<dyn Sink> {
    Box::new(Both(recorder.sink(), timeline.sink()))
}

/// Why a scene was not drawn.
fn why(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Failed(why) | Verdict::Skipped(why) => why.clone(),
        Verdict::Passed => "it has no code".to_owned(),
    }
}

fn compute_code(name: &str, compiled: &Compiled) -> Code {
    Code {
        name: name.to_owned(),
        stage: "compute",
        words: compiled.code.clone(),
        listing: compiled.listing.clone(),
    }
}

/// The programs of a scene's pipelines, each with the names of its pipelines and its shader.
fn scene_codes(codes: &[PipelineCode]) -> Vec<Code> {
    let mut all = vec![];
    for code in codes {
        let pipelines = code.pipelines.join(", ");
        let name = |number: usize| {
            let shader = code.shaders.get(number).map_or("", String::as_str);
            format!("{pipelines}: {shader}")
        };
        match &code.made {
            Made::Compute(compiled) => all.push(compute_code(&name(0), compiled)),
            Made::Graphics(compiled) => {
                all.extend(stage_codes(&name(0), &compiled.vertex));
                if let Some(fragment) = &compiled.fragment {
                    all.extend(stage_codes(&name(1), fragment));
                }
            }
        }
    }
    all
}

/// The programs of a stage.
fn stage_codes(name: &str, stage: &CompiledStage) -> impl Iterator<Item = Code> {
    stage.entry_points.iter().map(|entry| Code {
        name: name.to_owned(),
        stage: entry.kind.name(),
        words: entry.code.clone(),
        listing: entry.listing.clone(),
    })
}

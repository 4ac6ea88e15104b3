//! Jobs of a script on the host: each dispatch in this process or in QEMU, with what is kept of it.

use super::case::Manner;
use super::compile::{DrawnProgram, Shader};
use super::keep::Kept;
use crate::input::buffer_source::BindingName;
use crate::input::check_arguments::Wanted as Checks;
use crate::input::given::Given;
use crate::output::streams::talk;
use crate::reports::timeline::{Timeline, Timelines};
use crate::runs::checked::Subject;
use crate::runs::checking;
use crate::runs::dispatch::{self, Done, Place, Request, Talk};
use crate::runs::drawings;
use crate::runs::drawn_checks::{self, Module};
use crate::runs::known_lines::KnownLines;
use eitri_amber_device::{DeviceError, Jobs, Request as Wanted};
use eitri_drawing::Drawing;
use eitri_job::{Content, CoreDump, Failure, Saved, Wants};
use std::time::Duration;

/// Instructions of all invocations of a dispatch that are checked: a few seconds in a build without optimisation, so that scripts
/// end in their time.
const CHECKED_STEPS: u64 = 1 << 21;

/// The same of all draws of a script, each of which counts for so many at least: its model starts once more.
const CHECKED_DRAW_STEPS: u64 = 1 << 20;
const LEAST_DRAW_STEPS: u64 = 1 << 16;

/// How jobs are run.
pub(super) struct HostJobs<'k> {
    pub(super) path: String,
    pub(super) kept: &'k Kept,
    pub(super) manner: &'k Manner,
    /// Where the timelines of dispatches go.
    pub(super) timelines: Option<&'k Timelines>,
    /// What the compiler made of each pipeline.
    pub(super) shaders: Vec<Option<Shader>>,
    /// The programs of graphics pipelines.
    pub(super) modules: Vec<DrawnProgram>,
    /// Drawings so far, and instructions of them that were checked.
    pub(super) drawings: usize,
    pub(super) drawn_steps: u64,
    /// Findings of the checkers in the dispatches and draws so far, a line each.
    pub(super) reported: Vec<String>,
    /// Jobs that the checkers left out, each with the reason.
    pub(super) left_out: Vec<String>,
}

impl Jobs for HostJobs<'_> {
    fn run(&mut self, wanted: &Wanted<'_>) -> Result<Vec<Saved>, String> {
        let Some(Some(shader)) = self.shaders.get(wanted.pipeline.0) else {
            return Err("the pipeline has no shader".to_owned());
        };
        let number = wanted.number;
        let request = self.request(wanted);
        let timeline = Timeline::default();
        let trace = self.timelines.map(|_| timeline.sink());
        let subject = Subject {
            spirv: &shader.spirv,
            options: &shader.options,
            groups: request.groups,
            push_constants: &request.push_constants,
            resources: &request.resources,
            unwritten: &[],
            addresses: &[],
            step_limit: CHECKED_STEPS,
        };
        let place = self.manner.place;
        let check = self.manner.check.as_ref().unwrap_or(&Checks::Errors);
        let (done, told) = checking::collect(check, &subject, || {
            dispatch::execute(&self.path, &shader.compiled, &request, place, trace)
        });
        for line in told.loud {
            self.reported.push(format!("dispatch {number}: {line}"));
        }
        for why in told.left_out {
            self.left_out.push(format!("dispatch {number}: {why}"));
        }
        if let Some(timelines) = self.timelines {
            timelines.add(&format!("{} dispatch {number}", self.path), &timeline);
        }
        if let Ok(done) = &done
            && !done.result.dump.is_empty()
        {
            self.kept
                .write(&format!("{number}.core"), &done.result.dump);
        }
        let ran = done.and_then(dispatch::finished);
        let ran = ran.map_err(|failure| failure.to_string())?;
        let saved = ran.saved.into_iter().map(|(name, bytes)| {
            let file = format!("{number}-{}-out.bin", file_part(name));
            self.kept.write(&file, &bytes);
            let place = (name.set, name.binding, name.element);
            Saved { place, bytes }
        });
        Ok(saved.collect())
    }

    fn play(&mut self, drawing: &Drawing<'_>) -> Result<Vec<Saved>, DeviceError> {
        let failed = |error: &dyn std::fmt::Display| DeviceError::Failed(error.to_string());
        let Manner { gpu, place, .. } = *self.manner;
        let timeline = Timeline::default();
        let trace = self.timelines.map(|_| timeline.sink());
        let limit = Duration::from_millis(drawing.limit_ms.into());
        let done = match place {
            Place::Host => {
                let lines = self.modules.iter().map(|known| &known.lines);
                let lines = KnownLines::of_all(lines);
                drawings::on_host(drawing, gpu, limit, lines, trace).map(Ok)
            }
            Place::Qemu => {
                let done = drawings::in_qemu(std::slice::from_ref(drawing), gpu, limit);
                done.map(|mut all| {
                    all.pop()
                        .unwrap_or_else(|| Err("nothing came back".to_owned()))
                })
            }
        };
        if let Some(timelines) = self.timelines {
            timelines.add(&format!("{} draw", self.path), &timeline);
        }
        let done = done.map_err(|error| failed(&error))?;
        let saved = results(done.map_err(|why| failed(&why))?)?;
        self.check_drawing(drawing);
        Ok(saved)
    }
}

impl<'k> HostJobs<'k> {
    /// Jobs of a script without programs.
    pub(super) fn new(path: &str, manner: &'k Manner, kept: &'k Kept) -> HostJobs<'k> {
        HostJobs {
            path: path.to_owned(),
            kept,
            manner,
            timelines: None,
            shaders: Vec::new(),
            modules: Vec::new(),
            drawings: 0,
            drawn_steps: 0,
            reported: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Keeps what a dispatch is given, and gives the job.
    pub(super) fn request(&self, wanted: &Wanted<'_>) -> Request {
        let number = wanted.number;
        let mut resources = Vec::new();
        let mut saves = Vec::new();
        for resource in &wanted.resources {
            let name = name_of(resource.place);
            if !matches!(resource.content, Content::Sampler(_)) {
                let file = format!("{number}-{}-in.bin", file_part(name));
                self.kept.write(&file, &resource.bytes);
            }
            if resource.save {
                saves.push(name);
            }
            resources.push(Given {
                name,
                content: resource.content,
                bytes: resource.bytes.clone(),
                part: resource.part,
            });
        }
        Request {
            saves,
            resources,
            push_constants: wanted.push_constants.clone(),
            groups: wanted.groups,
            gpu: self.manner.gpu,
            coherent: true,
            firmware: None,
            limit: wanted.limit,
            wants: Wants {
                // An expectation may fail behind a dispatch that ended well.
                dump: match self.kept.is_on() {
                    true => CoreDump::Always,
                    false => CoreDump::Never,
                },
                ..Wants::default()
            },
            talk: Talk::Quiet,
        }
    }

    /// Checks what the shaders of a drawing do.
    fn check_drawing(&mut self, drawing: &Drawing<'_>) {
        let number = self.drawings;
        self.drawings += 1;
        let check = self.manner.check.as_ref().unwrap_or(&Checks::Errors);
        let left = CHECKED_DRAW_STEPS.saturating_sub(self.drawn_steps);
        if *check == Checks::Nothing {
            return;
        }
        if left == 0 {
            let why = format!(
                "draw {number}: the draws before it took {CHECKED_DRAW_STEPS} instructions"
            );
            return self.left_out.push(why);
        }
        let module = |program: &&[u8]| {
            let mut all = self.modules.iter();
            let found = all.find(|known| known.bytes.as_slice() == *program);
            found.map_or_else(Module::default, |known| known.module.clone())
        };
        let modules: Vec<Module> = drawing.programs.iter().map(module).collect();
        let checked = drawn_checks::run(&drawn_checks::Subject {
            drawing,
            modules: &modules,
            gpu: self.manner.gpu,
            limit: Duration::from_millis(drawing.limit_ms.into()),
            step_limit: left,
            all_written: true,
        });
        self.drawn_steps += checked.steps.max(LEAST_DRAW_STEPS);
        for why in &checked.left_out {
            self.left_out.push(format!("draw {number}: {why}"));
        }
        for line in checking::loud_lines(&checked.findings, check) {
            self.reported.push(format!("draw {number}: {line}"));
        }
    }
}

/// The results of a drawing, or why there are none.
fn results(done: Done) -> Result<Vec<Saved>, DeviceError> {
    if let Some(failure) = done.result.failure {
        return Err(DeviceError::of_drawing(Failure {
            kind: failure.kind,
            text: failure.text,
        }));
    }
    // As with dispatches: what the script expects decides.
    for diagnosis in &done.diagnoses {
        talk!("{diagnosis}");
    }
    let buffers = done.result.buffers.into_iter();
    Ok(buffers
        .map(|buffer| Saved {
            place: (buffer.set, buffer.binding, buffer.element),
            bytes: buffer.bytes,
        })
        .collect())
}

fn name_of((set, binding, element): (u32, u32, u32)) -> BindingName {
    BindingName {
        set,
        binding,
        element,
    }
}

/// A binding in the name of a file.
fn file_part(name: BindingName) -> String {
    match name.element {
        0 => format!("{}-{}", name.set, name.binding),
        element => format!("{}-{}-{element}", name.set, name.binding),
    }
}

//! A drawing under the checkers: a model of its own plays it part by part and tells which vertices and fragments there are; the
//! interpreter of the IR shades them again, observed.
//!
//! Needs: the modules that the programs were compiled of.  Guarantees: the job itself is not touched; what can't be checked is said,
//! and is no failure.
//! In reading order: `recorded` (what the model tells), `written` (what somebody has written), `contents` (what memories hold),
//! `calls` (draw calls of a pass), `attributes`, `corners` (what vertices and fragments are given), `attachments`, `tile`, `target_uses`, `stage`,
//! `pass`, `dispatch`.

mod attachments;
mod attributes;
mod calls;
mod contents;
mod corners;
mod dispatch;
mod pass;
mod recorded;
mod shaded;
mod stage;
mod target_uses;
mod tile;
mod written;

use crate::input::gpu_choice::GpuChoice;
use crate::runs::host::HostGpu;
use contents::Contents;
use eitri_checks::Finding;
use eitri_checks::draw::Shader;
use eitri_drawing::{Draw, Drawing, PassCommand, Step, Vertices};
use eitri_player::{BetweenParts, Read};
use eitri_shaderc::Options;
use recorded::{Recorder, Shading};
use std::ops::Range;
use std::time::Duration;
use written::Written;

/// The most instructions of a drawing that are checked, of all invocations together.
pub(crate) const STEP_LIMIT: u64 = 1 << 28;

/// A module as a program was compiled of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Module {
    pub(crate) spirv: Vec<u8>,
    pub(crate) options: Options,
}

/// A drawing that is checked.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'s> {
    pub(crate) drawing: &'s Drawing<'s>,
    /// By number of the program.
    pub(crate) modules: &'s [Module],
    pub(crate) gpu: GpuChoice,
    pub(crate) limit: Duration,
    /// Instructions of all invocations after which the rest is not checked.
    pub(crate) step_limit: u64,
    /// Whether everything counts as written by the host.
    pub(crate) all_written: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) findings: Vec<Finding>,
    /// What was not checked, and why; each once.
    pub(crate) left_out: Vec<String>,
    /// Instructions of all invocations.
    pub(crate) steps: u64,
}

/// Plays a drawing on a model of its own, and checks what its shaders do.
pub(crate) fn run(subject: &Subject<'_>) -> Checked {
    let shaders: Vec<Result<Shader, String>> = subject
        .modules
        .iter()
        .map(|module| {
            let shader = Shader::new(&module.spirv, &module.options);
            shader.map_err(|error| error.to_string())
        })
        .collect();
    let recorder = Recorder::default();
    let host = HostGpu::new(subject.gpu, subject.limit, Some(recorder.sink()));
    let mut parts = Parts {
        drawing: subject.drawing,
        recorder: &recorder,
        all: vec![],
    };
    let firmware = eitri_model::stub_firmware();
    let (_, played) =
        eitri_player::play_in_parts(host.platform(), &firmware, subject.drawing, &mut parts);
    parts.finish();
    let mut written = Written::new(subject.drawing);
    if subject.all_written {
        written.assume_all();
    }
    let mut checker = Checker {
        subject: *subject,
        shaders: &shaders,
        written,
        contents: Contents::default(),
        steps: 0,
        checked: Checked::default(),
    };
    for part in parts.all {
        checker.part(part);
    }
    if let Err(failure) = played {
        // What went before is checked; the job itself tells of the failure.
        checker.leave_out(failure.text.trim_end());
    }
    checker.checked.steps = checker.steps;
    checker.checked
}

/// Steps that were played together.
struct Part {
    steps: Range<usize>,
    /// What memories held before them.
    contents: Contents,
    shading: Shading,
}

/// Collects the parts of a drawing while it is played. They are checked behind it: whoever waits for a GPU takes time for its own.
struct Parts<'p> {
    drawing: &'p Drawing<'p>,
    recorder: &'p Recorder,
    all: Vec<Part>,
}

impl Parts<'_> {
    /// The part that was played last has shaded what was recorded since.
    fn finish(&mut self) {
        let shading = self.recorder.take();
        if let Some(last) = self.all.last_mut() {
            last.shading = shading;
        }
    }
}

/// Checks the parts of a drawing.
struct Checker<'s> {
    subject: Subject<'s>,
    shaders: &'s [Result<Shader, String>],
    written: Written,
    /// What memories hold.
    contents: Contents,
    steps: u64,
    checked: Checked,
}

impl Checker<'_> {
    fn leave_out(&mut self, why: &str) {
        let why = why.to_owned();
        if !self.checked.left_out.contains(&why) {
            self.checked.left_out.push(why);
        }
    }

    /// Whether there are instructions left; says so once there are none.
    fn may_go_on(&mut self) -> bool {
        let within = self.steps < self.subject.step_limit;
        if !within {
            let limit = self.subject.step_limit;
            self.leave_out(&format!("what comes behind {limit} instructions"));
        }
        within
    }

    /// Checks the steps of the part that was played.
    fn part(&mut self, part: Part) {
        self.contents = part.contents;
        let steps = self.subject.drawing.steps.get(part.steps.clone());
        let mut shading = Some(part.shading);
        for (number, step) in part.steps.zip(steps.unwrap_or_default()) {
            match step {
                Step::Pass(pass) => {
                    // A query may have several passes in one part: which of them drew what is not told apart.
                    match shading.take() {
                        Some(shading) => self.pass(number, pass, &shading),
                        None => self.leave_out("a pass within a query that another began in"),
                    }
                }
                Step::Dispatch { using, groups } => self.dispatch(using, *groups),
                Step::CopyBuffer { from, to, offset } => {
                    self.written.copy_bytes(from, *to, *offset);
                }
                Step::FillBuffer { range, .. } => {
                    let end = range.offset.saturating_add(range.bytes);
                    self.written.write_bytes(range.buffer, range.offset..end);
                }
                Step::UpdateBuffer {
                    buffer,
                    offset,
                    data,
                } => {
                    let end = offset.saturating_add(data.len() as u64);
                    self.written.write_bytes(*buffer, *offset..end);
                }
                Step::CopyQuery { to, offset, .. } => {
                    self.written.write_bytes(*to, *offset..offset + 4);
                }
                Step::Image(step) => self.written.image_step(step),
                Step::BeginQuery(_) | Step::EndQuery(_) => {}
            }
        }
    }
}

/// What the shaders of steps will see.
fn read(drawing: &Drawing<'_>, steps: Range<usize>, read: Read<'_>) -> Contents {
    let mut contents = Contents::default();
    for step in drawing.steps.get(steps).unwrap_or_default() {
        match step {
            Step::Dispatch { using, .. } => contents.read_bound(drawing, &using.sets, read),
            Step::Pass(pass) => {
                for command in &pass.commands {
                    if let PassCommand::Draw(draw) = command {
                        read_draw(drawing, draw, &mut contents, read);
                    }
                }
            }
            _ => {}
        }
    }
    contents
}

fn read_draw(drawing: &Drawing<'_>, draw: &Draw<'_>, contents: &mut Contents, read: Read<'_>) {
    contents.read_bound(drawing, &draw.using.sets, read);
    for buffer in &draw.vertex_buffers {
        contents.read_buffer(drawing, buffer.buffer, read);
    }
    if let Vertices::Indirect { draws, .. } = draw.vertices {
        contents.read_buffer(drawing, draws.buffer, read);
        if let Some((buffer, _)) = draws.count {
            contents.read_buffer(drawing, buffer, read);
        }
    }
}

impl BetweenParts for Parts<'_> {
    fn before(&mut self, steps: Range<usize>, read: Read<'_>) {
        self.finish();
        self.all.push(Part {
            contents: self::read(self.drawing, steps.clone(), read),
            steps,
            shading: Shading::default(),
        });
    }
}

//! A drawing under the checkers: a model of its own plays it part by part and tells which vertices and fragments there are; the
//! interpreter of the IR shades them again, observed.
//!
//! Needs: the modules that the programs were compiled of.  Guarantees: the job itself is not touched; what can't be checked is said,
//! and is no failure.
//! In reading order: `recorded` (what the model tells), `written` (what somebody has written), `contents` (what memories hold),
//! `calls` (draw calls of a pass), `attributes`, `corners` (what vertices and fragments are given), `attachments`, `pass`, `dispatch`.

mod attachments;
mod attributes;
mod calls;
mod contents;
mod corners;
mod dispatch;
mod pass;
mod recorded;
mod shaded;
mod written;

use crate::input::gpu_choice::GpuChoice;
use crate::runs::host::HostGpu;
use contents::Contents;
use eitri_checks::Finding;
use eitri_checks::draw::Shader;
use eitri_drawing::{Drawing, PassCommand, Step, Vertices};
use eitri_player::{BetweenParts, Read};
use eitri_shaderc::Options;
use recorded::Recorder;
use std::ops::Range;
use std::time::Duration;
use written::Written;

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
    let mut written = Written::new(subject.drawing);
    if subject.all_written {
        written.assume_all();
    }
    let mut checker = Checker {
        subject: *subject,
        shaders: &shaders,
        recorder: &recorder,
        written,
        contents: Contents::default(),
        part: 0..0,
        steps: 0,
        checked: Checked::default(),
    };
    let firmware = eitri_model::stub_firmware();
    let (_, played) =
        eitri_player::play_in_parts(host.platform(), &firmware, subject.drawing, &mut checker);
    if let Err(failure) = played {
        // What went before is checked; the job itself tells of the failure.
        checker.finish_part();
        checker.leave_out(failure.text.trim_end());
    }
    checker.checked
}

/// Checks the parts of a drawing, each when it is done.
struct Checker<'s> {
    subject: Subject<'s>,
    shaders: &'s [Result<Shader, String>],
    recorder: &'s Recorder,
    written: Written,
    /// What memories held before the part.
    contents: Contents,
    part: Range<usize>,
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
    fn finish_part(&mut self) {
        let shading = self.recorder.take();
        let part = std::mem::take(&mut self.part);
        let steps = self.subject.drawing.steps.get(part.clone());
        let mut shading = Some(shading);
        for (number, step) in part.zip(steps.unwrap_or_default()) {
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

    /// Reads what the shaders of a part will see.
    fn read(&mut self, part: Range<usize>, read: Read<'_>) {
        let drawing = self.subject.drawing;
        self.contents = Contents::default();
        for step in drawing.steps.get(part).unwrap_or_default() {
            match step {
                Step::Dispatch { using, .. } => {
                    self.contents.read_bound(drawing, &using.sets, read);
                }
                Step::Pass(pass) => {
                    for command in &pass.commands {
                        let PassCommand::Draw(draw) = command else {
                            continue;
                        };
                        self.contents.read_bound(drawing, &draw.using.sets, read);
                        for buffer in &draw.vertex_buffers {
                            self.contents.read_buffer(drawing, buffer.buffer, read);
                        }
                        if let Vertices::Indirect { draws, .. } = draw.vertices {
                            self.contents.read_buffer(drawing, draws.buffer, read);
                            if let Some((buffer, _)) = draws.count {
                                self.contents.read_buffer(drawing, buffer, read);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

impl BetweenParts for Checker<'_> {
    fn before(&mut self, steps: Range<usize>, read: Read<'_>) {
        self.finish_part();
        self.read(steps.clone(), read);
        self.part = steps;
    }

    fn end(&mut self, _: Read<'_>) {
        self.finish_part();
    }
}

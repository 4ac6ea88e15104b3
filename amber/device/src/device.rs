//! The device behind a plan: each dispatch is a job of its own.
//!
//! Host bytes are all that commands share, so a job can start from power-off every time.

use crate::draw::{self, Player};
use crate::resources::{self, Resource, Rows, Samples, Target};
use crate::verdict::Verdict;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use eitri_amber::plan::Plan;
use eitri_amber::run::{Dispatch, Drawn, Gpu, Memory, Mismatch, RunError};
use eitri_amber::script::PipelineId;
use eitri_drawing::Drawing;
use eitri_job::result::FailureKind;
use eitri_job::{Failure, Saved};
use eitri_program::{Binding, Program};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why something did not run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// The hardware can't do this: no fault of the script's.
    #[error("{0}")]
    Lacks(String),
    /// It went wrong.
    #[error("{0}")]
    Failed(String),
}

impl DeviceError {
    /// Why a drawing has no results.
    pub fn of_drawing(failure: Failure) -> DeviceError {
        match failure.kind {
            FailureKind::Unsupported => DeviceError::Lacks(format!("graphics: {}", failure.text)),
            FailureKind::Refused | FailureKind::Device => {
                DeviceError::Failed(format!("the drawing failed: {}", failure.text))
            }
        }
    }
}

/// A script, ready to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Compiled {
    /// What messages call it.
    pub path: String,
    /// What is done.
    pub plan: Plan,
    /// The program of each pipeline, by [`PipelineId`]; empty for one without a shader. Of a graphics pipeline that of vertices.
    pub programs: Vec<Vec<u8>>,
    /// The program of fragments of each pipeline; empty for one without.
    pub fragments: Vec<Vec<u8>>,
    /// Longest that a submission may take.
    pub limit: Duration,
}

/// A dispatch as a job.
#[derive(Debug)]
pub struct Request<'a> {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// Its program.
    pub program: &'a [u8],
    /// Dispatches of the script before this one.
    pub number: usize,
    /// The push constants, as many as the program has.
    pub push_constants: Vec<u8>,
    /// Workgroups along x, y and z: none is 0.
    pub groups: [u32; 3],
    /// What the program reads and writes.
    pub resources: Vec<Resource>,
    /// Longest that it may take.
    pub limit: Duration,
}

/// Something that runs jobs.
pub trait Jobs {
    /// Is told of each `RUN` before its job, also of one without workgroups, which has no job; not of `CLEAR`.
    fn begin_run(&mut self) {}

    /// Runs one from power-off, and gives the memory of the resources that were to be saved.
    ///
    /// # Errors
    /// Why it failed, for a person.
    fn run(&mut self, request: &Request<'_>) -> Result<Vec<Saved>, String>;

    /// Plays a drawing from power-off, and gives its results.
    ///
    /// # Errors
    /// What the driver does not do yet, or why it failed.
    fn play(&mut self, drawing: &Drawing<'_>) -> Result<Vec<Saved>, DeviceError>;
}

/// A script that did not pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopped {
    /// What is said of it.
    pub verdict: Verdict,
    /// What differs, if an expectation does not hold.
    pub mismatch: Option<Box<Mismatch>>,
}

/// Carries a script out on `memory`, which holds what its buffers start with.
///
/// # Errors
/// What stopped it; `memory` is then as the last command has left it.
pub fn run<J: Jobs>(compiled: &Compiled, jobs: &mut J, memory: &mut Memory) -> Result<(), Stopped> {
    let mut device = Device {
        compiled,
        jobs,
        number: 0,
        samples: Samples::new(),
    };
    let path = &compiled.path;
    eitri_amber::run::run(&compiled.plan, &mut device, memory).map_err(|error| {
        let mut mismatch = None;
        let verdict = match error {
            RunError::Gpu { line, cause } => match cause {
                DeviceError::Lacks(what) => Verdict::Skip(what),
                DeviceError::Failed(what) => Verdict::Fail(format!("{path}:{line}: {what}")),
            },
            RunError::Command { line, problem } => {
                Verdict::Fail(format!("{path}:{line}: {problem}"))
            }
            RunError::Rays { .. } => Verdict::Skip("rayTracingPipeline".into()),
            RunError::Expectation {
                line,
                mismatch: found,
            } => {
                let text = format!("{path}:{line}: {found}");
                mismatch = Some(found);
                Verdict::Fail(text)
            }
        };
        Stopped { verdict, mismatch }
    })
}

struct Device<'d, J> {
    compiled: &'d Compiled,
    jobs: &'d mut J,
    number: usize,
    samples: Samples,
}

impl<J: Jobs> Gpu for Device<'_, J> {
    type Error = DeviceError;

    fn dispatch(&mut self, dispatch: &Dispatch, memory: &mut Memory) -> Result<(), DeviceError> {
        self.jobs.begin_run();
        let compiled = self.compiled;
        let bytes = compiled.programs.get(dispatch.pipeline.0);
        let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else {
            return Err(DeviceError::Failed(
                "the pipeline has no shader".to_string(),
            ));
        };
        if dispatch.groups.contains(&0) {
            // As on any Vulkan device, nothing happens.
            return Ok(());
        }
        let program =
            Program::parse(bytes).map_err(|error| DeviceError::Failed(error.to_string()))?;
        let mut push_constants = dispatch
            .push_constants
            .and_then(|id| memory.get(id))
            .map_or(Vec::new(), |buffer| buffer.bytes.clone());
        push_constants.resize(program.push_constant_bytes() as usize, 0);
        let rows: Vec<Binding> = program.bindings().collect();
        let rows = Rows {
            bindings: &rows,
            arch: program.arch(),
        };
        let request = Request {
            pipeline: dispatch.pipeline,
            program: bytes,
            number: self.number,
            push_constants,
            groups: dispatch.groups,
            resources: resources::of(&compiled.plan, &rows, dispatch, memory, &self.samples)?,
            limit: compiled.limit,
        };
        let saved = self.jobs.run(&request).map_err(DeviceError::Failed)?;
        self.number = self.number.saturating_add(1);
        for saved in saved {
            let written = request
                .resources
                .iter()
                .find(|resource| resource.save && resource.place == saved.place);
            match written.map(|resource| resource.target) {
                Some(Target::Samples(buffer)) => {
                    self.samples
                        .insert((dispatch.pipeline, buffer), saved.bytes);
                }
                Some(Target::Bytes {
                    buffer,
                    start,
                    length,
                }) => {
                    let host = memory.get_mut(buffer).map(|buffer| &mut buffer.bytes);
                    let host = host.and_then(|bytes| bytes.get_mut(start..));
                    let texels = saved.bytes.iter().take(length);
                    for (to, from) in host.into_iter().flatten().zip(texels) {
                        *to = *from;
                    }
                }
                Some(Target::Nowhere) | None => {}
            }
        }
        Ok(())
    }

    fn draw(
        &mut self,
        drawn: &Drawn,
        resources: &Dispatch,
        memory: &mut Memory,
    ) -> Result<(), DeviceError> {
        if let Drawn::Draw(_) = drawn {
            self.jobs.begin_run();
        }
        let mut player = ByJobs(&mut *self.jobs);
        let memory = (memory, &self.samples);
        draw::draw(self.compiled, drawn, resources, memory, &mut player)
    }
}

/// Drawings are jobs, too.
struct ByJobs<'j, J>(&'j mut J);

impl<J: Jobs> Player for ByJobs<'_, J> {
    fn play(&mut self, drawing: &Drawing<'_>) -> Result<Vec<Saved>, DeviceError> {
        self.0.play(drawing)
    }
}

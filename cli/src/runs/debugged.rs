//! A dispatch under the debugger: what a user gives, as a session of the debugger takes it.

use crate::input::given::Given;
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::runs::checked;
use crate::runs::dispatch::{self, Request, Talk};
use crate::runs::host;
use crate::runs::listed_programs::rows;
use eitri_checks::{PushAddress, push_addresses};
use eitri_debugger::machine::{MachineLevel, SharedPages};
use eitri_debugger::session::Session;
use eitri_debugger::source::SourceLevel;
use eitri_job::Wants;
use eitri_model::PhysicalMemory;
use eitri_shaderc::interp::Dispatch;
use eitri_shaderc::{Options, Robust};
use miette::Diagnostic;
use std::time::Duration;
use thiserror::Error;

/// What is debugged.
pub(crate) struct Prepared {
    /// Of the shader, in messages.
    pub(crate) path: String,
    pub(crate) spirv: Vec<u8>,
    pub(crate) options: Options,
    pub(crate) groups: [u32; 3],
    pub(crate) push_constants: Vec<u8>,
    pub(crate) resources: Vec<Given>,
    pub(crate) addresses: Vec<PushAddress>,
    pub(crate) gpu: GpuChoice,
    pub(crate) firmware: Option<Vec<u8>>,
    /// Longest that the driver's part may take.
    pub(crate) limit: Duration,
    pub(crate) level: DebugLevel,
}

impl Prepared {
    /// The job; nothing is wanted back.
    pub(crate) fn request(&self) -> Request {
        Request {
            resources: self.resources.clone(),
            push_constants: self.push_constants.clone(),
            groups: self.groups,
            gpu: self.gpu,
            saves: vec![],
            coherent: true,
            firmware: self.firmware.clone(),
            limit: self.limit,
            wants: Wants::default(),
            talk: Talk::Quiet,
        }
    }
}

/// What is stepped through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DebugLevel {
    /// The shader as it was written: lines, calls, variables. No pass has changed it.
    #[default]
    Source,
    /// The machine code on the model: instructions, registers, words of the uniforms.
    Machine,
    /// The same with the driver's life around it: its accesses of registers, and events of the firmware.
    Driver,
}

/// Why there is no session.
#[derive(Debug, Error, Diagnostic)]
#[error("{path}: can't be debugged: {why}")]
pub(crate) struct NotDebugged {
    path: String,
    why: String,
}

impl NotDebugged {
    pub(crate) fn of(path: &str, why: String) -> NotDebugged {
        NotDebugged {
            path: path.to_owned(),
            why,
        }
    }
}

/// Does something with a session before the first step of a dispatch, at the level of the source.
pub(crate) fn with_source<T>(
    prepared: &Prepared,
    run: impl FnOnce(Session<SourceLevel<'_>>) -> T,
) -> Result<T, Failure> {
    let refused = |why: String| {
        Failure::refused(NotDebugged {
            path: prepared.path.clone(),
            why,
        })
    };
    let options = Options {
        notes: true,
        robust: Robust::Off,
        printf: None,
        ..prepared.options.clone()
    };
    let translated = eitri_shaderc::spirv::translate(&prepared.spirv, &options);
    let translated = translated.map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        refused(lines.join("\n"))
    })?;
    let mut dispatch = Dispatch {
        groups: prepared.groups,
        push_constants: prepared.push_constants.clone(),
        step_limit: u64::MAX,
    };
    push_addresses(&translated.function, &prepared.addresses, &mut dispatch);
    let without = |why| refused(format!("{why}; `--level machine` has no such limit"));
    let mut resources = checked::resources(&prepared.resources).map_err(without)?;
    let level = SourceLevel::new(&translated.function, &dispatch, &mut resources);
    let (level, program) = level.map_err(|trap| refused(trap.to_string()))?;
    Ok(run(Session::new(level, program)))
}

/// The same at the level of the machine: the driver brings up a GPU with one core and starts the job, and from there on the session
/// has a copy of GPU and memory for itself.
pub(crate) fn with_machine<T>(
    prepared: &Prepared,
    run: impl FnOnce(Session<MachineLevel>) -> T,
) -> Result<T, Failure> {
    let refused = |why: &str| Failure::refused(NotDebugged::of(&prepared.path, why.to_owned()));
    let compiled = eitri_shaderc::compile(&prepared.spirv, &prepared.options);
    let compiled = compiled.map_err(|errors| refused(&errors.to_string()))?;
    let request = prepared.request();
    let bundle = dispatch::bundle(&prepared.path, &compiled, &request)?;
    let captured = host::capture(&bundle, &request)?;
    let captured = captured.ok_or_else(|| refused("the job did not come to its dispatch"))?;
    let (base, bytes) = captured.memory;
    let mut memory = SharedPages::new(base, bytes);
    for (address, page) in &captured.pages {
        let written = memory.write(*address, &page[..]);
        written.map_err(|error| refused(&error.to_string()))?;
    }
    let listing = rows(&compiled.listing);
    let entry = prepared.options.entry.as_deref().unwrap_or("main");
    let level = MachineLevel::new(captured.gpu, memory, entry, listing);
    let (level, program) = level.ok_or_else(|| refused("no compute job runs"))?;
    Ok(run(Session::new(level, program)))
}

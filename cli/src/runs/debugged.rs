//! A dispatch under the debugger: what a user gives, as a session of the debugger takes it.

use crate::input::given::Given;
use crate::outcome::Failure;
use crate::runs::checked;
use eitri_checks::{PushAddress, push_addresses};
use eitri_debugger::session::Session;
use eitri_debugger::source::SourceLevel;
use eitri_shaderc::interp::Dispatch;
use eitri_shaderc::{Options, Robust};
use miette::Diagnostic;
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
    let mut resources = checked::resources(&prepared.resources).map_err(refused)?;
    let level = SourceLevel::new(&translated.function, &dispatch, &mut resources);
    let (level, program) = level.map_err(|trap| refused(trap.to_string()))?;
    Ok(run(Session::new(level, program)))
}

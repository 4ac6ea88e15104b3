//! The subject of a debugger: a shader at any level, a scene, a script or a core dump, and what is done with its session.

use crate::amber::debugged::{ScriptJob, ScriptRun};
use crate::outcome::Failure;
use crate::runs::debug_source;
use crate::runs::debugged::{self, DebugLevel, Prepared};
use crate::runs::debugged_driver::{self, SceneJob};
use crate::runs::debugged_dump::{self, DumpJob};
use eitri_debugger::execution::Execution;
use eitri_debugger::session::Session;

/// A shader, a scene, a script or a core dump under the debugger.
pub(crate) enum Subject {
    Shader(Box<Prepared>),
    Scene(Box<SceneJob>),
    Script(ScriptJob),
    Dump(DumpJob),
}

/// Use of a session, whatever it debugs.
pub(crate) trait UseSession {
    /// What comes of it.
    type Done;

    /// Uses a session before its first step, or before the step that fails.
    fn run<E: Execution>(self, session: Session<E>) -> Self::Done;
}

impl Subject {
    /// The path of its file.
    pub(crate) fn path(&self) -> &str {
        match self {
            Subject::Shader(shader) => &shader.path,
            Subject::Scene(job) => &job.path,
            Subject::Script(job) => &job.path,
            Subject::Dump(job) => &job.path,
        }
    }

    /// The text of a source file that debug information names.
    pub(crate) fn read_source(&self, file: &str) -> Option<String> {
        match self {
            Subject::Scene(job) if job.texts.contains_key(file) => job.texts.get(file).cloned(),
            _ => debug_source::read(self.path(), file),
        }
    }

    /// Begins a session, and lets it be used.
    ///
    /// # Errors
    /// Why there is no session.
    pub(crate) fn debug<U: UseSession>(&self, user: U) -> Result<U::Done, Failure> {
        match self {
            Subject::Dump(job) => debugged_dump::with_dump(job, |session| user.run(session)),
            Subject::Scene(job) => debugged_driver::with_scene(job, |session| user.run(session)),
            Subject::Script(job) => match job.prepare()? {
                ScriptRun::Dispatch(shader) => debug_shader(&shader, user),
                ScriptRun::Drawing(recorded, known) => {
                    let run = |session| user.run(session);
                    Ok(debugged_driver::with_recorded(
                        *recorded, &known, job.gpu, run,
                    ))
                }
            },
            Subject::Shader(shader) => debug_shader(shader, user),
        }
    }
}

/// Begins a session of a dispatch at its level.
fn debug_shader<U: UseSession>(shader: &Prepared, user: U) -> Result<U::Done, Failure> {
    match shader.level {
        DebugLevel::Source => debugged::with_source(shader, |session| user.run(session)),
        DebugLevel::Machine => debugged::with_machine(shader, |session| user.run(session)),
        DebugLevel::Driver => debugged_driver::with_job(shader, |session| user.run(session)),
    }
}

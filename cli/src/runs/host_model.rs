//! The model in this process as the GPU of a machine in QEMU, whose memory both have mapped.
//!
//! Guarantees: the model's thread ends with the machine, however that ends, and a machine whose model breaks ends too. What the model
//! has to say of the driver is in `monitor.log`, line by line where the monitor would have said it.

use crate::input::check_arguments::Wanted;
use crate::input::model_place::{self, ModelPlace};
use crate::outcome::Failure;
use crate::runs::code_checks::{CodeChecked, CodeChecks};
use crate::runs::known_lines::KnownLines;
use eitri_boards::qemu_virt::{BOARD, GUEST_RAM, MAILBOX, MONITOR_RAM};
use eitri_boards::{Board, Region};
use eitri_host_gpu::{Bell, MachineMemory, Part, Watcher, serve_steps};
use eitri_model::diagnosis::News;
use eitri_model::{Config, Event, Gpu, Nanoseconds, Sink};
use miette::Diagnostic;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Bytes of memory of a machine that runs images of ours.
pub(crate) const MEMORY_BYTES: usize = MONITOR_RAM.end() - GUEST_RAM.base;

#[derive(Debug, Error, Diagnostic)]
#[error("this system has no memory that QEMU and this process could share")]
#[diagnostic(help("`--model guest` needs none"))]
pub(crate) struct NoSharedMemory(#[source] pub(crate) io::Error);

/// Has `model` be the GPU of a machine on a thread of its own while `machine` runs that; `stop` then ends the model.
pub(crate) fn beside<M: Send, T>(
    model: impl FnOnce() -> M + Send,
    stop: impl Fn(),
    machine: impl FnOnce() -> T,
) -> (T, M) {
    std::thread::scope(|scope| {
        let model = scope.spawn(model);
        // Also when this thread panics: the scope waits for the model.
        let stop = AtEnd(stop);
        let ended = machine();
        drop(stop);
        // A panic of the model's thread is an error of ours, and goes on here.
        let model = model.join();
        let model = model.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (ended, model)
    })
}

/// Calls a function when it is dropped.
struct AtEnd<F: Fn()>(F);

impl<F: Fn()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Memory of a machine that runs images of ours, which this process sees too: of a board's image, or of one for QEMU's own machine.
///
/// # Errors
/// If the system has no such memory.
pub(crate) fn memory(board: Option<&Board>) -> Result<MachineMemory, NoSharedMemory> {
    MachineMemory::new(MEMORY_BYTES, &parts(board)).map_err(NoSharedMemory)
}

/// The memory that an image sees, and where it is in QEMU's; as `qemu-tests/monitor/src/machine.rs` shows it.
fn parts(board: Option<&Board>) -> Vec<Part> {
    let part = |seen: Region, place: Region| Part {
        address: seen.base as u64,
        offset: place.base - GUEST_RAM.base,
        bytes: seen.bytes.min(place.bytes),
    };
    match board {
        None => vec![part(GUEST_RAM, GUEST_RAM)],
        Some(board) => {
            let (seen, place) = (board.memory, BOARD.memory);
            vec![
                part(seen.image, place.image),
                part(seen.heap, place.heap),
                part(seen.shared, place.shared),
            ]
        }
    }
}

/// The model of one machine, whose clock is the machine's.
#[derive(Debug)]
pub(crate) struct HostModel {
    memory: MachineMemory,
    bell: Bell,
    config: Config,
    /// The file that gets a record of each event.
    trace: Option<PathBuf>,
    lines: KnownLines,
    /// What the checkers of machine code are to tell.
    check: Wanted,
    /// What they have found.
    checked: Mutex<Option<CodeChecked>>,
}

impl HostModel {
    /// A model that this process runs as the GPU of a machine. Without a board the image sees QEMU's own machine.
    ///
    /// # Errors
    /// If the system has no memory that can be shared.
    pub(crate) fn new(
        config: Config,
        board: Option<&Board>,
        trace: Option<&Path>,
    ) -> Result<HostModel, NoSharedMemory> {
        Ok(HostModel {
            memory: memory(board)?,
            bell: Bell::new().map_err(NoSharedMemory)?,
            config,
            trace: trace.map(Path::to_owned),
            lines: KnownLines::default(),
            check: Wanted::Nothing,
            checked: Mutex::default(),
        })
    }

    /// Has what is reported of these programs name their lines.
    pub(crate) fn naming(self, lines: &KnownLines) -> HostModel {
        HostModel {
            lines: lines.clone(),
            ..self
        }
    }

    /// Has the checkers of machine code tell this.
    pub(crate) fn checking(self, check: &Wanted) -> HostModel {
        HostModel {
            check: check.clone(),
            ..self
        }
    }

    /// What the checkers of machine code have found in the machine that ran last, if any ran.
    pub(crate) fn checked(&self) -> Option<CodeChecked> {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        checked.take()
    }

    /// The machine's memory.
    pub(crate) fn memory(&self) -> &MachineMemory {
        &self.memory
    }

    /// Words for the monitor.
    pub(crate) fn words(&self) -> Vec<String> {
        let [ask, answer] = self.bell.paths();
        vec![
            "model=host".to_owned(),
            format!("ask={}", ask.display()),
            format!("answer={}", answer.display()),
        ]
    }

    /// Runs a machine by a function, and is its GPU meanwhile. `log` exists, and others append to it.
    pub(crate) fn beside<T>(
        &self,
        log: &Path,
        machine: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let log = File::options().append(true).open(log);
        let log = log.map_err(|cause| Failure::unwritable("monitor.log", cause))?;
        let trace = self.trace.as_deref().map(File::create).transpose();
        let trace = trace.map_err(|cause| Failure::unwritable("trace", cause))?;
        let model = || {
            let checks = CodeChecks::new(self.check.clone(), self.config.product.arch());
            let mut reporter = Reporter {
                log,
                trace,
                lines: &self.lines,
                checks: checks.as_ref(),
            };
            let mailbox = self.memory.mailbox(MAILBOX.base - GUEST_RAM.base);
            if let Some(mailbox) = mailbox {
                let config = self.config.clone();
                serve_steps(config, &self.memory, mailbox, &self.bell, &mut reporter);
            }
            let checked = checks.map(|checks| checks.finish(&self.lines));
            *self.checked.lock().unwrap_or_else(PoisonError::into_inner) = checked;
        };
        let (ended, ()) = beside(model, || self.bell.stop(), machine);
        ended
    }
}

/// The model of a machine, unless it was asked to be in the machine, or nothing was asked and the system has no memory that can be
/// shared. Without a board the image sees QEMU's own machine.
///
/// # Errors
/// If it was asked to be here, and can't.
pub(crate) fn unless_in_guest(
    config: Config,
    board: Option<&Board>,
    trace: Option<&Path>,
) -> Result<Option<HostModel>, Failure> {
    let model = || HostModel::new(config, board, trace);
    match model_place::chosen() {
        Some(ModelPlace::Guest) => Ok(None),
        Some(ModelPlace::Host) => model().map(Some).map_err(Failure::missing),
        None => Ok(model().ok()),
    }
}

/// Hands on what the model has to say.
struct Reporter<'l> {
    log: File,
    trace: Option<File>,
    lines: &'l KnownLines,
    checks: Option<&'l CodeChecks>,
}

impl Watcher for Reporter<'_> {
    fn report(&mut self, gpu: &Gpu, mut memory: &MachineMemory, news: News<'_>) {
        let place = self.lines.place(&news.diagnosis.misuse, gpu, &mut memory);
        let place = place.map_or_else(String::new, |place| format!(", at {place}"));
        // Whoever reads the log will see that something is missing.
        let _ = self
            .log
            .write_all(format!("monitor: {news}{place}\n").as_bytes());
    }

    fn sink(&mut self) -> Option<Box<dyn Sink>> {
        let records = self.trace.take().map(|file| {
            let records: Box<dyn Sink> = Box::new(Records(BufWriter::new(file)));
            records
        });
        match self.checks {
            Some(checks) => Some(checks.sink(records)),
            None => records,
        }
    }
}

/// A file that gets a record of each event, as the monitor would write it.
struct Records(BufWriter<File>);

impl Sink for Records {
    fn event(&mut self, time: Nanoseconds, event: Event) {
        if let Some(record) = event.record(time) {
            // A trace that is cut short is read as far as it goes.
            let _ = self.0.write_all(&record);
        }
    }

    fn wants_instructions(&self) -> bool {
        false
    }
}

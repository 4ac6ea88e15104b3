//! Interrupts: a command that is told to end (SIGINT, SIGTERM, SIGHUP) writes what it has, stops what it started, and leaves no
//! temporary files.
//!
//! Guarantees: what was registered runs once, last first; then child processes and their groups are stopped; the exit status is 128
//! and the signal's number, as shells have it. A second signal ends the process at once.
//! Needs: [`watch`] before anything is started.

use crate::outcome::Failure;
use crate::output::streams::talk;
use crate::process;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What is to be done before the process ends.
type Action = Box<dyn FnOnce() -> Result<(), Failure> + Send>;

static ACTIONS: Mutex<Vec<(u64, Action)>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);

/// The process waits so long for a job's files to be written before it prints that it waits.
const QUIET: Duration = Duration::from_secs(2);

fn actions() -> MutexGuard<'static, Vec<(u64, Action)>> {
    ACTIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes an action back when it is dropped: what it would write has been written.
pub(crate) struct Registered(u64);

impl Drop for Registered {
    fn drop(&mut self) {
        actions().retain(|(number, _)| *number != self.0);
    }
}

/// Has `action` run if the process is told to end.
pub(crate) fn before_end(
    action: impl FnOnce() -> Result<(), Failure> + Send + 'static,
) -> Registered {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    actions().push((number, Box::new(action)));
    Registered(number)
}

/// Whether the process was told to end.
pub(crate) fn ending() -> &'static AtomicBool {
    &ENDING
}

/// Does not come back if the process was told to end: a child that it has started was stopped then, and how that ended is no result.
pub(crate) fn stay_if_ending() {
    while ENDING.load(Ordering::Relaxed) {
        std::thread::park();
    }
}

/// Holds up the end of the process until it is dropped.
pub(crate) struct HeldUp {
    // Dropped first: that it is gone is what the action waits for.
    _written: Sender<()>,
    _registered: Registered,
}

/// If the process is told to end, it waits until this is dropped, so that files are whole. A second signal ends it at once.
///
/// The thread that holds it must not register actions or take them back meanwhile: it would wait for itself.
pub(crate) fn hold_up() -> HeldUp {
    let (written, waits) = channel();
    let registered = before_end(move || {
        // Nothing is sent: it is over when the other end is gone.
        if waits.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
            talk!("writing what the job leaves; a second signal ends this at once");
            let _ = waits.recv();
        }
        Ok(())
    });
    HeldUp {
        _written: written,
        _registered: registered,
    }
}

/// Begins to listen for signals. `folder` has the temporary files.
pub(crate) fn watch(folder: Option<std::path::PathBuf>) {
    // Without it signals do what they do otherwise.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
        return;
    };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if ENDING.swap(true, Ordering::Relaxed) {
                std::process::exit(128 + signal);
            }
            let folder = folder.clone();
            // A second signal must be heard meanwhile.
            std::thread::spawn(move || end(signal, folder));
        }
    });
}

fn end(signal: i32, folder: Option<std::path::PathBuf>) -> ! {
    // Whoever takes an action back waits until they are all done.
    let mut actions = actions();
    while let Some((_, action)) = actions.pop() {
        if let Err(failure) = action() {
            talk!("{}", failure.shown());
        }
    }
    process::stop_all();
    if let Some(folder) = folder {
        // What can't be removed stays.
        let _ = std::fs::remove_dir_all(folder);
    }
    std::process::exit(128 + signal)
}

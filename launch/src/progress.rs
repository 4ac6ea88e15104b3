//! Progress on standard error: one line that is redrawn on a terminal, a line now and then elsewhere.
//!
//! Steps may run side by side. What else is said while a line stands there goes through [`say`], so that neither spoils
//! the other.

use std::fmt::Arguments;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the line on a terminal is redrawn.
const REDRAW: Duration = Duration::from_millis(200);
/// How often a line is printed where there is no terminal.
const REPEAT: Duration = Duration::from_secs(5);
/// Columns of a terminal that does not tell.
const COLUMNS: usize = 80;

/// A step under way.
#[derive(Debug)]
pub struct Step {
    number: u64,
}

struct Active {
    number: u64,
    what: String,
    /// How far it is, in words; empty if that is not known.
    detail: String,
    started: Instant,
    /// When a line about it was printed last, where there is no terminal.
    told: Instant,
}

/// Standard error, which is one for the whole process.
struct Display {
    steps: Vec<Active>,
    next: u64,
    /// A line stands on the terminal that has to be wiped before anything else is printed.
    drawn: bool,
    /// Somebody else writes on the terminal.
    paused: bool,
    /// A thread keeps the display up to date.
    ticking: bool,
    columns: Option<usize>,
    /// Steps are not shown.
    quiet: bool,
}

static DISPLAY: Mutex<Display> = Mutex::new(Display {
    steps: Vec::new(),
    next: 0,
    drawn: false,
    paused: false,
    ticking: false,
    columns: None,
    quiet: false,
});

fn display() -> MutexGuard<'static, Display> {
    // Whatever thread panicked, lines can still be drawn.
    DISPLAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows no steps from now on: what is printed on standard error is what [`say`] is told.
pub fn hide_steps() {
    display().quiet = true;
}

/// Says that `what` has begun.
pub fn start(what: &str) -> Step {
    let mut display = display();
    let number = display.next;
    display.next += 1;
    let now = Instant::now();
    display.steps.push(Active {
        number,
        what: what.to_owned(),
        detail: String::new(),
        started: now,
        told: now,
    });
    match std::io::stderr().is_terminal() {
        _ if display.quiet => {}
        true => display.draw(),
        false => display.print(format_args!("     … {what}\n")),
    }
    if !display.ticking && !display.quiet {
        display.ticking = true;
        std::thread::spawn(tick);
    }
    Step { number }
}

/// Prints on standard error, beside the steps under way; where nobody can hear it, nothing is said.
pub fn say(text: Arguments<'_>) {
    display().print(text);
}

/// Keeps the display up to date until no step is left.
fn tick() {
    loop {
        std::thread::sleep(REDRAW);
        let mut display = display();
        if display.steps.is_empty() {
            display.ticking = false;
            return;
        }
        match std::io::stderr().is_terminal() {
            true => display.draw(),
            false => display.repeat(),
        }
    }
}

impl Step {
    /// Says how far the step is.
    pub fn detail(&self, text: &str) {
        let mut display = display();
        let mut steps = display.steps.iter_mut();
        if let Some(step) = steps.find(|step| step.number == self.number) {
            step.detail = text.to_owned();
        }
    }

    /// Says how the step ended, and how long it took.
    pub fn finish(self, good: bool) {
        let mut display = display();
        if let Some(step) = display.remove(self.number) {
            let mark = if good { "    ok" } else { "FAILED" };
            let seconds = step.started.elapsed().as_secs_f32();
            if display.quiet {
                return;
            }
            display.print(format_args!("{mark} {} ({seconds:.1} s)\n", step.what));
        }
    }
}

/// A count of many things that are done one by one; on a terminal only.
#[derive(Debug)]
pub struct Count {
    step: Option<Step>,
    done: AtomicUsize,
    total: usize,
}

/// Begins to count to `total`.
pub fn count(total: usize) -> Count {
    let terminal = std::io::stderr().is_terminal() && total > 1;
    Count {
        step: terminal.then(|| start("")),
        done: AtomicUsize::new(0),
        total,
    }
}

impl Count {
    /// One more is done: `what`. `print` may write on the terminal.
    pub fn done<T>(&self, what: &str, print: impl FnOnce() -> T) -> T {
        let Some(step) = &self.step else {
            return print();
        };
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        step.detail(&format!("{done} of {}: {what}", self.total));
        display().pause();
        let printed = print();
        display().paused = false;
        printed
    }
}

impl Drop for Step {
    /// A step that nobody finished ends without a word.
    fn drop(&mut self) {
        display().remove(self.number);
    }
}

impl Display {
    fn remove(&mut self, number: u64) -> Option<Active> {
        let place = self.steps.iter().position(|step| step.number == number)?;
        if self.drawn {
            self.print(format_args!(""));
        }
        Some(self.steps.remove(place))
    }

    /// Wipes the line, and draws none until told.
    fn pause(&mut self) {
        self.paused = true;
        self.print(format_args!(""));
    }

    /// Wipes the line, and prints.
    fn print(&mut self, text: Arguments<'_>) {
        let wipe = if self.drawn { "\r\x1b[K" } else { "" };
        self.drawn = false;
        // There is nobody left to tell of an error here.
        let _ = write!(std::io::stderr().lock(), "{wipe}{text}");
    }

    /// Redraws the line on a terminal.
    fn draw(&mut self) {
        let steps: Vec<String> = self.steps.iter().map(Active::line).collect();
        if steps.is_empty() || self.paused {
            return;
        }
        // The last column stays free: some terminals wrap when it is written.
        let most = self.columns.get_or_insert_with(columns).saturating_sub(1);
        let line: String = format!("     … {}", steps.join(" · "));
        let line: String = line.chars().take(most).collect();
        self.drawn = true;
        let _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}");
    }

    /// Prints a line for each step that has been silent for a while.
    fn repeat(&mut self) {
        let now = Instant::now();
        let mut lines = String::new();
        for step in &mut self.steps {
            if now.duration_since(step.told) >= REPEAT {
                step.told = now;
                lines.push_str(&format!("     … {}\n", step.line()));
            }
        }
        if !lines.is_empty() {
            self.print(format_args!("{lines}"));
        }
    }
}

impl Active {
    fn line(&self) -> String {
        let seconds = self.started.elapsed().as_secs();
        let time = format!("{}:{:02}", seconds / 60, seconds % 60);
        match (self.what.as_str(), self.detail.as_str()) {
            ("", detail) => format!("{detail} ({time})"),
            (what, "") => format!("{what} ({time})"),
            (what, detail) => format!("{what} ({time}): {detail}"),
        }
    }
}

/// Columns of the terminal, as `stty` tells.
fn columns() -> usize {
    let ask = || {
        let terminal = std::fs::File::open("/dev/tty").ok()?;
        let mut stty = std::process::Command::new("stty");
        let output = stty.arg("size").stdin(terminal).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        text.split_whitespace().nth(1)?.parse().ok()
    };
    ask().filter(|columns| *columns > 0).unwrap_or(COLUMNS)
}

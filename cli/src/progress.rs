//! Progress on stderr: a spinner on a terminal, one line a step elsewhere.

use crate::streams::talk;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A step under way.
pub(crate) struct Step {
    what: String,
    started: Instant,
    bar: Option<ProgressBar>,
}

/// Says that `what` has begun.
pub(crate) fn start(what: &str) -> Step {
    let bar = std::io::stderr().is_terminal().then(|| {
        let bar = ProgressBar::new_spinner();
        // The template is a constant that indicatif accepts; its own default would do as well.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        bar
    });
    if bar.is_none() {
        talk!("     … {what}");
    }
    Step {
        what: what.to_owned(),
        started: Instant::now(),
        bar,
    }
}

impl Step {
    /// Says how the step ended, and how long it took.
    pub(crate) fn finish(self, good: bool) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let mark = if good { "    ok" } else { "FAILED" };
        let seconds = self.started.elapsed().as_secs_f32();
        talk!("{mark} {} ({seconds:.1} s)", self.what);
    }
}

/// A count of many things that are done one by one; on a terminal only.
pub(crate) struct Count(Option<ProgressBar>);

/// Begins to count to `total`.
pub(crate) fn count(total: usize) -> Count {
    let terminal = std::io::stderr().is_terminal() && total > 1;
    Count(terminal.then(|| {
        let bar = ProgressBar::new(total as u64);
        // As above: the template is a constant that indicatif accepts.
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} ({elapsed}) {msg}")
        {
            bar.set_style(style);
        }
        bar
    }))
}

impl Count {
    /// One more is done: `what`. `print` may write on the terminal.
    pub(crate) fn done<T>(&self, what: &str, print: impl FnOnce() -> T) -> T {
        let Some(bar) = &self.0 else {
            return print();
        };
        bar.set_message(what.to_owned());
        bar.inc(1);
        bar.suspend(print)
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

//! How far a run is: a bar on a terminal, nothing elsewhere, where the results themselves are the progress.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// A bar on stderr.
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
}

impl Bar {
    /// A bar of `count` things.
    pub(crate) fn start(what: &'static str, count: usize) -> Bar {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(count as u64);
            // The template is a constant that indicatif accepts; its own default would do as well.
            if let Ok(style) =
                ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg} ({eta} left)")
            {
                bar.set_style(style);
            }
            bar.set_message(what);
            bar
        });
        Bar { bar }
    }

    /// Does `print` while the bar is out of its way.
    pub(crate) fn hide<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// One more has ended.
    pub(crate) fn advance(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

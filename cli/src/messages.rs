//! How messages look: colour, width, and form.
//!
//! Guarantees: lines are wrapped on terminals only, so that a name in a log or a pipe can be searched for and copied.

use crate::output::streams::{MessageFormat, set_message_format};
use crate::progress;
use miette::MietteHandlerOpts;
use std::io::IsTerminal;

/// The options that every command takes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// When diagnostics are coloured; `auto`: on a terminal, unless NO_COLOR is set.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        help_heading = "Messages"
    )]
    color: Color,
    /// How diagnostics look: sentences, or an object a line for other programs.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        help_heading = "Messages"
    )]
    message_format: MessageFormat,
    /// Show no progress.
    #[arg(long, global = true, help_heading = "Messages")]
    no_progress: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl Arguments {
    /// Makes messages look so from now on.
    pub(crate) fn apply(&self) {
        set_message_format(self.message_format);
        if self.no_progress || self.message_format == MessageFormat::Json {
            progress::hide_steps();
        }
        let color = self.color;
        // An error means that there is a hook already: nobody else sets one.
        let _ = miette::set_hook(Box::new(move |_| {
            let wraps = std::io::stderr().is_terminal();
            let mut options = MietteHandlerOpts::new()
                .wrap_lines(wraps)
                .break_words(wraps);
            if !wraps {
                options = options.width(usize::MAX / 2);
            }
            let options = match color {
                Color::Auto => options,
                Color::Always => options.color(true),
                Color::Never => options.color(false),
            };
            Box::new(options.build())
        }));
    }
}

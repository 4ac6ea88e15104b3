//! The compiler's passes on the command line: which run, what is said of them, and the refusal of unknown ones.

use crate::input::nearest::suggestion;
use crate::outcome::Failure;
use crate::output::list::{self, ListForm, Row};
use crate::output::streams::{self, outln, talk};
use eitri_shaderc::pass::{PassRow, Timing, Unsettled};
use eitri_shaderc::{Compiled, CompiledStage, Level, Options, Target, pipeline};
use miette::Diagnostic;
use serde_json::json;
use std::collections::BTreeMap;
use thiserror::Error;

/// What `eitri compile` and `eitri run` can be told about passes.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Passes of the compiler")]
pub(crate) struct PassArguments {
    /// List the compiler's passes, and do nothing else.
    #[arg(long, value_name = "FORM", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub(crate) list_passes: Option<ListForm>,
    /// Print the IR after this pass on stderr; `all` for every pass. `--list-passes` names them.
    #[arg(long, value_name = "PASS")]
    print_after: Vec<String>,
    /// Leave this pass out. Those that the code can't do without are refused.
    #[arg(long, value_name = "PASS")]
    skip: Vec<String>,
    /// End after the first run of this pass: what is written is the IR after it.
    #[arg(long, value_name = "PASS", conflicts_with_all = ["print_after", "time_passes"])]
    stop_after: Option<String>,
    /// Print the time that each pass took on stderr.
    #[arg(long)]
    time_passes: bool,
    /// Verify after every pass, and check registers and waits, as builds with debug assertions always do.
    #[arg(long)]
    verify: bool,
    /// 0: only the passes that the code can't do without. 2: all.
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = level)]
    level: Level,
}

fn level(text: &str) -> Result<Level, LevelError> {
    match text {
        "0" => Ok(Level::None),
        "2" => Ok(Level::Full),
        text => Err(LevelError {
            text: text.to_owned(),
        }),
    }
}

#[derive(Clone, Debug, Error)]
#[error("`{text}` is no level: -O0 or -O2")]
struct LevelError {
    text: String,
}

#[derive(Debug, Error, Diagnostic)]
enum PassError {
    #[error("the compiler has no pass `{name}`")]
    #[diagnostic(help("{help}"))]
    Unknown { name: String, help: String },
    #[error("the pass `{name}` can't be left out: there is no code without it")]
    #[diagnostic(help("`--list-passes` marks those that can"))]
    Needed { name: String },
    #[error("the pass `{name}` does not run for this shader")]
    #[diagnostic(help("`--print-after all` shows those that do"))]
    NotReached { name: String },
}

impl PassArguments {
    /// Refuses what names no pass, and what can't be left out.
    pub(crate) fn check(&self, target: &Target) -> Result<(), Failure> {
        let named = self.print_after.iter().filter(|name| *name != "all");
        let named = named.chain(&self.skip).chain(&self.stop_after);
        for name in named {
            find(target, name)?;
        }
        for name in &self.skip {
            if find(target, name)?.needed {
                let name = name.clone();
                return Err(Failure::refused(PassError::Needed { name }));
            }
        }
        Ok(())
    }

    /// The pass after which everything ends.
    pub(crate) fn last(&self) -> Option<&str> {
        self.stop_after.as_deref()
    }

    /// The failure when the last pass has not run.
    pub(crate) fn not_reached(&self) -> Failure {
        let name = self.stop_after.clone().unwrap_or_default();
        Failure::refused(PassError::NotReached { name })
    }

    /// Adds them to what the compiler is told.
    pub(crate) fn apply(&self, options: Options) -> Options {
        Options {
            level: self.level,
            print_after: self.print_after.clone(),
            skip: self.skip.clone(),
            check: self.verify,
            ..options
        }
    }

    /// What goes to stderr of a shader that compiled.
    pub(crate) fn tell(&self, path: &str, told: &Told) {
        for (pass, text) in &told.prints {
            talk!("; {path}: after {pass}\n{text}");
        }
        for warning in &told.warnings {
            talk!("{path}: warning: {warning}");
        }
        for unsettled in &told.unsettled {
            talk!("{path}: warning: {unsettled}");
        }
        if self.time_passes {
            streams::say(format_args!("{}", times(path, &told.timings)));
        }
    }
}

/// What passes have to say.
pub(crate) struct Told {
    prints: Vec<(&'static str, String)>,
    timings: BTreeMap<&'static str, Timing>,
    unsettled: Vec<Unsettled>,
    warnings: Vec<String>,
}

impl Told {
    /// That of a compilation.
    pub(crate) fn of(compiled: &Compiled) -> Told {
        Told {
            prints: compiled.prints.clone(),
            timings: compiled.timings.clone(),
            unsettled: compiled.unsettled.clone(),
            warnings: compiled.warnings.iter().map(ToString::to_string).collect(),
        }
    }

    /// That of a stage of a pipeline.
    pub(crate) fn of_stage(stage: &CompiledStage) -> Told {
        Told {
            prints: stage.prints.clone(),
            timings: stage.timings.clone(),
            unsettled: stage.unsettled.clone(),
            warnings: stage.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Every pass on the way to a target, in two lists: over IR, and over machine IR.
fn passes(target: &Target) -> [(&'static str, Vec<PassRow>); 2] {
    [
        ("over IR", pipeline::rows().collect()),
        ("over machine IR", target.machine.passes().to_vec()),
    ]
}

/// All passes, a line each.
pub(crate) fn print_list(form: ListForm, target: &Target) -> Result<(), Failure> {
    match form {
        ListForm::Text => {
            for (over, passes) in passes(target) {
                outln!("{over} (those with * can be left out):")?;
                for PassRow { name, what, needed } in passes {
                    let mark = if needed { ' ' } else { '*' };
                    outln!("{mark} {name:<20} {what}")?;
                }
            }
            Ok(())
        }
        ListForm::Json => {
            let row = |it: PassRow| {
                Row::named(it.name)
                    .about(it.what)
                    .with("needed", json!(it.needed))
            };
            let all = passes(target).into_iter().flat_map(|(_, passes)| passes);
            let rows: Vec<Row> = all.map(row).collect();
            list::print(form, "passes", &rows, |row| row.name.clone())
        }
    }
}

/// The pass of that name.
fn find(target: &Target, name: &str) -> Result<PassRow, Failure> {
    let mut known = passes(target).into_iter().flat_map(|(_, passes)| passes);
    if let Some(row) = known.find(|row| row.name == name) {
        return Ok(row);
    }
    let otherwise = "`eitri compile --list-passes` names them";
    let rows = passes(target).into_iter().flat_map(|(_, passes)| passes);
    Err(Failure::refused(PassError::Unknown {
        name: name.to_owned(),
        help: suggestion(name, rows.map(|row| row.name), otherwise),
    }))
}

/// The passes, slowest first.
fn times(path: &str, timings: &BTreeMap<&'static str, Timing>) -> String {
    let mut rows: Vec<_> = timings.iter().collect();
    rows.sort_by_key(|(name, timing)| (std::cmp::Reverse(timing.time), **name));
    let mut text = format!("{path}: passes\n      ms   runs  changed\n");
    for (name, timing) in rows {
        let milliseconds = timing.time.as_secs_f64() * 1e3;
        let row = format!(
            "{milliseconds:8.3} {:6} {:8}  {name}\n",
            timing.runs, timing.changes
        );
        text.push_str(&row);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_passes_have_one_name() {
        let adreno = Target::ir3_named("a6xx").expect("a name");
        for target in [Target::default(), adreno] {
            let mut names: Vec<&str> = passes(&target)
                .iter()
                .flat_map(|(_, rows)| rows.iter().map(|row| row.name))
                .collect();
            names.sort_unstable();
            let before = names.len();
            names.dedup();
            assert_eq!(names.len(), before, "{names:?}");
        }
    }
}

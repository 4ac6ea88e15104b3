//! Passes: one wrapper that names, times, prints and verifies each, over IR and over machine IR.
//!
//! Needs: a verified function.  Guarantees: every pass leaves a function that its verifier accepts (in debug builds, and
//! wherever [`Settings::check`] asks for it). Passes that are repeated come to an end: each change makes
//! [`crate::measure::Measure`] smaller.
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap as HashMap;

use crate::ir::Function;
use crate::ir::verify::verify;
use crate::machine::Listing;
use crate::options::Level;
use crate::printf::PrintfCall;
use crate::spirv::error::Warning;
use crate::target::Target;

/// Whether a pass did anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    /// The function is different.
    Yes,
    /// The function is as it was.
    No,
}

impl Changed {
    /// From a truth value.
    pub fn from_bool(changed: bool) -> Changed {
        if changed { Changed::Yes } else { Changed::No }
    }
}

/// What passes work on.
pub trait IrUnit: fmt::Display {
    /// The rules that it breaks; none of a good one.
    fn broken(&self) -> Vec<String>;

    /// Itself, where it is a function of the IR: for observers.
    fn as_ir(&self) -> Option<&Function> {
        None
    }
}

impl IrUnit for Function {
    fn broken(&self) -> Vec<String> {
        let violations = verify(self).err().unwrap_or_default();
        violations.iter().map(ToString::to_string).collect()
    }

    fn as_ir(&self) -> Option<&Function> {
        Some(self)
    }
}

/// A pass.
pub struct Pass<U = Function> {
    /// Its name: that of its file.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub what: &'static str,
    /// The pass itself.
    pub run: fn(&mut U, &Target) -> Changed,
}

// Derived, these would ask the same of `U`.
impl<U> Clone for Pass<U> {
    fn clone(&self) -> Pass<U> {
        *self
    }
}

impl<U> Copy for Pass<U> {}

/// A pass as users see it in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassRow {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub what: &'static str,
    /// Whether what comes after it can't do without it, so that it can't be left out.
    pub needed: bool,
}

/// How often a pass ran, and how long in all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timing {
    /// Times it ran.
    pub runs: u32,
    /// Times it changed something.
    pub changes: u32,
    /// Sum of all runs.
    pub time: Duration,
}

/// What a runner knows of a pass.
#[derive(Clone, Default)]
struct Known {
    timing: Timing,
    /// How many passes had changed something when it last ran as one that is repeated; its own change is none of them.
    ran: Option<usize>,
}

/// By the name of a pass that is repeated with others: those of them whose changes leave nothing to do for it.
pub(crate) type NeedlessBehind = fn(&str) -> &'static [&'static str];

/// Passes that were repeated and still changed something in the last round: rules that undo one another, or a function
/// beyond all bounds. The function is right all the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsettled {
    /// Those that still changed something in the last round.
    pub passes: Vec<&'static str>,
    /// Rounds that were made.
    pub rounds: u32,
}

impl fmt::Display for Unsettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "passes have not settled after {} rounds: {}",
            self.rounds,
            self.passes.join(", ")
        )
    }
}

/// A pass that left something broken: a defect of the compiler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// The pass.
    pub pass: &'static str,
    /// The rules, at least one.
    pub rules: Vec<String>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "internal: after {}: {}",
            self.pass,
            self.rules.join("; ")
        )
    }
}

/// What a caller wants of the passes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings<'o> {
    /// Passes after which the text is kept; `all` for every one.
    pub print_after: &'o [String],
    /// Passes that are left out. Those that are needed run all the same.
    pub skip: &'o [String],
    /// The pass after whose first run everything ends.
    pub stop_after: Option<&'o str>,
    /// How much is done to the code.
    pub level: Level,
    /// Whether verifiers and checkers run in release builds too.
    pub check: bool,
    /// Whether listings keep the IR that they come from.
    pub representation: bool,
}

/// Told the name of each pass and the function after it.
pub type Observer<'o> = &'o mut dyn FnMut(&'static str, &Function);

/// Runs passes.
pub struct Runner<'o> {
    /// What is compiled for.
    pub target: Target,
    settings: Settings<'o>,
    observer: Option<Observer<'o>>,
    /// What was printed, pass by pass.
    pub prints: Vec<(&'static str, String)>,
    /// Where passes still changed something in the last round.
    pub unsettled: Vec<Unsettled>,
    /// What the front end left out.
    pub warnings: Vec<Warning>,
    /// The calls of `debugPrintfEXT`, which the front end numbers.
    pub printf: Vec<PrintfCall>,
    /// The passes that have changed something, one after the other.
    changers: Vec<&'static str>,
    /// By name of the pass. Asked for before and after each run, of which there are hundreds: so not in order.
    passes: HashMap<&'static str, Known>,
    stopped: Option<String>,
    broken: Option<Broken>,
}

/// Most rounds of a set of passes: far above what any shader needs, but an end.
const MAX_ROUNDS: u32 = 32;

impl<'o> Runner<'o> {
    /// A runner that keeps the text after each of the named passes (`all` for every one).
    pub fn new(target: Target, print_after: &'o [String]) -> Runner<'o> {
        let settings = Settings {
            print_after,
            ..Settings::default()
        };
        Runner::with(target, settings)
    }

    /// A runner with all that can be asked of it.
    pub fn with(target: Target, settings: Settings<'o>) -> Runner<'o> {
        Runner {
            target,
            settings,
            observer: None,
            prints: vec![],
            unsettled: vec![],
            warnings: vec![],
            printf: vec![],
            changers: vec![],
            passes: HashMap::default(),
            stopped: None,
            broken: None,
        }
    }

    /// A runner that has run what this one has, for another way to go on from here. Nobody observes it.
    pub(crate) fn fork<'n>(&self, settings: Settings<'n>) -> Runner<'n> {
        Runner {
            target: self.target,
            settings,
            observer: None,
            prints: self.prints.clone(),
            unsettled: self.unsettled.clone(),
            warnings: self.warnings.clone(),
            printf: self.printf.clone(),
            changers: self.changers.clone(),
            passes: self.passes.clone(),
            stopped: self.stopped.clone(),
            broken: self.broken.clone(),
        }
    }

    /// As [`Runner::new`], and `observer` sees the function after every pass over IR.
    pub fn observed(target: Target, observer: Observer<'o>) -> Runner<'o> {
        Runner {
            observer: Some(observer),
            ..Runner::new(target, &[])
        }
    }

    /// Whether verifiers and checkers run.
    pub fn checks(&self) -> bool {
        cfg!(debug_assertions) || self.settings.check
    }

    /// A listing as its user wants it: with the IR that it comes from, or without.
    pub(crate) fn finish_listing(&self, listing: Listing, ir: &Function) -> Listing {
        match self.settings.representation {
            true => listing.with_representation(ir),
            false => listing,
        }
    }

    /// Whether no further pass will run: the last one was reached, or one left something broken.
    pub fn is_over(&self) -> bool {
        self.stopped.is_some() || self.broken.is_some()
    }

    /// What came of the passes where that isn't code: the text after the last pass, or what is broken.
    pub fn ended(&mut self) -> Option<Result<String, Broken>> {
        let broken = self.broken.take().map(Err);
        broken.or_else(|| self.stopped.take().map(Ok))
    }

    /// Runs a pass that later ones can't do without.
    pub fn run<U: IrUnit>(&mut self, unit: &mut U, pass: Pass<U>) -> Changed {
        if self.is_over() {
            return Changed::No;
        }
        let target = self.target;
        let changed = self.time(pass.name, |()| (pass.run)(unit, &target));
        if changed == Changed::Yes {
            self.changers.push(pass.name);
            self.known(pass.name).timing.changes += 1;
        }
        self.after(pass.name, unit);
        changed
    }

    /// Whether a pass that may be left out is.
    pub fn skips(&self, name: &str) -> bool {
        let mut skipped = self.settings.skip.iter();
        skipped.any(|skipped| skipped == name)
            || self.settings.level == Level::None
            || self.is_over()
    }

    /// Runs a pass that may be left out.
    pub fn improve<U: IrUnit>(&mut self, unit: &mut U, pass: Pass<U>) -> Changed {
        match self.skips(pass.name) {
            true => Changed::No,
            false => self.run(unit, pass),
        }
    }

    /// Times work that isn't a change of one thing.
    pub fn time<T>(&mut self, name: &'static str, work: impl FnOnce(()) -> T) -> T {
        let start = Instant::now();
        let made = work(());
        let time = start.elapsed();
        let timing = &mut self.known(name).timing;
        timing.runs += 1;
        timing.time += time;
        made
    }

    fn known(&mut self, name: &'static str) -> &mut Known {
        self.passes.entry(name).or_default()
    }

    /// What each pass took, by its name.
    pub fn timings(&self) -> BTreeMap<&'static str, Timing> {
        let ran = self
            .passes
            .iter()
            .filter(|(_, known)| known.timing.runs > 0);
        ran.map(|(name, known)| (*name, known.timing)).collect()
    }

    /// What is done after every pass: prints and checks.
    pub fn after<U: IrUnit>(&mut self, name: &'static str, unit: &U) {
        if self.is_over() {
            return;
        }
        let wanted = |wanted: &String| wanted == name || wanted == "all";
        if self.settings.print_after.iter().any(wanted) {
            self.prints.push((name, unit.to_string()));
        }
        if self.checks() {
            let rules = unit.broken();
            if !rules.is_empty() {
                if cfg!(debug_assertions) {
                    panic!("after {name}:\n{}\n{unit}", rules.join("\n"));
                }
                self.broken = Some(Broken { pass: name, rules });
                return;
            }
        }
        if let (Some(observer), Some(function)) = (&mut self.observer, unit.as_ir()) {
            observer(name, function);
        }
        if self.settings.stop_after == Some(name) {
            self.stopped = Some(unit.to_string());
        }
    }

    /// Runs passes that may be left out in turn until none changes anything. Between two calls all changes are made by
    /// passes of this runner: one that has run does so again only after a change that may leave it something to do.
    ///
    /// The passes come to an end: [`crate::measure`] says what each change makes smaller, and tests hold it. The limit on
    /// rounds bounds the time of compilation. Where it is reached, the function is right all the same, so this is no panic
    /// in any build: it is noted in [`Runner::unsettled`], which users see as a warning and tests take for a failure.
    pub(crate) fn fixpoint<U: IrUnit>(
        &mut self,
        unit: &mut U,
        passes: &[Pass<U>],
        needless_behind: NeedlessBehind,
    ) -> Changed {
        let before = self.changers.len();
        if let Err(unsettled) = self.settle(unit, passes, needless_behind) {
            self.unsettled.push(unsettled);
        }
        Changed::from_bool(self.changers.len() > before)
    }

    fn settle<U: IrUnit>(
        &mut self,
        unit: &mut U,
        passes: &[Pass<U>],
        needless_behind: NeedlessBehind,
    ) -> Result<(), Unsettled> {
        let mut changing = vec![];
        for _ in 0..MAX_ROUNDS {
            changing.clear();
            for pass in passes {
                if let Some(ran) = self.known(pass.name).ran {
                    let needless = needless_behind(pass.name);
                    let mut since = self.changers[ran..].iter();
                    if since.all(|changer| needless.contains(changer)) {
                        continue;
                    }
                }
                let before = self.changers.len();
                if self.improve(unit, *pass) == Changed::Yes {
                    changing.push(pass.name);
                }
                self.known(pass.name).ran = Some(before);
            }
            if changing.is_empty() {
                return Ok(());
            }
        }
        Err(Unsettled {
            passes: changing,
            rounds: MAX_ROUNDS,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESTLESS: Pass = Pass {
        name: "restless",
        what: "says that it changed something",
        run: |_, _| Changed::Yes,
    };
    const IDLE: Pass = Pass {
        name: "idle",
        what: "does nothing",
        run: |_, _| Changed::No,
    };
    /// A loop that no verifier accepts.
    const BREAKS: Pass = Pass {
        name: "breaks",
        what: "ends the entry in a jump to itself",
        run: |function, _| {
            let entry = function.entry();
            function.block_mut(entry).terminator = crate::ir::Terminator::Jump(entry);
            Changed::Yes
        },
    };

    fn function() -> Function {
        let mut function = Function::new("main");
        function.new_block();
        function
    }

    #[test]
    fn passes_that_never_settle_are_named() {
        let mut runner = Runner::new(Target::default(), &[]);
        let unsettled = runner
            .settle(&mut function(), &[IDLE, RESTLESS], |_| &[])
            .unwrap_err();
        assert_eq!(
            unsettled.to_string(),
            "passes have not settled after 32 rounds: restless"
        );
    }

    #[test]
    fn passes_that_never_settle_are_no_panic_in_the_build_that_users_run() {
        let mut runner = Runner::new(Target::default(), &[]);
        runner.fixpoint(&mut function(), &[IDLE, RESTLESS], |_| &[]);
        let [unsettled] = runner.unsettled.as_slice() else {
            panic!("{:?}", runner.unsettled);
        };
        assert_eq!(unsettled.passes, ["restless"]);
    }

    #[test]
    fn what_may_be_left_out_is_and_what_is_needed_runs() {
        let skip = ["restless".to_owned()];
        let settings = [
            Settings {
                skip: &skip,
                ..Settings::default()
            },
            Settings {
                level: Level::None,
                ..Settings::default()
            },
        ];
        for settings in settings {
            let mut runner = Runner::with(Target::default(), settings);
            assert_eq!(runner.improve(&mut function(), RESTLESS), Changed::No);
            assert_eq!(runner.run(&mut function(), RESTLESS), Changed::Yes);
        }
    }

    #[test]
    fn nothing_runs_after_the_last_pass() {
        let settings = Settings {
            stop_after: Some("idle"),
            ..Settings::default()
        };
        let mut runner = Runner::with(Target::default(), settings);
        let mut function = function();
        assert_eq!(runner.run(&mut function, RESTLESS), Changed::Yes);
        assert!(!runner.is_over());
        runner.run(&mut function, IDLE);
        assert!(runner.is_over());
        assert_eq!(runner.run(&mut function, BREAKS), Changed::No);
        assert_eq!(runner.ended(), Some(Ok(function.to_string())));
    }

    /// In the order in which they run, each time that they do. A fork begins with what was printed before.
    #[test]
    fn the_text_is_kept_after_the_passes_that_are_named() {
        let text = function().to_string();
        let printed = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
            let mut runner = Runner::new(Target::default(), &wanted);
            runner.run(&mut function(), IDLE);
            let mut runner = runner.fork(runner.settings);
            runner.run(&mut function(), RESTLESS);
            runner.run(&mut function(), IDLE);
            assert!(runner.prints.iter().all(|(_, own)| *own == text));
            let names = runner.prints.iter().map(|(name, _)| *name);
            names.collect::<Vec<_>>()
        };
        assert!(printed(&[]).is_empty());
        assert_eq!(printed(&["idle"]), ["idle", "idle"]);
        assert_eq!(printed(&["restless", "breaks"]), ["restless"]);
        assert_eq!(printed(&["all"]), ["idle", "restless", "idle"]);
    }

    #[test]
    fn a_pass_that_breaks_something_is_named() {
        // In debug builds it is a panic.
        let told = std::panic::catch_unwind(|| {
            let settings = Settings {
                check: true,
                ..Settings::default()
            };
            let mut runner = Runner::with(Target::default(), settings);
            runner.run(&mut function(), BREAKS);
            let broken = runner.ended().and_then(Result::err);
            broken.map_or_else(String::new, |broken| broken.to_string())
        });
        let text = told.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>();
            text.cloned().unwrap_or_default()
        });
        assert!(text.contains("after breaks:"), "{text}");
    }
}

//! Passes: one wrapper that names, times, prints and verifies each.
//!
//! Needs: a verified function.  Guarantees: in debug builds every pass leaves a function that `verify` accepts, and passes
//! that are repeated settle.
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::ir::Function;
use crate::ir::verify::verify;
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

/// A pass over IR.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Its name: that of its file.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub what: &'static str,
    /// The pass itself.
    pub run: fn(&mut Function, &Target) -> Changed,
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

/// Passes that were repeated and did not come to an end: rules that undo one another, or a function beyond all measure.
/// The function is right all the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsettled {
    /// Those that still changed something in the last round.
    pub passes: Vec<&'static str>,
    /// Rounds that were made.
    pub rounds: u32,
}

impl std::fmt::Display for Unsettled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "passes have not settled after {} rounds: {}",
            self.rounds,
            self.passes.join(", ")
        )
    }
}

/// Told the name of each pass and the function after it.
pub type Observer<'o> = &'o mut dyn FnMut(&'static str, &Function);

/// Runs passes on one function.
pub struct Runner<'o> {
    target: Target,
    print_after: &'o [String],
    observer: Option<Observer<'o>>,
    /// What was printed, pass by pass.
    pub prints: Vec<(&'static str, String)>,
    /// By name of the pass.
    pub timings: BTreeMap<&'static str, Timing>,
    /// Where passes did not settle; in debug builds that is a panic.
    pub unsettled: Vec<Unsettled>,
}

/// Most rounds of a set of passes: far above what any shader needs, but an end.
const MAX_ROUNDS: u32 = 32;

impl<'o> Runner<'o> {
    /// A runner that keeps the text after each of the named passes (`all` for every one).
    pub fn new(target: Target, print_after: &'o [String]) -> Runner<'o> {
        Runner {
            target,
            print_after,
            observer: None,
            prints: vec![],
            timings: BTreeMap::new(),
            unsettled: vec![],
        }
    }

    /// The same, and `observer` sees the function after every pass.
    pub fn observed(target: Target, observer: Observer<'o>) -> Runner<'o> {
        Runner {
            observer: Some(observer),
            ..Runner::new(target, &[])
        }
    }

    /// Runs one pass.
    pub fn run(&mut self, function: &mut Function, pass: Pass) -> Changed {
        let start = Instant::now();
        let changed = (pass.run)(function, &self.target);
        let timing = self.timings.entry(pass.name).or_default();
        timing.runs += 1;
        timing.changes += u32::from(changed == Changed::Yes);
        timing.time += start.elapsed();
        let wanted = |name: &String| name == pass.name || name == "all";
        if self.print_after.iter().any(wanted) {
            self.prints.push((pass.name, function.to_string()));
        }
        if cfg!(debug_assertions)
            && let Err(violations) = verify(function)
        {
            let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
            panic!("after {}:\n{}\n{function}", pass.name, list.join("\n"));
        }
        if let Some(observer) = &mut self.observer {
            observer(pass.name, function);
        }
        changed
    }

    /// Runs passes in turn until none changes anything.
    pub fn fixpoint(&mut self, function: &mut Function, passes: &[Pass]) {
        if let Err(unsettled) = self.settle(function, passes) {
            if cfg!(debug_assertions) {
                panic!("{unsettled}\n{function}");
            }
            self.unsettled.push(unsettled);
        }
    }

    fn settle(&mut self, function: &mut Function, passes: &[Pass]) -> Result<(), Unsettled> {
        let mut changing = vec![];
        for _ in 0..MAX_ROUNDS {
            changing.clear();
            for pass in passes {
                if self.run(function, *pass) == Changed::Yes {
                    changing.push(pass.name);
                }
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

    #[test]
    fn passes_that_never_settle_are_named() {
        let restless = Pass {
            name: "restless",
            what: "says that it changed something",
            run: |_, _| Changed::Yes,
        };
        let idle = Pass {
            name: "idle",
            what: "does nothing",
            run: |_, _| Changed::No,
        };
        let mut function = Function::new("main");
        function.new_block();
        let mut runner = Runner::new(Target::default(), &[]);
        let unsettled = runner.settle(&mut function, &[idle, restless]).unwrap_err();
        assert_eq!(
            unsettled.to_string(),
            "passes have not settled after 32 rounds: restless"
        );
    }
}

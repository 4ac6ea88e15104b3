//! The order of passes, as data: the runner follows it, and docs/back-ends.md prints it.
//!
//! A pipeline is a list of stages; a stage is a list of steps, and the reason why they stand where they stand.
//! Whether a step is taken may depend on what is compiled for and on options: a [`Condition`] asks them.

use std::fmt::Write as _;

use crate::ir::Function;
use crate::pass::{Changed, IrUnit, NeedlessBehind, Pass, Runner};

/// Steps that belong together.
pub(crate) struct Stage<U: 'static = Function, A: 'static = ()> {
    /// Why they come here.
    pub(crate) why: &'static str,
    pub(crate) steps: &'static [Step<U, A>],
}

/// A step of a pipeline over `U`, whose conditions ask an `A`.
pub(crate) enum Step<U: 'static = Function, A: 'static = ()> {
    /// A pass that later ones can't do without.
    Run(Pass<U>),
    /// A pass that may be left out.
    Improve(Pass<U>),
    /// Passes that may be left out, in turn until none changes anything.
    Fixpoint(&'static Group<U>),
    /// Steps that are taken if a condition holds, and others if it doesn't.
    If(Condition<A>, &'static [Step<U, A>], &'static [Step<U, A>]),
    /// Steps, and others behind them if these changed anything.
    IfChanged(&'static [Step<U, A>], &'static [Step<U, A>]),
    /// As `IfChanged`, again and again while the first ones change anything, but not more often than so.
    WhileChanged(u32, &'static [Step<U, A>], &'static [Step<U, A>]),
    /// Steps that are taken so many times.
    Times(u32, &'static [Step<U, A>]),
}

/// Passes that are repeated together.
pub(crate) struct Group<U: 'static = Function> {
    pub(crate) name: &'static str,
    pub(crate) passes: &'static [Pass<U>],
    /// By the name of a pass: those whose changes leave nothing to do for it.
    pub(crate) needless_behind: NeedlessBehind,
}

/// A question whose answer is the same for a whole compilation.
pub(crate) struct Condition<A: 'static> {
    /// What must be, behind an "if".
    pub(crate) text: &'static str,
    pub(crate) holds: fn(&A) -> bool,
}

/// Follows stages in order. Tells whether anything changed.
pub(crate) fn follow<U: IrUnit, A>(
    stages: &[Stage<U, A>],
    unit: &mut U,
    asked: &A,
    runner: &mut Runner<'_>,
) -> Changed {
    let mut changed = false;
    for stage in stages {
        changed |= take(stage.steps, unit, asked, runner);
    }
    Changed::from_bool(changed)
}

fn take<U: IrUnit, A>(
    steps: &[Step<U, A>],
    unit: &mut U,
    asked: &A,
    runner: &mut Runner<'_>,
) -> bool {
    let mut changed = false;
    for step in steps {
        changed |= match step {
            Step::Run(pass) => runner.run(unit, *pass) == Changed::Yes,
            Step::Improve(pass) => runner.improve(unit, *pass) == Changed::Yes,
            Step::Fixpoint(group) => {
                runner.fixpoint(unit, group.passes, group.needless_behind) == Changed::Yes
            }
            Step::If(condition, then, otherwise) => {
                let holds = (condition.holds)(asked);
                take(if holds { then } else { otherwise }, unit, asked, runner)
            }
            Step::IfChanged(first, then) => {
                let first = take(first, unit, asked, runner);
                first | (first && take(then, unit, asked, runner))
            }
            Step::WhileChanged(most, first, then) => {
                let mut rounds = 0..*most;
                let mut any = false;
                while rounds.next().is_some() && take(first, unit, asked, runner) {
                    take(then, unit, asked, runner);
                    any = true;
                }
                any
            }
            Step::Times(count, steps) => {
                let rounds = (0..*count).map(|_| take(steps, unit, asked, runner));
                rounds.fold(false, |any, changed| any | changed)
            }
        };
    }
    changed
}

/// The passes of a pipeline, each once, by whether later ones can't do without them.
pub(crate) struct Members<U: 'static> {
    pub(crate) needed: Vec<Pass<U>>,
    pub(crate) improving: Vec<Pass<U>>,
}

impl<U> Members<U> {
    pub(crate) fn of<A>(stages: &[Stage<U, A>]) -> Members<U> {
        let mut members = Members {
            needed: vec![],
            improving: vec![],
        };
        for stage in stages {
            members.add(stage.steps);
        }
        let Members { needed, improving } = &mut members;
        improving.retain(|pass| !needed.iter().any(|other| other.name == pass.name));
        members
    }

    fn add<A>(&mut self, steps: &[Step<U, A>]) {
        let once = |passes: &mut Vec<Pass<U>>, pass: &Pass<U>| {
            if !passes.iter().any(|other| other.name == pass.name) {
                passes.push(*pass);
            }
        };
        for step in steps {
            match step {
                Step::Run(pass) => once(&mut self.needed, pass),
                Step::Improve(pass) => once(&mut self.improving, pass),
                Step::Fixpoint(group) => {
                    group
                        .passes
                        .iter()
                        .for_each(|pass| once(&mut self.improving, pass));
                }
                Step::If(_, first, second)
                | Step::IfChanged(first, second)
                | Step::WhileChanged(_, first, second) => {
                    self.add(first);
                    self.add(second);
                }
                Step::Times(_, steps) => self.add(steps),
            }
        }
    }
}

/// Stages as text: a line a step, after the reason for them. A `*` marks what may be left out.
pub(crate) fn print<U, A>(stages: &[Stage<U, A>]) -> String {
    let mut text = String::new();
    for stage in stages {
        if !stage.why.is_empty() {
            let _ = writeln!(text, "; {}", stage.why);
        }
        print_steps(stage.steps, 0, &mut text);
    }
    text
}

fn print_steps<U, A>(steps: &[Step<U, A>], depth: usize, text: &mut String) {
    let line = |line: String, text: &mut String| {
        let _ = writeln!(text, "{:1$}{line}", "", 4 * depth);
    };
    for step in steps {
        match step {
            Step::Run(pass) => line(pass.name.to_owned(), text),
            Step::Improve(pass) => line(format!("{}*", pass.name), text),
            Step::Fixpoint(group) => line(format!("{}*", group.name), text),
            Step::If(condition, then, otherwise) => {
                line(format!("if {}", condition.text), text);
                print_steps(then, depth + 1, text);
                if !otherwise.is_empty() {
                    line("else".to_owned(), text);
                    print_steps(otherwise, depth + 1, text);
                }
            }
            Step::IfChanged(first, then) => {
                print_steps(first, depth, text);
                line("if that changed anything".to_owned(), text);
                print_steps(then, depth + 1, text);
            }
            Step::WhileChanged(most, first, then) => {
                line(
                    format!("at most {most} times, while the first changes anything"),
                    text,
                );
                print_steps(first, depth + 1, text);
                print_steps(then, depth + 1, text);
            }
            Step::Times(count, steps) => {
                line(format!("{count} times"), text);
                print_steps(steps, depth + 1, text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Type;
    use crate::target::Target;

    /// Adds a value, as long as there are fewer than three.
    const GROWS: Pass = Pass {
        name: "grows",
        what: "adds a value",
        run: |function, _| {
            let grows = function.value_count() < 3;
            if grows {
                let entry = function.entry();
                function.new_phi(entry, Type::W32);
                function.block_mut(entry).phis.clear();
            }
            Changed::from_bool(grows)
        },
    };
    const IDLE: Pass = Pass {
        name: "idle",
        what: "does nothing",
        run: |_, _| Changed::No,
    };
    const BOTH: Group = Group {
        name: "both",
        passes: &[GROWS, IDLE],
        needless_behind: |_| &[],
    };

    /// How often passes ran.
    fn runs(stages: &'static [Stage<Function, bool>], asked: bool) -> (Changed, [u32; 2]) {
        let mut function = Function::new("main");
        function.new_block();
        let mut runner = Runner::new(Target::default(), &[]);
        let changed = follow(stages, &mut function, &asked, &mut runner);
        let timings = runner.timings();
        let runs = |pass: Pass| timings.get(pass.name).map_or(0, |timing| timing.runs);
        (changed, [runs(GROWS), runs(IDLE)])
    }

    const ONE: &[Step<Function, bool>] = &[Step::Run(GROWS)];
    const OTHER: &[Step<Function, bool>] = &[Step::Improve(IDLE)];
    const CHOICE: &[Stage<Function, bool>] = &[Stage {
        why: "It depends.",
        steps: &[Step::If(
            Condition {
                text: "asked",
                holds: |asked| *asked,
            },
            ONE,
            OTHER,
        )],
    }];

    #[test]
    fn conditions_choose() {
        assert_eq!(runs(CHOICE, true), (Changed::Yes, [1, 0]));
        assert_eq!(runs(CHOICE, false), (Changed::No, [0, 1]));
        assert_eq!(
            print(CHOICE),
            "; It depends.\nif asked\n    grows\nelse\n    idle*\n"
        );
    }

    #[test]
    fn what_follows_a_change_follows_nothing_else() {
        const CHANGES: &[Stage<Function, bool>] = &[Stage {
            why: "",
            steps: &[Step::IfChanged(ONE, OTHER), Step::IfChanged(OTHER, ONE)],
        }];
        assert_eq!(runs(CHANGES, true), (Changed::Yes, [1, 2]));
        assert_eq!(
            print(CHANGES),
            "grows\nif that changed anything\n    idle*\nidle*\nif that changed anything\n    grows\n"
        );
    }

    #[test]
    fn repetition_ends() {
        const WHILE: &[Stage<Function, bool>] = &[Stage {
            why: "",
            steps: &[Step::WhileChanged(9, ONE, OTHER)],
        }];
        // The fourth time nothing changes.
        assert_eq!(runs(WHILE, true), (Changed::Yes, [4, 3]));
        const FEW: &[Stage<Function, bool>] = &[Stage {
            why: "",
            steps: &[Step::WhileChanged(2, ONE, OTHER), Step::Times(2, OTHER)],
        }];
        assert_eq!(runs(FEW, true), (Changed::Yes, [2, 4]));
        const GROUP: &[Stage<Function, bool>] = &[Stage {
            why: "",
            steps: &[Step::Fixpoint(&BOTH)],
        }];
        assert_eq!(runs(GROUP, true).0, Changed::Yes);
        let members = Members::of(GROUP);
        assert!(members.needed.is_empty());
        assert_eq!(members.improving.len(), 2);
    }
}

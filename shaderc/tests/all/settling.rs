//! The passes that are repeated come to an end: each change makes the measure smaller, and dead code is gone at once.
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::verify::verify;
use eitri_shaderc::ir::{Function, Terminator};
use eitri_shaderc::measure::Measure;
use eitri_shaderc::pass::{Changed, Runner};
use eitri_shaderc::pipeline::{self, CLEAN_UP, needless_behind, passes};
use eitri_shaderc::{Robust, Target};

use crate::support::random_function::{Content, generate};

/// Repeats the passes by hand, until none changes anything.
fn clean_up(function: &mut Function, target: &Target, place: &str) {
    let mut measure = Measure::of(function);
    let mut idle = 0;
    // The passes that have changed something, and by pass how many had when it ran last.
    let mut changers: Vec<&str> = vec![];
    let mut ran = vec![None; CLEAN_UP.len()];
    for (number, pass) in CLEAN_UP.iter().enumerate().cycle() {
        let before = function.to_string();
        let since = ran[number].map(|ran: usize| &changers[ran..]);
        let needless = needless_behind(pass.name);
        let waits = since.is_some_and(|since| since.iter().all(|other| needless.contains(other)));
        if !waits {
            ran[number] = Some(changers.len());
        }
        match (pass.run)(function, target) {
            Changed::Yes => {
                let now = Measure::of(function);
                assert!(
                    now < measure,
                    "{place}: {} makes nothing smaller:\n{before}\nbecame\n{function}",
                    pass.name
                );
                assert!(
                    !waits,
                    "{place}: {} finds something behind {changers:?}, but would wait:\n{before}\nbecame\n{function}",
                    pass.name
                );
                changers.push(pass.name);
                (measure, idle) = (now, 0);
            }
            Changed::No => {
                let name = pass.name;
                assert_eq!(
                    function.to_string(),
                    before,
                    "{place}: {name} changes in silence"
                );
                idle += 1;
            }
        }
        if idle == CLEAN_UP.len() {
            return;
        }
    }
}

#[test]
fn each_change_of_a_repeated_pass_makes_the_measure_smaller() {
    let count = if eitri_testdata::long() { 1_000 } else { 8 };
    for seed in 0..count {
        let target = match seed % 2 {
            0 => Target::default(),
            _ => Target::ir3_named("a6xx").expect("it is one"),
        };
        let mut function = generate(seed, Content::Everything, &target);
        let mut observer = |pass: &'static str, function: &Function| {
            if !CLEAN_UP.iter().any(|other| other.name == pass) {
                let place = format!("seed {seed}, after {pass}");
                clean_up(&mut function.clone(), &target, &place);
            }
        };
        let mut runner = Runner::observed(target, &mut observer);
        pipeline::lower(&mut function, Robust::On, &mut runner);
    }
}

/// Branches in a row, each on what the one before chose; nobody reads what the last one chose.
fn dead_branches(count: usize) -> Function {
    let mut text = String::from(
        "function main\nworkgroup 4 1 1\nbinding 0 0 storage written\nb0:\n  %y0 = local_id.x\n\
         %at = ishl %y0, 2\n  store.buffer @0.0, %at, 7\n  jump b1\n",
    );
    for number in 0..count {
        let [own, yes, next] = [1, 2, 3].map(|at| 2 * number + at);
        text += &format!("b{own}:\n");
        if let Some(before) = number.checked_sub(1) {
            let (from, other) = (own - 2, own - 1);
            text += &format!("  %y{number} = phi.w32 b{from}: %y{before}, b{other}: %s{before}\n");
        }
        text += &format!(
            "  %c{number} = ult %y{number}, 5\n  branch %c{number}, b{yes}, b{next}\n\
             b{yes}:\n  %s{number} = iadd %y{number}, 3\n  jump b{next}\n"
        );
    }
    text += &format!("b{}:\n  return\n", 2 * count + 1);
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn dead_branches_go_in_one_run_however_many_hang_together() {
    let dead_code = passes().find(|pass| pass.name == "dead_code").unwrap();
    for count in [1, 2, 40, 3_000] {
        let mut function = dead_branches(count);
        verify(&function).unwrap_or_else(|violations| panic!("{}", violations[0]));
        assert_eq!(
            (dead_code.run)(&mut function, &Target::default()),
            Changed::Yes
        );
        verify(&function).unwrap_or_else(|violations| panic!("{}", violations[0]));
        let branches = function.layout.iter().filter(|block| {
            matches!(
                function.block(**block).terminator,
                Terminator::Branch { .. }
            )
        });
        assert_eq!(branches.count(), 0, "of {count}");
        // The place and the store.
        let insts = function.placed_insts().count();
        assert_eq!(insts, 3, "of {count}");
        assert_eq!(
            (dead_code.run)(&mut function, &Target::default()),
            Changed::No
        );
    }
}

/// A search with two ways to find and one way out, whose answer nobody reads. It is unrolled, which leaves three branches
/// for each round, and each hangs on the one before.
fn search(rounds: u32) -> String {
    format!(
        "function main
         workgroup 4 1 1
         binding 0 0 storage written
         b0:
           %id = local_id.x
           %at = ishl %id, 2
           %pa = load.buffer @0.0, 16
           %pb = load.buffer @0.0, 20
           jump b1
         b1:
           %i = phi.w32 b0: 0, b7: %j
           %go = ult %i, {rounds}
           branch %go, b2, b8
         b2:
           %differs = ine %i, %pa
           branch %differs, b3, b4
         b3:
           %zero = ieq %pb, 0
           jump b4
         b4:
           %first = phi.bool b2: false, b3: %zero
           branch %first, b6, b5
         b5:
           %m = imul %i, 7
           %second = ine %pb, %m
           jump b6
         b6:
           %found = phi.bool b4: true, b5: %second
           branch %found, b8, b7
         b7:
           %j = iadd %i, 1
           jump b1
         b8:
           store.buffer @0.0, %at, %pa
           return
"
    )
}

#[test]
fn an_unrolled_search_whose_answer_nobody_reads_leaves_nothing() {
    for rounds in [3, 12, 16] {
        let mut function = parse(&search(rounds)).unwrap_or_else(|error| panic!("{error}"));
        verify(&function).unwrap_or_else(|violations| panic!("{}", violations[0]));
        let mut runner = Runner::new(Target::default(), &[]);
        pipeline::lower(&mut function, Robust::Off, &mut runner);
        assert_eq!(runner.unsettled, [], "{rounds} rounds");
        assert_eq!(function.layout.len(), 1, "{rounds} rounds:\n{function}");
    }
}

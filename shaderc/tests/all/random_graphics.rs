//! Random vertex and fragment functions: after every pass of the pipeline they must still draw what they drew before.
use crate::support::random_function::graphics::expected::{Picture, picture};
use crate::support::random_function::graphics::inputs::{Inputs, inputs};
use crate::support::random_function::graphics::{Pipeline, generate};
use eitri_shaderc::ir::Function;
use eitri_shaderc::ir::verify::{lowered, verify};
use eitri_shaderc::link::link;
use eitri_shaderc::pass::Runner;
use eitri_shaderc::{Robust, Target, pipeline};

/// A pipeline whose functions go through passes, and what it must draw.
struct Case {
    seed: u64,
    pipeline: Pipeline,
    inputs: Inputs,
    expected: Picture,
}

impl Case {
    /// The case of a seed; none if it runs for too long.
    fn of(seed: u64) -> Option<Case> {
        let pipeline = generate(seed, &Target::default());
        for function in [&pipeline.vertex, &pipeline.fragment] {
            verify(function).unwrap_or_else(|v| panic!("seed {seed}: {}\n{function}", v[0]));
        }
        let inputs = inputs(seed, &pipeline);
        let functions = (&pipeline.vertex, &pipeline.fragment);
        match picture(functions, &pipeline, &inputs) {
            Ok(expected) => Some(Case {
                seed,
                inputs,
                expected,
                pipeline,
            }),
            // Nested loops.
            Err(trap) if trap.contains("instructions") => None,
            Err(trap) => panic!("seed {seed}: {trap}"),
        }
    }

    #[track_caller]
    fn check(&self, pass: &str, functions: (&Function, &Function), before: &str, after: &str) {
        let seed = self.seed;
        let got = picture(functions, &self.pipeline, &self.inputs)
            .unwrap_or_else(|trap| panic!("seed {seed}, after {pass}: {trap}\n{after}"));
        if let Some(difference) = self.expected.difference(&got) {
            panic!(
                "seed {seed}: {pass} changes the result: {difference}\n{before}\nbecame\n{after}"
            );
        }
    }

    /// Lowers a function and checks it after each pass, together with the other one.
    fn lower(&self, function: &mut Function, pair: &dyn Fn(&Function) -> (Function, Function)) {
        let mut before = function.to_string();
        let mut observer = |pass: &'static str, function: &Function| {
            let after = function.to_string();
            if after != before {
                let (vertex, fragment) = pair(function);
                self.check(pass, (&vertex, &fragment), &before, &after);
                before = after;
            }
        };
        let robust = match self.seed % 4 < 2 {
            true => Robust::On,
            false => Robust::Off,
        };
        let target = Target::default();
        let mut runner = Runner::observed(target, &mut observer);
        pipeline::lower(function, robust, &mut runner);
        let unsettled = std::mem::take(&mut runner.unsettled);
        let seed = self.seed;
        assert!(unsettled.is_empty(), "seed {seed}: {}", unsettled[0]);
        lowered(function, &target).unwrap_or_else(|v| panic!("seed {seed}: {}\n{function}", v[0]));
    }
}

#[test]
fn every_pass_keeps_what_random_pipelines_draw() {
    // Some of these have shown defects.
    let seeds = if eitri_testdata::long() {
        0..400
    } else {
        5..13
    };
    let count = seeds.end - seeds.start;
    let (mut compared, mut drawn) = (0, 0);
    for seed in seeds {
        let Some(case) = Case::of(seed) else {
            continue;
        };
        let [mut vertex, mut fragment] =
            [&case.pipeline.vertex, &case.pipeline.fragment].map(Function::clone);
        for function in [&mut vertex, &mut fragment] {
            pipeline::prepare(function, &mut Runner::new(Target::default(), &[]));
        }
        link(&mut vertex, Some(&mut fragment));
        let text = format!("{vertex}\n{fragment}");
        case.check("link", (&vertex, &fragment), "", &text);
        let other = fragment.clone();
        case.lower(&mut vertex, &|vertex| (vertex.clone(), other.clone()));
        let other = vertex.clone();
        case.lower(&mut fragment, &|fragment| (other.clone(), fragment.clone()));
        compared += 1;
        drawn += u64::from(case.expected.has_drawn());
    }
    assert!(compared * 10 > count * 9, "only {compared} of {count} end");
    assert!(drawn * 4 > count * 3, "only {drawn} of {count} draw");
}

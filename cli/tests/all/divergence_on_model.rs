//! Subgroup operations in divergent control flow as machine code on the model: random programs against an oracle that runs
//! lanes in lock step.

use crate::divergent_program::{Program, generate, outputs};
use crate::{on_model, spvasm};
use eitri_shaderc::{Options, compile};

const LANES: u32 = 16;

fn check(seed: u64, program: &Program) -> Result<bool, String> {
    let Some(expected) = program.expected() else {
        return Ok(false);
    };
    let options = Options {
        // Few registers: what crosses a loop is in memory, and edges hold more copies.
        register_limit: (seed % 4 == 3).then_some(12),
        ..Options::default()
    };
    let module = spvasm::assemble(&program.spirv());
    let compiled = compile(&module, &options).map_err(|error| error.to_string())?;
    let mut buffers = program.buffers();
    on_model::run(&compiled.program, &program.dispatch(), &mut buffers)?;
    match expected.difference(&outputs(&buffers)) {
        Some(difference) => Err(format!("{difference}\n{}", compiled.listing)),
        None => Ok(true),
    }
}

#[test]
fn machine_code_keeps_together_what_is_together() {
    // Some of these have shown defects before.
    let seeds = if eitri_testdata::long() {
        0..3_000
    } else {
        28..60
    };
    let count = seeds.end - seeds.start;
    let (mut compared, mut failures) = (0, vec![]);
    for seed in seeds {
        match check(seed, &generate(seed, LANES)) {
            Ok(done) => compared += u64::from(done),
            Err(error) => failures.push((seed, error)),
        }
    }
    let seeds: Vec<u64> = failures.iter().map(|(seed, _)| *seed).collect();
    if let Some((seed, error)) = failures.first() {
        panic!("seeds {seeds:?} fail; {seed}: {error}");
    }
    assert!(compared * 10 > count * 9, "only {compared} of {count} end");
}

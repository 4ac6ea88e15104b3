//! Random functions as machine code on the model, against the interpreter: with all registers, and with so few that
//! everything is spilled.

use crate::on_model;
use crate::random_function::{Content, buffers, dispatch, generate, output};
use eitri_shaderc::interp::interpret;
use eitri_shaderc::pass::Runner;
use eitri_shaderc::{Options, Robust, Target, compile_lowered, pipeline};

/// Every other function has guards.
fn robust(seed: u64) -> Robust {
    match seed % 2 {
        0 => Robust::On,
        _ => Robust::Off,
    }
}

/// Compares one function; false if it runs too long to be compared.
fn check(seed: u64, register_limit: Option<u32>) -> Result<bool, String> {
    let mut function = generate(seed, Content::SameBits, &Target::default());
    let text = function.to_string();
    let mut expected = buffers();
    if interpret(&function, &dispatch(), &mut expected).is_err() {
        return Ok(false);
    }
    pipeline::lower(
        &mut function,
        robust(seed),
        &mut Runner::new(Target::default(), &[]),
    );
    let options = Options {
        register_limit,
        // Whether what is no word shares registers that are not lacking.
        share_registers: seed.is_multiple_of(3),
        ..Default::default()
    };
    let compiled = compile_lowered(&function, &options).map_err(|error| error.to_string())?;
    let mut got = buffers();
    on_model::run(&compiled.program, &dispatch(), &mut got)?;
    match output(&got) == output(&expected) {
        true => Ok(true),
        false => Err(format!("other results\n{text}\n{}", compiled.listing)),
    }
}

/// Runs seeds; those that fail are named, the first with all that is known of it.
fn run(seeds: std::ops::Range<u64>, register_limit: Option<u32>) {
    let (mut compared, mut failures) = (0, vec![]);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        match check(seed, register_limit) {
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

#[test]
fn machine_code_computes_what_the_function_computes() {
    let count = if eitri_testdata::long() { 20_000 } else { 32 };
    run(0..count, None);
}

#[test]
fn spilled_code_computes_what_the_function_computes() {
    let count = if eitri_testdata::long() { 10_000 } else { 6 };
    run(0..count, Some(9));
}

//! Random functions: after every pass of the pipeline they must still give what they gave before.
use crate::support::random_function::{
    Content, OUTPUT, Random, buffers, dispatch, generate, output,
};
use eitri_shaderc::interp::interpret;
use eitri_shaderc::ir::verify::{lowered, verify};
use eitri_shaderc::ir::{Function, Value};
use eitri_shaderc::pass::Runner;
use eitri_shaderc::{Robust, Target, pipeline};

fn outputs(function: &Function) -> Result<Vec<u8>, String> {
    let mut buffers = buffers();
    interpret(function, &dispatch(), &mut buffers).map_err(|trap| trap.to_string())?;
    Ok(output(&buffers).to_vec())
}

/// Every other function has guards.
fn robust(seed: u64) -> Robust {
    match seed % 2 {
        0 => Robust::On,
        _ => Robust::Off,
    }
}

/// NaNs may change their payload: all are one.
fn canonical(bytes: &[u8]) -> Vec<u32> {
    let words = bytes
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    words
        .map(|word| {
            if f32::from_bits(word).is_nan() {
                0x7fc0_0000
            } else {
                word
            }
        })
        .collect()
}

#[test]
fn every_pass_keeps_what_random_functions_compute() {
    let count = if eitri_testdata::long() { 5_000 } else { 21 };
    let mut compared = 0;
    for seed in 0..count {
        let content = match seed % 3 {
            0 => Content::SameBits,
            _ => Content::Everything,
        };
        let mut function = generate(seed, content, &Target::default());
        verify(&function).unwrap_or_else(|v| panic!("seed {seed}: {}\n{function}", v[0]));
        let Ok(expected) = outputs(&function) else {
            // Too many steps: nested loops.
            continue;
        };
        let mut before = function.to_string();
        let mut observer = |pass: &'static str, function: &Function| {
            let after = function.to_string();
            if after == before {
                return;
            }
            let got = outputs(function)
                .unwrap_or_else(|trap| panic!("seed {seed}, after {pass}: {trap}\n{after}"));
            assert!(
                canonical(&got) == canonical(&expected),
                "seed {seed}: {pass} changes the result\n{before}\nbecame\n{after}"
            );
            before = after;
        };
        // Every fourth for a machine that has registers of 16 bits.
        let target = match seed % 4 {
            3 => Target::ir3_named("a6xx").expect("it is one"),
            _ => Target::default(),
        };
        let mut runner = Runner::observed(target, &mut observer);
        pipeline::lower(&mut function, robust(seed), &mut runner);
        let unsettled = std::mem::take(&mut runner.unsettled);
        assert!(unsettled.is_empty(), "seed {seed}: {}", unsettled[0]);
        lowered(&function, &target).unwrap_or_else(|v| panic!("seed {seed}: {}\n{function}", v[0]));
        compared += 1;
    }
    assert!(compared * 10 > count * 9, "only {compared} of {count} end");
}

/// The number of the second binding of the buffer.
const SECOND: u32 = 2;

/// The resources that are the buffer's two bindings.
fn both(function: &mut Function) -> [Value; 2] {
    [OUTPUT, SECOND].map(|number| {
        let id = function.find_binding(0, number).expect("it was declared");
        function.resource(id, 0)
    })
}

/// Lets some accesses of the output go by a second binding.
fn bind_twice(function: &mut Function, seed: u64) {
    let output = function.find_binding(0, OUTPUT).expect("it was declared");
    let mut second = function.bindings[output.index()].clone();
    second.binding = SECOND;
    function.bindings.push(second);
    let [first, second] = both(function);
    let mut random = Random(seed);
    function.map_uses(|value| match value == first && random.below(2) == 0 {
        true => second,
        false => value,
    });
}

/// The function as it is where both bindings hold one buffer, which Vulkan allows.
fn on_one_buffer(function: &Function) -> Function {
    let mut function = function.clone();
    let [first, second] = both(&mut function);
    function.map_uses(|value| if value == second { first } else { value });
    function.bindings.pop();
    function
}

#[test]
fn two_bindings_may_hold_one_buffer() {
    let count = if eitri_testdata::long() { 3_000 } else { 20 };
    let mut compared = 0;
    for seed in 0..count {
        let mut function = generate(seed, Content::SameBits, &Target::default());
        bind_twice(&mut function, seed);
        verify(&function).unwrap_or_else(|v| panic!("seed {seed}: {}\n{function}", v[0]));
        let Ok(expected) = outputs(&on_one_buffer(&function)) else {
            // Too many steps: nested loops.
            continue;
        };
        let mut before = function.to_string();
        let mut observer = |pass: &'static str, function: &Function| {
            let after = function.to_string();
            if after == before {
                return;
            }
            let got = outputs(&on_one_buffer(function))
                .unwrap_or_else(|trap| panic!("seed {seed}, after {pass}: {trap}\n{after}"));
            assert!(
                got == expected,
                "seed {seed}: {pass} changes the result where both bindings hold one buffer\n{before}\nbecame\n{after}"
            );
            before = after;
        };
        let mut runner = Runner::observed(Target::default(), &mut observer);
        pipeline::lower(&mut function, robust(seed), &mut runner);
        compared += 1;
    }
    assert!(compared * 10 > count * 9, "only {compared} of {count} end");
}

//! Shaders as a user writes them, run as translated and in the lowered form.
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::ir::Function;
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, compile, front_end};

use crate::support::wgsl;

mod arithmetic;
mod flow;
mod memory;

/// Runs with buffer 0 as given; buffer 0 afterwards.
#[track_caller]
fn run(function: &Function, words: &[u32], groups: u32) -> Vec<u32> {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut buffers = Buffers::from([((0, 0, 0), Buffer { bytes })]);
    let dispatch = Dispatch {
        groups: [groups, 1, 1],
        push_constants: (0..64u32).flat_map(|word| word.to_le_bytes()).collect(),
        step_limit: 1 << 24,
    };
    interpret(function, &dispatch, &mut buffers)
        .unwrap_or_else(|trap| panic!("{trap}\n{function}"));
    let bytes = buffers[&(0, 0, 0)].bytes.chunks(4);
    bytes
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

/// Runs at both ends of the pipeline, and compiles to machine code.
#[track_caller]
fn check_spirv(spirv: &[u8], words: &[u32], groups: u32, expected: &[u32]) {
    let function = translate(spirv, &Options::default())
        .unwrap_or_else(|e| panic!("{}", e[0]))
        .function;
    assert_eq!(
        run(&function, words, groups),
        expected,
        "as translated\n{function}"
    );
    let lowered = front_end(spirv, &Options::default()).unwrap().function;
    assert_eq!(run(&lowered, words, groups), expected, "lowered\n{lowered}");
    let compiled = compile(spirv, &Options::default()).unwrap();
    assert_eq!(compiled.unsettled, []);
}

/// The body of a function `fn f(x: u32) -> u32`, applied to every word of a buffer.
#[track_caller]
fn check(before: &str, body: &str, inputs: &[u32], expected: &[u32]) {
    let source = format!(
        "{before}
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        fn f(x: u32) -> u32 {{ {body} }}
        @compute @workgroup_size(1)
        fn main(@builtin(workgroup_id) id: vec3<u32>) {{ data[id.x] = f(data[id.x]); }}"
    );
    check_spirv(
        &wgsl::compile(&source),
        inputs,
        inputs.len() as u32,
        expected,
    );
}

/// The same of floats.
#[track_caller]
fn check_float(body: &str, inputs: &[f32], expected: &[f32], tolerance: f32) {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
        fn f(x: f32) -> f32 {{ {body} }}
        @compute @workgroup_size(1)
        fn main(@builtin(workgroup_id) id: vec3<u32>) {{ data[id.x] = f(data[id.x]); }}"
    );
    let spirv = wgsl::compile(&source);
    let words: Vec<u32> = inputs.iter().map(|x| x.to_bits()).collect();
    let translated = translate(&spirv, &Options::default()).unwrap().function;
    let lowered = front_end(&spirv, &Options::default()).unwrap().function;
    for function in [&translated, &lowered] {
        let got = run(function, &words, inputs.len() as u32);
        for ((input, got), expected) in inputs.iter().zip(got).zip(expected) {
            let got = f32::from_bits(got);
            let close = (got - expected).abs() <= tolerance * expected.abs().max(1.0);
            let same = got == *expected || got.is_nan() && expected.is_nan();
            assert!(
                same || close,
                "{body} of {input}: got {got}, expected {expected}\n{function}"
            );
        }
    }
    compile(&spirv, &Options::default()).unwrap();
}

/// A whole GLSL shader on buffer 0.
#[track_caller]
fn check_glsl(source: &str, words: &[u32], groups: u32, expected: &[u32]) {
    check_spirv(&wgsl::compile_glsl(source), words, groups, expected);
}

//! The shared kernels through the front end and the IR interpreter, against the expected outputs.
//!
//! As translated and in the lowered form: the plain module, and in the long form the optimised one too, which the tests on
//! the model run in any case. Kernels that need what isn't supported yet must be refused by that name.

use crate::support::kernel::{buffers, compare, dispatch, kernels};
use eitri_compute_cases::{Case, Module};
use eitri_shaderc::interp::interpret;
use eitri_shaderc::ir::Function;
use eitri_shaderc::ir::verify::lowered;
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, Target, front_end};

/// Kernels that can't be compiled yet, and the word that the refusal must contain.
const REFUSED: &[(&str, &str)] = &[
    ("crc32_blocks", "SampledBuffer"),
    ("fft_radix4", "SampledBuffer"),
    ("gaussian_blur", "ImageQuery"),
];

/// What a kernel took, for people.
fn check(kernel: &Case, module: Module) -> Result<String, String> {
    let spirv = kernel.module(module).map_err(|error| error.to_string())?;
    let translated = translate(
        &spirv,
        Some("main"),
        &kernel.spec_constants,
        Target::default().limits,
    );
    let refusal = REFUSED.iter().find(|(name, _)| *name == kernel.name);
    let function = match (translated, refusal) {
        (Err(errors), Some((_, word))) => {
            let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
            return match text.join("\n") {
                text if text.contains(word) => Ok(text),
                text => Err(format!("refused without `{word}`: {text}")),
            };
        }
        (Ok(_), Some(_)) => return Err("compiles now: take it off the list".into()),
        (Err(errors), None) => return Err(errors[0].to_string()),
        (Ok(function), None) => function,
    };
    let before = run(kernel, &function)?;
    let options = Options {
        spec_constants: kernel.spec_constants.clone(),
        ..Default::default()
    };
    let function = front_end(&spirv, &options).unwrap().function;
    if let Err(violations) = lowered(&function, &Target::default()) {
        return Err(format!("not lowered: {}\n{function}", violations[0]));
    }
    let after = run(kernel, &function).map_err(|message| format!("lowered: {message}"))?;
    Ok(format!("{before} steps, lowered {after} steps"))
}

fn run(kernel: &Case, function: &Function) -> Result<u64, String> {
    let mut buffers = buffers(kernel);
    let steps =
        interpret(function, &dispatch(kernel), &mut buffers).map_err(|trap| trap.to_string())?;
    compare(kernel, &buffers)?;
    Ok(steps)
}

#[test]
fn kernels_give_the_expected_outputs() {
    let mut failures = vec![];
    for kernel in kernels() {
        for module in [Module::Plain, Module::Optimised] {
            if module == Module::Optimised && !eitri_testdata::long() {
                continue;
            }
            let start = std::time::Instant::now();
            match check(&kernel, module) {
                Ok(what) => println!("{} {module:?}: {what}, {:?}", kernel.name, start.elapsed()),
                Err(message) => failures.push(format!("{} {module:?}: {message}", kernel.name)),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

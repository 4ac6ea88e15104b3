//! The shared kernels, compiled and run by the runtime on the model: machine code against expected outputs.
//!
//! Both modules of each kernel, with all registers, with full register files, and with so few that it has to spill.
//! The model's diagnoses count as failures: it reports a register that is read before its message has arrived.

#[path = "../../shaderc/tests/all/support/kernel.rs"]
mod kernel;
mod on_model;

use eitri_compute_cases::{Case, Module};
use eitri_shaderc::{Options, Robust, compile};
use kernel::{buffers, compare, dispatch, kernels};

/// Module and choices of a run.
#[derive(Debug)]
struct Variant {
    module: Module,
    register_limit: Option<u32>,
    full_registers: bool,
    robust: Robust,
}

const VARIANTS: [Variant; 3] = [
    Variant {
        module: Module::Optimised,
        register_limit: None,
        full_registers: false,
        robust: Robust::Off,
    },
    Variant {
        module: Module::Optimised,
        register_limit: Some(10),
        full_registers: false,
        robust: Robust::On,
    },
    Variant {
        module: Module::Plain,
        register_limit: None,
        full_registers: true,
        robust: Robust::On,
    },
];

/// Compiles and runs a kernel. `None` when it is not in scope yet: `shaderc/tests/all/kernels.rs` holds the list.
fn check(kernel: &Case, variant: &Variant) -> Option<Result<(), String>> {
    let options = Options {
        spec_constants: kernel.spec_constants.clone(),
        register_limit: variant.register_limit,
        full_registers: variant.full_registers,
        robust: variant.robust,
        ..Default::default()
    };
    let compiled = compile(&kernel.module(variant.module).unwrap(), &options).ok()?;
    let mut buffers = buffers(kernel);
    if compare(kernel, &buffers).is_ok() {
        return Some(Err("the outputs are right before the shader has run".into()));
    }
    let result = on_model::run(&compiled.program, &dispatch(kernel), &mut buffers);
    Some(
        result
            .and_then(|()| compare(kernel, &buffers))
            .map_err(|error| format!("{error}\n{}", compiled.statistics)),
    )
}

#[test]
fn machine_code_gives_the_expected_outputs() {
    let mut failures = vec![];
    for kernel in kernels() {
        for variant in &VARIANTS {
            let start = std::time::Instant::now();
            match check(&kernel, variant) {
                Some(Ok(())) => {
                    println!("{} {variant:?}: good, {:?}", kernel.name, start.elapsed())
                }
                Some(Err(error)) => failures.push(format!("{} {variant:?}: {error}", kernel.name)),
                None => println!("{} {variant:?}: not in scope", kernel.name),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

//! Compute shaders of a seed, in GLSL: types, expressions, control flow, functions, buffers and images at random, as cases of the format of
//! shared/kernels.
//!
//! Every implementation of Vulkan must come to the same bytes. Nothing is read that was not written, indices are in range, each invocation
//! writes its own elements, and atomics commute. Fractions are multiples of an eighth with few bits (`types.rs`): no operation
//! rounds them. What is expected is not computed here: another implementation of Vulkan runs the shader.
//!
//! ```
//! let kernel = eitri_random_kernels::kernel(7);
//! assert_eq!(kernel, eitri_random_kernels::kernel(7));
//! assert_eq!(kernel.case["name"], "random_7");
//! assert!(kernel.source.starts_with("#version 450"));
//! ```
//!
//! Facts: shared/kernels/README.md; the Vulkan specification, "Precision and operation of SPIR-V instructions".

#![forbid(unsafe_code)]

mod bools;
mod constants;
mod control_flow;
mod expressions;
mod fractions;
mod functions;
mod generator;
mod integers;
mod matrices;
mod resources;
mod source;
mod statements;
mod subgroups;
mod texels;
mod types;
mod variables;
mod walks;

use generator::Generator;
use serde_json::{Value, json};

/// A shader and its case.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// GLSL.
    pub source: String,
    /// What the shader is compiled for: a name that glslang takes after `--target-env`.
    pub target: &'static str,
    /// The case file, whose outputs name no files yet ([`expect_files`]).
    pub case: Value,
}

/// What a kernel of a seed is called.
pub fn name(seed: u64) -> String {
    format!("random_{seed}")
}

/// The kernel of a seed.
pub fn kernel(seed: u64) -> Kernel {
    Generator::new(seed).kernel(&name(seed))
}

/// Takes the contents of files as what a case expects, and gives the files' names, each with the number of its binding.
pub fn expect_files(case: &mut Value) -> Vec<(usize, String)> {
    let bindings = case.get_mut("bindings").and_then(Value::as_array_mut);
    let bindings = bindings.into_iter().flatten().enumerate();
    let outputs = bindings.filter(|(_, binding)| binding["output"] == true);
    let named = outputs.map(|(number, binding)| {
        let file = format!("expected-{number}.bin");
        binding["expected"] = json!(file);
        (number, file)
    });
    named.collect()
}

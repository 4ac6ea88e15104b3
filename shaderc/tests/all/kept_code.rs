//! The machine code of kernels and of random functions is what it was.
//!
//! What code costs and computes is held by other tests. This one sees that nothing else changes: a choice between two ways that
//! are both right, in the passes of all machines and in the back ends.

use crate::support::kept_sums::Sums;
use crate::support::kernel::{kernels, read_all};
use crate::support::random_function::graphics;
use crate::support::random_function::{Content, generate};
use eitri_compute_cases::{Case, Module};
use eitri_program::Arch;
use eitri_shaderc::pass::Runner;
use eitri_shaderc::{
    Options, Robust, Target, compile, compile_graphics_functions, compile_lowered, pipeline,
};

/// Valhall's first generation, and by turns one of the others or Adreno.
fn targets(turn: usize) -> [(&'static str, Target); 2] {
    let others = [
        ("v12", Target::valhall(Arch::V12)),
        ("a6xx", Target::ir3_named("a6xx").expect("it is one")),
        ("v13", Target::valhall(Arch::V13)),
        ("v11", Target::valhall(Arch::V11)),
    ];
    let first = ("v10", Target::valhall(Arch::V10));
    [first, others[turn % others.len()]]
}

fn sums_of_kernels(kernels: &[Case]) -> Sums {
    let mut sums = Sums::default();
    for (turn, kernel) in kernels.iter().enumerate() {
        let spirv = kernel.module(Module::Plain).unwrap();
        for (number, (target_name, target)) in targets(turn).into_iter().enumerate() {
            let options = Options {
                target,
                robust: if number == 1 { Robust::Off } else { Robust::On },
                spec_constants: kernel.spec_constants.clone(),
                ..Options::default()
            };
            let name = format!("{} {target_name}", kernel.name);
            match compile(&spirv, &options) {
                Ok(made) => sums.add(name, &made.program),
                // What Adreno can't do yet is refused, and stays so.
                Err(errors) => sums.add(name, errors.to_string().as_bytes()),
            }
        }
    }
    sums
}

#[test]
fn the_code_of_our_own_kernels_is_as_before() {
    sums_of_kernels(&read_all(&eitri_testdata::kept("kernels"))).compare("own-kernels.txt");
}

#[test]
fn the_code_of_the_shared_kernels_is_as_before() {
    let kernels = kernels();
    if !kernels.is_empty() {
        sums_of_kernels(&kernels).compare("shared-kernels.txt");
    }
}

#[test]
fn the_code_of_random_functions_is_as_before() {
    let mut sums = Sums::default();
    for seed in 0..6 {
        for (target_name, target) in targets(seed as usize) {
            let options = Options {
                target,
                ..Options::default()
            };
            let mut function = generate(seed, Content::SameBits, &target);
            let mut runner = Runner::new(target, &[]);
            pipeline::lower(&mut function, options.robust, &mut runner);
            let made = compile_lowered(&function, &options);
            let made = made.unwrap_or_else(|errors| panic!("seed {seed} {target_name}: {errors}"));
            sums.add(format!("compute {seed} {target_name}"), &made.program);
        }
        for (target_name, target) in targets(seed as usize) {
            if target_name == "a6xx" {
                continue;
            }
            let options = Options {
                target,
                ..Options::default()
            };
            let graphics::Pipeline {
                vertex, fragment, ..
            } = graphics::generate(seed, &target);
            let made = compile_graphics_functions((vertex, &options), Some((fragment, &options)));
            let made = made.unwrap_or_else(|errors| panic!("seed {seed} {target_name}: {errors}"));
            sums.add(format!("vertex {seed} {target_name}"), &made.vertex.program);
            let fragment = made.fragment.expect("there is one");
            sums.add(format!("fragment {seed} {target_name}"), &fragment.program);
        }
    }
    sums.compare("random.txt");
}

//! Runs compute kernels through Vulkan, and compares what they write with what is expected: `ok NAME`, or `FAIL NAME: …` with the
//! first difference, then `N passed, N failed`, as `eitri kernel` does.
//!
//!     vulkan-runner [--opt] CASE.json...
//!
//! A guest of `eitri linux` runs it: so the kernels pass through an unmodified Vulkan driver and an unmodified kernel to the model.
//! Exit status: 0 all passed; 1 some did not; 2 there is no driver, or a case can't be read.
//!
//! `unsafe` is Vulkan's: [`device`] owns the device and all that is made on it.

mod device;
mod features;
mod resources;
mod run;

use eitri_compute_cases::{Case, Module};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut module = Module::Plain;
    let mut paths = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--opt" => module = Module::Optimised,
            _ => paths.push(argument),
        }
    }
    let device = match device::Device::open() {
        Ok(device) => device,
        Err(error) => {
            eprintln!("vulkan-runner: {error}");
            return ExitCode::from(2);
        }
    };
    eprintln!("vulkan-runner: {}", device.name());
    let (mut passed, mut failed) = (0, 0);
    for path in &paths {
        let case = match Case::read(Path::new(path)) {
            Ok(case) => case,
            Err(error) => {
                eprintln!("vulkan-runner: {error}");
                return ExitCode::from(2);
            }
        };
        match run::run(&device, &case, module) {
            Ok(()) => {
                println!("ok {}", case.name);
                passed += 1;
            }
            Err(error) => {
                println!("FAIL {}: {error}", case.name);
                failed += 1;
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed != 0))
}

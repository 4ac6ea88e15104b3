//! Runs compute kernels through Vulkan, and compares what they write with what is expected: `ok NAME`, or `FAIL NAME: …` with the
//! first difference, then `N passed, N failed`, as `eitri kernel` does.
//!
//!     vulkan-runner [--opt] [--lose CASE.json] CASE.json...
//!
//! The case after `--lose` runs first, on a device of its own, which it must lose: it never ends, and the driver takes the GPU
//! away from it. `cases/` has one.
//!
//! A guest of `eitri linux` runs it: so the kernels pass through an unmodified Vulkan driver and an unmodified kernel to the model.
//! Exit status: 0 all passed; 1 some did not; 2 there is no driver, or a case can't be read.
//!
//! `unsafe` is Vulkan's: [`device`] owns the device and all that is made on it.

mod device;
mod features;
mod resources;
mod run;

use device::Device;
use eitri_compute_cases::{Case, Module};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run_all(std::env::args().skip(1)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("vulkan-runner: {error}");
            ExitCode::from(2)
        }
    }
}

/// Does what was asked, and tells how many cases failed.
fn run_all(mut arguments: impl Iterator<Item = String>) -> Result<usize, Box<dyn Error>> {
    let mut module = Module::Plain;
    let (mut lost, mut cases) = (None, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--opt" => module = Module::Optimised,
            "--lose" => {
                let path = arguments.next().ok_or("--lose: which case?")?;
                lost = Some(Case::read(Path::new(&path))?);
            }
            path => cases.push(Case::read(Path::new(path))?),
        }
    }
    let device = Device::open()?;
    eprintln!("vulkan-runner: {}", device.name());
    let (mut passed, mut failed) = (0, 0);
    let mut count = |name: &str, result: Result<(), device::Error>| match result {
        Ok(()) => {
            println!("ok {name}");
            passed += 1;
        }
        Err(error) => {
            println!("FAIL {name}: {error}");
            failed += 1;
        }
    };
    if let Some(case) = &lost {
        let other = Device::open()?;
        count(&case.name, run::lose(&other, case, module));
    }
    for case in &cases {
        count(&case.name, run::run(&device, case, module));
    }
    println!("{passed} passed, {failed} failed");
    Ok(failed)
}

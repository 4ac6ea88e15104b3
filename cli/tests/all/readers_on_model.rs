//! Readers of shaders: a kernel gives the same bytes, whichever way its text became SPIR-V.
//!
//! The ways: GLSL by naga and by glslang, WGSL that naga writes, and the two modules that come with the kernel. Two ways that
//! end in the same program need one run. Where naga does not read the GLSL, all but the WGSL of kernels with a barrier runs in the long
//! form.

use crate::kernel_case::{dispatch, kernels};
use crate::kernels_on_model::{bound, compare};
use crate::on_model;
use eitri_compute_cases::{Case, Module};
use eitri_model::Config;
use eitri_shaderc::build::shader_text::{Language, to_spirv};
use eitri_shaderc::{Options, compile};
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;

/// Kernels whose GLSL naga reads; the others have something that it doesn't know, or misreads (`gaussian_blur`: an array of arrays, and an
/// array of push constants).
const READ_BY_NAGA: &[&str] = &["aes128_ctr", "bitonic_sort", "chacha20"];

/// Kernels that naga can't bring from SPIR-V to WGSL; and one with `precise`, which WGSL lacks.
#[rustfmt::skip]
const WITHOUT_WGSL: &[&str] = &[
    "collatz", "crc32_blocks", "fft_radix4", "hash_insert", "igemm_dot8", "mandelbrot_df", "nested_search", "pathtrace", "stream_compact",
];

const NAGA: &str = "naga";
const WGSL: &str = "WGSL";

/// A kernel's module by one way, or why there is none.
type Read = Result<Vec<u8>, String>;

/// The path of the kernel's GLSL.
fn source(kernel: &Case) -> PathBuf {
    let folder = eitri_testdata::shared("kernels").unwrap();
    folder
        .join(&kernel.name)
        .join(format!("{}.comp", kernel.name))
}

/// The kernel's GLSL.
fn text(kernel: &Case) -> String {
    std::fs::read_to_string(source(kernel)).unwrap()
}

fn by_naga(kernel: &Case) -> Read {
    to_spirv(Language::Glsl, &kernel.name, &text(kernel)).map_err(|error| error.to_string())
}

fn by_glslang(kernel: &Case) -> Read {
    let out = tempfile::NamedTempFile::new().unwrap();
    let mut glslang = Command::new("glslangValidator");
    glslang.args(["-S", "comp", "--target-env", "vulkan1.2", "-g", "-o"]);
    let output = glslang.arg(out.path()).arg(source(kernel)).output();
    let output = output.map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(std::fs::read(out.path()).unwrap()),
        false => Err(String::from_utf8_lossy(&output.stdout).into_owned()),
    }
}

/// The kernel's module as WGSL that naga writes, with the values of its specialisation constants, and read again.
fn by_wgsl(kernel: &Case) -> Read {
    use naga::back::{pipeline_constants::process_overrides, wgsl};
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    if text(kernel).contains("precise") {
        return Err("WGSL has no `precise`".to_owned());
    }
    let spirv = kernel.module(Module::Plain).unwrap();
    let options = naga::front::spv::Options {
        adjust_coordinate_space: false,
        ..Default::default()
    };
    let module = naga::front::spv::parse_u8_slice(&spirv, &options);
    let module = module.map_err(|error| error.to_string())?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| error.as_inner().to_string())?;
    let constants = kernel.spec_constants.iter();
    let constants = constants.map(|(id, value)| (id.to_string(), f64::from(*value)));
    let (module, info) = process_overrides(&module, &info, None, &constants.collect())
        .map_err(|error| error.to_string())?;
    let text = wgsl::write_string(&module, &info, wgsl::WriterFlags::empty());
    let text = text.map_err(|error| error.to_string())?;
    to_spirv(Language::Wgsl, &kernel.name, &text).map_err(|error| error.report(&kernel.name, &text))
}

/// Runs `program`, and compares what it leaves behind with the kernel's expected outputs.
fn run(kernel: &Case, program: &[u8]) -> Result<(), String> {
    let mut bound = bound(kernel);
    on_model::run_bound(Config::default(), program, &dispatch(kernel), &mut bound)?;
    compare(kernel, &bound)
}

/// Runs a kernel by each way; the wrong ones are the failures.
fn check(kernel: &Case, ways: &[(&str, Read)]) -> Vec<String> {
    let mut runs: HashMap<Vec<u8>, Result<(), String>> = HashMap::new();
    let mut failures = vec![];
    for (way, spirv) in ways {
        let Ok(spirv) = spirv else { continue };
        let mut options = Options {
            spec_constants: kernel.spec_constants.clone(),
            ..Options::default()
        };
        if *way == WGSL {
            // The constants have their values already.
            options.spec_constants.clear();
        }
        let result = match compile(spirv, &options) {
            Ok(compiled) => runs
                .entry(compiled.program)
                .or_insert_with_key(|program| run(kernel, program))
                .clone(),
            Err(errors) => Err(errors.to_string()),
        };
        if let Err(error) = result {
            failures.push(format!("{} by {way}: {error}", kernel.name));
        }
    }
    println!("{}: {} programs", kernel.name, runs.len());
    failures
}

#[test]
fn every_way_to_read_a_kernel_gives_the_same_bytes() {
    let kernels = kernels();
    if kernels.is_empty() {
        return;
    }
    let glslang = Command::new("glslangValidator").arg("--version").output();
    if glslang.is_err() {
        return eitri_testdata::report_skipped("glslangValidator");
    }
    let (mut failures, mut read_by_naga, mut without_wgsl) = (vec![], vec![], vec![]);
    for kernel in &kernels {
        let module = |module| Ok(kernel.module(module).unwrap());
        let ways = [
            ("the module", module(Module::Plain)),
            ("the optimised module", module(Module::Optimised)),
            ("glslang", by_glslang(kernel)),
            (NAGA, by_naga(kernel)),
            (WGSL, by_wgsl(kernel)),
        ];
        for (way, read) in &ways {
            match (*way, read) {
                (NAGA, Ok(_)) => read_by_naga.push(kernel.name.as_str()),
                (NAGA, Err(_)) | (_, Ok(_)) => {}
                (WGSL, Err(error)) => {
                    println!("{}: no WGSL: {error}", kernel.name);
                    without_wgsl.push(kernel.name.as_str());
                }
                (way, Err(error)) => failures.push(format!("{} by {way}: {error}", kernel.name)),
            }
        }
        // The modules of all kernels run in `kernels_on_model`.
        let all = eitri_testdata::long() || READ_BY_NAGA.contains(&kernel.name.as_str());
        let chosen = match text(kernel).contains("barrier()") {
            _ if all => &ways[..],
            true => &ways[ways.len() - 1..],
            false => continue,
        };
        failures.extend(check(kernel, chosen));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(
        read_by_naga, READ_BY_NAGA,
        "naga reads other kernels than before"
    );
    assert_eq!(
        without_wgsl, WITHOUT_WGSL,
        "naga writes other kernels as WGSL than before"
    );
}

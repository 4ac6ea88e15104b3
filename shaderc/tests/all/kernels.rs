//! The shared kernels through the front end and the IR interpreter, against the expected outputs.
//!
//! As translated and in the lowered form, by turns: the plain module. In the long form each kernel in both forms, and the
//! optimised module too. The tests on the model run all of it in any case.

use crate::support::kernel::{dispatch, format_name, kernels, read_all};
use eitri_compute_cases::{Case, Module, Place};
use eitri_shaderc::interp::{Buffer, Image, Resources, TexelFormat, interpret_with};
use eitri_shaderc::ir::Function;
use eitri_shaderc::ir::verify::lowered;
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, Target, front_end};

/// Contents before the dispatch.
fn resources(case: &Case) -> Resources {
    let mut resources = Resources::default();
    for resource in &case.resources {
        let Place {
            set,
            binding,
            element,
        } = resource.place;
        let (key, bytes) = ((set, binding, element), resource.before.clone());
        match &resource.image {
            None => {
                resources.buffers.insert(key, Buffer { bytes });
            }
            Some(given) => {
                let format = TexelFormat::of_name(format_name(&given.format)).unwrap();
                let mut image = Image::new(format, [given.width, given.height, 1]);
                image.bytes = bytes;
                resources.images.insert(key, image);
            }
        }
    }
    resources
}

/// Compares all bindings; the first difference is the error.
fn compare(case: &Case, resources: &Resources) -> Result<(), String> {
    let after = |place: Place| {
        let key = (place.set, place.binding, place.element);
        let buffer = resources.buffers.get(&key);
        let image = resources.images.get(&key);
        let bytes = buffer.map(|buffer| &buffer.bytes);
        bytes.or(image.map(|image| &image.bytes)).map(Vec::as_slice)
    };
    case.check(after)
        .map_err(|difference| difference.to_string())
}

/// Runs a kernel as translated, lowered, or both. What it took, for people.
fn check(kernel: &Case, module: Module, forms: [bool; 2]) -> Result<String, String> {
    let spirv = kernel.module(module).map_err(|error| error.to_string())?;
    let options = Options {
        spec_constants: kernel.spec_constants.clone(),
        ..Options::default()
    };
    let translated = translate(&spirv, &options);
    let function = translated.map_err(|errors| errors[0].to_string())?.function;
    let [translated, after_lowering] = forms;
    let mut took = String::new();
    if translated {
        took += &format!("{} steps", run(kernel, &function)?);
    }
    let options = Options {
        spec_constants: kernel.spec_constants.clone(),
        ..Default::default()
    };
    let made = front_end(&spirv, &options).unwrap();
    if let Some(unsettled) = made.unsettled.first() {
        return Err(unsettled.to_string());
    }
    let function = made.function;
    if let Err(violations) = lowered(&function, &Target::default()) {
        return Err(format!("not lowered: {}\n{function}", violations[0]));
    }
    if after_lowering {
        let steps = run(kernel, &function).map_err(|message| format!("lowered: {message}"))?;
        took += &format!(" lowered {steps} steps");
    }
    Ok(took)
}

fn run(kernel: &Case, function: &Function) -> Result<u64, String> {
    let mut resources = resources(kernel);
    let steps = interpret_with(function, &dispatch(kernel), &mut resources)
        .map_err(|trap| trap.to_string())?;
    compare(kernel, &resources)?;
    Ok(steps)
}

/// The interpreter's outputs for the function as translated, by no pass, become the expected ones.
fn bless(kernel: &Case) {
    let spirv = kernel.module(Module::Plain).unwrap();
    let options = Options {
        spec_constants: kernel.spec_constants.clone(),
        ..Options::default()
    };
    let function = translate(&spirv, &options).unwrap().function;
    let mut resources = resources(kernel);
    interpret_with(&function, &dispatch(kernel), &mut resources).unwrap();
    let folder = eitri_testdata::kept("kernels").join(&kernel.name);
    for ((set, binding, _), buffer) in &resources.buffers {
        let file = folder.join(format!("expected-{set}-{binding}.bin"));
        if file.exists() {
            std::fs::write(file, &buffer.bytes).unwrap();
        }
    }
}

/// `EITRI_BLESS=1 cargo test -p eitri-shaderc --test all own_kernels` writes the expected outputs of new kernels.
#[test]
fn own_kernels_give_the_expected_outputs() {
    let kernels = read_all(&eitri_testdata::kept("kernels"));
    assert!(!kernels.is_empty(), "testdata/data/kernels has no case");
    let mut failures = vec![];
    for kernel in kernels {
        if std::env::var_os("EITRI_BLESS").is_some() {
            bless(&kernel);
            continue;
        }
        for module in [Module::Plain, Module::Optimised] {
            if let Err(message) = check(&kernel, module, [true, true]) {
                failures.push(format!("{} {module:?}: {message}", kernel.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn kernels_give_the_expected_outputs() {
    let mut failures = vec![];
    let long = eitri_testdata::long();
    for (number, kernel) in kernels().into_iter().enumerate() {
        let forms = [0, 1].map(|form| long || number % 2 == form);
        for module in [Module::Plain, Module::Optimised] {
            if module == Module::Optimised && !long {
                continue;
            }
            let start = std::time::Instant::now();
            match check(&kernel, module, forms) {
                Ok(what) => println!("{} {module:?}: {what}, {:?}", kernel.name, start.elapsed()),
                Err(message) => failures.push(format!("{} {module:?}: {message}", kernel.name)),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Modules of other people's compilers, and some in the manner of others: all compute what their sources say.
#[test]
fn modules_of_other_compilers_give_the_expected_outputs() {
    let mut failures = vec![];
    for kernel in read_all(&eitri_testdata::kept("producers")) {
        if let Err(message) = check(&kernel, Module::Plain, [true, true]) {
            failures.push(format!("{}: {message}", kernel.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

//! The shared kernels, compiled and run by the runtime on the model: machine code against expected outputs.
//!
//! Both modules of each kernel; with all registers and with full register files; every fourth one, in the long form every
//! one, with so few that it has to spill.
//! The model's diagnoses count as failures: it reports a register that is read before its message has arrived.

use crate::{kernel_case, on_model};
use eitri_compute_cases::{Case, Module, Place, ResourceKind};
use eitri_csf::Arch;
use eitri_descriptors::formats::VkFormat;
use eitri_job::Content;
use eitri_model::{Config, Product};
use eitri_runtime::ImageInfo;
use eitri_shaderc::{Options, Robust, Target, compile};
use kernel_case::{dispatch, format_name, kernels};
use on_model::Bound;

/// The resources of a kernel before the dispatch.
pub fn bound(kernel: &Case) -> Vec<Bound> {
    let resources = kernel.resources.iter();
    let bound = resources.map(|resource| {
        let content = match &resource.image {
            None => Content::Buffer,
            Some(image) => {
                let name = format_name(&image.format);
                let format = VkFormat::of_name(Arch::V10, name).unwrap();
                match resource.kind {
                    ResourceKind::UniformTexelBuffer | ResourceKind::StorageTexelBuffer => {
                        Content::Texels(format)
                    }
                    _ => Content::Image(ImageInfo::two_d(format, image.width, image.height)),
                }
            }
        };
        let Place {
            set,
            binding,
            element,
        } = resource.place;
        Bound {
            place: (set, binding, element),
            content,
            bytes: resource.before.clone(),
        }
    });
    bound.collect()
}

/// Compares all bindings; the first difference is the error.
pub fn compare(kernel: &Case, bound: &[Bound]) -> Result<(), String> {
    let after = |place: Place| {
        let place = (place.set, place.binding, place.element);
        let one = bound.iter().find(|one| one.place == place);
        one.map(|one| one.bytes.as_slice())
    };
    let difference = |difference: eitri_compute_cases::Difference| difference.to_string();
    kernel.check(after).map_err(difference)
}

/// Module and choices of a run.
#[derive(Debug)]
struct Variant {
    module: Module,
    register_limit: Option<u32>,
    full_registers: bool,
    share_registers: bool,
    robust: Robust,
}

const VARIANTS: [Variant; 3] = [
    Variant {
        module: Module::Optimised,
        register_limit: None,
        full_registers: false,
        share_registers: false,
        robust: Robust::Off,
    },
    Variant {
        module: Module::Optimised,
        register_limit: Some(10),
        full_registers: false,
        share_registers: false,
        robust: Robust::On,
    },
    Variant {
        module: Module::Plain,
        register_limit: None,
        full_registers: true,
        share_registers: true,
        robust: Robust::On,
    },
];

/// A product of each generation but the first, which the variants above run on.
const GENERATIONS: [(Arch, &str); 3] = [
    (Arch::V11, "Mali-G615"),
    (Arch::V12, "Mali-G720"),
    (Arch::V13, "Immortalis-G925"),
];

/// Compiles and runs a kernel. `None` when it is not in scope yet: `shaderc/tests/all/kernels.rs` holds the list.
fn check(kernel: &Case, variant: &Variant) -> Option<Result<(), String>> {
    let options = Options {
        spec_constants: kernel.spec_constants.clone(),
        register_limit: variant.register_limit,
        full_registers: variant.full_registers,
        share_registers: variant.share_registers,
        robust: variant.robust,
        ..Default::default()
    };
    let compiled = compile(&kernel.module(variant.module).unwrap(), &options).ok()?;
    let mut bound = bound(kernel);
    if compare(kernel, &bound).is_ok() {
        return Some(Err("the outputs are right before the shader has run".into()));
    }
    let dispatch = dispatch(kernel);
    let result = on_model::run_bound(Config::default(), &compiled.program, &dispatch, &mut bound);
    Some(
        result
            .and_then(|()| compare(kernel, &bound))
            .map_err(|error| format!("{error}\n{}", compiled.statistics)),
    )
}

#[test]
fn machine_code_gives_the_expected_outputs() {
    let mut failures = vec![];
    for (number, kernel) in kernels().into_iter().enumerate() {
        for variant in &VARIANTS {
            let spills = variant.register_limit.is_some();
            if spills && number % 4 != 0 && !eitri_testdata::long() {
                continue;
            }
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

/// Each kernel on one generation after the other; in the long form on all of them.
#[test]
fn code_of_later_generations_gives_the_expected_outputs() {
    let mut failures = vec![];
    for (number, kernel) in kernels().into_iter().enumerate() {
        for (turn, (arch, name)) in GENERATIONS.into_iter().enumerate() {
            if turn != number % GENERATIONS.len() && !eitri_testdata::long() {
                continue;
            }
            let options = Options {
                target: Target::valhall_product(arch, name),
                spec_constants: kernel.spec_constants.clone(),
                robust: Robust::Off,
                ..Default::default()
            };
            let module = kernel.module(Module::Optimised).unwrap();
            let compiled = match compile(&module, &options) {
                Ok(compiled) => compiled,
                // What the compiler refuses is the other tests' business, unless it is this generation's code.
                Err(errors) if errors.to_string().contains("internal") => {
                    failures.push(format!("{} on {name}: {errors}", kernel.name));
                    continue;
                }
                Err(_) => continue,
            };
            let config = Config {
                product: Product::find(name).unwrap(),
                ..Config::default()
            };
            let mut bound = bound(&kernel);
            let dispatch = dispatch(&kernel);
            let result = on_model::run_bound(config, &compiled.program, &dispatch, &mut bound);
            if let Err(error) = result.and_then(|()| compare(&kernel, &bound)) {
                failures.push(format!("{} on {name}: {error}", kernel.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

//! What checking costs: each kernel of `shared/kernels` by the interpreter alone, and with all checkers.
//!
//! `cargo bench -p eitri-checks --bench cost [NAME]` prints both times, the shortest of three, and their quotient.
//! Both translate the module; only the run is counted.

use eitri_checks::{Request, check};
use eitri_compute_cases::{Case, Module, Place, find};
use eitri_shaderc::interp::{Buffer, Dispatch, Image, Resources, TexelFormat, interpret_with};
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, Robust};
use std::time::{Duration, Instant};

/// Times that each is run.
const RUNS: usize = 3;

fn resources(case: &Case) -> Result<Resources, String> {
    let mut resources = Resources::default();
    for resource in &case.resources {
        let Place {
            set,
            binding,
            element,
        } = resource.place;
        let (key, bytes) = ((set, binding, element), resource.before.clone());
        let Some(given) = &resource.image else {
            resources.buffers.insert(key, Buffer { bytes });
            continue;
        };
        let name = match given.format.as_str() {
            "rgba8" => "R8G8B8A8_UNORM",
            "r32ui" => "R32_UINT",
            "rgba32f" => "R32G32B32A32_SFLOAT",
            other => return Err(format!("format {other}")),
        };
        let format = TexelFormat::of_name(name).ok_or(name)?;
        let mut image = Image::new(format, [given.width, given.height, 1]);
        image.bytes = bytes;
        resources.images.insert(key, image);
    }
    Ok(resources)
}

/// The shortest time of a few runs.
fn shortest(mut run: impl FnMut() -> Result<Duration, String>) -> Result<Duration, String> {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        best = best.min(run()?);
    }
    Ok(best)
}

fn measure(case: &Case) -> Result<[Duration; 2], String> {
    let spirv = case
        .module(Module::Plain)
        .map_err(|error| error.to_string())?;
    let options = Options {
        spec_constants: case.spec_constants.clone(),
        robust: Robust::Off,
        notes: true,
        ..Options::default()
    };
    let function = translate(&spirv, &options)
        .map_err(|errors| errors[0].to_string())?
        .function;
    let dispatch = Dispatch {
        groups: case.groups,
        push_constants: case.push_constants.clone(),
        step_limit: u64::MAX,
    };
    let alone = shortest(|| {
        let mut resources = resources(case)?;
        let start = Instant::now();
        interpret_with(&function, &dispatch, &mut resources).map_err(|trap| trap.to_string())?;
        Ok(start.elapsed())
    })?;
    // `check` translates as well.
    let translation = shortest(|| {
        let start = Instant::now();
        translate(&spirv, &options).map_err(|errors| errors[0].to_string())?;
        Ok(start.elapsed())
    })?;
    let checked = shortest(|| {
        let mut resources = resources(case)?;
        let request = Request {
            spirv: &spirv,
            options: &options,
            dispatch: &dispatch,
            unwritten: &[],
            addresses: &[],
        };
        let start = Instant::now();
        check(&request, &mut resources).map_err(|error| error.to_string())?;
        Ok(start.elapsed())
    })?;
    Ok([alone, checked.saturating_sub(translation)])
}

fn main() -> Result<(), String> {
    let Some(folder) = eitri_testdata::shared("kernels") else {
        return Err("there is no folder of kernels".to_owned());
    };
    let wanted = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let (mut sums, mut logs, mut count) = ([Duration::ZERO; 2], 0.0, 0);
    for file in find(&folder).map_err(|error| error.to_string())? {
        let case = Case::read(&file).map_err(|error| error.to_string())?;
        if wanted
            .as_ref()
            .is_some_and(|wanted| !case.name.contains(wanted))
        {
            continue;
        }
        let [alone, checked] = measure(&case)?;
        let ratio = checked.as_secs_f64() / alone.as_secs_f64();
        println!(
            "{:18} {alone:>10.1?} {checked:>10.1?} {ratio:6.2}",
            case.name
        );
        sums[0] += alone;
        sums[1] += checked;
        logs += ratio.ln();
        count += 1;
    }
    let ratio = sums[1].as_secs_f64() / sums[0].as_secs_f64();
    println!(
        "{:18} {:>10.1?} {:>10.1?} {ratio:6.2}",
        "all", sums[0], sums[1]
    );
    println!("geometric mean {:.2}", (logs / f64::from(count)).exp());
    Ok(())
}

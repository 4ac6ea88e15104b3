//! What checking costs: each kernel of `shared/kernels` by the interpreter alone, and with all checkers.
//!
//! `cargo bench -p eitri-checks --bench cost [NAME]` prints both times, the mean of several runs, and their quotient.
//! Both translate the module; only the run is counted.

use eitri_checks::{Request, check};
use eitri_compute_cases::{Case, Module, Place, find};
use eitri_shaderc::interp::{Buffer, Dispatch, Image, Resources, TexelFormat, interpret_with};
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, Robust};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Time that runs take together at least, since the system counts in steps of milliseconds; and how many there are at most.
const ENOUGH: Duration = Duration::from_millis(100);
const MOST_RUNS: u32 = 400;

/// Time that this thread has had a core, where the system says it (Linux): others on the machine then do not count. Else real time.
fn now() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let scheduled = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let on_core = scheduled.and_then(|text| text.split_whitespace().next()?.parse().ok());
    on_core.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

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

/// The mean time of a run.
fn mean(mut run: impl FnMut() -> Result<Duration, String>) -> Result<Duration, String> {
    let (mut sum, mut runs) = (Duration::ZERO, 0);
    while runs < 2 || (sum < ENOUGH && runs < MOST_RUNS) {
        sum += run()?;
        runs += 1;
    }
    Ok(sum / runs)
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
    let alone = mean(|| {
        let mut resources = resources(case)?;
        let start = now();
        interpret_with(&function, &dispatch, &mut resources).map_err(|trap| trap.to_string())?;
        Ok(now() - start)
    })?;
    // `check` translates as well.
    let translation = mean(|| {
        let start = now();
        translate(&spirv, &options).map_err(|errors| errors[0].to_string())?;
        Ok(now() - start)
    })?;
    let checked = mean(|| {
        let mut resources = resources(case)?;
        let request = Request {
            spirv: &spirv,
            options: &options,
            dispatch: &dispatch,
            unwritten: &[],
            addresses: &[],
        };
        let start = now();
        check(&request, &mut resources).map_err(|error| error.to_string())?;
        Ok(now() - start)
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

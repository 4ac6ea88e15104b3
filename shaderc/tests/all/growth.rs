//! Modules of any size: the work that they make grows with them, counted in runs of passes, not in time.
use eitri_compute_cases::Growth;
use eitri_shaderc::{Options, Target, compile};

/// How often passes ran.
#[track_caller]
fn runs(target: Target, growth: &Growth, size: u32) -> u32 {
    let options = Options {
        target,
        ..Options::default()
    };
    let compiled = compile(&growth.module(size), &options);
    let compiled = compiled.unwrap_or_else(|errors| panic!("{}:{size}: {errors}", growth.name));
    assert_eq!(compiled.unsettled, [], "{}:{size}", growth.name);
    compiled.timings.values().map(|timing| timing.runs).sum()
}

#[test]
fn larger_modules_need_no_more_rounds_of_passes() {
    let adreno = Target::ir3_named("a6xx").expect("it is one");
    for target in [Target::default(), adreno] {
        for growth in Growth::ALL {
            let [small, large] = [24, 96].map(|size| runs(target, growth, size));
            assert!(
                large <= small + small / 2,
                "{} for {:?}: passes run {small} times for 24, {large} times for 96",
                growth.name,
                target.machine
            );
        }
    }
}

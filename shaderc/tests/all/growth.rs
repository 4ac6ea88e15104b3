//! Modules of any size: the work that they make grows with them, counted in runs of passes, not in time.
use eitri_compute_cases::Growth;
use eitri_shaderc::{Options, compile};

/// How often passes ran.
#[track_caller]
fn runs(growth: &Growth, size: u32) -> u32 {
    let compiled = compile(&growth.module(size), &Options::default());
    let compiled = compiled.unwrap_or_else(|errors| panic!("{}:{size}: {errors}", growth.name));
    assert_eq!(compiled.unsettled, [], "{}:{size}", growth.name);
    compiled.timings.values().map(|timing| timing.runs).sum()
}

#[test]
fn larger_modules_need_no_more_rounds_of_passes() {
    for growth in Growth::ALL {
        let [small, large] = [24, 96].map(|size| runs(growth, size));
        assert!(
            large <= small + small / 2,
            "{}: passes run {small} times for 24, {large} times for 96",
            growth.name
        );
    }
}

//! The driver's tests (`gpu/driver/driver-tests`) in this process, on the model.
//!
//! With `EITRI_NON_COHERENT=1` caches that the GPU does not see stand before the memory of each machine; with `code` in place of `1`
//! what is missing in their upkeep is told with the driver's functions. With `EITRI_OVERLAP=SEED` jobs that nothing orders overlap in
//! an order that is drawn from the seed; with `EITRI_REORDER=SEED` accesses of shaders to memory come late.

mod bench;

use eitri_driver_tests::{SEEDED, TESTS, each_test, run_on};

/// Runs a test by its name.
fn run(name: &str) {
    run_on(&bench::OnModel);
    let test = TESTS.iter().find(|test| test.name == name);
    (test.expect("it is in the list").run)();
}

/// A test of libtest's for each.
macro_rules! tests {
    ($($family:ident { $($test:ident $(: $why:literal)?;)* })*) => {
        $(mod $family {
            $(#[test]
            fn $test() {
                crate::run(concat!(stringify!($family), "::", stringify!($test)));
            })*
        })*
    };
}
each_test!(tests);

/// What a driver forgets is told with the line and who wrote it: on one side a function of the driver's, on the other a unit of the GPU.
#[test]
fn upkeep_that_is_missing_is_told_with_its_line_and_who_wrote() {
    run_on(&bench::OnModel);
    bench::NAMES_CODE.set(true);
    for seeded in SEEDED {
        let told = (seeded.run)();
        let names = |text: &String| {
            let mut parts = seeded.told.iter().chain([&seeded.at_fault]);
            text.starts_with("cache: ") && parts.all(|part| text.contains(part))
        };
        assert!(
            told.iter().any(names),
            "{} is missing, in `{}`: {told:#?}",
            seeded.name,
            seeded.at_fault
        );
    }
}

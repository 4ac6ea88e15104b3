//! The driver's tests (`gpu/driver-tests`) in this process, on the model.
//!
//! With `EITRI_NON_COHERENT=1` caches that the GPU does not see stand before the memory of each machine.

mod bench;

use eitri_driver_tests::{TESTS, each_test, run_on};

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

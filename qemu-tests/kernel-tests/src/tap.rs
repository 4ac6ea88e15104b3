//! TAP: runs the tests of an image and says the results: a plan, then one line a test.

use eitri_boards::Exit;
use eitri_kernel::println;

/// What a test found wrong: what it expected, and what it got.
pub type Outcome = Result<(), (&'static str, u64)>;

/// A test: its name and what it does with what it is given.
pub type Test<C> = (&'static str, fn(&mut C) -> Outcome);

/// Runs all of them.
pub fn run<C>(tests: &[Test<C>], context: &mut C) -> Exit {
    println!("1..{}", tests.len());
    let mut exit = Exit::Success;
    for (index, (name, test)) in tests.iter().enumerate() {
        let number = index + 1;
        match test(context) {
            Ok(()) => println!("ok {number} - {name}"),
            Err((expected, got)) => {
                exit = Exit::Failed;
                println!("not ok {number} - {name}: expected {expected}, got {got:#x}");
            }
        }
    }
    exit
}

/// The outcome of one expectation.
pub fn expect(good: bool, expected: &'static str, got: u64) -> Outcome {
    if good { Ok(()) } else { Err((expected, got)) }
}

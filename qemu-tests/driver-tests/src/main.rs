//! The driver's tests (`gpu/driver/driver-tests`) in one image: a line for each on the console, in TAP.
//!
//! What drives the GPU here is what drives it on a board: registers that trap, memory that is cached and kept up by the CPU's own
//! instructions, interrupts. The monitor plays the GPU; with `tests=yes` it takes words that say which GPU there is and what goes
//! wrong in it, and tells what the GPU and the caches have to say ([`control`]).
//!
//! A test that fails panics, and ends the image; it can be booted again for the rest. On the command line `from=N` leaves out
//! what stands before test N of the list, and `only=N` all others. Slow tests are left out; `slow` leaves out the others. `seeded`
//! runs, in place of all, drivers that lack upkeep of caches.
#![no_std]
#![no_main]

extern crate alloc;

mod bench;
mod control;
mod machine;

use alloc::string::String;
use bench::InImage;
use control::Control;
use eitri_boards::Exit;
use eitri_driver_tests::{SEEDED, TESTS, run_on};
use eitri_kernel::{Kernel, println, time};
use eitri_on_board::{Caching, take_gpu};

eitri_kernel::image! {
    board: eitri_boards::qemu_virt::BOARD,
    main: main,
}

/// The words on the command line that choose tests, by their number in the list, from 1.
const FROM: &str = "from=";
const ONLY: &str = "only=";
/// The word for tests that take long.
const SLOW: &str = "slow";
/// The word for drivers that lack upkeep of caches.
const FAULTY: &str = "seeded";

fn main(kernel: Kernel) -> Exit {
    let mut buffer = [0; eitri_on_board::LINE_BYTES];
    let line = kernel.command_line(&mut buffer);
    let number = |key: &str| -> Option<usize> {
        let mut words = line.split_ascii_whitespace();
        words.find_map(|word| word.strip_prefix(key)?.parse().ok())
    };
    let (first, only) = (number(FROM).unwrap_or(1), number(ONLY));
    let caching = match kernel.shared_is_cached {
        true => Caching::WriteBack,
        false => Caching::None,
    };
    let gpu = match take_gpu(kernel.board, caching) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("no GPU: {error:?}");
            return Exit::Failed;
        }
    };
    // SAFETY: the board is QEMU's, whose monitor answers there; nobody else in this image has these registers.
    let control = unsafe { Control::open() };
    machine::set_up(gpu, control);
    run_on(&InImage);
    let has = |wanted: &str| line.split_ascii_whitespace().any(|word| word == wanted);
    match has(FAULTY) {
        true => run_seeded(),
        false => run(first, only, has(SLOW)),
    }
}

/// Runs drivers that lack upkeep of caches, and says what is told of each, and which function is at fault.
fn run_seeded() -> Exit {
    println!("1..{}", SEEDED.len());
    let mut exit = Exit::Success;
    for (number, seeded) in (1..).zip(SEEDED) {
        let all = (seeded.run)();
        for told in &all {
            println!("# {number} {told}");
        }
        let is_found = |text: &String| seeded.told.iter().all(|part| text.contains(part));
        let verdict = match all.iter().any(is_found) {
            true => "ok",
            false => {
                exit = Exit::Failed;
                "not ok"
            }
        };
        let (name, function) = (seeded.name, seeded.at_fault);
        println!("{verdict} {number} - without {name} # {function}");
    }
    exit
}

/// Runs the tests of the list that say something here.
fn run(first: usize, only: Option<usize>, slow: bool) -> Exit {
    println!("1..{}", TESTS.len());
    let mut exit = Exit::Success;
    for (number, test) in (1..).zip(TESTS) {
        if number < first || only.is_some_and(|only| only != number) {
            continue;
        }
        let name = test.name;
        if let Some(why) = test.host_only {
            println!("ok {number} - {name} # SKIP {why}");
            continue;
        }
        if only.is_none() && test.is_slow() != slow {
            println!("ok {number} - {name} # SKIP it runs with tests that take as long");
            continue;
        }
        println!("# {number} {name}");
        let (told, start) = (machine::upkeep().len(), time::now());
        (test.run)();
        let took = time::now().saturating_sub(start).as_millis();
        match machine::upkeep().get(told) {
            None => println!("ok {number} - {name} # {took} ms"),
            Some(missing) => {
                exit = Exit::Failed;
                println!("not ok {number} - {name} # {missing}");
            }
        }
    }
    exit
}

//! The image that carries Amber scripts: runs each on the board's GPU, and reports TAP on the console.
//!
//! The scripts were compiled on the host, to programs, contents of buffers, and commands; what is left to do here is what the
//! host does too (`amber/device`), so that the verdicts are the same. A word `from=N` on the command line leaves out what
//! stands before script N.
#![no_std]
#![no_main]

use eitri_amber_device::{OnPlatform, run_suite};
use eitri_boards::Exit;
use eitri_kernel::{Kernel, print, println};

eitri_kernel::image! {
    main: main,
}

/// The scripts.
static SUITE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scripts.suite"));

/// The word on the command line that says with which script to begin.
const FROM: &str = "from=";

fn main(kernel: Kernel) -> Exit {
    let mut buffer = [0; eitri_on_board::LINE_BYTES];
    let line = kernel.command_line(&mut buffer);
    let mut words = line.split_ascii_whitespace();
    let first = words.find_map(|word| word.strip_prefix(FROM)?.parse().ok());
    let mut machine = match eitri_on_board::start_gpu(&kernel, line) {
        Ok(platform) => OnPlatform::new(platform),
        Err(exit) => return exit,
    };
    let suite = eitri_on_board::part_or("scripts", SUITE);
    let mut report = |text: &str| print!("{text}");
    match run_suite(&mut machine, suite, first.unwrap_or(1), &mut report) {
        Ok(counts) if counts.failed == 0 => Exit::Success,
        Ok(_) => Exit::Failed,
        Err(error) => {
            println!("no scripts: {error}");
            Exit::Refused
        }
    }
}

//! The image that is booted: brings the GPU up, runs the job that is linked into it, hands the result back.
//!
//! It runs on the board that it was built for (`EITRI_BOARD`), and does not know what is behind the GPU's registers.
//! All that it does is in `kernel/on-board`: this package is built again for each job, and that costs no more than a link.
#![no_std]
#![no_main]

use eitri_boards::Exit;
use eitri_kernel::Kernel;
use eitri_on_board::{ATTACHED, part, part_or};

eitri_kernel::image! {
    main: main,
}

const JOB_BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/job.bundle"));

/// The job, in a section of its own where a tool finds it.
#[unsafe(link_section = ".eitri.job")]
#[used]
static JOB: [u8; JOB_BYTES.len()] = *match JOB_BYTES.as_array() {
    Some(bytes) => bytes,
    // The lengths are the same.
    None => unreachable!(),
};

/// Set, binding and element of the image that is shown; empty if none is, and then nothing of displays is linked into the image. It may be
/// a part, as the job may be.
const SHOWN: &str = include_str!(concat!(env!("OUT_DIR"), "/shown"));

fn main(kernel: Kernel) -> Exit {
    let job = part_or("job", &JOB);
    let shown = match SHOWN {
        "" => None,
        ATTACHED => part("shown").and_then(|shown| str::from_utf8(shown).ok()),
        shown => Some(shown),
    };
    match shown {
        None => eitri_on_board::run_job(kernel, job),
        Some(shown) => eitri_on_board::run_job_and_show(kernel, job, shown),
    }
}

//! The image under test: brings the GPU up, runs the job that is linked into it, hands the result back.
//!
//! It runs on the board whose linker script it was linked with, and does not know what is behind the GPU's registers.
//! All that it does is in the library beside it, so that another job costs no more than a link.
#![no_std]
#![no_main]

use eitri_boards::Exit;
use eitri_kernel::Kernel;

eitri_kernel::image! {
    board: eitri_boards::qemu_virt::BOARD,
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

fn main(kernel: Kernel) -> Exit {
    eitri_image::run_job(kernel, &JOB)
}

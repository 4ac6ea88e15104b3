//! The image under test: brings the GPU up, runs the job that is linked into it, hands the result back.
//!
//! It runs on the board whose linker script it was linked with, and does not know what is behind the GPU's registers.
//! Facts: the way of a job is `eitri_job`'s; that of the result is in `qemu-tests/README.md`.
#![no_std]
#![no_main]

use eitri_boards::Exit;
use eitri_image::{MmioPlatform, ResultFile};
use eitri_job::result::{FailureKind, Sink};
use eitri_job::{Bundle, Verdict};
use eitri_kernel::{Kernel, println};
use eitri_runtime::{Done, Reporter, Step};

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

/// Longest command line.
const LINE_BYTES: usize = 4096;

fn main(kernel: Kernel) -> Exit {
    let bundle = match Bundle::parse(&JOB) {
        Ok(bundle) => bundle,
        Err(error) => {
            println!("no job: {error}");
            return Exit::Refused;
        }
    };
    let platform = match MmioPlatform::take(kernel.board) {
        Ok(platform) => platform,
        Err(error) => {
            println!("no GPU: {error:?}");
            return Exit::Failed;
        }
    };
    let mut buffer = [0; LINE_BYTES];
    let host = kernel.board.host;
    let line = host.and_then(|host| host.command_line(&mut buffer).ok());
    let path = line.and_then(|line| {
        line.split_ascii_whitespace()
            .find_map(|word| word.strip_prefix("result="))
    });
    match (host, path) {
        (Some(host), Some(path)) => {
            let done = ResultFile::create(host, path).and_then(|mut file| {
                let exit = run(platform, &bundle, &mut file)?;
                file.finish()?;
                Ok(exit)
            });
            done.unwrap_or_else(|error| {
                println!("result {path}: {error}");
                Exit::Failed
            })
        }
        _ => match run(platform, &bundle, &mut Nowhere) {
            Ok(exit) => exit,
            Err(never) => match never {},
        },
    }
}

fn run<S: Sink>(
    platform: MmioPlatform,
    bundle: &Bundle<'_>,
    sink: &mut S,
) -> Result<Exit, S::Error> {
    let verdict = eitri_job::run(platform, bundle, &mut Log, sink)?;
    Ok(match verdict {
        Verdict::Good => Exit::Success,
        Verdict::Failed(FailureKind::Refused) => Exit::Refused,
        Verdict::Failed(FailureKind::Device) => Exit::Failed,
    })
}

/// On a board that has no way to a host, the console is all that there is.
struct Nowhere;

impl Sink for Nowhere {
    type Error = core::convert::Infallible;

    fn put(&mut self, _bytes: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Says each step before it begins, in plain text: a wrong one may hang the machine.
struct Log;

impl Reporter for Log {
    fn begin(&mut self, step: Step) {
        println!("{step}...");
    }

    fn done(&mut self, done: &Done<'_>) {
        defmt::info!(
            "{}: {} ({=u64:us})",
            defmt::Display2Format(&done.step),
            defmt::Display2Format(&done.found),
            done.took.as_micros() as u64
        );
    }
}

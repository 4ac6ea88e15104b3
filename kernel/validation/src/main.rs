//! The image that says whether a board's GPU works: the validation suite, and Amber scripts that it was given; its lines on the
//! console.
//!
//! Words of the command line: `eitri.console=tap|lava|plain`, `eitri.only=PREFIX`, `eitri.seed=N`, `eitri.soak=N`, and
//! `inferred`, which allows steps of power that no source states. Facts: hardware/boards-labs.md 1.
#![no_std]
#![no_main]

extern crate alloc;

mod scripts;
mod second_cpu;

use alloc::format;
use eitri_amber_device::Scripts;
use eitri_boards::Exit;
use eitri_kernel::{BuildId, Kernel, println};
use eitri_on_board::part_or;
use eitri_validation::{Console, Expected, Form, Setup};
use scripts::OnBoard;

eitri_kernel::image! {
    main: main,
}

static FIRMWARE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/firmware"));
/// Scripts; none where it is empty.
static SUITE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scripts.suite"));

/// What stands behind `name=` on the command line.
fn word<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let mut words = line.split_ascii_whitespace();
    words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn main(kernel: Kernel) -> Exit {
    let mut buffer = [0; eitri_on_board::LINE_BYTES];
    let line = kernel.command_line(&mut buffer);
    let own = part_or("firmware", FIRMWARE);
    let Some(firmware) = eitri_on_board::firmware(&kernel, own) else {
        return Exit::Refused;
    };
    let form = word(line, "eitri.console").unwrap_or("tap");
    let Some(form) = Form::named(form) else {
        println!("eitri.console={form}: tap, lava or plain");
        return Exit::Refused;
    };
    let number = |name, usual| match word(line, name) {
        None => Ok(usual),
        Some(text) => text.parse::<u64>().map_err(|_| {
            println!("{name}={text}: no number");
            Exit::Refused
        }),
    };
    let (seed, soak) = match (number("eitri.seed", 1), number("eitri.soak", 256)) {
        (Ok(seed), Ok(soak)) => (seed, u32::try_from(soak).unwrap_or(u32::MAX)),
        (Err(exit), _) | (_, Err(exit)) => return exit,
    };
    let mut extra = match Scripts::read(part_or("scripts", SUITE), firmware) {
        Ok(scripts) => OnBoard { scripts, firmware },
        Err(error) => {
            println!("no scripts: {error}");
            return Exit::Refused;
        }
    };
    let platform = match eitri_on_board::start_gpu(&kernel, line) {
        Ok(platform) => platform,
        Err(exit) => return exit,
    };
    let expected = kernel.board.gpu.expected;
    let setup = Setup {
        expected: Expected {
            // That it is the board's was found out when it was opened.
            gpu_id: None,
            cores: expected.and_then(|expected| expected.shader_present),
            clock_khz: None,
        },
        seed,
        soak,
        only: word(line, "eitri.only").unwrap_or(""),
        ..Setup::new(firmware)
    };
    let title = format!(
        "{} {} {}",
        env!("CARGO_PKG_VERSION"),
        kernel.board.name,
        BuildId::of_image()
    );
    let mut console = Console::new(form, &title, |line: &str| println!("{line}"));
    let outcome = eitri_validation::run_with(platform, &setup, None, &mut extra, &mut console);
    match outcome.summary.failed {
        0 => Exit::Success,
        _ => Exit::Failed,
    }
}

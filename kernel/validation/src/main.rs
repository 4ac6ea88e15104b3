//! The image that says whether a board's GPU works: the validation suite, its lines on the console.
//!
//! Words of the command line: `eitri.console=tap|lava|plain`, `eitri.only=PREFIX`, `eitri.seed=N`, `eitri.soak=N`, and
//! `inferred`, which allows steps of power that no source states. Facts: hardware/boards-labs.md 1.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::format;
use eitri_boards::{Board, Exit};
use eitri_kernel::{BuildId, Kernel, println};
use eitri_validation::{Console, Expected, Form, Setup};

eitri_kernel::image! {
    board: BOARD,
    main: main,
}

/// The board that the build script has linked it for.
const BOARD: Board = match eitri_boards::named(env!("EITRI_BOARD")) {
    Some(board) => *board,
    None => panic!("the build script names a board that there is"),
};

static FIRMWARE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/firmware"));

/// What stands behind `name=` on the command line.
fn word<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let mut words = line.split_ascii_whitespace();
    words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn main(kernel: Kernel) -> Exit {
    let mut buffer = [0; eitri_on_board::LINE_BYTES];
    let line = kernel.command_line(&mut buffer);
    if FIRMWARE.is_empty() {
        println!("no firmware for the GPU is linked in");
        return Exit::Refused;
    }
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
        ..Setup::new(FIRMWARE)
    };
    let title = format!(
        "{} {} {}",
        env!("CARGO_PKG_VERSION"),
        kernel.board.name,
        BuildId::of_image()
    );
    let mut console = Console::new(form, &title, |line: &str| println!("{line}"));
    let outcome = eitri_validation::run(platform, &setup, None, &mut console);
    match outcome.summary.failed {
        0 => Exit::Success,
        _ => Exit::Failed,
    }
}

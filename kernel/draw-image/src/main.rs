//! The image that carries drawings: plays each on the board's GPU, and hands its results to the host.
//!
//! The shaders were compiled on the host; what is left to do here is what the host does too (`draw-scenes/player`), so that the results
//! are the same. Words of the command line: `results=FOLDER`, which gets a result stream for each drawing, named by its number;
//! `from=N` and `to=N`, which leave out what stands before and behind these drawings. Without a folder it compares the results itself
//! and reports TAP on the console; `rows` then asks for the rows that differ. An image that was built to show its first drawing does
//! nothing else.
#![no_std]
#![no_main]

mod report;

use core::convert::Infallible;
use core::ops::RangeInclusive;
use eitri_boards::{Exit, HostError, HostFiles};
use eitri_drawing::Drawing;
use eitri_drawing::suite::{self, Suite, SuiteError};
use eitri_job::result::Sink;
use eitri_job::{Saved, Verdict};
use eitri_kernel::{Kernel, println};
use eitri_on_board::{ATTACHED, MmioPlatform, ResultFile, part, part_or};

extern crate alloc;

eitri_kernel::image! {
    main: main,
}

/// The drawings.
static SUITE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/drawings.suite"));

/// They may be a part of the image, too.
fn drawings() -> &'static [u8] {
    part_or("drawings", SUITE)
}

/// The words on the command line.
const FROM: &str = "from=";
const TO: &str = "to=";
const RESULTS: &str = "results=";
const ROWS: &str = "rows";

/// Not empty in an image that shows its first drawing, or is to look for a part that says so.
const SHOWS: &str = include_str!(concat!(env!("OUT_DIR"), "/shown"));

/// Why the drawings are not played to their end.
enum Stopped {
    Suite(SuiteError),
    Result(HostError),
}

fn main(kernel: Kernel) -> Exit {
    let mut buffer = [0; eitri_on_board::LINE_BYTES];
    let line = kernel.command_line(&mut buffer);
    let word = |name: &str| {
        let mut words = line.split_ascii_whitespace();
        words.find_map(|word| word.strip_prefix(name))
    };
    let shows = match SHOWS {
        ATTACHED => part("shown").is_some(),
        shows => !shows.is_empty(),
    };
    if shows {
        return show(&kernel, line);
    }
    let number = |name: &str| word(name).and_then(|number| number.parse().ok());
    let numbers = number(FROM).unwrap_or(1)..=number(TO).unwrap_or(usize::MAX);
    let place = word(RESULTS).map(|folder| (kernel.board.host_files(), folder));
    if let Some((None, folder)) = place {
        println!("results in {folder}: the board has no host");
        return Exit::Refused;
    }
    let platform = match eitri_on_board::start_gpu(&kernel, line) {
        Ok(platform) => platform,
        Err(exit) => return exit,
    };
    let Some((Some(files), folder)) = place else {
        let rows = line.split_ascii_whitespace().any(|word| word == ROWS);
        return match report::play_all(platform, drawings(), &numbers, rows) {
            Ok(0) => Exit::Success,
            Ok(_) => Exit::Failed,
            Err(error) => {
                println!("no drawings: {error}");
                Exit::Refused
            }
        };
    };
    match play_all(platform, files, folder, &numbers) {
        Ok(()) => Exit::Success,
        Err(Stopped::Suite(error)) => {
            println!("no drawings: {error}");
            Exit::Refused
        }
        Err(Stopped::Result(error)) => {
            println!("results in {folder}: {error}");
            Exit::Failed
        }
    }
}

/// Shows the first drawing, picture by picture, for as long as the board has power.
fn show(kernel: &Kernel, line: &str) -> Exit {
    let read = suite::read::<Drawing<'_>>(drawings()).and_then(|mut suite| {
        let first = suite.entries.next();
        Ok((suite.firmware, first.ok_or(SuiteError::CutShort)??))
    });
    let (firmware, drawing) = match read {
        Ok(read) => read,
        Err(error) => {
            println!("no drawing: {error}");
            return Exit::Refused;
        }
    };
    let (width, height) = match drawing.images.first().map(|image| image.extent) {
        Some([width, height, _]) => (width as usize, height as usize),
        None => (0, 0),
    };
    let mut shown = match eitri_on_board::Shown::open(kernel) {
        Ok(shown) => shown,
        Err(exit) => return exit,
    };
    let platform = match eitri_on_board::start_gpu(kernel, line) {
        Ok(platform) => platform,
        Err(exit) => return exit,
    };
    let mut each = |pictures: &[Saved]| match pictures.first() {
        Some(picture) => shown.show(width, height, &picture.bytes).is_ok(),
        None => false,
    };
    let mut nowhere = Nowhere;
    let (_, Ok(ended)) = eitri_player::play_frames(
        platform,
        firmware,
        &drawing,
        &mut (),
        &mut nowhere,
        &mut each,
    );
    match ended.verdict {
        Verdict::Good => shown.stay(),
        Verdict::Failed(_) => {
            println!("nothing is shown: the commands failed");
            Exit::Failed
        }
    }
}

/// Results are on the display.
struct Nowhere;

impl Sink for Nowhere {
    type Error = Infallible;

    fn put(&mut self, _bytes: &[u8]) -> Result<(), Infallible> {
        Ok(())
    }
}

fn play_all(
    mut platform: MmioPlatform,
    files: HostFiles,
    folder: &str,
    numbers: &RangeInclusive<usize>,
) -> Result<(), Stopped> {
    let Suite { firmware, entries } =
        suite::read::<Drawing<'_>>(drawings()).map_err(Stopped::Suite)?;
    for (number, drawing) in (1..).zip(entries) {
        if !numbers.contains(&number) {
            continue;
        }
        let drawing: Drawing<'_> = drawing.map_err(Stopped::Suite)?;
        println!("drawing {number}: {}", drawing.name);
        let path = alloc::format!("{folder}/{number}");
        let mut file = ResultFile::create(files, &path).map_err(Stopped::Result)?;
        let (after, ended) = eitri_player::play(platform, firmware, &drawing, &mut (), &mut file);
        platform = after;
        let ended = ended.and_then(|ended| file.finish().map(|()| ended));
        if let Verdict::Failed(_) = ended.map_err(Stopped::Result)?.verdict {
            println!("drawing {number} failed");
        }
    }
    Ok(())
}

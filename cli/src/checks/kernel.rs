//! Images that test the kernel and the way to the GPU, and what must come of each (qemu-tests/README.md).

use super::{Case, display};
use crate::images::console;
use crate::images::image::{self, Builder, Image, Parts};
use crate::input::shader_file;
use crate::outcome::{Failure, FileError};
use crate::output::whole_file;
use crate::runs::boot::{Boot, Booted, Level, Start, boot};
use crate::runs::dispatch;
use crate::workspace::Workspace;
use eitri_boards::qemu_virt::BOARD;
use eitri_shaderc::Options;
use std::path::Path;
use std::time::Duration;

/// Longest that one image may run.
const LIMIT: Duration = Duration::from_secs(180);
/// How long an image that stops by itself, and can't say so, is given for what it has to print.
const STOPPED_LIMIT: Duration = Duration::from_secs(4);

/// How an image is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// At EL1, by QEMU.
    El1,
    /// At EL2, by QEMU.
    El2,
    /// At EL2, by QEMU, with debug registers and performance counters trapped to EL2.
    Trapping,
    /// At EL1, by the monitor.
    Monitor,
    /// At EL3, where its header says.
    El3,
    /// At EL1, 2 MiB from where it is linked.
    Elsewhere,
    /// At EL1, by QEMU with a GIC of version 2; and at EL2.
    Gicv2El1,
    Gicv2El2,
}

const EVERY: &[Entry] = &[Entry::El1, Entry::El2, Entry::Monitor];
const MONITOR: &[Entry] = &[Entry::Monitor];

/// What must be found where.
#[derive(Clone, Copy, Debug)]
enum Expect {
    /// The console has each of these.
    Console(&'static [&'static str]),
    /// The console has a TAP plan of so many tests, and an `ok` line for each.
    Tap(usize),
    /// The monitor's log has this.
    MonitorSays(&'static str),
}

/// The packages and the programs of the examples.
const EMBED: &str = "eitri-embed";
const EMBASSY: &str = "eitri-embassy-example";
/// The first of them as small as it gets; and with firmware that is none.
const SMALL: &str = "eitri-embed-small";
const DAMAGED: &str = "eitri-embed-damaged";

struct Test {
    image: &'static str,
    words: &'static [&'static str],
    entries: &'static [Entry],
    /// `None`: it stops, and QEMU does not end.
    status: Option<i32>,
    expect: Expect,
}

#[rustfmt::skip]
const TESTS: &[Test] = &[
    Test { image: "eitri-selftest", words: &["selftest"],                        entries: EVERY,   status: Some(0),   expect: Expect::Tap(20) },
    Test { image: "eitri-selftest", words: &["selftest"],                        entries: &[Entry::Trapping],  status: Some(0), expect: Expect::Tap(20) },
    Test { image: "eitri-selftest", words: &["selftest"],                        entries: &[Entry::El3],       status: None, expect: Expect::Console(&["3?"]) },
    Test { image: "eitri-selftest", words: &["selftest"],                        entries: &[Entry::Elsewhere], status: None, expect: Expect::Console(&["@?"]) },
    Test { image: "eitri-selftest-gicv2", words: &["selftest"],                  entries: &[Entry::Gicv2El1, Entry::Gicv2El2], status: Some(0), expect: Expect::Tap(20) },
    Test { image: "eitri-crash",    words: &["data-abort"],                      entries: EVERY,   status: Some(102), expect: Expect::Console(&["data abort: nothing mapped on a read", "for  0x0000000020001234"]) },
    Test { image: "eitri-crash",    words: &["undefined"],                       entries: EVERY,   status: Some(102), expect: Expect::Console(&["exception: undefined instruction"]) },
    Test { image: "eitri-crash",    words: &["breakpoint"],                      entries: EVERY,   status: Some(102), expect: Expect::Console(&["exception: BRK"]) },
    Test { image: "eitri-crash",    words: &["execute-data"],                    entries: EVERY,   status: Some(102), expect: Expect::Console(&["instruction abort: permission", "in the constants"]) },
    Test { image: "eitri-crash",    words: &["stack-overflow"],                  entries: EVERY,   status: Some(102), expect: Expect::Console(&["below the stack: it overflowed"]) },
    Test { image: "eitri-crash",    words: &["panic"],                           entries: EVERY,   status: Some(101), expect: Expect::Console(&["on purpose", "crash.rs"]) },
    Test { image: "eitri-crash",    words: &["memory"],                          entries: EVERY,   status: Some(101), expect: Expect::Console(&["memory allocation of 1073741824 bytes failed"]) },
    Test { image: "eitri-window",   words: &["window"],                          entries: MONITOR, status: Some(0),   expect: Expect::Tap(8) },
    Test { image: "eitri-window",   words: &["misuse=wide"],                     entries: MONITOR, status: Some(102), expect: Expect::MonitorSays("an access of 8 bytes") },
    Test { image: "eitri-window",   words: &["misuse=pair"],                     entries: MONITOR, status: Some(102), expect: Expect::MonitorSays("no plain load or store of one register") },
    Test { image: "eitri-window",   words: &["misuse=monitor"],                  entries: MONITOR, status: Some(102), expect: Expect::MonitorSays("nothing at 0x80000000") },
    Test { image: "eitri-window",   words: &["misuse=hang", "limit-ms=2000"],    entries: MONITOR, status: Some(124), expect: Expect::MonitorSays("did not end within 2000 ms") },
    Test { image: EMBED,            words: &["embed"],                           entries: MONITOR, status: Some(0),   expect: Expect::Console(&["2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 ..."]) },
];

/// Building another image takes half a minute.
#[rustfmt::skip]
const EMBASSY_TESTS: &[Test] = &[
    Test { image: EMBASSY,          words: &["embassy"],                         entries: MONITOR, status: Some(0),   expect: Expect::Console(&["Done, Done"]) },
];

/// For size, everything is built again.
#[rustfmt::skip]
const SMALL_TESTS: &[Test] = &[
    Test { image: SMALL,            words: &["embed"],                           entries: MONITOR, status: Some(0),   expect: Expect::Console(&["2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 ..."]) },
    Test { image: DAMAGED,          words: &["embed"],                           entries: MONITOR, status: Some(1),   expect: Expect::Console(&["eitri-error 2 3 3 0 ", "firmware image, offset 0x0: not a firmware image: first word"]) },
];

/// Runs every test at every entry, and shows a picture.
pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let mut cases = run_all(workspace, TESTS)?;
    cases.push(display::run(workspace)?);
    Ok(cases)
}

/// Runs the example of tasks on an executor.
pub(super) fn run_embassy(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    run_all(workspace, EMBASSY_TESTS)
}

/// Runs the example as small as it gets: its errors are codes, which the host reads.
pub(super) fn run_small(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    run_all(workspace, SMALL_TESTS)
}

fn run_all(workspace: &Workspace, tests: &[Test]) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/kernel-tests");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        whole_file::put(&path, bytes).map(|()| path)
    };
    let builder = Builder::new()?;
    let build = |name| match name {
        EMBED | EMBASSY | SMALL | DAMAGED => with_shader(name, workspace, &builder, &folder),
        binary => builder.build("eitri-kernel-tests", binary),
    };
    let monitor = write(
        "monitor.elf",
        &builder.build("eitri-monitor", "eitri-monitor")?.elf,
    )?;
    let mut cases = Vec::new();
    let mut images: Vec<(&str, Image)> = Vec::new();
    for test in tests {
        if !images.iter().any(|(name, _)| *name == test.image) {
            images.push((test.image, build(test.image)?));
        }
        let Some((_, image)) = images.iter().find(|(name, _)| *name == test.image) else {
            continue;
        };
        for entry in test.entries {
            let mut bytes = image.raw()?;
            if *entry == Entry::Trapping {
                enter_at(&mut bytes, image, "entry_with_traps")?;
            }
            let raw = write(&format!("{}.raw", test.image), &bytes)?;
            let name = case_name(test, *entry);
            let logs = folder.join(name.replace('/', "-"));
            let booted = start(test, *entry, &monitor, &raw, &logs)?;
            let failure = judge(test, &booted, &console::decode(&booted.console, &image.elf));
            cases.push(Case::ran(name, failure));
        }
    }
    Ok(cases)
}

/// Makes a raw image begin at a symbol: its first instruction is a branch, and becomes one to there.
fn enter_at(raw: &mut [u8], image: &Image, symbol: &str) -> Result<(), Failure> {
    /// `B`, forwards by this many instructions.
    const BRANCH: u32 = 0x1400_0000;
    let distance = image.address_of(symbol)? - BOARD.memory.image.base as u64;
    for (byte, new) in raw
        .iter_mut()
        .zip((BRANCH | (distance / 4) as u32).to_le_bytes())
    {
        *byte = new;
    }
    Ok(())
}

/// An example of the runtime in somebody's own firmware, with a shader.
fn with_shader(
    image: &str,
    workspace: &Workspace,
    builder: &Builder,
    folder: &Path,
) -> Result<Image, Failure> {
    let shader = workspace.root().join("examples/embed/double.wgsl");
    let shader = shader_file::load(&shader.to_string_lossy())?;
    let compiled = dispatch::compile(&shader, &Options::default())?;
    let (firmware, program) = (folder.join("firmware.bin"), folder.join("double.program"));
    let mut bytes = eitri_model::stub_firmware();
    if image == DAMAGED {
        bytes[0] ^= 0xFF;
    }
    whole_file::put(&firmware, &bytes)?;
    whole_file::put(&program, &compiled.program)?;
    let files = &[(image::FIRMWARE, &*firmware), (image::PROGRAM, &*program)];
    let parts = Parts { board: None, files };
    match image {
        SMALL | DAMAGED => builder.build_small(EMBED, &parts),
        package => builder.build_with(package, package, &parts),
    }
}

fn case_name(test: &Test, entry: Entry) -> String {
    let entry = match entry {
        Entry::El1 => "el1",
        Entry::El2 => "el2",
        Entry::Trapping => "trapping",
        Entry::Monitor => "monitor",
        Entry::El3 => "el3",
        Entry::Elsewhere => "elsewhere",
        Entry::Gicv2El1 => "el1",
        Entry::Gicv2El2 => "el2",
    };
    let word = test
        .words
        .first()
        .copied()
        .unwrap_or_default()
        .replace('=', "-");
    format!("{}/{word}/{entry}", test.image.trim_start_matches("eitri-"))
}

fn start(
    test: &Test,
    entry: Entry,
    monitor: &Path,
    raw: &Path,
    logs: &Path,
) -> Result<Booted, Failure> {
    if let Err(cause) = std::fs::create_dir_all(logs) {
        return Err(Failure::missing(FileError::at(
            "make the folder",
            logs,
            cause,
        )));
    }
    let words: Vec<String> = test.words.iter().map(|word| (*word).to_owned()).collect();
    let linked = BOARD.memory.image.base;
    boot(&Boot {
        start: match entry {
            Entry::El1 => Start::Image(raw, Level::El1),
            Entry::El2 | Entry::Trapping => Start::Image(raw, Level::El2),
            Entry::Gicv2El1 => Start::Image(raw, Level::Gicv2El1),
            Entry::Gicv2El2 => Start::Image(raw, Level::Gicv2El2),
            Entry::Monitor => Start::Monitor {
                monitor,
                image: raw,
                at: BOARD.memory.image.base,
                tree: None,
            },
            Entry::El3 => Start::At(raw, linked, Level::El3),
            Entry::Elsewhere => Start::At(raw, linked + (2 << 20), Level::El1),
        },
        words: &words,
        folder: logs,
        limit: match test.status {
            Some(_) => LIMIT,
            None => STOPPED_LIMIT,
        },
        model: None,
    })
}

/// What is wrong with how an image ended.
fn judge(test: &Test, booted: &Booted, console: &str) -> Option<String> {
    let seen = || {
        format!(
            "console:\n{console}\nmonitor:\n{}\n{}",
            booted.monitor, booted.qemu
        )
    };
    if booted.status() != test.status {
        let found = booted.status();
        return Some(format!(
            "status {found:?}, wanted {:?}\n{}",
            test.status,
            seen()
        ));
    }
    let missing = match test.expect {
        Expect::Console(parts) => parts
            .iter()
            .find(|part| !console.contains(**part))
            .map(|part| (*part).to_owned()),
        Expect::MonitorSays(part) => (!booted.monitor.contains(part)).then(|| part.to_owned()),
        Expect::Tap(count) => missing_tap_line(console, count),
    };
    missing.map(|part| format!("no {part:?}\n{}", seen()))
}

/// The first line of a plan of `count` tests that is not there.
fn missing_tap_line(console: &str, count: usize) -> Option<String> {
    let has = |start: &str| {
        console
            .lines()
            .any(|line| line.trim_end().starts_with(start))
    };
    let plan = format!("1..{count}");
    if !has(&plan) {
        return Some(plan);
    }
    let lines = (1..=count).map(|number| format!("ok {number} - "));
    lines.into_iter().find(|line| !has(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_is_missing_is_seen() {
        let console = "1..2\nok 1 - timer\nnot ok 2 - heap\n";
        assert_eq!(missing_tap_line(console, 1), Some("1..1".to_owned()));
        assert_eq!(missing_tap_line(console, 2), Some("ok 2 - ".to_owned()));
        assert_eq!(missing_tap_line("1..1\nok 1 - timer\n", 1), None);
    }
}

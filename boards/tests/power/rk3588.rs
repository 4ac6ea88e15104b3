//! RK3588: what its steps find, and the sequence of the facts, row by row.

use crate::fake::{Fake, OnBoard, carry_out};
use eitri_boards::rk3588::BOARD;
use eitri_boards::stand_in::{Rk806, Rk3588};
use eitri_boards::steps::bus::{BusError, Buses, Device, over_spi};
use eitri_boards::steps::{Action, Permission, Step};
use std::cell::RefCell;
use std::rc::Rc;

type Machine = Fake<OnBoard<Rk3588>>;

fn machine() -> Machine {
    Fake::new(OnBoard::new(&BOARD, Rk3588::default()))
}

#[track_caller]
fn good(fake: &mut Machine, steps: &[Action]) {
    let (ran, news) = carry_out(&BOARD, steps, Permission::SourcedOnly, fake);
    assert_eq!((ran, news), (Ok(()), Vec::new()));
}

#[track_caller]
fn fails(mut fake: Machine, text: &str) {
    let (ran, _) = carry_out(
        &BOARD,
        BOARD.gpu.power_on,
        Permission::SourcedOnly,
        &mut fake,
    );
    assert_eq!(ran.unwrap_err().to_string(), text);
}

#[test]
fn the_gpu_goes_on_and_off_again() {
    let mut fake = machine();
    good(&mut fake, BOARD.gpu.power_on);
    assert!(fake.chip.stand_in.is_on());
    good(&mut fake, BOARD.gpu.power_off);
    assert!(fake.chip.stand_in.is_off());
}

#[test]
fn on_twice_is_on() {
    let mut fake = machine();
    good(&mut fake, BOARD.gpu.power_on);
    good(&mut fake, BOARD.gpu.power_on);
    assert!(fake.chip.stand_in.is_on());
}

#[test]
fn without_its_supply_the_domain_does_not_come() {
    let mut fake = machine();
    fake.chip.stand_in.supplied = false;
    fails(
        fake,
        "GPU domain on and repaired: 0xfd8d8290 is 0x0 after 10ms, wanted 0x2 in 0x2",
    );
}

/// What the steps end with on a chip that `breaks` has changed, with or without inferred steps.
fn ends(breaks: impl Fn(&mut Rk3588), permission: Permission) -> Result<(), String> {
    let mut fake = machine();
    breaks(&mut fake.chip.stand_in);
    let (ran, news) = carry_out(&BOARD, BOARD.gpu.power_on, permission, &mut fake);
    assert_eq!(news, [""; 0], "the GPU is left alone");
    ran.map_err(|error| error.to_string())
}

/// Each of these would end in a hang: the step before the GPU's first register names it instead.
#[test]
fn a_gpu_that_would_hang_the_machine_is_not_accessed() {
    let text = |what: &str, suspect: &str| {
        format!("{what}: {suspect}; the GPU is not accessed, since that would hang the machine")
    };
    let checked = |breaks: fn(&mut Rk3588), what, suspect| {
        assert_eq!(
            ends(breaks, Permission::SourcedOnly),
            Err(text(what, suspect))
        );
    };
    checked(
        |chip| chip.stuck_gates = 1 << 7,
        "CLKGATE_CON66 as set: 0xfd7c0908 is 0x80, wanted 0x0 in 0xfffe",
        "a clock is gated",
    );
    checked(
        |chip| chip.stuck_power_gate = true,
        "PWR_GATE_ST0 of the GPU: 0xfd8d8180 is 0x1, wanted 0x0 in 0x1",
        "the power domain is gated",
    );
    checked(
        |chip| chip.resets = [0x30, 0],
        "SOFTRST_CON66 of the GPU: 0xfd7c0b08 is 0x30, wanted 0x0 in 0xdf30",
        "a reset is asserted",
    );
    // Resets of what the GPU can do without are shown, and nothing more.
    assert_eq!(
        ends(|chip| chip.resets = [0, 0x15], Permission::SourcedOnly),
        Ok(())
    );
}

#[test]
fn resets_are_released_where_inferred_steps_are_asked_for() {
    let reset = |chip: &mut Rk3588| chip.resets = [0xDF30, 0];
    assert_eq!(ends(reset, Permission::InferredToo), Ok(()));
    let error = ends(reset, Permission::SourcedOnly).unwrap_err();
    assert!(error.contains("a reset is asserted"), "{error}");
}

#[test]
fn another_gpu_is_told() {
    let mut fake = machine();
    fake.chip.gpu_id = u32::MAX;
    fails(
        fake,
        "GPU_ID: 0xfb000000 is 0xffffffff, wanted 0xa8670005 in 0xffffffff",
    );
}

/// A driver of the bus that the supply is behind.
struct Spi2(Rc<RefCell<Rk806>>);

impl Buses for Spi2 {
    fn transfer(&mut self, to: Device, send: &[u8], reply: &mut [u8]) -> Result<(), BusError> {
        let selected = matches!(to, Device::Spi { bus: 2, chip_select: 0, mode: 0, hertz } if hertz <= 1_000_000);
        assert!(selected, "{to:?}");
        over_spi(&mut *self.0.borrow_mut(), send, reply)
    }
}

/// What reading the supply says of this regulator.
fn supply(regulator: Rk806) -> Result<(), String> {
    let regulator = Rc::new(RefCell::new(regulator));
    let mut fake = machine();
    fake.buses = Box::new(Spi2(regulator.clone()));
    let steps = BOARD.gpu.supply;
    let (ran, news) = carry_out(&BOARD, steps, Permission::SourcedOnly, &mut fake);
    assert_eq!(news, [""; 0]);
    assert_eq!(regulator.borrow_mut().take_news(), [""; 0]);
    assert_eq!(fake.writes, [], "registers of the chip are left alone");
    ran.map_err(|error| error.to_string())
}

#[test]
fn the_supply_is_read_and_never_written() {
    assert_eq!(supply(Rk806::default()), Ok(()));
    let off = Rk806::new(false, 0x28);
    let text = "VDD_GPU is on: SPI2, chip select 0: byte 0 is 0x00, wanted 0x01 in 0x01";
    assert_eq!(supply(off), Err(text.to_owned()));
    for (steps, good) in [(0x1B, false), (0x1C, true), (0x38, true), (0x39, false)] {
        let regulator = Rk806::new(true, steps);
        assert_eq!(supply(regulator).is_ok(), good, "{steps:#x}");
    }
}

#[test]
fn a_regulator_that_is_asked_for_more_than_is_safe_is_told() {
    let mut regulator = Rk806::default();
    for (frame, news) in [
        (&[0x80, 0x1A, 0x00, 0x30][..], None),
        (
            &[0x80, 0x1A, 0x00, 0x39],
            Some("RK806: VDD_GPU is set to 0x39, outside of 0.675 to 0.85 V"),
        ),
        (
            &[0x80, 0x72, 0x00, 0x01],
            Some("RK806: SYS_CFG3 is written, which switches the board off"),
        ),
        (
            &[0x81, 0x1A, 0x00, 0x28],
            Some("RK806: a frame of 2 bytes that has 1: [81, 1a, 00]"),
        ),
    ] {
        over_spi(&mut regulator, frame, &mut []).unwrap();
        assert_eq!(regulator.take_news(), news.into_iter().collect::<Vec<_>>());
        assert_eq!(regulator.steps, 0x30, "0.8 V, and nothing else");
    }
}

#[test]
fn without_a_driver_the_supply_is_not_known() {
    let (ran, _) = carry_out(
        &BOARD,
        BOARD.gpu.supply,
        Permission::SourcedOnly,
        &mut machine(),
    );
    assert_eq!(
        ran.unwrap_err().to_string(),
        "RK806, id: SPI2, chip select 0: this image has no driver for the bus"
    );
}

/// One access of the facts' table, or of ours.
#[derive(Debug, PartialEq, Eq)]
enum Access {
    Read(usize),
    Write(usize, u32),
    Poll(usize, u32, u32),
}

fn number(text: &str) -> u32 {
    let digits = text.trim().trim_start_matches("0x");
    let number = match text.trim().starts_with("0x") {
        true => u32::from_str_radix(digits, 16),
        false => digits.parse(),
    };
    number.unwrap_or_else(|error| panic!("{text:?} is no number: {error}"))
}

/// The numbers in hexadecimal of a text.
fn hexadecimal(text: &str) -> Vec<u32> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    words
        .filter(|word| word.starts_with("0x"))
        .map(number)
        .collect()
}

/// The accesses of the table in section 16.
fn table(text: &str) -> Vec<Access> {
    let section = text.split("## 16.").nth(1).expect("a section 16");
    let rows = section.lines().filter(|line| {
        let second = line.trim_start_matches('|').trim_start();
        line.starts_with('|') && second.starts_with(|first: char| first.is_ascii_digit())
    });
    let mut accesses = Vec::new();
    for row in rows {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let (access, values, then) = (columns[2], columns[3], columns[4]);
        let places = hexadecimal(access);
        match access.split(' ').next() {
            Some("read") => accesses.extend(places.iter().map(|at| Access::Read(*at as usize))),
            Some("write") => {
                let at = places[0] as usize;
                accesses.extend(
                    hexadecimal(values)
                        .into_iter()
                        .map(|value| Access::Write(at, value)),
                );
                if then.starts_with("read back") {
                    accesses.push(Access::Read(at));
                }
            }
            _ => {}
        }
        if let Some(polls) = then.strip_prefix("poll ") {
            for poll in polls.split(", ").filter(|poll| poll.contains("bit")) {
                let words: Vec<&str> = poll.split(' ').collect();
                let [at, "bit", bit, "=", value] = words[..] else {
                    panic!("{poll:?}");
                };
                let at = number(at) as usize;
                accesses.push(Access::Poll(
                    at,
                    1 << number(bit),
                    number(value) << number(bit),
                ));
            }
        }
    }
    accesses
}

/// Registers of the probe list in section 7, which may be read at any time: all but the GPU's own.
fn probe_list(text: &str) -> Vec<usize> {
    let section = text.split("## 7.").nth(1).expect("a section 7");
    let section = section.split("## 8.").next().expect("its text");
    let commands = section.split("`md.l ").skip(1);
    let registers = commands.flat_map(|command| {
        let words = command.split('`').next().unwrap_or_default();
        let (at, count) = words.split_once(' ').expect("an address and a count");
        let at = usize::from_str_radix(at, 16).expect("an address");
        (0..number(count) as usize).map(move |index| at + 4 * index)
    });
    registers
        .filter(|at| !BOARD.gpu.window.contains(*at))
        .collect()
}

/// The accesses of section 16: ours without those that only show or check a register of the probe list.
fn ours(actions: &[Action], probes: &[usize]) -> Vec<Access> {
    let extra = |action: &&Action| {
        let probe = action
            .step
            .register()
            .is_some_and(|at| probes.contains(&at));
        let found = action.what.ends_with("as found");
        match action.step {
            Step::Show { .. } => !(probe && found),
            Step::Check { .. } | Step::Choose { .. } => {
                assert!(probe, "{}: not in section 7", action.what);
                false
            }
            _ => true,
        }
    };
    let access = |action: &Action| match action.step {
        Step::Show { at } | Step::Expect { at, .. } => Access::Read(at),
        Step::Write { at, value } => Access::Write(at, value),
        Step::Poll { at, until, .. } => Access::Poll(at, until.mask, until.value),
        other => panic!("section 16 has no {other:?}"),
    };
    actions.iter().filter(extra).map(access).collect()
}

#[test]
fn the_sequence_is_that_of_the_facts() {
    let Some(text) = eitri_testdata::read_shared("hardware/boards-rk3588.md") else {
        return;
    };
    let table = table(&text);
    assert!(table.len() > 10, "{table:x?}");
    assert_eq!(
        ours(BOARD.gpu.power_on, &probe_list(&text)),
        table,
        "boards-rk3588.md section 16 is on the right"
    );
}

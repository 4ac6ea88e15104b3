//! RK3588: the sequence of the facts, row by row, and what a chip makes of it.

use crate::fake::{Chip, Fake, Said};
use eitri_boards::rk3588::BOARD;
use eitri_boards::steps::{Action, Permission, Step, StepError, run};

const GATES: [usize; 2] = [0xFD7C_0908, 0xFD7C_090C];
const IDLE_REQUEST: usize = 0xFD8D_810C;
const IDLE_ACK: usize = 0xFD8D_8118;
const IDLE_STATUS: usize = 0xFD8D_8120;
const POWER_GATE: usize = 0xFD8D_814C;
const REPAIR_STATUS: usize = 0xFD8D_8290;
const GPU: std::ops::Range<usize> = 0xFB00_0000..0xFB20_0000;

/// The chip around the GPU, as boards-rk3588.md sections 8 and 10 describe it. An access that would hang it panics.
struct Rk3588 {
    /// The regulator gives VDD_GPU.
    supplied: bool,
    gates: [u32; 2],
    powered: bool,
    idle: bool,
    /// Reads until a change is done.
    pending: u32,
    gpu_id: u32,
}

impl Rk3588 {
    /// As at its coldest: everything off.
    fn off() -> Rk3588 {
        Rk3588 {
            supplied: true,
            gates: [0xFFFE, 0xF],
            powered: false,
            idle: true,
            pending: 0,
            gpu_id: 0xA867_0005,
        }
    }

    fn clocks_run(&self) -> bool {
        // Path, source, GPU, core group and stacks: bits 1, 3, 4, 6, 7.
        self.gates[0] & 0xDA == 0
    }

    fn settled(&mut self) -> bool {
        self.pending = self.pending.saturating_sub(1);
        self.pending == 0
    }
}

/// A register whose upper half says which bits of the lower are written.
fn hiword(kept: u32, value: u32) -> u32 {
    let mask = value >> 16;
    kept & !mask | value & mask
}

impl Chip for Rk3588 {
    fn read(&mut self, at: usize, kept: u32) -> u32 {
        match at {
            REPAIR_STATUS => u32::from(self.settled() && self.powered) << 1,
            IDLE_ACK | IDLE_STATUS => u32::from(!self.settled() || self.idle),
            at if GPU.contains(&at) => {
                let alive = self.powered && !self.idle && self.clocks_run();
                assert!(alive, "a read of {at:#x} hangs the machine");
                match at - GPU.start {
                    0 => self.gpu_id,
                    0x100 => 0x5_0005,
                    _ => 0,
                }
            }
            _ => kept,
        }
    }

    fn write(&mut self, at: usize, kept: u32, value: u32) -> u32 {
        assert!(!GPU.contains(&at), "nothing of the GPU is written");
        let new = hiword(kept, value);
        match at {
            POWER_GATE => {
                let on = new & 1 == 0;
                assert!(
                    on || self.idle,
                    "a domain is switched off while its bus runs"
                );
                self.powered = on && self.supplied && self.clocks_run();
                self.pending = 3;
            }
            IDLE_REQUEST => {
                assert!(self.powered, "an idle request to a domain that is off");
                self.idle = new & 1 == 1;
                self.pending = 3;
            }
            at => {
                if let Some(index) = GATES.iter().position(|gate| *gate == at) {
                    self.gates[index] = hiword(self.gates[index], value);
                }
            }
        }
        new
    }
}

fn on(chip: Rk3588) -> (Fake<Rk3588>, Result<(), StepError>) {
    let mut fake = Fake::new(chip);
    let (sequence, said) = (BOARD.gpu.power_on, &mut Said::default());
    let ran = run(sequence, None, Permission::SourcedOnly, &mut fake, said);
    (fake, ran)
}

#[test]
fn the_gpu_goes_on_and_off_again() {
    let (mut fake, ran) = on(Rk3588::off());
    assert_eq!(ran, Ok(()));
    assert!(fake.chip.powered && !fake.chip.idle);
    let clock = fake.registers[&0xFD7C_0578];
    assert_eq!(clock & 0x40FF, 5, "GPLL by 6, and not the ring oscillator");

    let (sequence, said) = (BOARD.gpu.power_off, &mut Said::default());
    let ran = run(sequence, None, Permission::SourcedOnly, &mut fake, said);
    assert_eq!(ran, Ok(()));
    assert!(!fake.chip.powered && fake.chip.idle);
}

#[test]
fn on_twice_is_on() {
    let (fake, ran) = on(Rk3588::off());
    assert_eq!(ran, Ok(()));
    let (fake, ran) = on(fake.chip);
    assert_eq!(ran, Ok(()));
    assert!(fake.chip.powered);
}

#[test]
fn without_its_supply_the_domain_does_not_come() {
    let (_, ran) = on(Rk3588 {
        supplied: false,
        ..Rk3588::off()
    });
    assert_eq!(
        ran.unwrap_err().to_string(),
        "GPU domain on and repaired: 0xfd8d8290 is 0x0 after 10ms, wanted 0x2 in 0x2"
    );
}

#[test]
fn another_gpu_is_told() {
    let (_, ran) = on(Rk3588 {
        gpu_id: u32::MAX,
        ..Rk3588::off()
    });
    assert_eq!(
        ran.unwrap_err().to_string(),
        "GPU_ID: 0xfb000000 is 0xffffffff, wanted 0xa8670005 in 0xffffffff"
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

fn ours(actions: &[Action]) -> Vec<Access> {
    let access = |action: &Action| match action.step {
        Step::Show { at } | Step::Expect { at, .. } => Access::Read(at),
        Step::Write { at, value } => Access::Write(at, value),
        Step::Poll { at, until, .. } => Access::Poll(at, until.mask, until.value),
        other => panic!("section 16 has no {other:?}"),
    };
    actions.iter().map(access).collect()
}

#[test]
fn the_sequence_is_that_of_the_facts() {
    let Some(text) = eitri_testdata::read_shared("hardware/boards-rk3588.md") else {
        return;
    };
    let table = table(&text);
    assert!(table.len() > 10, "{table:x?}");
    assert_eq!(
        ours(BOARD.gpu.power_on),
        table,
        "boards-rk3588.md section 16 is on the right"
    );
}

//! Every error that can be read is written as what it was read from.

use super::{CodeError, Coded, EDITION, Source};
use crate::Error;
use eitri_cs::ArchSet;
use eitri_csf::Arch;
use std::string::{String, ToString};

/// First the numbers that are given, then numbers by chance, small ones most of all; and names of registers, which are names like
/// others.
struct Chance<'n> {
    first: &'n [u64],
    state: u64,
}

impl Chance<'_> {
    fn next(&mut self) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.state >> 33
    }
}

impl Source for Chance<'_> {
    fn number(&mut self) -> Option<u64> {
        if let Some((number, rest)) = self.first.split_first() {
            self.first = rest;
            return Some(*number);
        }
        let number = self.next();
        Some(match self.next() % 8 {
            0 => number | number << 40,
            _ => number % (2 << (self.next() % 5)),
        })
    }

    fn name(&mut self) -> Option<&'static str> {
        let names = ["L2_READY", "MCU_STATUS", "GLB_REQ", "AS_STATUS", "CSG_ACK"];
        names.get(self.next() as usize % names.len()).copied()
    }
}

fn keep(name: &str) -> &'static str {
    String::from(name).leak()
}

/// Reads errors that begin with these numbers back, until there were a few.
fn read_back(first: &[u64]) {
    let errors = (0..100_000).filter_map(|state| Error::take(&mut Chance { first, state }));
    let mut count = 0;
    for error in errors.take(5) {
        count += 1;
        let code = error.code().to_string();
        assert_eq!(Error::from_code(&code, keep), Ok(error), "{code}");
    }
    assert!(count > 0, "no error begins with {first:x?}");
}

#[test]
fn a_set_of_generations_has_a_bit_for_each() {
    for chosen in 0..1_u32 << Arch::ALL.len() {
        let numbered = Arch::ALL.into_iter().enumerate();
        let archs = numbered.filter(|(number, _)| chosen >> number & 1 != 0);
        let archs = archs.map(|(_, arch)| arch);
        let bits = archs.clone().map(|arch| 1 << arch.major()).sum();
        let set = ArchSet::take(&mut Chance {
            first: &[bits],
            state: 0,
        });
        assert!(set.is_some_and(|set| set.iter().eq(archs)), "{bits:#b}");
    }
}

#[test]
fn an_error_is_read_back_from_its_code() {
    const LAST: u64 = 0x21;
    // An error of nothing that had a size of 0.
    const FREE: u64 = 0x1B;
    const COMMAND: u64 = 0x13;
    let numbers = (1..=LAST).filter(|number| *number != FREE);
    numbers.for_each(|number| read_back(&[number]));
    (0..=0x12).for_each(|number| read_back(&[COMMAND, number]));
    // Errors of graphics by each of theirs.
    (0..=0x11).for_each(|number| read_back(&[COMMAND, 0x12, number]));
    // Loss by bring-up, bring-up by each of its parts.
    (0..=0xA).for_each(|number| read_back(&[1, 5, number]));
    assert_eq!(
        Error::take(&mut Chance {
            first: &[LAST + 1],
            state: 0
        }),
        None
    );
}

#[test]
fn a_name_keeps_its_letters() {
    let what = "the ring's 2nd page: 50% (é)";
    let error = Error::Vm(crate::VmError::OutOfAddresses {
        what,
        bytes: 0x1000,
    });
    let code = error.code().to_string();
    assert_eq!(
        code,
        "eitri-error 2 5 1 :the+ring=27s+2nd+page=3a+50=25+=28=c3=a9=29 1000"
    );
    assert_eq!(Error::from_code(&code, keep), Ok(error));
}

#[test]
fn what_is_no_code_is_refused() {
    let read = |text: &str| Error::from_code(text, keep).unwrap_err();
    assert_eq!(read(""), CodeError::Begin);
    assert_eq!(read("error 1 2"), CodeError::Begin);
    let found = EDITION + 1;
    let later = std::format!("eitri-error {found:x} 2");
    assert_eq!(read(&later), CodeError::Edition { found });
    for text in [
        "eitri-error",
        "eitri-error x",
        "eitri-error 2",
        "eitri-error 2 ff",
        "eitri-error 2 17 30",
        "eitri-error 2 17 30 g",
        "eitri-error 2 17 30 f f",
        "eitri-error 2 17 30 10000000000000000",
        "eitri-error 2 5 1 ring 1000",
        "eitri-error 2 5 1 :=4 1000",
        "eitri-error 2 5 1 :=ff 1000",
    ] {
        assert_eq!(read(text), CodeError::Words, "{text}");
    }
    assert_eq!(
        Error::from_code("eitri-error 2 2", keep),
        Ok(Error::Suspended)
    );
}

/// What an image prints is one line of letters that nothing on its way changes.
#[test]
fn a_code_is_one_line() {
    let what = "a\nline\t; 'and' \"another\"";
    let error = Error::Vm(crate::VmError::OutOfAddresses { what, bytes: 1 });
    let code = error.code().to_string();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || " :_+=-".contains(letter);
    assert!(code.chars().all(plain), "{code}");
}

/// As it comes from a board: the register, its value, and what was wanted are all there.
#[test]
fn power_that_is_stuck_is_told_with_its_register() {
    let code = "eitri-error 2 3 2 0 0 :L2_READY 160 0 0 1 1 0 1312d00 0 0 1 0 1 0 0 0 2 0 0 0 0";
    let error = Error::from_code(code, keep).expect("a code");
    let text = error.to_string();
    let told = "L2_READY (0x160) = 0x0, wanted 0x1, after 20ms";
    assert!(text.contains(told), "{text}");
    assert_eq!(error.code().to_string(), code);
}

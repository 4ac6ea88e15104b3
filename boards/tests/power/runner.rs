//! What each step does, and what is said when it can't.

use crate::fake::{Chip, Fake, Said};
use eitri_boards::steps::bus::{BusError, Buses, Device, Transfer, Within, over_i2c};
use eitri_boards::steps::{Action, Bits, Found, Permission, SmcCall, Step, StepError, run};
use std::time::Duration;

/// Registers that keep what is written, and firmware that says which function it was called for.
struct Plain;

impl Chip for Plain {
    fn smc(&mut self, call: SmcCall) -> u64 {
        u64::from(call.function) + call.arguments[0]
    }
}

#[track_caller]
fn done(sequence: &[Action]) -> Fake<Plain> {
    let mut fake = Fake::new(Plain);
    let ran = run(
        sequence,
        &[],
        Permission::SourcedOnly,
        &mut fake,
        &mut Said::default(),
    );
    assert_eq!(ran, Ok(()));
    fake
}

#[track_caller]
fn refused(sequence: &[Action], text: &str) -> Fake<Plain> {
    let mut fake = Fake::new(Plain);
    let said = &mut Said::default();
    let error = run(sequence, &[], Permission::SourcedOnly, &mut fake, said).unwrap_err();
    assert_eq!(error.to_string(), text);
    fake
}

#[test]
fn a_masked_write_changes_its_bits_alone() {
    let bits = Bits {
        mask: 0xF0,
        value: 0x50,
    };
    let fake = done(&[
        Action::sourced(
            "all",
            Step::Write {
                at: 8,
                value: 0xABCD,
            },
        ),
        Action::sourced("some", Step::Modify { at: 8, bits }),
    ]);
    assert_eq!(fake.writes, [(8, 0xABCD), (8, 0xAB5D)]);
}

#[test]
fn what_was_saved_comes_back() {
    let fake = done(&[
        Action::sourced("set", Step::Write { at: 8, value: 7 }),
        Action::sourced("save", Step::Save { at: 8 }),
        Action::sourced("forget", Step::Write { at: 8, value: 0 }),
        Action::sourced("restore", Step::Restore { at: 8 }),
        Action::sourced("never saved", Step::Restore { at: 12 }),
    ]);
    assert_eq!(fake.writes, [(8, 7), (8, 0), (8, 7)]);
}

#[test]
fn a_delay_lasts() {
    let fake = done(&[Action::sourced(
        "wait",
        Step::Delay(Duration::from_micros(20)),
    )]);
    assert_eq!(fake.nanoseconds, 20_000);
}

#[test]
fn firmware_must_answer_as_is_wanted() {
    let call = SmcCall {
        function: 0x8200_0010,
        arguments: [1, 0],
    };
    let wanted = 0x8200_0011;
    done(&[Action::sourced("ask", Step::Smc { call, wanted })]);
    refused(
        &[Action::sourced("ask", Step::Smc { call, wanted: 0 })],
        "ask: SMC 0x82000010 answers 0x82000011",
    );
}

#[test]
fn what_is_not_as_expected_ends_the_sequence() {
    let fake = refused(
        &[
            Action::sourced(
                "the id",
                Step::Expect {
                    at: 0x100,
                    bits: Bits::word(5),
                },
            ),
            Action::sourced("after it", Step::Write { at: 8, value: 1 }),
        ],
        "the id: 0x100 is 0x0, wanted 0x5 in 0xffffffff",
    );
    assert_eq!(fake.writes, [], "nothing is done after an error");
}

#[test]
fn a_wait_ends_at_its_limit() {
    let limit = Duration::from_millis(10);
    let fake = refused(
        &[Action::sourced(
            "power",
            Step::Poll {
                at: 0x20,
                until: Bits::set(2),
                limit,
            },
        )],
        "power: 0x20 is 0x0 after 10ms, wanted 0x2 in 0x2",
    );
    assert_eq!(u128::from(fake.nanoseconds), limit.as_nanos());
}

#[test]
fn what_is_inferred_is_done_only_when_asked_for() {
    let sequence = [
        Action::sourced("known", Step::Write { at: 8, value: 1 }),
        Action::inferred("guessed", Step::Write { at: 12, value: 1 }),
    ];
    let fake = refused(
        &sequence,
        "guessed: no source states this step, and it was not asked for",
    );
    assert_eq!(fake.writes, [(8, 1)]);

    let (mut fake, mut said) = (Fake::new(Plain), Said::default());
    let ran = run(
        &sequence,
        &[],
        Permission::InferredToo,
        &mut fake,
        &mut said,
    );
    assert_eq!(ran, Ok(()));
    assert_eq!(fake.writes, [(8, 1), (12, 1)]);
    assert_eq!(
        said.0,
        ["known", "known: done", "guessed", "guessed: done"],
        "each is said before it is done"
    );
}

#[test]
fn what_may_be_spared_is_left_out_unless_it_was_asked_for() {
    let sequence = [
        Action::spare("perhaps", Step::Write { at: 12, value: 1 }),
        Action::sourced("known", Step::Write { at: 8, value: 1 }),
    ];
    for (permission, writes, first) in [
        (Permission::SourcedOnly, &[(8, 1)][..], "perhaps: left out"),
        (Permission::InferredToo, &[(12, 1), (8, 1)][..], "perhaps"),
    ] {
        let (mut fake, mut said) = (Fake::new(Plain), Said::default());
        let ran = run(&sequence, &[], permission, &mut fake, &mut said);
        assert_eq!((ran, &fake.writes[..]), (Ok(()), writes), "{permission:?}");
        assert_eq!(said.0[0], first);
    }
}

#[test]
fn a_message_needs_a_power_controller() {
    let message = eitri_boards::steps::Message {
        to: 0,
        header: 0x4000,
        payload: &[],
        reply: &[],
    };
    let action = Action::sourced("version", Step::Scmi(message));
    let (mut fake, mut said) = (Fake::new(Plain), Said::default());
    let ran = run(
        &[action],
        &[],
        Permission::SourcedOnly,
        &mut fake,
        &mut said,
    );
    assert_eq!(ran, Err(StepError::Description { what: "version" }));
    assert_eq!(Found::Polls(3).to_string(), "after 3 polls");
}

/// A bus with one device, at address 0x42, whose register 7 is what was written last.
struct OneDevice {
    register: u8,
}

impl embedded_hal::i2c::ErrorType for OneDevice {
    type Error = embedded_hal::i2c::ErrorKind;
}

impl embedded_hal::i2c::I2c for OneDevice {
    fn transaction(
        &mut self,
        address: u8,
        operations: &mut [embedded_hal::i2c::Operation<'_>],
    ) -> Result<(), Self::Error> {
        use embedded_hal::i2c::{ErrorKind, NoAcknowledgeSource, Operation};
        if address != 0x42 {
            return Err(ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address));
        }
        match operations {
            [Operation::Write([7, value])] => self.register = *value,
            [Operation::Write([7]), Operation::Read([value])] => *value = self.register,
            other => panic!("{other:?}"),
        }
        Ok(())
    }
}

impl Buses for OneDevice {
    fn transfer(&mut self, to: Device, send: &[u8], reply: &mut [u8]) -> Result<(), BusError> {
        match to {
            Device::I2c { bus: 1, address } => over_i2c(self, address, send, reply),
            _ => Err(BusError::NoDriver),
        }
    }
}

fn on_i2c(sequence: &[Action]) -> Result<Vec<String>, String> {
    let mut fake = Fake::new(Plain);
    fake.buses = Box::new(OneDevice { register: 0 });
    let mut said = Said::default();
    let ran = run(sequence, &[], Permission::SourcedOnly, &mut fake, &mut said);
    ran.map(|()| said.0).map_err(|error| error.to_string())
}

#[test]
fn a_device_behind_i2c_is_written_and_read() {
    const fn transfer(bus: u8, address: u8, send: &'static [u8], reply: &'static [Within]) -> Step {
        let device = Device::I2c { bus, address };
        Step::Transfer(Transfer {
            device,
            send,
            reply,
        })
    }
    let set = Action::sourced("set", transfer(1, 0x42, &[7, 0x9], &[]));
    let read = |reply| Action::sourced("read", transfer(1, 0x42, &[7], reply));
    const NINE: Within = Within::bits(0xF, 9);
    let said = on_i2c(&[set, read(&[NINE])]);
    let wanted = ["set", "set: done", "read", "read: reply 0x09"].map(str::to_owned);
    assert_eq!(said, Ok(wanted.to_vec()));
    const LESS: Within = Within {
        mask: 0xFF,
        least: 1,
        most: 8,
    };
    let text = "read: I2C1, address 0x42: byte 0 is 0x09, wanted 0x01 to 0x08 in 0xff";
    assert_eq!(on_i2c(&[set, read(&[LESS])]), Err(text.to_owned()));
    let nobody = Action::sourced("nobody", transfer(1, 0x43, &[7], &[]));
    let error = on_i2c(&[nobody]).unwrap_err();
    assert!(error.starts_with("nobody: I2C1, address 0x43: "), "{error}");
    let other = Action::sourced("other", transfer(2, 0x42, &[7], &[]));
    let error = on_i2c(&[other]).unwrap_err();
    assert!(
        error.ends_with("this image has no driver for the bus"),
        "{error}"
    );
}

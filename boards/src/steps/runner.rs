//! Runner: carries steps out, one after the other, and stops at the first that goes wrong.

use super::bus::{BusError, Device, REPLY_BYTES};
use super::mailbox::{MESSAGE_WORDS, MailboxError};
use super::scmi::{Channel, REPLY_WORDS, ScmiError};
use super::{Action, Bits, Certainty, Machine, Step, Suspect};
use core::fmt;
use core::time::Duration;

/// Between two looks at a register that is waited for.
const POLL: Duration = Duration::from_micros(1);
/// Registers that can be saved at a time.
const SAVED: usize = 32;

/// Whether steps that were only inferred may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// No: the sequence ends where it needs one.
    SourcedOnly,
    /// Somebody asked for it.
    InferredToo,
}

/// What a step found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing that would be worth a word.
    Done,
    /// A register's value.
    Value(u32),
    /// How often a register was read before it was as it must be.
    Polls(u32),
    /// The words of a reply, after its status.
    Reply([u32; REPLY_WORDS]),
    /// The words of a reply from a mailbox.
    Mail([u32; MESSAGE_WORDS]),
    /// The bytes that a device has sent.
    Bytes {
        /// The first of them.
        bytes: [u8; REPLY_BYTES],
        /// How many there are.
        count: usize,
    },
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Done => f.write_str("done"),
            Found::Value(value) => write!(f, "{value:#010x}"),
            Found::Polls(polls) => write!(f, "after {polls} polls"),
            Found::Reply(words) => {
                f.write_str("reply")?;
                words.iter().try_for_each(|word| write!(f, " {word:#x}"))
            }
            Found::Mail(words) => {
                f.write_str("reply")?;
                words.iter().try_for_each(|word| write!(f, " {word:#x}"))
            }
            Found::Bytes { count: 0, .. } => f.write_str("done"),
            Found::Bytes { bytes, count } => {
                f.write_str("reply")?;
                let mut bytes = bytes.iter().take(*count);
                bytes.try_for_each(|byte| write!(f, " {byte:#04x}"))
            }
        }
    }
}

/// Who is told what is done.
pub trait Log {
    /// Before an action; what is said here must be out before the call returns.
    fn begin(&mut self, action: &Action);

    /// After an action.
    fn done(&mut self, action: &Action, found: Found);

    /// In place of an action that nobody asked for, and that the sequence may do without.
    fn left_out(&mut self, action: &Action);
}

/// Why a sequence ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepError {
    /// The step is only inferred, and nobody asked for it.
    OnlyInferred {
        /// What it would have done.
        what: &'static str,
    },
    /// A register did not become what it must be.
    TimedOut {
        /// What it was waited for.
        what: &'static str,
        /// The register.
        at: usize,
        /// What it is.
        found: u32,
        /// What it must be.
        wanted: Bits,
        /// How long it was waited.
        waited: Duration,
    },
    /// A register is not what it must be.
    Unexpected {
        /// What it was read for.
        what: &'static str,
        /// The register.
        at: usize,
        /// What it is.
        found: u32,
        /// What it must be.
        wanted: Bits,
    },
    /// A register shows why the GPU would not answer; it was not accessed.
    Unreachable {
        /// What the register was read for.
        what: &'static str,
        /// The register.
        at: usize,
        /// What it is.
        found: u32,
        /// What it must be.
        wanted: Bits,
        /// What is wrong with the GPU.
        suspect: Suspect,
    },
    /// The firmware refused.
    Smc {
        /// What it was called for.
        what: &'static str,
        /// The function.
        function: u32,
        /// x0.
        answer: u64,
    },
    /// A message was not carried out.
    Scmi {
        /// What it was sent for.
        what: &'static str,
        /// Its header.
        header: u32,
        /// Why.
        error: ScmiError,
    },
    /// A microcontroller did not answer.
    Mailbox {
        /// What it was asked for.
        what: &'static str,
        /// The command.
        command: u32,
        /// Why.
        error: MailboxError,
    },
    /// A device behind a bus did not do what it was asked, or is not what it must be.
    Bus {
        /// What it was asked for.
        what: &'static str,
        /// Where it is.
        device: Device,
        /// Why.
        error: BusError,
    },
    /// The board has no such power controller, or no room for what is saved: its description is wrong.
    Description {
        /// Which step.
        what: &'static str,
    },
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepError::OnlyInferred { what } => {
                write!(
                    f,
                    "{what}: no source states this step, and it was not asked for"
                )
            }
            StepError::TimedOut {
                what,
                at,
                found,
                wanted,
                waited,
            } => write!(
                f,
                "{what}: {at:#x} is {found:#x} after {waited:?}, wanted {:#x} in {:#x}",
                wanted.value, wanted.mask
            ),
            StepError::Unexpected {
                what,
                at,
                found,
                wanted,
            } => write!(
                f,
                "{what}: {at:#x} is {found:#x}, wanted {:#x} in {:#x}",
                wanted.value, wanted.mask
            ),
            StepError::Unreachable {
                what,
                at,
                found,
                wanted,
                suspect,
            } => write!(
                f,
                "{what}: {at:#x} is {found:#x}, wanted {:#x} in {:#x}: {suspect}; the GPU is not accessed, since that would hang the machine",
                wanted.value, wanted.mask
            ),
            StepError::Smc {
                what,
                function,
                answer,
            } => write!(f, "{what}: SMC {function:#x} answers {answer:#x}"),
            StepError::Scmi {
                what,
                header,
                error,
            } => write!(f, "{what}: SCMI message {header:#x}: {error}"),
            StepError::Mailbox {
                what,
                command,
                error,
            } => write!(f, "{what}: command {command} to the mailbox: {error}"),
            StepError::Bus {
                what,
                device,
                error,
            } => write!(f, "{what}: {device}: {error}"),
            StepError::Description { what } => {
                write!(f, "{what}: the board has not what this step needs")
            }
        }
    }
}

impl core::error::Error for StepError {}

/// Carries a sequence out.
///
/// # Errors
/// At the first step that goes wrong; those after it are not done.
pub fn run(
    sequence: &[Action],
    channels: &[Channel],
    permission: Permission,
    machine: &mut impl Machine,
    log: &mut impl Log,
) -> Result<(), StepError> {
    let mut saved = Saved([None; SAVED]);
    carry_out(sequence, channels, permission, &mut saved, machine, log)
}

fn carry_out(
    sequence: &[Action],
    channels: &[Channel],
    permission: Permission,
    saved: &mut Saved,
    machine: &mut impl Machine,
    log: &mut impl Log,
) -> Result<(), StepError> {
    for action in sequence {
        match (action.certainty, permission) {
            (Certainty::Sourced, _) | (_, Permission::InferredToo) => {}
            (Certainty::Inferred, Permission::SourcedOnly) => {
                return Err(StepError::OnlyInferred { what: action.what });
            }
            (Certainty::Spare, Permission::SourcedOnly) => {
                log.left_out(action);
                continue;
            }
        }
        log.begin(action);
        if let Step::Choose {
            at,
            bits,
            so,
            otherwise,
        } = action.step
        {
            let found = machine.read(at);
            log.done(action, Found::Value(found));
            let chosen = match bits.are_in(found) {
                true => so,
                false => otherwise,
            };
            carry_out(chosen, channels, permission, saved, machine, log)?;
            continue;
        }
        let found = step(action, channels, saved, machine)?;
        log.done(action, found);
    }
    Ok(())
}

/// Registers and what they held.
struct Saved([Option<(usize, u32)>; SAVED]);

impl Saved {
    /// Keeps a value; `false` if there is no room.
    fn keep(&mut self, at: usize, value: u32) -> bool {
        let place = self.0.iter_mut().find(|place| place.is_none());
        place.is_some_and(|place| {
            *place = Some((at, value));
            true
        })
    }

    fn of(&self, at: usize) -> Option<u32> {
        let mut kept = self.0.iter().flatten();
        kept.find(|(register, _)| *register == at)
            .map(|(_, value)| *value)
    }
}

fn step(
    action: &Action,
    channels: &[Channel],
    saved: &mut Saved,
    machine: &mut impl Machine,
) -> Result<Found, StepError> {
    let what = action.what;
    match action.step {
        Step::Show { at } | Step::Choose { at, .. } => Ok(Found::Value(machine.read(at))),
        Step::Write { at, value } => {
            machine.write(at, value);
            Ok(Found::Done)
        }
        Step::Modify { at, bits } => {
            let before = machine.read(at);
            machine.write(at, before & !bits.mask | bits.value);
            Ok(Found::Value(before))
        }
        Step::Poll { at, until, limit } => poll(what, at, until, limit, machine),
        Step::Expect { at, bits: wanted } => {
            let found = machine.read(at);
            if wanted.are_in(found) {
                return Ok(Found::Value(found));
            }
            Err(StepError::Unexpected {
                what,
                at,
                found,
                wanted,
            })
        }
        Step::Check {
            at,
            bits: wanted,
            suspect,
        } => {
            let found = machine.read(at);
            if wanted.are_in(found) {
                return Ok(Found::Value(found));
            }
            Err(StepError::Unreachable {
                what,
                at,
                found,
                wanted,
                suspect,
            })
        }
        Step::Save { at } => {
            let value = machine.read(at);
            if saved.keep(at, value) {
                return Ok(Found::Value(value));
            }
            Err(StepError::Description { what })
        }
        Step::Restore { at } => {
            if let Some(value) = saved.of(at) {
                machine.write(at, value);
            }
            Ok(Found::Done)
        }
        Step::Delay(time) => {
            machine.delay_us(u32::try_from(time.as_micros()).unwrap_or(u32::MAX));
            Ok(Found::Done)
        }
        Step::Smc { call, wanted } => {
            let answer = machine.smc(call);
            if answer == wanted {
                return Ok(Found::Done);
            }
            let function = call.function;
            Err(StepError::Smc {
                what,
                function,
                answer,
            })
        }
        Step::Scmi(message) => {
            let channel = channels.get(message.to);
            let channel = channel.ok_or(StepError::Description { what })?;
            let header = message.header;
            let sent = channel.send(&message, machine);
            sent.map(Found::Reply).map_err(|error| StepError::Scmi {
                what,
                header,
                error,
            })
        }
        Step::Mailbox(message) => {
            let command = message.command;
            let sent = message.send(machine);
            sent.map(Found::Mail).map_err(|error| StepError::Mailbox {
                what,
                command,
                error,
            })
        }
        Step::Put { offset, value } => {
            let at = in_memory(what, offset, machine)?;
            machine.write(at, value);
            Ok(Found::Done)
        }
        Step::Get { offset } => {
            let at = in_memory(what, offset, machine)?;
            Ok(Found::Value(machine.read(at)))
        }
        Step::Transfer(transfer) => {
            let (device, count) = (transfer.device, transfer.reply.len());
            let done = transfer.carry_out(machine);
            let found = |bytes| Found::Bytes { bytes, count };
            done.map(found).map_err(|error| StepError::Bus {
                what,
                device,
                error,
            })
        }
    }
}

/// The address of a word of the memory that a power controller is given.
fn in_memory(
    what: &'static str,
    offset: usize,
    machine: &impl Machine,
) -> Result<usize, StepError> {
    let memory = machine.shared_memory();
    let memory = memory.filter(|memory| offset.is_multiple_of(4) && offset < memory.bytes);
    let memory = memory.ok_or(StepError::Description { what })?;
    Ok(memory.base + offset)
}

fn poll(
    what: &'static str,
    at: usize,
    wanted: Bits,
    limit: Duration,
    machine: &mut impl Machine,
) -> Result<Found, StepError> {
    let mut polls = 0;
    let mut waited = Duration::ZERO;
    loop {
        let found = machine.read(at);
        polls += 1;
        if wanted.are_in(found) {
            return Ok(Found::Polls(polls));
        }
        if waited >= limit {
            return Err(StepError::TimedOut {
                what,
                at,
                found,
                wanted,
                waited,
            });
        }
        machine.delay_us(POLL.as_micros() as u32);
        waited += POLL;
    }
}

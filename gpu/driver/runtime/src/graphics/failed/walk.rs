//! Walks the commands of a lane as they stand in memory: what they draw, where passes end, what they wait for, and what registers
//! hold meanwhile.
//!
//! Nothing is executed. Branches are not taken, so that the draws of a loop are seen once and what depends on a condition is seen too;
//! calls and jumps are followed.
//! Facts: hardware/command-stream.md 2 and 3.

use super::super::lane::{OWN, TEMPORARY, VALUE};
use super::memory::SpaceReader;
use crate::graphics::tiler_page::{BASE, MARKS, PAGE, count_of};
use crate::platform::Platform;
use crate::queue::{Code, SubQueue};
use eitri_cs::instr::{AddImm64, Instr};
use eitri_cs::{Arch, Pair, Reg};
use heapless::Vec;

/// Instructions that are looked at, at most. What stands behind them is not found.
const MOST_WORDS: u32 = 1 << 18;
/// Frames of calls: the ring has the first (hardware/command-stream.md 1.13, 0x4A).
const MOST_CALLS: usize = 8;
/// Registers of the largest file.
const REGISTERS: usize = 128;

/// What an instruction of a lane does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Begins a draw.
    Draws,
    /// Begins a clear of attachments.
    Clears,
    /// Begins a fragment job.
    Renders,
    /// Counts one more when a pass is over.
    Counts,
    /// Counts a draw when it is over, of those that run in turn.
    Marks,
    /// Waits until another stream has counted so far.
    Waits(SubQueue, u32),
    /// Anything else.
    Other,
}

/// A walk.
pub(super) struct Walk {
    arch: Arch,
    /// The next instruction, and where they end.
    at: u64,
    end: u64,
    calls: Vec<(u64, u64), MOST_CALLS>,
    registers: [u32; REGISTERS],
    /// What the lane's own registers hold: the stream whose count they point to, and the count that is waited for.
    waited: (Option<SubQueue>, u32),
    /// The same register points to the count of draws.
    marks: bool,
    left: u32,
}

impl Walk {
    /// From the start of a lane.
    pub(super) const fn new(arch: Arch, code: Code) -> Walk {
        let start = code.start.0;
        Walk {
            arch,
            at: start,
            end: start.saturating_add(code.bytes as u64),
            calls: Vec::new(),
            registers: [0; REGISTERS],
            waited: (None, 0),
            marks: false,
            left: MOST_WORDS,
        }
    }

    /// What a register holds.
    pub(super) fn word(&self, number: u8) -> u32 {
        let word = self.registers.get(usize::from(number));
        word.copied().unwrap_or(0)
    }

    /// What a pair holds, by the number of its low half.
    pub(super) fn pair(&self, number: u8) -> u64 {
        let high = self.word(number.wrapping_add(1));
        u64::from(high) << 32 | u64::from(self.word(number))
    }

    /// Goes on to the next instruction: where it stands, and what it does.
    pub(super) fn next<P: Platform>(
        &mut self,
        memory: &mut SpaceReader<'_, P>,
    ) -> Option<(u64, Seen)> {
        while self.at >= self.end {
            (self.at, self.end) = self.calls.pop()?;
        }
        self.left = self.left.checked_sub(1)?;
        let at = self.at;
        let word = memory.load(at)?;
        self.at = at.saturating_add(8);
        let seen = match Instr::decode(word, self.arch) {
            Ok(instr) => self.follow(&instr)?,
            Err(_) => Seen::Other,
        };
        Some((at, seen))
    }

    /// Does to the walk what an instruction does to a stream. `None` ends the walk.
    fn follow(&mut self, instr: &Instr) -> Option<Seen> {
        match instr {
            Instr::Move32(load) => self.set(load.destination, load.immediate),
            Instr::Move48(load) => {
                self.set(load.destination.low(), load.immediate as u32);
                self.set(load.destination.high(), (load.immediate >> 32) as u32);
            }
            Instr::AddImm64(add) => self.add(add),
            Instr::Jump(jump) => self.go_to(jump.address, jump.length),
            Instr::Call(call) => {
                self.calls.push((self.at, self.end)).ok()?;
                self.go_to(call.address, call.length);
            }
            Instr::RunIdvs(_) | Instr::RunIdvs2(_) => return Some(Seen::Draws),
            Instr::RunFullscreen(_) => return Some(Seen::Clears),
            Instr::RunFragment(_) => return Some(Seen::Renders),
            Instr::SyncAdd64(count) if count.address == OWN => return Some(Seen::Counts),
            Instr::SyncAdd64(count) if count.address == TEMPORARY && self.marks => {
                return Some(Seen::Marks);
            }
            Instr::SyncWait64(wait) if (wait.address, wait.data) == (TEMPORARY, VALUE) => {
                if let (Some(stream), number) = self.waited {
                    return Some(Seen::Waits(stream, number));
                }
            }
            _ => {}
        }
        Some(Seen::Other)
    }

    fn set(&mut self, register: Reg, value: u32) {
        if let Some(place) = self.registers.get_mut(usize::from(register.number())) {
            *place = value;
        }
    }

    /// Lanes add to two pairs that their caller loads: to the page of the queue, and to the value from which streams count.
    fn add(&mut self, add: &AddImm64) {
        let number = u32::try_from(add.immediate).unwrap_or(0);
        if (add.destination, add.source) == (TEMPORARY, PAGE) {
            let mut streams = SubQueue::ALL.into_iter();
            self.waited.0 = streams.find(|stream| count_of(*stream) == number);
            self.marks = number == MARKS;
        } else if (add.destination, add.source) == (VALUE, BASE) {
            // The wait is for more than the number.
            self.waited.1 = number.saturating_add(1);
        }
    }

    fn go_to(&mut self, address: Pair, length: Reg) {
        self.at = self.pair(address.number());
        let bytes = self.word(length.number());
        self.end = self.at.saturating_add(bytes.into());
    }
}

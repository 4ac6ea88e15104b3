//! Checked instructions: encoded and checked once, written as often as wanted; with the value still open, placeholders.
//!
//! A driver writes the same few instructions for every dispatch. What can be wrong with them (architecture, registers,
//! slots) does not depend on the values that they load, so it is looked at once.
//! Facts: hardware/command-stream.md 6.1 and 6.3 (3).

use super::chunk::{LINK_WORDS, link_to};
use super::config::Config;
use super::error::BuildFault;
use crate::d;
use crate::enums::TaskAxis;
use crate::instr::{AddImm64, Instruction, Move32, Move48, RunCompute, Values, encode};
use crate::register::{Pair, Reg, RegSet};
use crate::table::Info;

/// A word that is an instruction of the stream that it was checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked(u64);

impl Checked {
    /// NOP, which every stream may hold.
    pub const NOP: Checked = Checked(0);

    /// The word.
    pub const fn word(self) -> u64 {
        self.0
    }
}

impl Config {
    /// An instruction, checked as the builder does when it is appended.
    ///
    /// # Errors
    /// If there is no word for it, or it uses a register or a slot that it may not.
    pub fn checked(&self, instr: impl Instruction) -> Result<Checked, BuildFault> {
        self.checked_row(instr.info(), &instr.values())
    }

    fn checked_row(&self, info: &Info, values: &Values) -> Result<Checked, BuildFault> {
        let word = encode(info, values, self.arch)?;
        self.check(info, word)?;
        Ok(Checked(word))
    }
}

/// A load of a 32-bit register whose value is still to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load32 {
    zero: u64,
    /// Where the value stands in the word.
    shift: u32,
}

impl Load32 {
    /// The load of `to`.
    ///
    /// # Errors
    /// If `to` may not be written.
    pub fn new(config: &Config, to: Reg) -> Result<Load32, BuildFault> {
        let load = |immediate| {
            let destination = to;
            config.checked(Move32 {
                destination,
                immediate,
            })
        };
        let (Checked(zero), Checked(ones)) = (load(0)?, load(u32::MAX)?);
        Ok(Load32 {
            zero,
            shift: (zero ^ ones).trailing_zeros(),
        })
    }

    /// The load of this value.
    pub const fn with(self, value: u32) -> Checked {
        Checked(self.zero | (value as u64) << self.shift)
    }
}

/// A load of a pair whose value is still to be said: one instruction for a value below 2^48, two for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load64 {
    zero: u64,
    shift: u32,
    low: Load32,
    high: Load32,
}

/// A value of one MOVE48.
const MOST_48: u64 = (1 << 48) - 1;

impl Load64 {
    /// The load of `to`.
    ///
    /// # Errors
    /// If `to` may not be written.
    pub fn new(config: &Config, to: Pair) -> Result<Load64, BuildFault> {
        let load = |immediate| {
            let destination = to;
            config.checked(Move48 {
                destination,
                immediate,
            })
        };
        let (Checked(zero), Checked(ones)) = (load(0)?, load(MOST_48)?);
        Ok(Load64 {
            zero,
            shift: (zero ^ ones).trailing_zeros(),
            low: Load32::new(config, to.low())?,
            high: Load32::new(config, to.high())?,
        })
    }

    /// The load of this value, and the second half of it where it takes two.
    pub const fn with(self, value: u64) -> (Checked, Option<Checked>) {
        if value <= MOST_48 {
            return (Checked(self.zero | value << self.shift), None);
        }
        let low = self.low.with(value as u32);
        (low, Some(self.high.with((value >> 32) as u32)))
    }

    /// The load of the low 48 bits of this value, in one instruction: addresses have no more.
    pub const fn with_address(self, value: u64) -> Checked {
        Checked(self.zero | (value & MOST_48) << self.shift)
    }
}

/// Loads of whatever register may be written, with whatever value: they differ in two fields alone.
#[derive(Clone, Copy, Debug)]
pub struct AnyLoad {
    /// Of the first pair.
    first: Load64,
    /// Where registers stand in the words of 32 and of 48 bits.
    register_shift: u32,
    pair_shift: u32,
    writable: RegSet,
}

impl AnyLoad {
    /// For streams of a configuration, which may write the first four registers.
    ///
    /// # Errors
    /// If they may not.
    pub fn new(config: &Config) -> Result<AnyLoad, BuildFault> {
        let first = Load64::new(config, d!(0))?;
        let other = Load64::new(config, d!(2))?;
        // The other's registers are two further.
        let shift = |a: u64, b: u64| (a ^ b).trailing_zeros().wrapping_sub(1);
        Ok(AnyLoad {
            register_shift: shift(first.low.zero, other.low.zero),
            pair_shift: shift(first.zero, other.zero),
            first,
            writable: config.writable,
        })
    }

    /// The load of a register.
    ///
    /// # Errors
    /// If it may not be written.
    pub const fn load32(&self, to: Reg) -> Result<Load32, BuildFault> {
        if !self.writable.contains(to) {
            return Err(BuildFault::NotWritable { register: to });
        }
        Ok(self.any32(to))
    }

    const fn any32(&self, to: Reg) -> Load32 {
        let Load32 { zero, shift } = self.first.low;
        Load32 {
            zero: zero | (to.number() as u64) << self.register_shift,
            shift,
        }
    }

    /// The load of a pair.
    ///
    /// # Errors
    /// If it may not be written.
    pub const fn load64(&self, to: Pair) -> Result<Load64, BuildFault> {
        let (low, high) = (to.low(), to.high());
        if !self.writable.contains(low) || !self.writable.contains(high) {
            return Err(BuildFault::NotWritable { register: low });
        }
        Ok(Load64 {
            zero: self.first.zero | (low.number() as u64) << self.pair_shift,
            shift: self.first.shift,
            low: self.any32(low),
            high: self.any32(high),
        })
    }
}

/// Loads of the first registers, all of which may be written.
#[derive(Clone, Copy, Debug)]
pub struct FirstLoads {
    /// Of the first register.
    first: Load32,
    register_shift: u32,
    count: u8,
}

impl AnyLoad {
    /// Loads of the first `count` registers.
    ///
    /// # Errors
    /// If one of them may not be written.
    pub fn first(&self, count: u8) -> Result<FirstLoads, BuildFault> {
        for register in 0..count {
            self.load32(Reg::new(register))?;
        }
        Ok(FirstLoads {
            first: self.first.low,
            register_shift: self.register_shift,
            count,
        })
    }
}

impl FirstLoads {
    /// The load of this value; `None` if the register is none of the first.
    #[inline(always)]
    pub const fn with(&self, register: u8, value: u32) -> Option<Checked> {
        if register >= self.count {
            return None;
        }
        let Load32 { zero, shift } = self.first;
        let to = (register as u64) << self.register_shift;
        Some(Checked(zero | to | (value as u64) << shift))
    }
}

/// The sum of a pair and a number that is still to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddNumber {
    zero: u64,
    shift: u32,
}

impl AddNumber {
    /// Loads `to` with the sum of `from` and a number.
    ///
    /// # Errors
    /// If `to` may not be written.
    pub fn new(config: &Config, to: Pair, from: Pair) -> Result<AddNumber, BuildFault> {
        let add = |immediate| {
            config.checked(AddImm64 {
                destination: to,
                source: from,
                immediate,
            })
        };
        let (Checked(zero), Checked(most)) = (add(0)?, add(i32::MAX)?);
        Ok(AddNumber {
            zero,
            shift: (zero ^ most).trailing_zeros(),
        })
    }

    /// The sum with this number, of which the low 31 bits count.
    pub const fn with(self, number: u32) -> Checked {
        Checked(self.zero | (number as u64 & i32::MAX as u64) << self.shift)
    }
}

/// An instruction one of whose fields, a signed number, is still to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WithNumber {
    zero: u64,
    /// The bits of the number that the field has, and the place of the lowest in the word.
    bits: u32,
    shift: u32,
}

impl WithNumber {
    /// The instruction that is `instr` of the number: nothing else of it depends on that.
    ///
    /// # Errors
    /// If there is no word for it, or it uses a register or a slot that it may not.
    pub fn new<I: Instruction>(
        config: &Config,
        instr: impl Fn(i16) -> I,
    ) -> Result<WithNumber, BuildFault> {
        let (Checked(zero), Checked(ones)) =
            (config.checked(instr(0))?, config.checked(instr(-1))?);
        let field = zero ^ ones;
        let shift = field.trailing_zeros();
        let bits = field.checked_shr(shift).unwrap_or(0) as u32;
        Ok(WithNumber { zero, bits, shift })
    }

    /// The instruction with this number, of which as many low bits count as the field has.
    #[inline(always)]
    pub const fn with(self, number: i32) -> Checked {
        Checked(self.zero | ((number as u32 & self.bits) as u64) << self.shift)
    }
}

/// A compute job whose task size is still to be said. All else of it stands in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// With an increment of 0, by axis.
    zero: [u64; 3],
    shift: u32,
}

/// Largest number of workgroups of a task along its axis.
const MOST_INCREMENT: u16 = 16_383;

impl Run {
    /// The job that is `job` but for its task size.
    ///
    /// # Errors
    /// If there is no word for it.
    pub fn new(config: &Config, job: RunCompute) -> Result<Run, BuildFault> {
        let of = |task_axis, task_increment| {
            let job = RunCompute {
                task_axis,
                task_increment,
                ..job
            };
            config.checked(job).map(Checked::word)
        };
        let zero = [
            of(TaskAxis::X, 0)?,
            of(TaskAxis::Y, 0)?,
            of(TaskAxis::Z, 0)?,
        ];
        let [first, ..] = zero;
        let shift = (first ^ of(TaskAxis::X, MOST_INCREMENT)?).trailing_zeros();
        Ok(Run { zero, shift })
    }

    /// The job with tasks of all workgroups along the axes below `axis`, `increment` of them along it (1 to 16383; more are
    /// as many), and one along those above.
    pub const fn with(self, axis: TaskAxis, increment: u16) -> Checked {
        let [x, y, z] = self.zero;
        let zero = match axis {
            TaskAxis::X => x,
            TaskAxis::Y => y,
            TaskAxis::Z => z,
        };
        let increment = match increment {
            0 => 1,
            1..=MOST_INCREMENT => increment,
            _ => MOST_INCREMENT,
        };
        Checked(zero | (increment as u64) << self.shift)
    }
}

/// The link from a full chunk to the next: loads its address and length, and jumps there. The length is known when that
/// chunk is full in turn: until then its load is a placeholder.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    words: [u64; LINK_WORDS],
    used: usize,
    length: Load32,
    /// Which of the words loads the length.
    length_word: usize,
}

impl Link {
    /// Words that a chunk keeps free for its link.
    pub const WORDS: usize = LINK_WORDS;

    /// The link to the chunk at `address`, a multiple of 64.
    ///
    /// # Errors
    /// If `address` is not, or the stream has no registers for links.
    pub fn to(address: u64, config: &Config) -> Result<Link, BuildFault> {
        if !address.is_multiple_of(64) {
            return Err(BuildFault::ChunkMisaligned { address });
        }
        let (words, used, length_word) = link_to(address, config)?;
        let links = Config {
            writable: config.layout.kernel(),
            ..*config
        };
        Ok(Link {
            words,
            used,
            length: Load32::new(&links, config.layout.link_length())?,
            length_word,
        })
    }

    /// Its words, with a length of 0.
    pub fn words(&self) -> impl Iterator<Item = Checked> + '_ {
        self.words.iter().take(self.used).map(|word| Checked(*word))
    }

    /// Which of its words loads the length.
    pub const fn length_word(&self) -> usize {
        self.length_word
    }

    /// That word, for a chunk of `bytes`, its own link included.
    pub const fn length(&self, bytes: u32) -> Checked {
        self.length.with(bytes)
    }

    /// The load that [`Self::length`] gives, with the length still to be said.
    pub const fn length_load(&self) -> Load32 {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arch;
    use crate::instr::Nop;

    #[test]
    fn nop_is_the_same_for_every_stream() {
        for arch in [Arch::V10, Arch::V11, Arch::V12, Arch::V13] {
            let checked = Config::new(arch).checked(Nop::default());
            assert_eq!(checked, Ok(Checked::NOP), "{arch:?}");
        }
    }
}

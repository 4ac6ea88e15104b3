//! Fills, updates and copies of buffers, by loads and stores of the command stream.
//!
//! The stream is a slow copier (a line or two of 64 bytes at a time), but it needs no pipeline, no descriptors, no cores and no
//! flush, and takes the same few words whatever the length: right for headers, counters and clears.
//! Facts: hardware/command-stream.md sections 1.6 (loads and stores), 3.2, 3.3 (BRANCH), 6.16 (copies by the stream).

use super::recorder::Recorder;
use crate::error::Error;
use crate::handle::Buffer;
use crate::platform::Platform;
use crate::vm::GpuAddress;
use eitri_cs::enums::Condition;
use eitri_cs::instr::{AddImm32, AddImm64, Branch, LoadMultiple, Move32, StoreMultiple};
use eitri_cs::{Pair, Reg, RegMask, d, r};

/// What one instruction moves: 16 registers.
pub(super) const LINE_WORDS: u8 = 16;
const LINE: u64 = LINE_WORDS as u64 * 4;
/// Registers that no compute job reads: two lines of data, two addresses, a count.
pub(super) const LINES: [Reg; 2] = [r!(40), r!(66)];
const TO: Pair = d!(82);
const FROM: Pair = d!(56);
const ROUNDS: Reg = r!(58);
/// Up to here stores stand one after the other; beyond, a loop has fewer words.
const UNROLLED: u64 = 8;
/// Up to here the data of an update stands in the instructions.
const INLINE: usize = LINE as usize;

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Fills `bytes` of a buffer from `offset` on with a word; both are multiples of 4.
    ///
    /// It may overlap what comes before and after: barriers order it, as [`super::Accesses::TRANSFER_WRITE`]. Of 0 bytes it is no
    /// work, as a dispatch of no workgroups is.
    ///
    /// # Errors
    /// If that is not inside the buffer, or there is no memory for more commands.
    pub fn fill_buffer(
        &mut self,
        buffer: Buffer,
        offset: u64,
        bytes: u64,
        value: u32,
    ) -> Result<&mut Self, Error> {
        let to = self.part_of(buffer, offset, bytes)?;
        if bytes == 0 {
            return Ok(self);
        }
        let [line, _] = LINES;
        let used = (bytes / 4).min(LINE_WORDS.into()) as u8;
        for word in 0..used {
            self.move32(line, word, value)?;
        }
        self.store_lines(to, bytes)?;
        Ok(self)
    }

    /// Stores lines of the same words.
    fn store_lines(&mut self, to: GpuAddress, bytes: u64) -> Result<(), Error> {
        let [line, _] = LINES;
        let (lines, rest) = (bytes / LINE, bytes % LINE);
        self.load_pair(TO, to.0)?;
        if lines <= UNROLLED {
            for place in 0..lines {
                self.store(line, LINE_WORDS, offset_of(place))?;
            }
            if rest > 0 {
                self.store(line, (rest / 4) as u8, offset_of(lines))?;
            }
        } else {
            self.rounds(lines, |it| {
                Ok([
                    it.check(store(line, LINE_WORDS, 0))?,
                    it.check(add(TO, LINE as i32))?,
                ])
            })?;
            if rest > 0 {
                self.store(line, (rest / 4) as u8, 0)?;
            }
        }
        self.wrote();
        Ok(())
    }

    /// Writes `data` into a buffer at `offset`; the offset and its length are multiples of 4. The commands keep the data.
    ///
    /// # Errors
    /// As [`Recorder::fill_buffer`].
    pub fn update_buffer(
        &mut self,
        buffer: Buffer,
        offset: u64,
        data: &[u8],
    ) -> Result<&mut Self, Error> {
        let to = self.part_of(buffer, offset, data.len() as u64)?;
        if data.is_empty() {
            return Ok(self);
        }
        let value = |bytes: &[u8]| {
            let bytes = bytes.first_chunk().copied().unwrap_or_default();
            u32::from_le_bytes(bytes)
        };
        if data.len() <= INLINE {
            let [line, _] = LINES;
            for (bytes, word) in data.chunks_exact(4).zip(0..) {
                self.move32(line, word, value(bytes))?;
            }
            self.load_pair(TO, to.0)?;
            self.store(line, (data.len() / 4) as u8, 0)?;
            self.wrote();
            return Ok(self);
        }
        let bytes = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let (memory, address) = self.room(bytes)?;
        for (bytes, place) in data.chunks_exact(4).zip((0..).step_by(4)) {
            let at = memory.offset(place);
            self.device.hw.platform.store32(at, value(bytes));
        }
        self.copy(address, to, data.len() as u64)?;
        Ok(self)
    }

    /// Copies `bytes` from one buffer, at `from`, into another, at `to`; all are multiples of 4. Parts of one buffer must not
    /// overlap.
    ///
    /// # Errors
    /// As [`Recorder::fill_buffer`].
    pub fn copy_buffer(
        &mut self,
        (source, from): (Buffer, u64),
        (target, to): (Buffer, u64),
        bytes: u64,
    ) -> Result<&mut Self, Error> {
        let from = self.part_of(source, from, bytes)?;
        let to = self.part_of(target, to, bytes)?;
        if bytes > 0 {
            self.copy(from, to, bytes)?;
        }
        Ok(self)
    }

    fn copy(&mut self, from: GpuAddress, to: GpuAddress, bytes: u64) -> Result<(), Error> {
        // What was stored before into the registers' places has been read at issue; loads wait for nothing.
        self.load_pair(FROM, from.0)?;
        self.load_pair(TO, to.0)?;
        let [first, second] = LINES;
        let pair = 2 * LINE;
        let (pairs, rest) = (bytes / pair, bytes % pair);
        let wait = self.words()?.wait_others;
        if pairs > 0 {
            self.rounds(pairs, |it| {
                Ok([
                    it.check(load(first, LINE_WORDS, 0))?,
                    it.check(load(second, LINE_WORDS, LINE as i16))?,
                    wait,
                    it.check(store(first, LINE_WORDS, 0))?,
                    it.check(store(second, LINE_WORDS, LINE as i16))?,
                    it.check(add(FROM, pair as i32))?,
                    it.check(add(TO, pair as i32))?,
                ])
            })?;
        }
        let lines = [(first, 0), (second, LINE)];
        let parts = lines.map(|(line, start)| {
            let words = rest.saturating_sub(start).min(LINE) / 4;
            (line, words as u8, start as i16)
        });
        let parts = || parts.into_iter().filter(|(_, words, _)| *words > 0);
        for (line, words, offset) in parts() {
            self.push(load(line, words, offset))?;
        }
        if rest > 0 {
            self.put(wait)?;
        }
        for (line, words, offset) in parts() {
            self.push(store(line, words, offset))?;
        }
        self.wrote();
        Ok(())
    }

    /// A loop of so many rounds.
    fn rounds<const N: usize>(
        &mut self,
        rounds: u64,
        body: impl FnOnce(&Self) -> Result<[eitri_cs::builder::Checked; N], Error>,
    ) -> Result<(), Error> {
        // More bytes than 2^32 lines do not fit an address space of 48 bits in one buffer.
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        self.push(Move32 {
            destination: ROUNDS,
            immediate: rounds,
        })?;
        let body = body(self)?;
        let count = self.check(AddImm32 {
            destination: ROUNDS,
            source: ROUNDS,
            immediate: -1,
        })?;
        let back = i16::try_from(N).unwrap_or(0).saturating_add(2);
        let branch = self.check(Branch {
            condition: Condition::NotEqual,
            value: ROUNDS,
            offset: back.saturating_neg(),
        })?;
        let mut all: heapless::Vec<_, 16> = heapless::Vec::new();
        // There is room: a body has at most 14 instructions.
        for it in body.into_iter().chain([count, branch]) {
            let _ = all.push(it.word());
        }
        self.put_words(&all)
    }

    fn move32(&mut self, base: Reg, offset: u8, value: u32) -> Result<(), Error> {
        let register = Reg::new(base.number().saturating_add(offset));
        self.push(Move32 {
            destination: register,
            immediate: value,
        })
    }

    pub(crate) fn load_pair(&mut self, to: Pair, value: u64) -> Result<(), Error> {
        let load = self.words()?.any().load64(to);
        let load = load.map_err(super::error::CommandError::Build)?;
        self.load_wide(|_| load, value)
    }

    fn store(&mut self, base: Reg, words: u8, offset: i16) -> Result<(), Error> {
        self.push(store(base, words, offset))
    }

    fn wrote(&mut self) {
        self.running.memory = true;
        self.unflushed = true;
    }
}

/// The offset of a line.
fn offset_of(line: u64) -> i16 {
    i16::try_from(line.saturating_mul(LINE)).unwrap_or(0)
}

fn store(base_register: Reg, words: u8, offset: i16) -> StoreMultiple {
    StoreMultiple {
        base_register,
        mask: RegMask::first(words),
        address: TO,
        offset,
    }
}

fn load(base_register: Reg, words: u8, offset: i16) -> LoadMultiple {
    LoadMultiple {
        base_register,
        mask: RegMask::first(words),
        address: FROM,
        offset,
    }
}

fn add(to: Pair, immediate: i32) -> AddImm64 {
    AddImm64 {
        destination: to,
        source: to,
        immediate,
    }
}

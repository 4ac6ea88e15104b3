//! A stream's register file, with what the model knows about each register.
//!
//! Facts: hardware/command-stream.md 1.4, and the checks 5 to 9 of section 8.

use super::Stream;
use crate::defect::Defect;
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use eitri_cs::{Pair, Reg};

/// What a read gives while a load to the register is outstanding.
const POISON: u32 = 0xdead_10ad;

/// The register file.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    values: [u32; 256],
    /// Registers that exist.
    count: usize,
    written: [u64; 4],
}

impl Registers {
    pub(super) fn new(count: usize) -> Registers {
        Registers {
            values: [0; 256],
            count,
            written: [0; 4],
        }
    }

    /// The value without any check.
    pub(crate) fn raw(&self, number: u8) -> u32 {
        self.values[usize::from(number)]
    }

    pub(crate) fn set_raw(&mut self, number: u8, value: u32) {
        self.values[usize::from(number)] = value;
        self.written[usize::from(number / 64)] |= 1 << (number % 64);
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The register holds what nobody wrote.
    fn forget(&mut self, number: u8) {
        self.written[usize::from(number / 64)] &= !(1 << (number % 64));
    }

    pub(super) fn is_written(&self, number: u8) -> bool {
        self.written[usize::from(number / 64)] >> (number % 64) & 1 != 0
    }
}

/// An instruction cannot be executed: it names a register that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoSuchRegister(pub(super) u32);

impl Stream {
    fn check(&self, number: u32) -> Result<u8, NoSuchRegister> {
        match u8::try_from(number) {
            Ok(small) if usize::from(small) < self.registers.count => Ok(small),
            _ => Err(NoSuchRegister(number)),
        }
    }

    /// The value of a register that an instruction reads.
    pub(super) fn read(
        &self,
        fabric: &mut Fabric,
        word: u64,
        register: u32,
    ) -> Result<u32, NoSuchRegister> {
        let (value, written) = self.look(fabric, word, register)?;
        if !written {
            self.report(fabric, word, StreamMisuse::NeverWritten { register });
        }
        Ok(value)
    }

    /// The value of a register that an instruction reads, and whether anybody wrote it.
    pub(super) fn look(
        &self,
        fabric: &mut Fabric,
        word: u64,
        register: u32,
    ) -> Result<(u32, bool), NoSuchRegister> {
        let number = self.check(register)?;
        self.check_foreign_read(fabric, word, register);
        if self.transfers.iter().any(|transfer| transfer.loads(number)) {
            self.report(fabric, word, StreamMisuse::ReadWhileLoading { register });
            return Ok((POISON, true));
        }
        // Registers 84 to 89 and 116 to 121 are zero at group creation, and drivers rely on it.
        let top = self.registers.count as u32;
        let zeroed = (top - 12..top - 6).contains(&register);
        let written = self.registers.is_written(number) || zeroed;
        Ok((self.registers.raw(number), written))
    }

    /// Copies registers. A copy of what nobody wrote is no use of it: a driver saves a register, sets it for a job and restores it.
    pub(super) fn copy(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        (from, to): (u32, u32),
        count: u32,
    ) -> Result<(), NoSuchRegister> {
        self.check(to + count - 1)?;
        for index in 0..count {
            let (value, written) = self.look(fabric, word, from + index)?;
            self.write(fabric, word, to + index, value)?;
            if !written {
                self.registers.forget((to + index) as u8);
            }
        }
        Ok(())
    }

    pub(super) fn read32(
        &self,
        fabric: &mut Fabric,
        word: u64,
        register: Reg,
    ) -> Result<u32, NoSuchRegister> {
        self.read(fabric, word, register.number().into())
    }

    pub(super) fn read64(
        &self,
        fabric: &mut Fabric,
        word: u64,
        pair: Pair,
    ) -> Result<u64, NoSuchRegister> {
        let first = u32::from(pair.number());
        let low = self.read(fabric, word, first)?;
        let high = self.read(fabric, word, first + 1)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    /// Sets a register that an instruction writes.
    pub(super) fn write(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        register: u32,
        value: u32,
    ) -> Result<(), NoSuchRegister> {
        let number = self.check(register)?;
        self.check_write(fabric, word, number);
        self.check_foreign_write(word, register);
        let stuck = fabric.defects.find(|defect| match defect {
            Defect::StreamRegisterBit { register, bit } if register == number => {
                Some(1 << (bit & 31))
            }
            _ => None,
        });
        self.registers.set_raw(number, value & !stuck.unwrap_or(0));
        Ok(())
    }

    /// Reports a write to a register that a load still writes.
    pub(super) fn check_write(&self, fabric: &mut Fabric, word: u64, number: u8) {
        let register = number.into();
        if self.transfers.iter().any(|transfer| transfer.loads(number)) {
            self.report(fabric, word, StreamMisuse::ReadWhileLoading { register });
        }
    }

    pub(super) fn write32(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        register: Reg,
        value: u32,
    ) -> Result<(), NoSuchRegister> {
        self.write(fabric, word, register.number().into(), value)
    }

    pub(super) fn write64(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        pair: Pair,
        value: u64,
    ) -> Result<(), NoSuchRegister> {
        let first = u32::from(pair.number());
        self.check(first + 1)?;
        self.write(fabric, word, first, value as u32)?;
        self.write(fabric, word, first + 1, (value >> 32) as u32)
    }

    /// The registers that a tuple operand covers must exist.
    pub(super) fn check_tuple(&self, first: Reg, last_offset: u32) -> Result<(), NoSuchRegister> {
        self.check(u32::from(first.number()) + last_offset)
            .map(|_| ())
    }
}

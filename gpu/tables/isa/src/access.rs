//! What an instruction takes: registers that it reads and writes and how much of them, unit and cycles.
//!
//! Facts: hardware/valhall-isa.md sections 2, 3, 4, 11, 14 and 15.

use crate::arch::Arch;
use crate::instr::Instr;
use crate::register::{Mask, RegRange};
use crate::row::{Access, DestKind, Kind, Natural, Source, Unit};
use crate::select::Select;
use crate::source::{Operand, Src};
use crate::values::{
    AtomicOp, Flag, FlatFormat, LoadLane, MemoryWidth, RegisterFormat, RegisterWidth, VectorSize,
    WriteMask,
};

/// Registers that one operand reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegAccess {
    /// The registers.
    pub registers: RegRange,
    /// Bits that are read or written, over all of them; less than 32 a register where only halves or bytes are.
    pub bits: u16,
    /// What names them.
    pub operand: OperandKind,
}

/// The operand behind a [`RegAccess`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandKind {
    /// A source, read when the instruction issues.
    Source {
        /// Which, from 0.
        index: u8,
        /// True if nothing reads the value afterwards.
        last_use: bool,
    },
    /// The destination, written when the instruction has executed.
    Dest,
    /// A staging range, read or written some time before the message's slot drains.
    Staging,
}

impl Instr {
    /// The registers that it reads. A destination or lane that keeps the rest of its register is not among them:
    /// see [`Self::keeps_rest`].
    pub fn reads(&self) -> impl Iterator<Item = RegAccess> + '_ {
        let sources = self.row().sources.iter().zip(self.sources());
        let sources = sources
            .enumerate()
            .filter_map(|(index, (spec, source))| read(index, spec, source));
        sources.chain(self.read.and_then(staging))
    }

    /// The registers that it writes.
    pub fn writes(&self) -> impl Iterator<Item = RegAccess> + '_ {
        let dest = self.dest.and_then(|dest| {
            let (count, bits) = match (self.row().dest, dest.mask) {
                (DestKind::None, _) => return None,
                (DestKind::Pair, _) => (2, 64),
                (_, Mask::H0 | Mask::H1) => (1, 16),
                (_, Mask::Both | Mask::Full) => (1, 32),
            };
            let registers = RegRange::new(dest.reg, count)?;
            Some(RegAccess {
                registers,
                bits,
                operand: OperandKind::Dest,
            })
        });
        dest.into_iter()
            .chain(self.write.and_then(staging).map(|access| RegAccess {
                bits: if self.keeps_rest() {
                    self.loaded_bits()
                } else {
                    access.bits
                },
                ..access
            }))
    }

    /// The unit that it goes to, and the cycles that it takes there; 64-bit arithmetic counts double.
    pub fn issue(&self, arch: Arch) -> (Unit, u8) {
        self.row().issue(arch)
    }

    /// True if it writes only a part of a register and keeps the rest, so that the old value matters.
    pub fn keeps_rest(&self) -> bool {
        let half = self
            .dest
            .is_some_and(|dest| matches!(dest.mask, Mask::H0 | Mask::H1));
        half || (self.write.is_some() && self.loaded_bits() != 0)
    }

    /// Bits that a load writes where it writes less than a register; else 0.
    fn loaded_bits(&self) -> u16 {
        match self.get::<LoadLane>() {
            Some(LoadLane::B0 | LoadLane::B1 | LoadLane::B2 | LoadLane::B3) => 8,
            Some(LoadLane::H0 | LoadLane::H1) => 16,
            _ => 0,
        }
    }

    /// Components of 16 bits that it interpolates, if it loads varyings; else 0.
    pub fn interpolated(&self) -> u32 {
        let row = self.row();
        match (row.kind, self.get::<VectorSize>()) {
            (Kind::Varying, Some(size)) => {
                u32::from(size.components()) * u32::from(row.ty.bits()) / 16
            }
            (Kind::Varying, None) => u32::from(row.ty.bits()) / 16,
            _ => 0,
        }
    }

    /// How many registers the staging range should have, from the modifiers; `None` if it has no such range, or the
    /// number depends on more than the instruction.
    pub fn natural_count(&self, access: Access) -> Option<u8> {
        let row = self.row();
        let vector = |bits: u8| {
            let components = self.get::<VectorSize>()?.components();
            Some(if bits == 16 {
                components.div_ceil(2)
            } else {
                components
            })
        };
        match row.staging(access)?.natural {
            Natural::Fixed(count) => Some(count),
            Natural::Memory if self.get() == Some(LoadLane::D0) => Some(2),
            Natural::Memory => {
                let bits = match self.get::<MemoryWidth>() {
                    Some(width) => [8, 16, 24, 32, 48, 64, 96, 128][width as usize],
                    None => row.ty.bits(),
                };
                Some(bits.div_ceil(32))
            }
            Natural::Vector => vector(self.get::<RegisterFormat>()?.bits()),
            Natural::VectorOfType => vector(row.ty.bits()),
            Natural::VectorOfFormat => vector(match self.get::<FlatFormat>()? {
                FlatFormat::Flat32 => 32,
                FlatFormat::Flat16 => 16,
            }),
            Natural::AtomicOperand => {
                let short = matches!(self.atomic_op(), Some(AtomicOp::Aaddu | AtomicOp::Aadds));
                let words = if short { 1 } else { row.ty.bits() / 32 };
                Some(if self.flag(Flag::Compare) {
                    2 * words
                } else {
                    words
                })
            }
            Natural::AtomicResult => Some(row.ty.bits() / 32),
            Natural::TextureResult => {
                let components = self.get::<WriteMask>()?.components();
                Some(match self.get::<RegisterWidth>()? {
                    RegisterWidth::W16 => components.div_ceil(2),
                    RegisterWidth::W32 => components,
                })
            }
            Natural::TexturePayload | Natural::Unknown => None,
        }
    }
}

fn staging(registers: RegRange) -> Option<RegAccess> {
    let bits = 32 * u16::from(registers.count());
    (!registers.is_empty()).then_some(RegAccess {
        registers,
        bits,
        operand: OperandKind::Staging,
    })
}

fn read(index: usize, spec: &Source, source: &Src) -> Option<RegAccess> {
    let Operand::Register { reg, last_use } = source.operand else {
        return None;
    };
    // A selection of no more than a word reads one register of a pair; the high word means both.
    let count = if spec.size == 64 && matches!(source.select, Select::Identity | Select::W1) {
        2
    } else {
        1
    };
    let bits = match source.select {
        Select::H0 | Select::H1 | Select::H00 | Select::H11 => 16,
        Select::B0 | Select::B1 | Select::B2 | Select::B3 => 8,
        Select::W0 => 32,
        _ => u16::from(spec.size).max(32).min(32 * u16::from(count)),
    };
    let operand = OperandKind::Source {
        index: index as u8,
        last_use,
    };
    Some(RegAccess {
        registers: RegRange::new(reg, count)?,
        bits,
        operand,
    })
}

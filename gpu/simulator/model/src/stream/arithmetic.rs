//! The arithmetic of streams: moves, additions, shifts, bit fields, logic.
//!
//! Facts: hardware/command-stream.md 3.1.

// FACT: results for shift counts and fields beyond the width are not established (hardware/command-stream.md 10, 17; no
// driver emits any): counts use their low bits, a field beyond the width is cut, and width 0 gives 0 or leaves the source
// alone. Settled by running each on a v13 board.

use super::Stream;
use super::registers::NoSuchRegister;
use crate::fabric::Fabric;
use crate::fidelity::Inexact;
use eitri_cs::Instr;
use eitri_cs::enums::LogicIndex;

/// The bits of `value` from `position` on, `width` of them, extended.
fn extract(value: u64, position: u8, width: u8, bits: u32, signed: bool) -> u64 {
    let width = u32::from(width).min(bits.saturating_sub(position.into()));
    if width == 0 {
        return 0;
    }
    let up = 64 - width;
    let field = value >> position << up;
    if signed {
        ((field as i64) >> up) as u64
    } else {
        field >> up
    }
}

/// `value` with `width` bits at `position` replaced by the low bits of `inserted`.
fn insert(value: u64, position: u8, width: u8, inserted: u64) -> u64 {
    let (position, width) = (u32::from(position), u32::from(width));
    if position >= 64 || width == 0 {
        return value;
    }
    let mask = (u64::MAX >> 64u32.saturating_sub(width).min(63)) << position;
    value & !mask | inserted << position & mask
}

/// Whether an instruction shifts by the width or more, or has a field beyond it.
fn is_beyond(instr: &Instr) -> bool {
    let field = |position: u8, width: u8, bits: u16| {
        width == 0 || u16::from(position) + u16::from(width) > bits
    };
    match instr {
        Instr::LshiftImm32(i) => i.shift_amount >= 32,
        Instr::RshiftImmU32(i) => i.shift_amount >= 32,
        Instr::RshiftImmS32(i) => i.shift_amount >= 32,
        Instr::LshiftImm64(i) => i.shift_amount >= 64,
        Instr::RshiftImmU64(i) => i.shift_amount >= 64,
        Instr::RshiftImmS64(i) => i.shift_amount >= 64,
        Instr::BfextU32(i) => field(i.position, i.width, 32),
        Instr::BfextS32(i) => field(i.position, i.width, 32),
        Instr::BfextU64(i) => field(i.position, i.width, 64),
        Instr::BfextS64(i) => field(i.position, i.width, 64),
        Instr::BfinsImm32(i) => field(i.position, i.width, 32),
        Instr::BfinsImm64(i) => field(i.position, i.width, 64),
        Instr::Bfins32(i) => field(i.position, i.width, 32),
        Instr::Bfins64(i) => field(i.position, i.width, 64),
        _ => false,
    }
}

impl Stream {
    /// Whether an instruction shifts by a register that holds the width or more.
    fn shifts_beyond(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        instr: &Instr,
    ) -> Result<bool, NoSuchRegister> {
        Ok(match instr {
            Instr::Lshift32(i) => self.read32(fabric, word, i.source_1)? >= 32,
            Instr::RshiftU32(i) => self.read32(fabric, word, i.source_1)? >= 32,
            Instr::RshiftS32(i) => self.read32(fabric, word, i.source_1)? >= 32,
            Instr::Lshift64(i) => self.read64(fabric, word, i.source_1)? >= 64,
            Instr::RshiftU64(i) => self.read64(fabric, word, i.source_1)? >= 64,
            Instr::RshiftS64(i) => self.read64(fabric, word, i.source_1)? >= 64,
            _ => false,
        })
    }

    /// Executes `instr` if it is arithmetic; `false` if it is not.
    pub(super) fn compute(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        instr: &Instr,
    ) -> Result<bool, NoSuchRegister> {
        /// One operation with a 32-bit or 64-bit result of a source.
        macro_rules! unary {
            ($i:expr, $read:ident, $write:ident, $f:expr) => {{
                let source = self.$read(fabric, word, $i.source)?;
                self.$write(fabric, word, $i.destination, $f(source))?
            }};
        }
        /// One operation of two sources.
        macro_rules! binary {
            ($i:expr, $read:ident, $write:ident, $f:expr) => {{
                let a = self.$read(fabric, word, $i.source_0)?;
                let b = self.$read(fabric, word, $i.source_1)?;
                self.$write(fabric, word, $i.destination, $f(a, b))?
            }};
        }
        if fabric.fidelity.is_on()
            && (is_beyond(instr) || self.shifts_beyond(fabric, word, instr)?)
        {
            fabric.fidelity.meet(Inexact::StreamShifts);
        }
        match instr {
            Instr::Nop(_) => {}
            Instr::Move48(i) => self.write64(fabric, word, i.destination, i.immediate)?,
            Instr::Move32(i) => self.write32(fabric, word, i.destination, i.immediate)?,
            Instr::AddImm32(i) if i.immediate == 0 => {
                let (from, to) = (i.source.number(), i.destination.number());
                self.copy(fabric, word, (from.into(), to.into()), 1)?;
            }
            Instr::AddImm64(i) if i.immediate == 0 => {
                let (from, to) = (i.source.number(), i.destination.number());
                self.copy(fabric, word, (from.into(), to.into()), 2)?;
            }
            Instr::AddImm32(i) => unary!(i, read32, write32, |s: u32| s
                .wrapping_add_signed(i.immediate)),
            Instr::AddImm64(i) => unary!(i, read64, write64, |s: u64| s
                .wrapping_add_signed(i.immediate.into())),
            Instr::LshiftImm32(i) => {
                unary!(i, read32, write32, |s: u32| s << (i.shift_amount & 31))
            }
            Instr::RshiftImmU32(i) => {
                unary!(i, read32, write32, |s: u32| s >> (i.shift_amount & 31))
            }
            Instr::RshiftImmS32(i) => {
                unary!(
                    i,
                    read32,
                    write32,
                    |s: u32| ((s as i32) >> (i.shift_amount & 31)) as u32
                );
            }
            Instr::LshiftImm64(i) => {
                unary!(i, read64, write64, |s: u64| s << (i.shift_amount & 63))
            }
            Instr::RshiftImmU64(i) => {
                unary!(i, read64, write64, |s: u64| s >> (i.shift_amount & 63))
            }
            Instr::RshiftImmS64(i) => {
                unary!(
                    i,
                    read64,
                    write64,
                    |s: u64| ((s as i64) >> (i.shift_amount & 63)) as u64
                );
            }
            Instr::BfextU32(i) => unary!(i, read32, write32, |s: u32| {
                extract(s.into(), i.position & 31, i.width, 32, false) as u32
            }),
            Instr::BfextS32(i) => unary!(i, read32, write32, |s: u32| {
                extract(s.into(), i.position & 31, i.width, 32, true) as u32
            }),
            Instr::BfextU64(i) => unary!(i, read64, write64, |s: u64| {
                extract(s, i.position & 63, i.width, 64, false)
            }),
            Instr::BfextS64(i) => unary!(i, read64, write64, |s: u64| {
                extract(s, i.position & 63, i.width, 64, true)
            }),
            Instr::BfinsImm32(i) => unary!(i, read32, write32, |s: u32| {
                insert(s.into(), i.position, i.width, i.imm.into()) as u32
            }),
            Instr::BfinsImm64(i) => unary!(i, read64, write64, |s: u64| {
                insert(s, i.position, i.width, i.imm.into())
            }),
            Instr::UminImm32(i) => unary!(i, read32, write32, |s: u32| s.min(i.immediate)),
            Instr::UminImm64(i) => unary!(i, read64, write64, |s: u64| s.min(i.immediate.into())),
            Instr::Umin32(i) => binary!(i, read32, write32, |a: u32, b: u32| a.min(b)),
            Instr::Add32(i) => binary!(i, read32, write32, u32::wrapping_add),
            Instr::Sub32(i) => binary!(i, read32, write32, u32::wrapping_sub),
            Instr::Lshift32(i) => binary!(i, read32, write32, u32::wrapping_shl),
            Instr::RshiftU32(i) => binary!(i, read32, write32, u32::wrapping_shr),
            Instr::RshiftS32(i) => binary!(i, read32, write32, |a: u32, b: u32| {
                (a as i32).wrapping_shr(b) as u32
            }),
            Instr::Bfins32(i) => binary!(i, read32, write32, |a: u32, b: u32| {
                insert(a.into(), i.position, i.width, b.into()) as u32
            }),
            Instr::Umin64(i) => binary!(i, read64, write64, |a: u64, b: u64| a.min(b)),
            Instr::Add64(i) => binary!(i, read64, write64, u64::wrapping_add),
            Instr::Sub64(i) => binary!(i, read64, write64, u64::wrapping_sub),
            Instr::Lshift64(i) => binary!(i, read64, write64, |a: u64, b: u64| a << (b & 63)),
            Instr::RshiftU64(i) => binary!(i, read64, write64, |a: u64, b: u64| a >> (b & 63)),
            Instr::RshiftS64(i) => binary!(i, read64, write64, |a: u64, b: u64| {
                ((a as i64) >> (b & 63)) as u64
            }),
            Instr::Bfins64(i) => binary!(i, read64, write64, |a: u64, b: u64| {
                insert(a, i.position, i.width, b)
            }),
            Instr::LogicOp32(i) => binary!(i, read32, write32, |a: u32, b: u32| {
                let b = match i.index {
                    LogicIndex::Direct => b,
                    LogicIndex::Index => 1 << (b & 31),
                };
                // The mode is the truth table: bit 0 for both set, 1 for a alone, 2 for b alone, 3 for neither.
                let row = |bit: u32, inputs: u32| {
                    if i.mode as u32 >> bit & 1 != 0 {
                        inputs
                    } else {
                        0
                    }
                };
                row(0, a & b) | row(1, a & !b) | row(2, !a & b) | row(3, !a & !b)
            }),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_fields_are_cut_at_the_width() {
        assert_eq!(extract(0xabcd, 4, 8, 32, false), 0xbc);
        assert_eq!(extract(0xabcd, 4, 8, 32, true), 0xffff_ffff_ffff_ffbc);
        assert_eq!(extract(0xffff_ffff, 28, 8, 32, false), 0xf);
        assert_eq!(extract(0xffff_ffff, 0, 0, 32, true), 0);
        assert_eq!(insert(0xffff, 4, 8, 0x12), 0xf12f);
        assert_eq!(insert(0xffff, 4, 0, 0x12), 0xffff);
        assert_eq!(insert(0, 0, 64, u64::MAX), u64::MAX);
        assert_eq!(insert(0, 60, 255, 0xff), 0xf000_0000_0000_0000);
    }
}

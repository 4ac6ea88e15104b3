//! Memory by address: global, shared and private (category 6), and places of the program.
//!
//! Facts: hardware/ir3-isa.md sections 12 and 16.

use eitri_ir3_isa::{Field, Gen, Op, Operand, Reg, Type};

use super::Step;
use crate::fault::FaultKind;
use crate::memory::{load, slice, store};

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Global,
    Local,
    Private,
}

impl Step<'_> {
    pub(super) fn memory(&mut self) -> Result<(), FaultKind> {
        match self.instr.op() {
            Op::Ldg | Op::LdgA | Op::LdgABytes => self.load_vector(Space::Global),
            Op::Stg | Op::StgA | Op::StgABytes => self.store_vector(Space::Global),
            Op::Ldl => self.load_vector(Space::Local),
            Op::Stl => self.store_vector(Space::Local),
            Op::Ldp => self.load_vector(Space::Private),
            Op::Stp => self.store_vector(Space::Private),
            Op::Getfiberid => {
                let dst = self.register(Field::Dst)?;
                self.each_lane(|step, lane| step.set_element(dst, 0, lane, lane))
            }
            Op::LdibB | Op::StibB | Op::ResinfoB | Op::Ldc => self.resource(),
            op => match atomic(op) {
                Some((Atomics::Resource, change)) => self.resource_atomic(change),
                Some((Atomics::Local, change)) => self.address_atomic(Space::Local, change),
                Some((Atomics::Global, change)) => self.address_atomic(Space::Global, change),
                None => Err(FaultKind::NotModelled("this access to memory")),
            },
        }
    }

    /// The type of what is moved.
    pub(super) fn data_type(&self) -> Type {
        self.instr.type_of(Field::Type).unwrap_or(Type::U32)
    }

    /// A number in two registers or constants.
    fn pair(&self, field: Field, lane: u32) -> Result<u64, FaultKind> {
        let (low, high) = match self.field(field)?.operand {
            Operand::Reg(reg) => (self.element(reg, 0, lane)?, self.element(reg, 1, lane)?),
            Operand::Const(constant, _) => {
                let number = i32::from(constant.number());
                (self.constant(number)?, self.constant(number + 1)?)
            }
            _ => return Err(FaultKind::Unknown("an address that is no pair")),
        };
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    /// The address of a load or store in a lane.
    fn address(&self, space: Space, lane: u32) -> Result<u64, FaultKind> {
        let number = |field| self.instr.number(field).unwrap_or(0);
        let offset = number(Field::Off);
        let register = |field| self.element(self.register(field)?, 0, lane);
        match self.instr.op() {
            Op::Ldg | Op::Stg => {
                // FACT: the unit of this offset is dwords by compiler practice alone (hardware/ir3-isa.md 12 and 20), bytes on a5xx and
                // a7xx. Settled by a load with an offset on an a6xx.
                let unit = if self.generation == Gen::A6xx { 4 } else { 1 };
                let base = self.pair(Field::Src1, lane)?;
                Ok(base.wrapping_add_signed(offset * unit))
            }
            Op::LdgA | Op::StgA => {
                let base = self.pair(Field::Src1, lane)?;
                let shift = number(Field::Src2AddDwordShift);
                let index = i64::from(register(Field::Src2)?);
                let bytes = match shift {
                    0 => (index + offset) << 2,
                    shift => (index << (2 + shift)) + (offset << 2),
                };
                Ok(base.wrapping_add_signed(bytes))
            }
            Op::LdgABytes | Op::StgABytes => {
                let base = self.pair(Field::Src1, lane)?;
                let index = u64::from(register(Field::Src2)?);
                Ok(base.wrapping_add(index).wrapping_add_signed(offset))
            }
            _ => {
                let stores = matches!(self.instr.op(), Op::Stl | Op::Stp);
                let field = if stores { Field::Dst } else { Field::Src };
                let base = i64::from(register(field)?);
                let address = base + offset;
                u64::try_from(address).map_err(|_| outside(space, address as u64, 0))
            }
        }
    }

    /// The bytes of an element.
    fn bytes(
        &mut self,
        space: Space,
        address: u64,
        size: u32,
        lane: u32,
    ) -> Result<&mut [u8], FaultKind> {
        if !address.is_multiple_of(u64::from(size)) {
            return Err(FaultKind::Alignment { address, size });
        }
        let length = size as usize;
        let found = match space {
            Space::Global => self.memory.at(address, length),
            Space::Local => slice(self.local, address, length),
            Space::Private => {
                let of_lane = self.launch.private_bytes as usize;
                let start = of_lane * lane as usize;
                let own = self.wave.private.get_mut(start..start + of_lane);
                own.and_then(|own| slice(own, address, length))
            }
        };
        found.ok_or(outside(space, address, size))
    }

    fn load_vector(&mut self, space: Space) -> Result<(), FaultKind> {
        let (dst, size) = (self.register(Field::Dst)?, self.data_type().bits_wide() / 8);
        let dst = Reg::of_number(dst.number(), self.data_type().width());
        let count = self.instr.number(Field::Size).unwrap_or(0) as u32;
        let mut values = Vec::new();
        self.each_lane(|step, lane| {
            let address = step.address(space, lane)?;
            for index in 0..count {
                let address = address.wrapping_add(u64::from(index * size));
                let value = load(step.bytes(space, address, size, lane)?);
                values.push((lane, index, step.extended(value)));
            }
            Ok(())
        })?;
        for (lane, index, value) in values {
            self.set_element(dst, index, lane, value)?;
        }
        Ok(())
    }

    /// A loaded value as its register holds it.
    pub(super) fn extended(&self, value: u32) -> u32 {
        match self.data_type() {
            Type::S8 => value as i8 as u32 & 0xFFFF,
            _ => value,
        }
    }

    fn store_vector(&mut self, space: Space) -> Result<(), FaultKind> {
        let field = if space == Space::Global {
            Field::Src3
        } else {
            Field::Src
        };
        let (src, size) = (self.register(field)?, self.data_type().bits_wide() / 8);
        let src = Reg::of_number(src.number(), self.data_type().width());
        let count = self.instr.number(Field::Size).unwrap_or(0) as u32;
        self.each_lane(|step, lane| {
            let address = step.address(space, lane)?;
            for index in 0..count {
                let value = step.element(src, index, lane)?;
                let address = address.wrapping_add(u64::from(index * size));
                store(step.bytes(space, address, size, lane)?, value);
            }
            Ok(())
        })
    }

    /// An atomic operation on memory by address: one lane after the other.
    fn address_atomic(&mut self, space: Space, change: Change) -> Result<(), FaultKind> {
        let dst = self.register(Field::Dst)?;
        let data = self.field(Field::Src2)?;
        self.each_lane(|step, lane| {
            let address = match (space, step.field(Field::Src1)?.operand) {
                (Space::Global, _) => step.pair(Field::Src1, lane)?,
                (_, Operand::Reg(reg)) => u64::from(step.element(reg, 0, lane)?),
                (_, Operand::Imm(value, _)) => value as u64,
                _ => return Err(FaultKind::Unknown("this address of an atomic")),
            };
            let (value, compare) = match data.operand {
                Operand::Reg(reg) if change == Change::CompareExchange => {
                    (step.element(reg, 0, lane)?, step.element(reg, 1, lane)?)
                }
                Operand::Reg(reg) => (step.element(reg, 0, lane)?, 0),
                Operand::Imm(value, _) => (value as u32, 0),
                _ => return Err(FaultKind::Unknown("these data of an atomic")),
            };
            let signed = step.data_type().is_signed();
            let bytes = step.bytes(space, address, 4, lane)?;
            let old = load(bytes);
            store(bytes, change.apply(old, value, compare, signed)?);
            step.set_element(dst, 0, lane, old)
        })
    }
}

fn outside(space: Space, address: u64, size: u32) -> FaultKind {
    let what = match space {
        Space::Global => "global memory",
        Space::Local => "shared memory",
        Space::Private => "private memory",
    };
    FaultKind::OutOfBounds {
        what,
        address,
        size,
    }
}

/// What an atomic operation is done on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Atomics {
    Local,
    Global,
    Resource,
}

/// What an atomic operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Add,
    Sub,
    Exchange,
    CompareExchange,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// Increments and decrements, whose rule for wrapping is not known.
    Step,
}

impl Change {
    pub(super) fn apply(
        self,
        old: u32,
        value: u32,
        compare: u32,
        signed: bool,
    ) -> Result<u32, FaultKind> {
        let less = if signed {
            (old as i32) < value as i32
        } else {
            old < value
        };
        Ok(match self {
            Self::Add => old.wrapping_add(value),
            Self::Sub => old.wrapping_sub(value),
            Self::Exchange => value,
            Self::CompareExchange => {
                if old == compare {
                    value
                } else {
                    old
                }
            }
            Self::Min => {
                if less {
                    old
                } else {
                    value
                }
            }
            Self::Max => {
                if less {
                    value
                } else {
                    old
                }
            }
            Self::And => old & value,
            Self::Or => old | value,
            Self::Xor => old ^ value,
            Self::Step => return Err(FaultKind::Unknown("where atomic.inc and atomic.dec wrap")),
        })
    }
}

/// What an atomic instruction is.
#[rustfmt::skip]
const fn atomic(op: Op) -> Option<(Atomics, Change)> {
    use Atomics::{Global, Local, Resource};
    use Change::{Add, And, CompareExchange, Exchange, Max, Min, Or, Sub, Xor};
    Some(match op {
        Op::AtomicAdd     => (Local, Add),
        Op::AtomicSub     => (Local, Sub),
        Op::AtomicXchg    => (Local, Exchange),
        Op::AtomicCmpxchg => (Local, CompareExchange),
        Op::AtomicMin     => (Local, Min),
        Op::AtomicMax     => (Local, Max),
        Op::AtomicAnd     => (Local, And),
        Op::AtomicOr      => (Local, Or),
        Op::AtomicXor     => (Local, Xor),
        Op::AtomicInc | Op::AtomicDec => (Local, Change::Step),
        Op::AtomicGAdd     => (Global, Add),
        Op::AtomicGSub     => (Global, Sub),
        Op::AtomicGXchg    => (Global, Exchange),
        Op::AtomicGCmpxchg => (Global, CompareExchange),
        Op::AtomicGMin     => (Global, Min),
        Op::AtomicGMax     => (Global, Max),
        Op::AtomicGAnd     => (Global, And),
        Op::AtomicGOr      => (Global, Or),
        Op::AtomicGXor     => (Global, Xor),
        Op::AtomicGInc | Op::AtomicGDec => (Global, Change::Step),
        Op::AtomicBAdd     => (Resource, Add),
        Op::AtomicBSub     => (Resource, Sub),
        Op::AtomicBXchg    => (Resource, Exchange),
        Op::AtomicBCmpxchg => (Resource, CompareExchange),
        Op::AtomicBMin     => (Resource, Min),
        Op::AtomicBMax     => (Resource, Max),
        Op::AtomicBAnd     => (Resource, And),
        Op::AtomicBOr      => (Resource, Or),
        Op::AtomicBXor     => (Resource, Xor),
        _ => return None,
    })
}

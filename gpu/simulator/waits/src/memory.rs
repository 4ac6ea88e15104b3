//! Accesses to memory whose bytes are known to be the same: the same address operand, and offsets that meet.
//!
//! Other accesses may meet too, where two operands hold the same address. That can't be seen in the words, and is not reported.

use eitri_isa::meaning::{Access, Operation};
use eitri_isa::{ImmId, Instr, Operand, Src};

/// An access by an address.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct MemoryAccess {
    base: Src,
    first: i64,
    end: i64,
    writes: bool,
}

impl MemoryAccess {
    /// The access of an instruction, if it makes one by an address.
    pub(crate) fn of(instr: &Instr) -> Option<MemoryAccess> {
        let writes = match instr.row().operation() {
            Operation::Load {
                from: Access::Address,
            } => false,
            Operation::Store {
                to: Access::Address,
            }
            | Operation::Atomic
            | Operation::AtomicByOne => true,
            _ => return None,
        };
        let mut base = instr.source(0)?;
        if let Operand::Register { last_use, .. } = &mut base.operand {
            *last_use = false;
        }
        let first = instr.imm(ImmId::Offset).unwrap_or(0);
        let bytes = i64::from(instr.row().ty.bits()) / 8;
        Some(MemoryAccess {
            base,
            first,
            end: first + bytes,
            writes,
        })
    }

    /// True if the two must happen in order, provided that the address operand holds the same value for both.
    pub(crate) fn conflicts(&self, other: &MemoryAccess) -> bool {
        self.base == other.base
            && self.first < other.end
            && other.first < self.end
            && (self.writes || other.writes)
    }

    /// The registers that hold the address, a bit each.
    pub(crate) fn address_registers(&self) -> u64 {
        match self.base.operand {
            Operand::Register { reg, .. } => 3 << reg.index(),
            Operand::Uniform(_) | Operand::Constant(_) | Operand::Special { .. } => 0,
        }
    }
}

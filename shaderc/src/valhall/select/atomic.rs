//! Atomics: on buffers and on workgroup memory, with a result only where somebody reads it.
//!
//! Facts: hardware/compiler-abi.md 2.7, hardware/valhall-isa.md 11.11.

use super::Selector;
use super::memory::{Location, Reach, space_of};
use crate::ir::{self, Access, AtomicOp, InstData, Type};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{Instr, Modifier, Op, Space, Word, Words};
use smallvec::smallvec;

fn word(atomic: AtomicOp) -> Modifier {
    match atomic {
        AtomicOp::Add => Modifier::AtomAdd,
        AtomicOp::SMin => Modifier::AtomSmin,
        AtomicOp::SMax => Modifier::AtomSmax,
        AtomicOp::UMin => Modifier::AtomUmin,
        AtomicOp::UMax => Modifier::AtomUmax,
        AtomicOp::And => Modifier::AtomAnd,
        AtomicOp::Or => Modifier::AtomOr,
        AtomicOp::Xor => Modifier::AtomXor,
        AtomicOp::Exchange | AtomicOp::CompareExchange => Modifier::AtomExchange,
    }
}

impl Selector<'_> {
    pub(super) fn atomic(
        &mut self,
        atomic: AtomicOp,
        access: Access,
        data: &InstData,
    ) -> Result<(), Unsupported> {
        let operands = &data.args[access.address_operands()..];
        self.atomic_at(
            (atomic, access.elem),
            operands,
            data.results[0],
            space_of(access),
            |this, reach| this.locate(access, data, reach),
        )
    }

    /// An atomic on an element at the place that `locate` makes.
    pub(super) fn atomic_at(
        &mut self,
        (atomic, elem): (AtomicOp, Type),
        operands: &[ir::Value],
        result: ir::Value,
        space: Space,
        locate: impl FnOnce(&mut Self, Reach) -> Result<Location, Unsupported>,
    ) -> Result<(), Unsupported> {
        let read = self.users.are_there(result);
        let value = operands[0];
        let wide = elem == Type::W64;
        let minus_one = elem.mask();
        let by_one = match (atomic, self.ir.as_bits(value)) {
            (AtomicOp::Add, Some(1)) => Some(Modifier::AtomInc),
            (AtomicOp::Add, Some(bits)) if bits == minus_one => Some(Modifier::AtomDec),
            _ => None,
        };
        let mut staging = Words::new();
        if !(by_one.is_some() && read) {
            for &arg in operands {
                match wide {
                    true => staging.extend(self.wide_words(arg)),
                    false => staging.push(self.in_register(arg)),
                }
            }
        }
        let reach = match wide {
            true => Reach::AtomicWide,
            false => Reach::Atomic,
        };
        let Location { address, offset } = locate(self, reach)?;
        let space = Some(space);
        let base = Instr {
            sources: smallvec![address],
            immediate: Some(offset),
            space,
            ..Instr::new(if wide { Op::Atom64 } else { Op::Atom })
        };
        let (returns, returns_by_one, dests) = match wide {
            true => {
                let dests = Words::from(self.wide_result(result));
                (Op::AtomReturn64, Op::Atom1Return64, dests)
            }
            false => {
                let dests = smallvec![Word::Value(self.word(result))];
                (Op::AtomReturn, Op::Atom1Return, dests)
            }
        };
        let instr = match by_one {
            Some(modifier) if read => Instr {
                op: returns_by_one,
                dests,
                ..base
            }
            .with(modifier),
            _ if atomic == AtomicOp::CompareExchange => Instr {
                op: returns,
                dests,
                staging,
                ..base
            }
            .with(word(atomic))
            .with(Modifier::Compare),
            // An exchange always returns: that is the only form in which it is known to exist.
            _ if read || atomic == AtomicOp::Exchange => Instr {
                op: returns,
                dests,
                staging,
                ..base
            }
            .with(word(atomic)),
            _ => Instr { staging, ..base }.with(word(atomic)),
        };
        self.emit(instr);
        Ok(())
    }
}

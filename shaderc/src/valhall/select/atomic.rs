//! Atomics: on buffers and on workgroup memory, with a result only where somebody reads it.
//!
//! Facts: hardware/compiler-abi.md 2.7, hardware/valhall-isa.md 11.11.

use super::Selector;
use super::memory::{Location, Reach, space_of};
use crate::ir::{Access, AtomicOp, InstData};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{Instr, Modifier, Op, Word};

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
        let result = data.results[0];
        let users = &self.users[result.index()];
        let read = !users.insts.is_empty() || users.others > 0;
        let value = data.args[access.address_operands()];
        let by_one = match (atomic, self.ir.as_word(value)) {
            (AtomicOp::Add, Some(1)) => Some(Modifier::AtomInc),
            (AtomicOp::Add, Some(u32::MAX)) => Some(Modifier::AtomDec),
            _ => None,
        };
        let mut staging = Vec::new();
        if !(by_one.is_some() && read) {
            staging = data.args[access.address_operands()..]
                .iter()
                .map(|&arg| self.in_register(arg))
                .collect();
        }
        let Location { address, offset } = self.locate(access, data, Reach::Atomic)?;
        let space = Some(space_of(access));
        let base = Instr {
            sources: vec![address],
            immediate: Some(offset),
            space,
            ..Instr::new(Op::Atom)
        };
        let dests = vec![Word::Value(self.word(result))];
        let instr = match by_one {
            Some(modifier) if read => Instr {
                op: Op::Atom1Return,
                dests,
                ..base
            }
            .with(modifier),
            _ if atomic == AtomicOp::CompareExchange => Instr {
                op: Op::AtomReturn,
                dests,
                staging,
                ..base
            }
            .with(word(atomic))
            .with(Modifier::Compare),
            // An exchange always returns: that is the only form in which it is known to exist.
            _ if read || atomic == AtomicOp::Exchange => Instr {
                op: Op::AtomReturn,
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

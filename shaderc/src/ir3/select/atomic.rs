//! Atomics: on buffers, on shared memory, and by address.
//!
//! Facts: hardware/ir3-isa.md 12.

use smallvec::smallvec;

use super::Selector;
use super::memory::accessing;
use crate::ir::{self, Access, AtomicOp, BindingKind, InstData};
use crate::ir3::mir::{AtomicKind, Instr, Op, Source, Type, Word, Words};

/// The machine's operation, and the type that says how its operand is compared.
pub(super) fn kind(atomic: AtomicOp) -> (AtomicKind, Type) {
    match atomic {
        AtomicOp::Add => (AtomicKind::Add, Type::U32),
        AtomicOp::SMin => (AtomicKind::Min, Type::S32),
        AtomicOp::SMax => (AtomicKind::Max, Type::S32),
        AtomicOp::UMin => (AtomicKind::Min, Type::U32),
        AtomicOp::UMax => (AtomicKind::Max, Type::U32),
        AtomicOp::And => (AtomicKind::And, Type::U32),
        AtomicOp::Or => (AtomicKind::Or, Type::U32),
        AtomicOp::Xor => (AtomicKind::Xor, Type::U32),
        AtomicOp::Exchange => (AtomicKind::Exchange, Type::U32),
        AtomicOp::CompareExchange => (AtomicKind::CompareExchange, Type::U32),
    }
}

impl Selector<'_> {
    pub(super) fn atomic(&mut self, atomic: AtomicOp, access: Access, data: &InstData) {
        if access.elem != ir::Type::W32 {
            self.refuse("an atomic of 64 bits");
            return;
        }
        let operands = data.args[access.address_operands()..].iter();
        let words: Words = operands.map(|&value| self.in_register(value)).collect();
        let (atomic, ty) = kind(atomic);
        let base = match access.space {
            ir::Space::Buffer => {
                let Some(descriptor) = self.descriptor(data.args[0]) else {
                    return;
                };
                if descriptor.kind != BindingKind::Storage {
                    self.refuse("an atomic on what is no storage buffer");
                    return;
                }
                let index = self.word_index(data.args[1]);
                Instr {
                    set: Some(descriptor.set),
                    ..Instr::on(Op::AtomicBuffer, &[Source::word(index), descriptor.number])
                }
            }
            ir::Space::Shared => {
                let address = self.in_register(data.args[0]);
                Instr::on(Op::AtomicLocal, &[Source::word(address)])
            }
            ir::Space::Global => {
                let pair = self.pair(data.args[0]);
                Instr::on(Op::AtomicGlobal, &[pair])
            }
            ir::Space::Scratch | ir::Space::Data => {
                self.refuse("an atomic on memory of one invocation");
                return;
            }
        };
        let instr = Instr {
            dests: smallvec![Word::Value(self.word(data.results[0]))],
            data: words,
            atomic: Some(atomic),
            types: Some((ty, ty)),
            ..base
        };
        self.emit(accessing(access, instr));
    }
}

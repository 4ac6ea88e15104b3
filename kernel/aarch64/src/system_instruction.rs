//! A system instruction that was trapped, as the syndrome tells it.
//!
//! Facts: the ISS encoding is the architecture's.

use crate::Syndrome;
use bitfield::bitfield;

bitfield! {
    /// An ESR value whose class is a system instruction.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) struct SystemInstruction(u64);
    impl Debug;
    /// A read (`MRS`, `SYSL`).
    bool, is_read, _: 0;
    u8, crm, _: 4, 1;
    /// The general register.
    pub(crate) u8, register, _: 9, 5;
    u8, crn, _: 13, 10;
    u8, op1, _: 16, 14;
    u8, op2, _: 19, 17;
    u8, op0, _: 21, 20;
}

/// The class of a trapped system instruction.
pub(crate) const CLASS: u8 = 0x18;

impl SystemInstruction {
    /// The instruction, if the syndrome is of one that writes.
    pub(crate) fn of_write(syndrome: Syndrome) -> Option<SystemInstruction> {
        let it = SystemInstruction(syndrome.0);
        (syndrome.class() == CLASS && !it.is_read()).then_some(it)
    }

    /// What names it: op0, op1, CRn, CRm, op2.
    pub(crate) fn name(self) -> (u8, u8, u8, u8, u8) {
        (self.op0(), self.op1(), self.crn(), self.crm(), self.op2())
    }
}

//! The four highest registers: the code in the ring, which calls everything else, keeps its own values there, and a called buffer
//! may use them to link to the next one, and for nothing else.
//!
//! A link sets them by moves and reads them by the JUMP behind these. Any other access by called code is reported.
//!
//! Facts: hardware/command-stream.md 1.4 (who uses which registers; items 4 and 5), 6.1 (chunk links), 8 (11).

use super::Stream;
use crate::diagnosis::{Misuse, StreamMisuse, StreamPlace};
use crate::fabric::Fabric;
use eitri_cs::{Instr, Pair};

/// Registers that belong to the ring's code.
const COUNT: usize = 4;

impl Stream {
    /// Whether a register belongs to the ring's code, and other code is executed.
    fn is_foreign(&self, register: u32) -> bool {
        let top = self.registers.count();
        !self.frames.is_empty() && (top - COUNT..top).contains(&(register as usize))
    }

    /// Before an instruction is executed: one that is no part of a link ends what might have become one.
    pub(super) fn check_link(&mut self, fabric: &mut Fabric, instr: &Instr) {
        let may_link = match instr {
            Instr::Move48(_) | Instr::Move32(_) => true,
            Instr::Jump(jump) => self.links_by(jump.address),
            _ => false,
        };
        if !may_link {
            self.end_link(fabric);
        }
    }

    fn links_by(&self, address: Pair) -> bool {
        self.is_foreign(address.number().into())
    }

    /// The buffer ends, or goes on otherwise than by a link: what was set for one was set in vain.
    pub(super) fn end_link(&mut self, fabric: &mut Fabric) {
        if let Some((place, register)) = self.link.take() {
            report(fabric, place, register);
        }
    }

    /// A JUMP has read them.
    pub(super) fn complete_link(&mut self) {
        self.link = None;
    }

    /// Before a register is read: what a link has set is the buffer's own.
    pub(super) fn check_foreign_read(&self, fabric: &mut Fabric, word: u64, register: u32) {
        if self.link.is_none() && self.is_foreign(register) {
            report(fabric, self.place(word), register);
        }
    }

    /// Before a register is written: it may be for a link.
    pub(super) fn check_foreign_write(&mut self, word: u64, register: u32) {
        if self.link.is_none() && self.is_foreign(register) {
            self.link = Some((self.place(word), register));
        }
    }
}

fn report(fabric: &mut Fabric, place: StreamPlace, register: u32) {
    let misuse = StreamMisuse::KernelRegister { register };
    fabric.journal.report(Misuse::Stream { place, misuse });
}

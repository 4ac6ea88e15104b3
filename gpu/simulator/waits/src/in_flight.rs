//! Messages in flight at a point of a program: the state of the data flow.
//!
//! Facts: hardware/valhall-isa.md 6.

use crate::program::{Stage, mask};
use eitri_isa::meaning::{Operation, Position};
use eitri_isa::values::UpdateMode;
use eitri_isa::{Flag, Instr};

/// General slots: 0, 1 and 2.
pub(crate) const GENERAL: u8 = 0b0000_0111;
/// Slot of depth and stencil of older fragments.
pub(crate) const DEPTH: u8 = 1 << 6;
/// Slot of barriers, and of colours of older fragments.
pub(crate) const BARRIER: u8 = 1 << 7;

/// What is in flight.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct InFlight {
    /// By general slot: the registers that its messages will write, a bit each.
    pub(crate) writes: [u64; 3],
    /// Slots that are not known to be drained.
    pub(crate) slots: u8,
    /// Slots of loads of varyings that compute the hidden coordinates or use them.
    pub(crate) varyings: u8,
}

impl InFlight {
    /// The state before the first instruction.
    pub(crate) fn at_start(stage: Stage) -> InFlight {
        InFlight {
            slots: match stage {
                Stage::Fragment => DEPTH | BARRIER,
                Stage::Compute | Stage::Vertex | Stage::Blend => 0,
            },
            ..InFlight::default()
        }
    }

    /// The state after an instruction.
    pub(crate) fn after(mut self, instr: &Instr) -> InFlight {
        if let Some(slot) = slot(instr) {
            let bit = 1 << slot;
            self.slots |= bit;
            if let Some(writes) = self.writes.get_mut(usize::from(slot)) {
                *writes |= mask(instr.writes());
            }
            if is_interpolated(instr) {
                self.varyings |= bit;
            }
        }
        self.drain(instr.flow.waits_for());
        self
    }

    fn drain(&mut self, slots: u8) {
        self.slots &= !slots;
        self.varyings &= !slots;
        for (slot, writes) in self.writes.iter_mut().enumerate() {
            if slots >> slot & 1 != 0 {
                *writes = 0;
            }
        }
    }

    /// Adds the state of another path. True if that changes this one.
    pub(crate) fn join(&mut self, other: &InFlight) -> bool {
        let before = *self;
        for (writes, more) in self.writes.iter_mut().zip(other.writes) {
            *writes |= more;
        }
        self.slots |= other.slots;
        self.varyings |= other.varyings;
        *self != before
    }

    /// The general slots with messages that will write a register.
    pub(crate) fn writers(&self, register: u8) -> impl Iterator<Item = u8> {
        let writes = self.writes;
        (0..3u8).filter(move |slot| writes[usize::from(*slot)] >> register & 1 != 0)
    }
}

/// The slot that an instruction's message is counted in.
pub(crate) fn slot(instr: &Instr) -> Option<u8> {
    instr.slot().map(|slot| slot.number())
}

/// True if an instruction loads varyings with the hidden coordinates of a pixel.
pub(crate) fn is_interpolated(instr: &Instr) -> bool {
    match instr.row().operation() {
        Operation::LoadVarying { at } => at == Position::Interpolated,
        _ => instr.row().kind == eitri_isa::row::Kind::VaryingTexture,
    }
}

/// True if an instruction changes the hidden coordinates that loads of varyings in flight may still use.
pub(crate) fn replaces_coordinates(instr: &Instr) -> bool {
    is_interpolated(instr)
        && matches!(
            instr.get::<UpdateMode>(),
            Some(UpdateMode::Store | UpdateMode::Clobber)
        )
}

/// The slots that the order of fragments wants drained before an instruction.
pub(crate) fn fragment_order(instr: &Instr) -> u8 {
    match instr.row().operation() {
        Operation::AlphaTest | Operation::WriteDepth => DEPTH,
        Operation::Blend => DEPTH | BARRIER,
        Operation::StoreTile => BARRIER,
        Operation::LoadTile if instr.flag(Flag::ZStencil) => DEPTH,
        Operation::LoadTile => BARRIER,
        _ => 0,
    }
}

//! Bits of a draw's state that are stuck: in the registers that iterators take, and in descriptors as the cores read them.

use super::{Defect, Defects};

/// Where a draw's state stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A register of the stream, as the iterator of a draw of vertices takes it (hardware/graphics-draw.md 3.2, 3.3).
    Register(u8),
    /// A word of a depth and stencil descriptor (hardware/descriptors.md 21).
    DepthStencil(u8),
    /// A word of a BLEND descriptor (hardware/descriptors.md 21).
    Blend(u8),
}

impl Defects {
    /// A word of state as it is taken.
    pub(crate) fn state(&self, of: State, word: u32) -> u32 {
        let stuck = self.find(|defect| match defect {
            Defect::StateBit { of: at, bit, value } if at == of => Some((1 << (bit & 31), value)),
            _ => None,
        });
        match stuck {
            Some((bit, true)) => word | bit,
            Some((bit, false)) => word & !bit,
            None => word,
        }
    }

    /// Words of a descriptor as they are read; `of` names one of them.
    pub(crate) fn descriptor(&self, of: fn(u8) -> State, words: &mut [u32]) {
        for (word, number) in words.iter_mut().zip(0..) {
            *word = self.state(of(number), *word);
        }
    }

    /// Registers of a draw as its iterator takes them.
    pub(crate) fn draw_registers(&self, registers: &mut [u32]) {
        self.descriptor(State::Register, registers);
    }
}

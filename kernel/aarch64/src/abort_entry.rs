//! Abort entry: what EL1 finds when EL2 lets it take a synchronous external abort.
//!
//! Facts: vector offsets, the ISS of a data abort and SPSR are the architecture's.

use crate::Syndrome;
use bitfield::bitfield;

bitfield! {
    /// The state that was left.
    #[derive(Clone, Copy)]
    struct State(u64);
    /// The stack pointer of the exception level itself.
    bool, own_stack, _: 0;
    u8, level, _: 3, 2;
    /// Privileged accesses to user memory are refused.
    bool, access_never, set_access_never: 22;
}

bitfield! {
    /// The syndrome of a data abort.
    #[derive(Clone, Copy)]
    struct Iss(u64);
    u8, status, set_status: 5, 0;
    bool, is_write, set_write: 6;
    bool, is_long, set_long: 25;
    u8, class, set_class: 31, 26;
}

/// A synchronous external abort, not on a table walk.
const EXTERNAL: u8 = 0x10;
/// A data abort from EL0, and one from EL1.
const CLASSES: [u8; 2] = [0x24, 0x25];
/// EL1 with its own stack pointer, all interrupts masked.
const MASKED: u64 = 0x3C5;

/// What EL1 goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortEntry {
    /// Its syndrome.
    pub syndrome: Syndrome,
    /// Where it goes on, from the start of its vectors.
    pub vector: u64,
    /// Its state then.
    pub state: u64,
}

impl AbortEntry {
    /// For the access of a data abort that EL2 took, out of this state (an SPSR).
    pub fn of(taken: Syndrome, state: u64) -> AbortEntry {
        let (before, cause) = (State(state), Iss(taken.0));
        let from_user = before.level() == 0;
        let mut syndrome = Iss(0);
        syndrome.set_class(CLASSES[usize::from(!from_user)]);
        syndrome.set_long(cause.is_long());
        syndrome.set_write(cause.is_write());
        syndrome.set_status(EXTERNAL);
        let vector = match (from_user, before.own_stack()) {
            (true, _) => 0x400,
            (false, true) => 0x200,
            (false, false) => 0,
        };
        let mut state = State(MASKED);
        state.set_access_never(before.access_never());
        AbortEntry {
            syndrome: Syndrome(syndrome.0),
            vector,
            state: state.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_of_the_kernel_goes_to_its_vector_for_itself() {
        let entry = AbortEntry::of(Syndrome(0x93C0_8006), 0x40_03C5);
        assert_eq!(entry.vector, 0x200);
        assert_eq!(entry.syndrome, Syndrome(0x9600_0010));
        assert_eq!(entry.state, 0x40_03C5, "it still can't touch user memory");
    }

    #[test]
    fn a_store_of_a_program_goes_to_the_vector_for_programs() {
        let entry = AbortEntry::of(Syndrome(0x9200_0046), 0);
        assert_eq!(entry.vector, 0x400);
        assert_eq!(entry.syndrome, Syndrome(0x9200_0050));
        assert_eq!(entry.state, 0x3C5);
    }
}

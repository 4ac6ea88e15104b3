//! Software generated interrupts that were trapped: a CPU interrupts CPUs, itself among them.
//!
//! Facts: the encoding and the fields of `ICC_SGI1R_EL1` are the architecture's (GICv3, 12.2).

use crate::Syndrome;
use crate::system_instruction::SystemInstruction;
use bitfield::bitfield;

/// A write of `ICC_SGI1R_EL1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftwareInterrupt {
    /// The general register with the request; 31 is zero.
    pub register: u8,
}

bitfield! {
    /// What is written: which interrupt, and to whom.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct SoftwareInterruptRequest(u64);
    impl Debug;
    u16, targets, _: 15, 0;
    u8, affinity1, _: 23, 16;
    /// The interrupt, 0 to 15.
    pub u32, id, _: 27, 24;
    u8, affinity2, _: 39, 32;
    /// All CPUs but the one that writes.
    bool, is_to_others, _: 40;
    u8, affinity3, _: 55, 48;
}

impl SoftwareInterrupt {
    /// Decodes a trapped instruction; `None` for any other.
    pub fn decode(syndrome: Syndrome) -> Option<SoftwareInterrupt> {
        let it = SystemInstruction::of_write(syndrome)?;
        (it.name() == (3, 0, 12, 11, 5)).then_some(SoftwareInterrupt {
            register: it.register(),
        })
    }
}

impl SoftwareInterruptRequest {
    /// What was written.
    pub const fn new(value: u64) -> SoftwareInterruptRequest {
        SoftwareInterruptRequest(value)
    }

    /// Whether the machine's first CPU, whose affinity is 0, writes to itself.
    pub fn is_to_first(self) -> bool {
        let first = (self.affinity1(), self.affinity2(), self.affinity3()) == (0, 0, 0);
        !self.is_to_others() && first && self.targets() & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_of_the_register_is_one_and_a_read_is_not() {
        // MSR ICC_SGI1R_EL1, x3: ISS of op0 3, op1 0, CRn 12, CRm 11, op2 5.
        let iss = 3 << 20 | 5 << 17 | 12 << 10 | 3 << 5 | 11 << 1;
        let trapped = Syndrome(0x18 << 26 | 1 << 25 | iss);
        let decoded = SoftwareInterrupt::decode(trapped);
        assert_eq!(decoded, Some(SoftwareInterrupt { register: 3 }));
        assert_eq!(SoftwareInterrupt::decode(Syndrome(trapped.0 | 1)), None);
    }

    #[test]
    fn only_a_list_with_the_first_cpu_reaches_it() {
        let to = SoftwareInterruptRequest::new;
        assert!(to(5 << 24 | 1).is_to_first());
        assert_eq!(to(5 << 24 | 1).id(), 5);
        assert!(!to(5 << 24 | 2).is_to_first(), "the second CPU of the list");
        assert!(!to(1 << 40).is_to_first(), "all others");
        assert!(!to(1 << 16 | 1).is_to_first(), "another cluster");
    }
}

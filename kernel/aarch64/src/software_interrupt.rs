//! Software generated interrupts that were trapped: a CPU interrupts CPUs, itself among them.
//!
//! Facts: the encoding of `ICC_SGI1R_EL1` is the architecture's (GICv3, 12.2).

use crate::Syndrome;
use crate::system_instruction::SystemInstruction;

/// A write of `ICC_SGI1R_EL1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftwareInterrupt {
    /// The general register with the request; 31 is zero.
    pub register: u8,
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
}

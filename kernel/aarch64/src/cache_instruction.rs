//! Cache instruction: data cache upkeep by address that was trapped, decoded from the syndrome.
//!
//! Facts: the encodings of `DC` are the architecture's.

use crate::Syndrome;
use crate::system_instruction::SystemInstruction;

/// What is done to a line of the cache, to the point of coherency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// `DC CVAC`, and `DC CVAP`: what was stored goes to memory.
    Clean,
    /// `DC IVAC`: the line is forgotten.
    Invalidate,
    /// `DC CIVAC`: both.
    CleanAndInvalidate,
}

/// A `DC` instruction by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheInstruction {
    /// What it does.
    pub upkeep: Upkeep,
    /// The register with the address; 31 is zero.
    pub register: u8,
}

impl CacheInstruction {
    /// Decodes a trapped instruction; `None` for any other.
    pub fn decode(syndrome: Syndrome) -> Option<CacheInstruction> {
        let it = SystemInstruction::of_write(syndrome)?;
        let upkeep = match it.name() {
            (1, 0, 7, 6, 1) => Upkeep::Invalidate,
            (1, 3, 7, 10 | 12, 1) => Upkeep::Clean,
            (1, 3, 7, 14, 1) => Upkeep::CleanAndInvalidate,
            _ => return None,
        };
        Some(CacheInstruction {
            upkeep,
            register: it.register(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system_instruction::CLASS;

    /// ESR of an instruction as its own 32 bits encode it: op0 to op2 and Rt stand elsewhere in the syndrome.
    fn trapped(instruction: u64) -> Syndrome {
        let field = |at: u32, bits: u32| instruction >> at & ((1 << bits) - 1);
        let (op0, op1, crn) = (field(19, 2), field(16, 3), field(12, 4));
        let (crm, op2, rt) = (field(8, 4), field(5, 3), field(0, 5));
        let iss = op0 << 20 | op2 << 17 | op1 << 14 | crn << 10 | rt << 5 | crm << 1;
        Syndrome(u64::from(CLASS) << 26 | 1 << 25 | iss)
    }

    #[test]
    fn upkeep_by_address_is_decoded() {
        let decode = |instruction| {
            let decoded = CacheInstruction::decode(trapped(instruction));
            decoded.map(|it| (it.upkeep, it.register))
        };
        // As the assembler writes them.
        assert_eq!(decode(0xD508_7625), Some((Upkeep::Invalidate, 5))); // dc ivac, x5
        assert_eq!(decode(0xD50B_7A20), Some((Upkeep::Clean, 0))); // dc cvac, x0
        assert_eq!(decode(0xD50B_7E3F), Some((Upkeep::CleanAndInvalidate, 31))); // dc civac, xzr
        assert_eq!(decode(0xD50B_7521), None); // ic ivau, x1
    }

    #[test]
    fn other_traps_are_not() {
        assert_eq!(CacheInstruction::decode(Syndrome(0x24 << 26)), None);
    }
}

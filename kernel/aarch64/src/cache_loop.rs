//! Cache loop: the loop around a trapped cache instruction.
//!
//! A range is kept up line by line. Whoever traps each line does the loop's other turns at once, exactly as the CPU would: leaving the
//! image and going back takes many times as long as a line.
//! Facts: the encodings are the architecture's.

/// `DC …, address; ADD address, address, step; SUBS count, count, #1; B.NE` back to the first: how a loop of a known number of turns
/// is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLoop {
    /// The register with the address.
    pub address: u8,
    /// The register with what is added to it.
    pub step: u8,
    /// The register that counts turns down to zero.
    pub count: u8,
}

impl CacheLoop {
    /// Bytes of its code.
    pub const BYTES: u64 = 16;
    /// The flags of a saved PSTATE,
    pub const FLAGS: u64 = 0b1111 << 28;
    /// and what they are behind the loop: the count is zero, and was counted down without a borrow.
    pub const FLAGS_AT_END: u64 = 0b0110 << 28;

    /// The loop of an instruction by the register `address`, if the three instructions behind it make one.
    pub fn decode(address: u8, behind: [u32; 3]) -> Option<CacheLoop> {
        /// XZR, or SP.
        const NO_REGISTER: u8 = 31;
        let [add, subs, branch] = behind;
        let register = |word: u32, at: u32| (word >> at & 0x1F) as u8;
        let (step, count) = (register(add, 16), register(subs, 0));
        let wanted = |address: u8, step: u8, count: u8| {
            let [address, step, count] = [address, step, count].map(u32::from);
            [
                0x8B00_0000 | step << 16 | address << 5 | address,
                0xF100_0400 | count << 5 | count,
                0x54FF_FFA1,
            ]
        };
        let apart = step != address && count != address && count != step;
        let real = ![address, step, count].contains(&NO_REGISTER);
        let found = apart && real && [add, subs, branch] == wanted(address, step, count);
        found.then_some(CacheLoop {
            address,
            step,
            count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // As the assembler writes them: add x9, x9, x8; subs x10, x10, #1; b.ne to three instructions before.
    const ADD: u32 = 0x8B08_0129;
    const SUBS: u32 = 0xF100_054A;
    const BACK: u32 = 0x54FF_FFA1;

    #[test]
    fn a_loop_over_lines_is_known() {
        let found = CacheLoop::decode(9, [ADD, SUBS, BACK]);
        let wanted = CacheLoop {
            address: 9,
            step: 8,
            count: 10,
        };
        assert_eq!(found, Some(wanted));
    }

    #[test]
    fn what_is_no_such_loop_is_not() {
        let no = |address, behind| assert_eq!(CacheLoop::decode(address, behind), None);
        no(8, [ADD, SUBS, BACK]); // another register's
        no(9, [ADD, SUBS, 0x54FF_FF81]); // b.ne one further back
        no(9, [ADD, SUBS, 0x54FF_FFA0]); // b.eq
        no(9, [ADD, 0xF100_094A, BACK]); // subs x10, x10, #2
        no(9, [ADD, 0xF100_0529, BACK]); // subs x9, x9, #1
        no(9, [0xD503_201F, SUBS, BACK]); // nop
    }
}

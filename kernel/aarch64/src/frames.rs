//! Frames: return addresses, by the chain of frame records.
//!
//! Needs: code is compiled with frame pointers (`.cargo/config.toml`).  Guarantees: asks only for aligned records, and
//! ends even when the chain was overwritten.

/// Frames that are followed at most.
const DEPTH: usize = 32;

/// The return addresses of the frame record at `frame` and of those it was called from, innermost first.
///
/// A record is two words, the caller's record and the return address. `record` reads the one at an address, or says that
/// there is none: outside of the stacks, the chain ends.
pub fn frames(
    frame: u64,
    mut record: impl FnMut(u64) -> Option<[u64; 2]>,
) -> impl Iterator<Item = u64> {
    let mut next = Some(frame);
    core::iter::from_fn(move || {
        let at = next.filter(|at| at.is_multiple_of(16))?;
        let [caller, address] = record(at)?;
        // Callers are further up; anything else is damage, and could be a loop.
        next = Some(caller).filter(|caller| *caller > at);
        (address != 0).then_some(address)
    })
    .take(DEPTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// A stack of records: (where, caller, return address).
    fn of(stack: &[(u64, u64, u64)], frame: u64) -> Vec<u64> {
        let read = |at| {
            let found = stack.iter().find(|record| record.0 == at);
            found.map(|record| [record.1, record.2])
        };
        frames(frame, read).collect()
    }

    #[test]
    fn a_chain_is_followed_to_its_end() {
        let stack = [
            (0x100, 0x140, 0xA),
            (0x140, 0x1C0, 0xB),
            (0x1C0, 0, 0xC),
            (0, 0, 0xD),
        ];
        assert_eq!(of(&stack, 0x100), [0xA, 0xB, 0xC]);
    }

    #[test]
    fn a_damaged_chain_ends() {
        assert_eq!(of(&[(0x100, 0x100, 0xA)], 0x100), [0xA], "a loop");
        assert_eq!(of(&[(0x100, 0x80, 0xA), (0x80, 0x100, 0xB)], 0x100), [0xA]);
        assert_eq!(of(&[(0x108, 0, 0xA)], 0x108), [], "not aligned");
        assert_eq!(of(&[(0x100, 0x140, 0)], 0x100), [], "no address");
    }

    #[test]
    fn an_endless_chain_is_cut() {
        let read = |at: u64| Some([at.wrapping_add(16), 1]);
        assert_eq!(frames(0, read).count(), DEPTH);
    }
}

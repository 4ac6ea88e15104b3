//! Backtrace: return addresses, by the chain of frame pointers.
//!
//! Needs: code is compiled with frame pointers (`.cargo/config.toml`).  Guarantees: reads only inside the stack it is
//! given, and ends even when the chain was overwritten.

use eitri_boards::Region;

/// Frames that are followed at most.
const DEPTH: usize = 32;

/// The return addresses of the frame record at `frame` and of those it was called from, innermost first.
///
/// A record is two words, the caller's record and the return address; all of them lie in one of `stacks`.
pub fn frames(frame: u64, stacks: &[Region]) -> impl Iterator<Item = u64> {
    let mut next = usize::try_from(frame).ok();
    core::iter::from_fn(move || {
        let record = next?;
        let inside = stacks
            .iter()
            .any(|stack| record >= stack.base && record.saturating_add(16) <= stack.end());
        if !inside || !record.is_multiple_of(16) {
            return None;
        }
        // SAFETY: it is aligned and inside a stack, which is mapped.
        let [caller, address] = unsafe { (record as *const [u64; 2]).read_volatile() };
        // Callers are further up; anything else is damage, and could be a loop.
        next = usize::try_from(caller)
            .ok()
            .filter(|caller| *caller > record);
        (address != 0).then_some(address)
    })
    .take(DEPTH)
}

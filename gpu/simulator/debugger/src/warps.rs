//! Warps on the model as a debugger shows them: lanes, registers and words of the uniforms.
use eitri_model::WarpView;

use crate::execution::{LaneState, ScalarPlace};
use crate::value::Node;

/// Lanes of a warp at most.
pub(crate) const LANES: usize = 16;
/// Words of the uniforms that have names.
const MOST_UNIFORMS: usize = 256;

/// Where a lane is; none if there is no such lane.
pub(crate) fn lane_state(warp: WarpView<'_>, lane: usize) -> Option<LaneState> {
    if lane >= LANES || warp.started() >> lane & 1 == 0 {
        return None;
    }
    Some(if warp.live() >> lane & 1 == 0 {
        LaneState::Ended
    } else if warp.waiting() >> lane & 1 != 0 {
        LaneState::Barrier(warp.pc(lane).saturating_sub(8))
    } else {
        LaneState::At(warp.pc(lane))
    })
}

/// The registers that hold something, of those that a thread has.
pub(crate) fn register_nodes(warp: WarpView<'_>, registers: u64) -> Vec<Node> {
    let holds = |register: &u8| {
        registers >> register & 1 != 0
            && (0..LANES).any(|lane| warp.register(*register, lane).is_some())
    };
    let name = |register| Node::word(format!("r{register}"), ScalarPlace::Register(register));
    (0..64).filter(holds).map(name).collect()
}

/// The words of the uniforms.
pub(crate) fn uniform_nodes(words: usize) -> Vec<Node> {
    let words = 0..words.min(MOST_UNIFORMS);
    words
        .map(|word| Node::word(format!("u{word}"), ScalarPlace::Uniform(word as u8)))
        .collect()
}

/// What `$r3` and `$u3` mean, where there are so many words of uniforms.
pub(crate) fn named(name: &str, words: usize) -> Option<Node> {
    let (kind, number) = name.strip_prefix('$')?.split_at_checked(1)?;
    let number: u8 = number.parse().ok()?;
    let place = match kind {
        "r" if number < 64 => ScalarPlace::Register(number),
        "u" if usize::from(number) < words => ScalarPlace::Uniform(number),
        _ => return None,
    };
    Some(Node::word(format!("{kind}{number}"), place))
}

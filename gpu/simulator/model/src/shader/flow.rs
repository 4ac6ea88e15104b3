//! Flow control: which lanes go where after an instruction, and which end.
//!
//! Facts: hardware/valhall-isa.md 6, 12.5.

use super::instruction::Test;
use super::lanes::{Lanes, lanes_where};
use super::warp::{Warp, bits};
use eitri_isa::Flow;

/// What follows an instruction.
pub(super) enum Next {
    /// The instruction after it.
    Following,
    /// The running lanes have gone apart, or stopped: choose again.
    Choose,
}

/// Lanes of which no blend shader follows skip instructions or end; the others go on behind the BLEND, whose end they ignore.
pub(super) fn go_on_after_blend(warp: &mut Warp, done: u16, skip: u32, flow: Flow) -> Next {
    let following = warp.pc.wrapping_add(8);
    for lane in bits(warp.lanes) {
        let skips = done >> lane & 1 != 0;
        let behind = following.wrapping_add(8 * u64::from(skip));
        warp.pcs[lane] = if skips { behind } else { following };
    }
    let lanes = warp.lanes;
    warp.forget_running();
    if flow.ends_thread() {
        warp.live &= !(lanes & done);
    }
    if flow == Flow::Discard {
        warp.live &= !(lanes & warp.helpers);
    }
    Next::Choose
}

/// Flow control takes effect, and the running lanes move on.
pub(super) fn finish(warp: &mut Warp, next: Next, flow: Flow) -> Next {
    if let Next::Choose = next {
        // A branch has placed its lanes already.
        return Next::Choose;
    }
    warp.pc = warp.pc.wrapping_add(8);
    match flow {
        Flow::None | Flow::WaitResource | Flow::Continue => Next::Following,
        Flow::Discard => {
            warp.end_helpers();
            Next::Following
        }
        Flow::End => {
            warp.end();
            Next::Choose
        }
        Flow::Reconverge => Next::Choose,
        _ => {
            warp.waited(flow.waits_for());
            Next::Following
        }
    }
}

/// The running lanes that take a branch.
#[inline]
pub(super) fn taken(warp: &Warp, test: Test, if_zero: bool, value: &Lanes) -> u16 {
    let holds = match test {
        Test::Word => lanes_where(|lane| value[lane] != 0),
        Test::Half(half) => lanes_where(|lane| super::select::half(value[lane], half) != 0),
        Test::AllOnes => lanes_where(|lane| value[lane] == u32::MAX),
        Test::LowBits => lanes_where(|lane| !matches!(value[lane] >> 3 & 0x3_ffff, 0 | 0x3_ffff)),
    };
    let wanted = if if_zero { !holds } else { holds };
    wanted & warp.lanes
}

/// Sends the lanes in `taken` elsewhere and the others on, or ends those if the branch carries the end (valhall-isa.md 12.5).
pub(super) fn branch(
    warp: &mut Warp,
    taken: u16,
    flow: Flow,
    target: impl Fn(usize) -> u64,
) -> Next {
    let following = warp.pc.wrapping_add(8);
    for lane in bits(warp.lanes) {
        let goes = taken >> lane & 1 != 0;
        warp.pcs[lane] = if goes { target(lane) } else { following };
    }
    let others = warp.lanes & !taken;
    // The places are noted: parking must not write them over.
    warp.forget_running();
    if flow.ends_thread() {
        warp.live &= !others;
    }
    Next::Choose
}

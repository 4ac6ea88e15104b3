//! Forward pixel kill: fragments that wait for their warp are killed where newer ones replace the whole pixel.
//!
//! Never: kills a fragment whose draw does not allow it, or for a newer one that is blended, failed its tests, or covers only some of
//! the samples.
//! Facts: hardware/graphics-raster.md 4.10; hardware/descriptors.md 17 (DCD flags 0), 21.

use super::draw::LoadedDraw;
use crate::fragment::Order;
use crate::raster::Depths;
use crate::shader::WARP;
use crate::shader::stage::{FragmentLane, FragmentStage, Geometry};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;

/// Fragments whose early tests are made, and which wait for their warp.
#[derive(Clone, Debug)]
pub(super) struct Tested {
    pub(super) draw: Arc<LoadedDraw>,
    pub(super) geometry: Arc<Geometry>,
    pub(super) lanes: Box<[FragmentLane; WARP]>,
    pub(super) depths: Depths,
    /// Lanes for which older fragments were killed.
    pub(super) killers: u16,
    /// Where its covered pixels lie, a bit for each place in 16 by 16 pixels, 2 by 2 at a time.
    places: u64,
}

impl Tested {
    pub(super) fn new(
        draw: Arc<LoadedDraw>,
        geometry: Arc<Geometry>,
        lanes: Box<[FragmentLane; WARP]>,
        depths: Depths,
    ) -> Tested {
        let covered = lanes.iter().filter(|lane| lane.covered != 0);
        let places = covered.fold(0, |places, lane| {
            let (x, y) = (lane.pixel.0 / 2 % 8, lane.pixel.1 / 2 % 8);
            places | 1 << (8 * y + x)
        });
        Tested {
            draw,
            geometry,
            lanes,
            depths,
            killers: 0,
            places,
        }
    }
}

/// Kills the fragments of `tested` on pixels that newer ones replace as a whole; how many quads of these killed something.
pub(super) fn kill_older(tested: &mut VecDeque<Tested>, newer: &mut Tested) -> u64 {
    let whole = newer.draw.state.sampling.full();
    let targets = newer.draw.state.targets & newer.draw.state.blend.replaced();
    // Quads of a primitive are different ones, so at most one lane replaces a pixel.
    let lanes = newer.lanes.iter().enumerate();
    let replacing = lanes.fold(0_u16, |replacing, (number, lane)| {
        let replaces = lane.covered != 0 && lane.fragment.coverage() == whole;
        replacing | u16::from(replaces) << number
    });
    if replacing == 0 {
        return 0;
    }
    let victims = tested.iter_mut().filter(|older| {
        older.places & newer.places != 0
            && older.draw.flags.allow_forward_pixel_to_be_killed
            && older.draw.state.targets & !targets == 0
    });
    for older in victims {
        for (below, victims) in older.lanes.chunks_exact_mut(4).enumerate() {
            for above in (0..WARP / 4).filter(|above| replacing >> (4 * above) & 0xf != 0) {
                if newer.lanes[4 * above].pixel != victims[0].pixel {
                    continue;
                }
                for (lane, victim) in victims.iter_mut().enumerate() {
                    let (above, below) = (4 * above + lane, 4 * below + lane);
                    if replacing >> above & 1 != 0 && victim.fragment.coverage() != 0 {
                        victim.fragment.discard();
                        // What it had killed is replaced all the same.
                        older.killers &= !(1 << below);
                        newer.killers |= 1 << above;
                    }
                }
            }
        }
    }
    let quads = (0..WARP / 4).filter(|quad| newer.killers >> (4 * quad) & 0xf != 0);
    quads.count() as u64
}

/// Whether fragments of a draw may replace older ones whose program has not run: both are over with tests and updates, and read
/// nothing of the tile (hardware/graphics-raster.md 4.10). Which targets they replace is what their BLEND descriptors say: a driver
/// sets the flag though a blend shader reads the tile.
///
/// Only such fragments are tested ahead, so only such fragments are killed here. Hardware may kill blended ones, too.
pub(super) fn replaces(draw: &LoadedDraw) -> bool {
    draw.flags.allow_forward_pixel_to_kill
        && draw.stage.is_some()
        && draw.state.order.iter().all(Order::is_early)
}

/// Whether a fragment for which older ones were killed has not replaced them, after its program.
pub(super) fn lacks_replacement(stage: &FragmentStage) -> bool {
    let whole = stage.draw.sampling.full();
    let mut lanes = stage.lanes.iter().enumerate();
    !stage.draw.per_sample
        && lanes.any(|(lane, it)| stage.killers >> lane & 1 != 0 && it.fragment.coverage() != whole)
}

//! Defects of draws: coverage, tests, tiles, and the tiler's memory.

use super::{Defect, Defects};
use crate::raster::Corner;
use eitri_descriptors::blend::Blend;
use eitri_descriptors::framebuffer::TieBreakRule;
use eitri_descriptors::raster::DepthStencil;
use eitri_descriptors::texture::Func;

/// Something that draws go wrong by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawDefect {
    /// Samples are taken half a pixel to the right of where they are.
    SamplesShifted,
    /// Every other primitive of a draw has the opposite of the framebuffer's rule for samples on edges.
    TieRuleTurned,
    /// Tests of depth are never made: everything is seen.
    DepthNotTested,
    /// Values of vertices are not interpolated: those of the first are taken.
    NotInterpolated,
    /// The constant that colours are blended with is lost: 0 is taken.
    BlendConstantLost,
    /// Of several targets the first alone is written.
    OneTarget,
    /// The tiles of a core are not written back.
    TilesNotWritten {
        /// Its number.
        core: u8,
    },
    /// The chunks that a host adds to a heap are forgotten.
    AddedChunksForgotten,
    /// The chunks that a pass has used are not given back to their heap.
    UsedChunksForgotten,
}

/// The defects of a pass, of which each primitive and each tile asks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassDefects {
    shifted: bool,
    tie_turned: bool,
    lost_tiles: Option<u8>,
}

impl PassDefects {
    /// Where a primitive's corners are taken to be.
    pub(crate) fn corners(self, mut corners: [Corner; 3]) -> [Corner; 3] {
        if self.shifted {
            corners.iter_mut().for_each(|corner| corner.x -= 0.5);
        }
        corners
    }

    /// The rule for samples on the edges of a primitive with this number.
    pub(crate) fn tie(self, rule: TieBreakRule, primitive: u32) -> TieBreakRule {
        let turned = self.tie_turned && primitive & 1 != 0;
        // Codes that differ in bit 1 name half circles that lie opposite each other (hardware/graphics-raster.md 4.4).
        let opposite = TieBreakRule::from_number(rule.number() ^ 2).filter(|_| turned);
        opposite.unwrap_or(rule)
    }

    /// Whether the tiles of a core get lost.
    pub(crate) fn loses_tiles(self, core: u8) -> bool {
        self.lost_tiles == Some(core)
    }
}

impl Defects {
    pub(crate) fn draw_has(&self, defect: DrawDefect) -> bool {
        self.has(Defect::Draw(defect))
    }

    /// Those of a pass.
    pub(crate) fn of_pass(&self) -> PassDefects {
        PassDefects {
            shifted: self.draw_has(DrawDefect::SamplesShifted),
            tie_turned: self.draw_has(DrawDefect::TieRuleTurned),
            lost_tiles: self.find(|defect| match defect {
                Defect::Draw(DrawDefect::TilesNotWritten { core }) => Some(core),
                _ => None,
            }),
        }
    }

    /// What a depth and stencil descriptor says.
    pub(crate) fn depth_stencil(&self, mut says: DepthStencil) -> DepthStencil {
        if self.draw_has(DrawDefect::DepthNotTested) {
            says.depth_function = Func::Always;
        }
        says
    }

    /// What the BLEND descriptor of a target says.
    pub(crate) fn blend(&self, mut says: Blend) -> Blend {
        if self.draw_has(DrawDefect::BlendConstantLost) {
            says.blend_constant = 0;
        }
        says
    }

    /// Targets that a draw writes, a bit each.
    pub(crate) fn targets(&self, mask: u32) -> u32 {
        match self.draw_has(DrawDefect::OneTarget) {
            true => mask & 1,
            false => mask,
        }
    }

    /// A varying's values at the vertices of a primitive.
    pub(crate) fn varyings(&self, values: [f64; 3]) -> [f64; 3] {
        match self.draw_has(DrawDefect::NotInterpolated) {
            true => [values[0]; 3],
            false => values,
        }
    }
}

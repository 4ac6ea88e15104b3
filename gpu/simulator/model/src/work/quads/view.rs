//! Views for a debugger: the warp of fragments that runs, and the tile.

use super::Shader;
use crate::inspection::{DrawLanes, DrawWarpView, WarpView};
use crate::shader::stage::Stage;
use crate::tile::TileBuffer;
use crate::trace::StartedFragment;

impl Shader {
    /// The tile's pixels, for a debugger: also while a warp has them.
    pub(in crate::work) fn shown_tile(&self) -> Option<&TileBuffer> {
        match &self.unit.stage {
            Stage::Fragment(stage) if self.tile.is_none() => Some(&stage.tile),
            _ => self.tile.as_ref(),
        }
    }

    /// The warp that runs, for a debugger.
    pub(in crate::work) fn view(&self) -> Option<DrawWarpView<'_>> {
        let running = self.running.as_ref()?;
        let program = running.draw.stage.as_ref()?;
        let Stage::Fragment(stage) = &self.unit.stage else {
            return None;
        };
        let fragments = stage.lanes.iter().map(|lane| StartedFragment {
            pixel: [lane.pixel.0.into(), lane.pixel.1.into()],
            coverage: lane.fragment.coverage(),
            sample: lane.sample,
        });
        let lanes = DrawLanes::Fragments {
            draw: running.draw.words.job,
            primitive: stage.geometry.primitive.as_ref().map(|_| stage.geometry.id),
            tile: self.origin,
            fragments: fragments.collect(),
        };
        let warp = WarpView::of(&running.warp);
        Some(DrawWarpView::new(
            &program.environment,
            program.entry,
            warp,
            lanes,
        ))
    }
}

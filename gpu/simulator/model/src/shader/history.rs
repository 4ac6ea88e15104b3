//! What fragments do, for whoever hears of shading: the warps that begin, and the history of one pixel.
//!
//! Needs: nothing; without a sink that wants it nothing is made.

use super::lanes::WARP;
use super::stage::FragmentStage;
use crate::fabric::Fabric;
use crate::raster::SUBPIXELS;
use crate::trace::{FragmentWarp, PixelStep, PixelStepKind, StartedFragment, TileContents};

/// A fragment before a step, if its pixel is the one whose history is wanted.
pub(crate) struct Before {
    lane: usize,
    coverage: u16,
    contents: TileContents,
}

impl FragmentStage {
    /// Notes a lane's fragment before a step.
    pub(crate) fn before(&self, fabric: &Fabric, lane: usize) -> Option<Before> {
        let own = self.lanes.get(lane)?;
        if !fabric.journal.follows_pixel(own.pixel) {
            return None;
        }
        Some(Before {
            lane,
            coverage: own.fragment.coverage(),
            contents: self.held(lane)?,
        })
    }

    /// What the tile holds of the sample that a lane runs for, or of the first.
    fn held(&self, lane: usize) -> Option<TileContents> {
        let sample = self.lanes.get(lane)?.sample.unwrap_or(0);
        self.tile.contents(self.pixel(lane), sample.into()).ok()
    }

    /// Tells that a lane's early tests were made.
    pub(crate) fn tell_tested(&self, fabric: &mut Fabric, before: Option<Before>, job: u64) {
        if let Some(before) = before {
            self.tell_step(fabric, before, Some(job), PixelStepKind::EarlyTests);
        }
    }

    /// Tells that the program of these fragments begins.
    pub(crate) fn tell_begins(&self, fabric: &mut Fabric, job: u64) {
        for lane in 0..WARP {
            let is_left = self.lanes[lane].fragment.coverage() != 0;
            if let Some(before) = self.before(fabric, lane).filter(|_| is_left) {
                self.tell_step(fabric, before, Some(job), PixelStepKind::Begins);
            }
        }
    }

    /// Tells whoever wants to hear of shading which fragments of a primitive begin, of a draw's job and in a layer.
    pub(crate) fn tell_warp(&self, fabric: &mut Fabric, (job, layer): (u64, u32), live: u16) {
        let geometry = &self.geometry;
        let Some(sink) = fabric.journal.shading_sink() else {
            return;
        };
        if geometry.primitive.is_none() {
            return;
        }
        let sampling = &self.draw.sampling;
        let samples = (0..sampling.count()).map(|sample| {
            let at = sampling.position(sample);
            [at.x, at.y].map(|units| units as f32 / SUBPIXELS as f32)
        });
        let quads = WARP - (live.leading_zeros() as usize & !3);
        let lanes = self.lanes[..quads].iter().map(|lane| StartedFragment {
            pixel: [lane.pixel.0.into(), lane.pixel.1.into()],
            coverage: lane.fragment.coverage(),
            sample: lane.sample,
        });
        sink.fragments(FragmentWarp {
            job,
            layer,
            primitive: geometry.id,
            back: geometry.face != 0,
            provoking: geometry.provoking,
            corners: geometry.positions[..geometry.vertices.min(3)].to_vec(),
            samples: samples.collect(),
            lanes: lanes.collect(),
        });
    }

    /// Tells of a step that a fragment has made.
    pub(crate) fn tell_step(
        &self,
        fabric: &mut Fabric,
        before: Before,
        job: Option<u64>,
        kind: PixelStepKind,
    ) {
        let Before {
            lane,
            coverage,
            contents,
        } = before;
        let (Some(own), Some(after)) = (self.lanes.get(lane), self.held(lane)) else {
            return;
        };
        let geometry = &self.geometry;
        let begun = match kind {
            PixelStepKind::EarlyTests => own.covered,
            _ => coverage,
        };
        fabric.journal.trace_pixel(PixelStep {
            job,
            primitive: geometry.id,
            corners: geometry.positions[..geometry.vertices.min(3)].to_vec(),
            sample: own.sample,
            kind,
            coverage: [begun, own.fragment.coverage()],
            contents: [contents, after],
        });
    }
}

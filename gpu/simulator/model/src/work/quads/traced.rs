//! Warps of fragments, as a sink hears of them.

use super::super::draw::LoadedDraw;
use super::{SUBPIXELS, Shader};
use crate::fabric::Fabric;
use crate::shader::WARP;
use crate::shader::stage::FragmentStage;
use crate::trace::{FragmentWarp, StartedFragment};

impl Shader {
    /// Tells whoever wants to hear of shading which fragments of a primitive begin.
    pub(super) fn trace_warp(
        &self,
        fabric: &mut Fabric,
        draw: &LoadedDraw,
        stage: &FragmentStage,
        live: u16,
    ) {
        let (geometry, layer) = (&stage.geometry, self.layer);
        let Some(sink) = fabric.journal.shading_sink() else {
            return;
        };
        if geometry.primitive.is_none() {
            return;
        }
        let sampling = &stage.draw.sampling;
        let samples = (0..sampling.count()).map(|sample| {
            let at = sampling.position(sample);
            [at.x, at.y].map(|units| units as f32 / SUBPIXELS as f32)
        });
        let quads = WARP - (live.leading_zeros() as usize & !3);
        let lanes = stage.lanes[..quads].iter().map(|lane| StartedFragment {
            pixel: [lane.pixel.0.into(), lane.pixel.1.into()],
            coverage: lane.fragment.coverage(),
            sample: lane.sample,
        });
        sink.fragments(FragmentWarp {
            job: draw.words.job,
            layer,
            primitive: geometry.id,
            back: geometry.face != 0,
            provoking: geometry.provoking,
            corners: geometry.positions[..geometry.vertices.min(3)].to_vec(),
            samples: samples.collect(),
            lanes: lanes.collect(),
        });
    }
}

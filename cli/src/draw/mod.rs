//! Drawn scenes on the driver: a scene becomes a drawing, which is played on the host or in QEMU, and what comes out is compared.
//!
//! `plan` makes a drawing of a scene, or says why there is none yet; `shaders` compiles; `play` runs drawings; `verdict` compares.
//! `models` makes scenes of glTF files; `pixel_history` tells what becomes of a pixel; `carried` puts scenes into an image for a board.
//! Needs: `eitri-draw-scenes` (scenes and their rules), `eitri-gltf-scenes` (models as scenes), `eitri-drawing` (the form of a drawing), `eitri-player` (what plays it).

mod carried;
mod lack;
mod models;
mod pixel_history;
mod plan;
mod play;
mod prepared;
mod shaders;
mod verdict;

pub(crate) use carried::suite;
pub(crate) use models::{ModelArguments, is_model};
pub(crate) use pixel_history::PixelArgument;
pub(crate) use play::{Drawn, Measured, Run, run};
pub(crate) use shaders::{Made, Manner, PipelineCode, pipeline_codes};
pub(crate) use verdict::Verdict;

//! Tile buffer accesses: LD_TILE and ST_TILE.
//!
//! Facts: hardware/valhall-isa.md 11.8; graphics-model.md 4.5.

use super::super::instruction::Instruction;
use super::super::lanes::WARP;
use super::super::message::Message;
use super::super::stage::{FragmentStage, Stage};
use super::super::stopped::Stopped;
use super::super::typed::Components;
use super::super::warp::{Warp, bits};
use super::blend::tile_source;
use super::{Memory, Sender, set_registers, staged};
use crate::diagnosis::ShaderMisuse;
use crate::tile::{Conversion, Loaded, Pixel, TileError, TileIndex, TilePlane};
use crate::trace::{StartedFragment, TileRead};

impl Memory {
    /// LD_TILE: what the tile holds of a sample, in registers.
    pub(super) fn load_tile(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &mut Warp,
        message: &Message,
        instruction: &Instruction,
        components: Components,
    ) -> Result<(), Stopped> {
        let [indices, _, conversions] =
            [0, 1, 2].map(|index: usize| sender.source(warp, &instruction.sources[index]));
        let Stage::Fragment(stage) = &mut self.stage else {
            return Err(sender.wrong_stage(instruction));
        };
        if let Some(sink) = sender.fabric.journal.shading_sink() {
            for lane in bits(warp.lanes) {
                if let Some(read) = tile_read(stage, lane) {
                    sink.tile_read(read);
                }
            }
        }
        let mut registers = [[0; 4]; WARP];
        let mut before = None;
        for lane in bits(warp.lanes) {
            let index = TileIndex::decode(indices[lane]);
            if stage.killers >> lane & 1 != 0 && matches!(index.plane, TilePlane::Colour(_)) {
                let reason = "it reads what they would have left";
                sender.report(ShaderMisuse::KilledInVain { reason });
            }
            let pixel = named_pixel(stage, lane, index);
            let conversion = Conversion::of_another(conversions[lane], &mut before);
            registers[lane] = match stage.tile.load(index, pixel, conversion) {
                Ok(Loaded::Colour(colour, format)) => components.registers(colour, &format),
                Ok(Loaded::Raw(words)) => words,
                Ok(Loaded::Depth(depth)) => [depth.to_bits(), 0, 0, 0],
                Ok(Loaded::Stencil(stencil)) => [stencil.into(), 0, 0, 0],
                // A helper lane beyond the tile.
                Err(TileError::Outside { .. }) => [0; 4],
                Err(error) => {
                    sender.report(ShaderMisuse::TileAccess {
                        reason: reason_of(error),
                    });
                    [0; 4]
                }
            };
        }
        set_registers(warp, message.write, &registers);
        Ok(())
    }

    /// ST_TILE: registers to the samples of the tile, without blending.
    pub(super) fn store_tile(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &Warp,
        message: &Message,
        instruction: &Instruction,
        components: Components,
    ) -> Result<(), Stopped> {
        let [indices, coverage, conversions] =
            [0, 1, 2].map(|index: usize| sender.source(warp, &instruction.sources[index]));
        let Stage::Fragment(stage) = &mut self.stage else {
            return Err(sender.wrong_stage(instruction));
        };
        let mut before = None;
        for lane in bits(warp.lanes) {
            let index = TileIndex::decode(indices[lane]);
            let pixel = named_pixel(stage, lane, index);
            let written = stage.lanes[lane].fragment.written(coverage[lane] as u16);
            if written == 0 {
                continue;
            }
            let conversion = Conversion::of_another(conversions[lane], &mut before);
            let source = tile_source(&conversion, staged(warp, message.read, lane), components);
            let stored = stage.tile.store(index, pixel, written, conversion, &source);
            if let Err(error) = stored {
                sender.report(ShaderMisuse::TileAccess {
                    reason: reason_of(error),
                });
            }
        }
        Ok(())
    }
}

/// What the tile holds of a lane's own sample.
fn tile_read(stage: &FragmentStage, lane: usize) -> Option<TileRead> {
    let (own, geometry) = (stage.lanes.get(lane)?, &stage.geometry);
    let sample = own.sample.unwrap_or(0).into();
    let contents = stage.tile.contents(stage.pixel(lane), sample).ok()?;
    Some(TileRead {
        primitive: geometry.id,
        corners: geometry.positions[..geometry.vertices.min(3)].to_vec(),
        fragment: StartedFragment {
            pixel: [own.pixel.0.into(), own.pixel.1.into()],
            coverage: own.fragment.coverage(),
            sample: own.sample,
        },
        contents,
    })
}

/// The pixel that an access names: by its place in the tile, or the lane's own.
fn named_pixel(stage: &FragmentStage, lane: usize, index: TileIndex) -> Pixel {
    match index.pixel {
        Some([x, y]) => Pixel {
            x: x.into(),
            y: y.into(),
        },
        None => stage.pixel(lane),
    }
}

/// Why an access to the tile buffer has no effect, in words.
pub(super) fn reason_of(error: TileError) -> &'static str {
    match error {
        TileError::NoTarget { .. } => "the framebuffer has no such target",
        TileError::Conversion { .. } => {
            "the conversion does not fit the registers or is not modelled"
        }
        TileError::NoEquation { .. } => "no blend descriptor of the draw names the target",
        TileError::NotBlendable { .. } => "raw bits can't be blended",
        TileError::Outside { .. } => "the pixel is outside the tile",
    }
}

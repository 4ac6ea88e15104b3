//! BLEND: colours to the tile, or on to a blend shader.
//!
//! Facts: hardware/valhall-isa.md 11.9, 12.5; graphics-model.md 4.4.

use super::super::instruction::Instruction;
use super::super::message::Message;
use super::super::stage::{FragmentStage, Stage};
use super::super::stopped::{JobFault, Stopped, exception};
use super::super::typed::Components;
use super::super::warp::{Warp, bits};
use super::tile::reason_of;
use super::{Memory, Sender, staged};
use crate::diagnosis::ShaderMisuse;
use crate::tile::{BlendOperand, Conversion, Output, Source, TileError};
use crate::trace::{PixelStepKind, TileColor};

impl Memory {
    /// BLEND: writes the colours of lanes whose operand asks for it; gives the lanes that have nothing left to do, those that
    /// are not sent on to a blend shader.
    pub(super) fn blend(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &Warp,
        message: &Message,
        instruction: &Instruction,
        components: Components,
    ) -> Result<u16, Stopped> {
        let operands = sender.addresses(warp, instruction);
        let coverage = sender.source(warp, &instruction.sources[1]);
        let Stage::Fragment(stage) = &mut self.stage else {
            return Err(sender.wrong_stage(instruction));
        };
        let (mut done, mut calls) = (0, 0);
        for lane in bits(warp.lanes) {
            let known = self.blend.filter(|(known, _)| *known == operands[lane]);
            let operand = match known {
                Some((_, operand)) => operand,
                None => match BlendOperand::decode(sender.arch, operands[lane]) {
                    Ok(operand) => self.blend.insert((operands[lane], operand)).1,
                    Err(_) => return Err(sender.blend_operand(operands[lane])),
                },
            };
            let written = stage.lanes[lane].fragment.written(coverage[lane] as u16);
            let colour = staged(warp, message.read, lane);
            let before = stage.before(sender.fabric, lane).filter(|_| written != 0);
            let wrote = match operand {
                BlendOperand::Shader { .. } => {
                    calls = 1;
                    continue;
                }
                BlendOperand::Off => Ok(()),
                BlendOperand::Opaque(output) => {
                    stage.write(lane, &output, written, colour, components, false)
                }
                BlendOperand::FixedFunction(output) => {
                    stage.write(lane, &output, written, colour, components, true)
                }
            };
            if let Err(error) = wrote {
                sender.report(ShaderMisuse::TileAccess {
                    reason: reason_of(error),
                });
            }
            if let Some(before) = before
                && let Some(kind) = kind_of(&operand, colour, components)
            {
                stage.tell_step(sender.fabric, before, None, kind);
            }
            done |= 1 << lane;
        }
        let core = sender.fabric.activity.core(sender.place.core);
        core.fragments.blend_calls += calls;
        Ok(done)
    }
}

/// What a BLEND does, for the history of a pixel; none of one that writes nothing.
fn kind_of(operand: &BlendOperand, staged: u128, components: Components) -> Option<PixelStepKind> {
    let (output, blended) = match operand {
        BlendOperand::Opaque(output) => (output, false),
        BlendOperand::FixedFunction(output) => (output, true),
        BlendOperand::Off | BlendOperand::Shader { .. } => return None,
    };
    let source = match tile_source(&output.conversion, staged, components) {
        Source::Colour(colour) => {
            let is_integer = output
                .conversion
                .format()
                .is_some_and(|format| format.is_integer());
            TileColor::of(colour, is_integer)
        }
        Source::Raw(_) => TileColor::Raw(staged),
    };
    Some(PixelStepKind::Colour {
        target: output.target,
        source,
        blended,
    })
}

impl Sender<'_> {
    fn blend_operand(&mut self, operand: u64) -> Stopped {
        self.report(ShaderMisuse::BlendOperand { operand });
        JobFault {
            exception: exception::DATA_INVALID_FAULT,
            address: operand,
        }
        .into()
    }
}

impl FragmentStage {
    fn write(
        &mut self,
        lane: usize,
        output: &Output,
        coverage: u16,
        staged: u128,
        components: Components,
        fixed_function: bool,
    ) -> Result<(), TileError> {
        let allowed = self.draw.targets >> output.target & 1 != 0;
        if coverage == 0 || !allowed {
            return Ok(());
        }
        let source = tile_source(&output.conversion, staged, components);
        let pixel = self.pixel(lane);
        if fixed_function {
            self.tile
                .blend(output, &self.draw.blend, pixel, coverage, &source)
        } else {
            self.tile.write_opaque(output, pixel, coverage, &source)
        }
    }
}

/// What staging registers hold, for a conversion.
pub(super) fn tile_source(conversion: &Conversion, staged: u128, components: Components) -> Source {
    let registers = [0, 32, 64, 96].map(|low| (staged >> low) as u32);
    match conversion.format() {
        Some(format) if !conversion.is_raw() => {
            Source::Colour(components.colour(registers, format))
        }
        _ => Source::Raw(registers),
    }
}

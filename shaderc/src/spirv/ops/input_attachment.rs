//! Input attachments: what the attachments of a pass hold of the fragment.
//!
//! Those that the pass has as colours, depth or stencil are read from the tile; others are images, read at the fragment's pixel.
//! Facts: hardware/graphics-compiler.md 7.

use super::image::Operands;
use crate::color_state::InputPlace;
use crate::ir::{ImageAction, ImageOp, Memory, Op, Stage, SysVal, TexelKind, TileLoad, Value};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::{Image, Translator};

/// OpImageRead of an input attachment. Its coordinates count from the pixel.
pub(super) fn read(t: &mut Translator<'_>, instr: &Instr, image: &Image) -> Result<()> {
    if t.builder.function.stage.fragment().is_none() {
        let name = "InputAttachment (`subpassInput`)";
        return Err(instr.unsupported(Feature::Capability, name));
    }
    let operands = Operands::read(instr, 2)?;
    let shape = image.ty.shape;
    let sample = match (shape.multisampled, operands.sample) {
        (true, Some(sample)) => Some(t.integers(instr, sample, 1)?[0]),
        (true, None) => return Err(instr.invalid(Invalid::MissingOperand)),
        (false, _) => None,
    };
    let index = t.input_attachments.get(&image.opaque.binding.0).copied();
    let element = t.builder.function.as_resource(image.opaque.resource);
    let place = index
        .zip(element)
        .map(|(index, (_, element))| index + element);
    let place = place.and_then(|place| t.input_places.get(place as usize).copied()?);
    if let Some(place) = place {
        let kind = image.ty.in_binding().texel;
        let tile = match (place, kind) {
            (InputPlace::Color(target), kind) => TileLoad::Color { target, kind },
            (InputPlace::DepthStencil, TexelKind::Float) => TileLoad::Depth,
            (InputPlace::DepthStencil, _) => TileLoad::Stencil,
        };
        // Samples are there one by one only where each is shaded by itself.
        if let (Some(_), Stage::Fragment(stage)) = (sample, &mut t.builder.function.stage) {
            stage.sample_shading = true;
        }
        let sample = sample.unwrap_or_else(|| t.builder.word(0));
        let mut words = t.builder.inst(Op::LoadTile(tile), &[sample]);
        if !matches!(tile, TileLoad::Color { .. }) {
            // Depth and stencil are red; green and blue are 0, alpha is 1.
            let one = match tile {
                TileLoad::Depth => 1.0_f32.to_bits(),
                _ => 1,
            };
            words.extend([0, 0, one].map(|word| t.builder.word(word)));
        }
        return t.define_words(instr, &words);
    }
    let offsets = t.integers(instr, instr.word(1)?, 2)?;
    let mut args = vec![image.opaque.resource];
    let pixel = [SysVal::PixelX, SysVal::PixelY];
    for (pixel, offset) in pixel.into_iter().zip(offsets) {
        let pixel = t.builder.sys_val(pixel);
        args.push(t.builder.alu(crate::ir::Alu::IAdd, &[pixel, offset]));
    }
    if shape.arrayed {
        args.push(t.builder.sys_val(SysVal::Layer));
    }
    let level: Value = t.builder.word(0);
    args.push(sample.unwrap_or(level));
    let op = ImageOp {
        memory: Memory::Constant,
        ..ImageOp::new(ImageAction::Fetch, shape)
    };
    let words = t.builder.inst(Op::Image(op), &args);
    t.define_words(instr, &words)
}

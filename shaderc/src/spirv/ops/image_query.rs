//! Queries of images: sizes, levels, samples, and the level that a sample would have.
use rspirv::spirv::Op;

use super::image::flat;
use crate::ir::{self, Alu, Dim, ImageAction, ImageOp, Memory};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::Translator;

/// The level that would be chosen, and what it was before it was clamped. The layer has no say in it.
pub(super) fn level(t: &mut Translator<'_>, instr: &Instr) -> Result<()> {
    if !t.has_derivatives() {
        let what = "textureQueryLod, which needs derivatives";
        return Err(instr.unsupported(Feature::Use, what));
    }
    let (image, sampler) = t.image(instr, 0)?;
    let sampler = sampler.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
    let shape = image.ty.shape;
    let mut args = vec![image.opaque.resource, sampler];
    args.extend(t.floats(instr, instr.word(1)?, shape.dim.coordinates())?);
    let op = ImageOp {
        memory: Memory::Constant,
        ..ImageOp::new(ImageAction::QueryLod, shape)
    };
    let words = t.builder.inst(ir::Op::Image(op), &args);
    t.define_words(instr, &words)
}

/// What an image is.
pub(super) fn query(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<()> {
    let (image, _) = t.image(instr, 0)?;
    let ty = image.ty;
    // A storage image of a cube is an array of faces to the hardware, so its faces must be counted back.
    let faces = ty.storage && ty.shape.dim == Dim::Cube;
    let shape = if faces { flat(ty.shape) } else { ty.shape };
    let action = match op {
        Op::ImageQueryLevels => ImageAction::Levels,
        Op::ImageQuerySamples => ImageAction::Samples,
        _ => ImageAction::Size,
    };
    let query = ImageOp {
        memory: Memory::Constant,
        ..ImageOp::new(action, shape)
    };
    let mut args = vec![image.opaque.resource];
    if query.level_operands() == 1 {
        let level = match op {
            Op::ImageQuerySizeLod => t.integers(instr, instr.word(1)?, 1)?[0],
            _ => t.builder.word(0),
        };
        args.push(level);
    }
    let mut words = t.builder.inst(ir::Op::Image(query), &args);
    let last = match action {
        ImageAction::Size if faces => words.pop(),
        _ => None,
    };
    if let Some(faces) = last.filter(|_| ty.shape.arrayed) {
        words.push(t.builder.alu_word(Alu::UDiv, faces, 6));
    }
    t.define_words(instr, &words)
}

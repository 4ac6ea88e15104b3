//! Images: loads of descriptors, reads, writes, sampling, queries.
//!
//! A storage image of a cube is an array of its faces. Where no derivatives are, outside of fragment shaders, what they would
//! choose is the first level.  Facts: hardware/compiler-ir.md 1.6; hardware/compiler-passes.md A.9; hardware/compiler-lowering.md 8.
use super::input_attachment;
use rspirv::spirv::{ImageOperands, Op};

use super::convert::to_word;
use super::image_query;
use crate::ir::{
    self, Alu, BindingKind, Dim, ImageAction, ImageOp, ImageShape, Lod, Memory, Value,
};
use crate::lower::cube_gradients::gradients;
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::pointer::{Opaque, Pointer, Target, Texel};
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::{Image, Item, Translator};
use crate::spirv::types::{ImageType, Type};

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    match op {
        Op::SampledImage => {
            let (image, sampler) = (t.image(instr, 0)?.0, instr.word(1)?);
            let Item::Sampler(sampler) = t.item(instr, sampler)? else {
                return Err(instr.invalid(Invalid::Wanted(sampler, "a sampler")));
            };
            t.define_item(instr, Item::Image(image, Some(sampler)))?;
        }
        Op::Image => {
            let (image, _) = t.image(instr, 0)?;
            t.define_item(instr, Item::Image(image, None))?;
        }
        Op::ImageTexelPointer => texel_pointer(t, instr)?,
        Op::ImageRead => read(t, instr)?,
        Op::ImageWrite => write(t, instr)?,
        Op::ImageFetch => fetch(t, instr)?,
        Op::ImageSampleImplicitLod | Op::ImageSampleExplicitLod => {
            sample(t, instr, Sampling::default())?;
        }
        Op::ImageSampleDrefImplicitLod | Op::ImageSampleDrefExplicitLod => {
            sample(t, instr, Sampling::COMPARED)?;
        }
        Op::ImageSampleProjImplicitLod | Op::ImageSampleProjExplicitLod => {
            sample(t, instr, Sampling::PROJECTED)?;
        }
        Op::ImageSampleProjDrefImplicitLod | Op::ImageSampleProjDrefExplicitLod => {
            let both = Sampling {
                compared: true,
                projected: true,
            };
            sample(t, instr, both)?;
        }
        Op::ImageGather => gather(t, instr, false)?,
        Op::ImageDrefGather => gather(t, instr, true)?,
        Op::ImageQuerySize
        | Op::ImageQuerySizeLod
        | Op::ImageQueryLevels
        | Op::ImageQuerySamples => image_query::query(t, instr, op)?,
        Op::ImageQueryLod => image_query::level(t, instr)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// The image or sampler that a descriptor holds.
pub(crate) fn load(t: &mut Translator<'_>, instr: &Instr, ty: &Type, opaque: Opaque) -> Result<()> {
    let item = match ty {
        Type::Sampler => Item::Sampler(opaque.resource),
        Type::Image(ty) => {
            let ty = ty.clone();
            Item::Image(Image { ty, opaque }, None)
        }
        Type::SampledImage(ty) => {
            let ty = ty.clone();
            Item::Image(Image { ty, opaque }, Some(opaque.resource))
        }
        _ => return Err(instr.invalid(Invalid::TypeMismatch)),
    };
    t.define_item(instr, item)
}

/// The optional operands of an image instruction.
#[derive(Default)]
pub(super) struct Operands {
    bias: Option<u32>,
    lod: Option<u32>,
    min_lod: Option<u32>,
    gradients: Option<[u32; 2]>,
    offset: Option<u32>,
    offsets: Option<u32>,
    pub(super) sample: Option<u32>,
    volatile: bool,
}

impl Operands {
    pub(super) fn read(instr: &Instr, at: usize) -> Result<Operands> {
        let mut operands = Operands::default();
        let Some(mask) = instr.operands.get(at) else {
            return Ok(operands);
        };
        let mut at = at;
        let mut next = || {
            at += 1;
            instr.word(at)
        };
        let bits = ImageOperands::from_bits_retain(*mask);
        let mut rest = bits;
        let mut takes = |operand: ImageOperands| {
            rest.remove(operand);
            bits.contains(operand)
        };
        // In the order of the bits, which is that of the words.
        if takes(ImageOperands::BIAS) {
            operands.bias = Some(next()?);
        }
        if takes(ImageOperands::LOD) {
            operands.lod = Some(next()?);
        }
        if takes(ImageOperands::GRAD) {
            operands.gradients = Some([next()?, next()?]);
        }
        if takes(ImageOperands::CONST_OFFSET) {
            operands.offset = Some(next()?);
        }
        if takes(ImageOperands::OFFSET) {
            operands.offset = Some(next()?);
        }
        if takes(ImageOperands::CONST_OFFSETS) {
            operands.offsets = Some(next()?);
        }
        if takes(ImageOperands::SAMPLE) {
            operands.sample = Some(next()?);
        }
        if takes(ImageOperands::MIN_LOD) {
            operands.min_lod = Some(next()?);
        }
        if takes(ImageOperands::MAKE_TEXEL_AVAILABLE) {
            next()?;
            operands.volatile = true;
        }
        if takes(ImageOperands::MAKE_TEXEL_VISIBLE) {
            next()?;
            operands.volatile = true;
        }
        if takes(ImageOperands::VOLATILE_TEXEL) {
            operands.volatile = true;
        }
        for nothing in [
            ImageOperands::NON_PRIVATE_TEXEL,
            ImageOperands::SIGN_EXTEND,
            ImageOperands::ZERO_EXTEND,
            ImageOperands::NONTEMPORAL,
        ] {
            takes(nothing);
        }
        match rest.is_empty() {
            true => Ok(operands),
            false => {
                let name = format!("image operands {rest:?}");
                Err(instr.unsupported(Feature::Use, name))
            }
        }
    }
}

/// An image as what only reads and writes texels sees it.
pub(super) fn flat(shape: ImageShape) -> ImageShape {
    match shape.dim {
        Dim::Cube => ImageShape {
            dim: Dim::D2,
            arrayed: true,
            ..shape
        },
        _ => shape,
    }
}

impl Translator<'_> {
    /// Whether lanes come in quads.
    pub(super) fn has_derivatives(&self) -> bool {
        matches!(self.builder.function.stage, ir::Stage::Fragment(_))
    }

    /// The image that an operand names, and its sampler.
    pub(super) fn image(&mut self, instr: &Instr, index: usize) -> Result<(Image, Option<Value>)> {
        let id = instr.word(index)?;
        match self.item(instr, id)? {
            Item::Image(image, sampler) => Ok((image, sampler)),
            _ => Err(instr.invalid(Invalid::Wanted(id, "an image"))),
        }
    }

    /// The first integers of an operand, as words. The offsets of a gather are an array of vectors.
    pub(super) fn integers(&mut self, instr: &Instr, id: u32, count: usize) -> Result<Vec<Value>> {
        let composite = self.composite(instr, id)?;
        let vector = match &*composite.ty {
            Type::Array { element, .. } => element,
            other => other,
        };
        let Type::Int { signed, .. } = *vector.component() else {
            return Err(instr.invalid(Invalid::TypeMismatch));
        };
        let scalars = composite.scalars.get(..count);
        let scalars = scalars.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
        let words = scalars.iter();
        Ok(words
            .map(|value| to_word(&mut self.builder, *value, signed))
            .collect())
    }

    /// The first floats of an operand.
    pub(super) fn floats(&mut self, instr: &Instr, id: u32, count: usize) -> Result<Vec<Value>> {
        let composite = self.composite(instr, id)?;
        if *composite.ty.component() != (Type::Float { bits: 32 }) {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        let scalars = composite.scalars.get(..count);
        let scalars = scalars.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
        Ok(scalars.to_vec())
    }

    /// The operands that say which texel of a storage image.
    fn texel(
        &mut self,
        instr: &Instr,
        ty: &ImageType,
        opaque: Opaque,
        (at, sample): (u32, Option<u32>),
    ) -> Result<Texel> {
        let shape = flat(ty.shape);
        let count = shape.dim.coordinates() + usize::from(shape.arrayed);
        let mut at = self.integers(instr, at, count)?;
        if shape.multisampled {
            let sample = sample.ok_or_else(|| instr.invalid(Invalid::MissingOperand))?;
            at.extend(self.integers(instr, sample, 1)?);
        }
        Ok(Texel {
            image: opaque,
            shape,
            at: at.into(),
        })
    }

    /// An operation on a texel of a storage image.
    pub(crate) fn texel_op(&mut self, op: ImageOp, texel: &Texel, words: &[Value]) -> ir::Values {
        let mut args = vec![texel.image.resource];
        args.extend(texel.at.iter());
        args.extend(words);
        self.builder.inst(ir::Op::Image(op), &args)
    }

    /// Notes that an image is written.
    pub(crate) fn write_texel(&mut self, instr: &Instr, image: Opaque) -> Result<()> {
        let binding = &mut self.builder.function.bindings[image.binding.index()];
        match binding.kind {
            BindingKind::StorageImage | BindingKind::StorageTexels => {
                binding.written = true;
                Ok(())
            }
            _ => Err(instr.invalid(Invalid::TypeMismatch)),
        }
    }

    /// Gives the result of an instruction the first of these words.
    pub(super) fn define_words(&mut self, instr: &Instr, words: &[Value]) -> Result<()> {
        let count = self.result_type(instr)?.scalars() as usize;
        let words = words.get(..count);
        let words = words.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
        self.define(instr, words.to_vec())
    }
}

fn memory(image: Opaque, volatile: bool) -> Memory {
    match (image.memory, volatile) {
        (Memory::Plain, true) => Memory::Volatile,
        (memory, _) => memory,
    }
}

fn texel_pointer(t: &mut Translator<'_>, instr: &Instr) -> Result<()> {
    let pointer = t.pointer(instr, 0)?;
    let (Type::Image(ty), Target::Opaque(opaque)) = (&*pointer.ty, &pointer.target) else {
        return Err(instr.invalid(Invalid::TypeMismatch));
    };
    if let Type::Float { .. } = &*ty.texel
        && ty.components != 1
    {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let texel = t.texel(instr, ty, *opaque, (instr.word(1)?, Some(instr.word(2)?)))?;
    let pointer = Pointer {
        ty: ty.texel.clone(),
        target: Target::Texel(texel),
    };
    t.define_item(instr, Item::Pointer(pointer))
}

fn read(t: &mut Translator<'_>, instr: &Instr) -> Result<()> {
    let (image, _) = t.image(instr, 0)?;
    if image.ty.subpass {
        return input_attachment::read(t, instr, &image);
    }
    if !image.ty.storage {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let operands = Operands::read(instr, 2)?;
    let texel = t.texel(
        instr,
        &image.ty,
        image.opaque,
        (instr.word(1)?, operands.sample),
    )?;
    let op = ImageOp {
        memory: memory(image.opaque, operands.volatile),
        ..ImageOp::new(ImageAction::Read, texel.shape)
    };
    let words = t.texel_op(op, &texel, &[]);
    t.define_words(instr, &words)
}

fn write(t: &mut Translator<'_>, instr: &Instr) -> Result<()> {
    let (image, _) = t.image(instr, 0)?;
    t.write_texel(instr, image.opaque)?;
    let operands = Operands::read(instr, 3)?;
    let texel = t.texel(
        instr,
        &image.ty,
        image.opaque,
        (instr.word(1)?, operands.sample),
    )?;
    let words = t.operand(instr, 2)?;
    if *words.ty.component() != *image.ty.texel {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let count = words.scalars.len().min(image.ty.components.into());
    let op = ImageOp {
        memory: memory(image.opaque, operands.volatile),
        ..ImageOp::new(ImageAction::Write(count as u8), texel.shape)
    };
    t.texel_op(op, &texel, &words.scalars[..count]);
    Ok(())
}

fn fetch(t: &mut Translator<'_>, instr: &Instr) -> Result<()> {
    let (image, _) = t.image(instr, 0)?;
    let shape = image.ty.shape;
    if image.ty.storage || shape.dim == Dim::Cube {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let operands = Operands::read(instr, 2)?;
    let count = shape.dim.coordinates() + usize::from(shape.arrayed);
    let mut args = vec![image.opaque.resource];
    args.extend(t.integers(instr, instr.word(1)?, count)?);
    if shape.multisampled {
        let sample = operands.sample;
        let sample = sample.ok_or_else(|| instr.invalid(Invalid::MissingOperand))?;
        args.extend(t.integers(instr, sample, 1)?);
    }
    let action = match shape.dim {
        Dim::Buffer => ImageAction::Read,
        _ => {
            if !shape.multisampled {
                let level = match operands.lod {
                    Some(lod) => t.integers(instr, lod, 1)?[0],
                    None => t.builder.word(0),
                };
                args.push(level);
            }
            ImageAction::Fetch
        }
    };
    if let Some(offset) = operands.offset {
        args.extend(t.integers(instr, offset, shape.dim.sizes())?);
    }
    let op = ImageOp {
        offset: operands.offset.is_some(),
        memory: Memory::Constant,
        ..ImageOp::new(action, shape)
    };
    let words = t.builder.inst(ir::Op::Image(op), &args);
    t.define_words(instr, &words)
}

/// What a sampling instruction's name says.
#[derive(Clone, Copy, Default)]
struct Sampling {
    compared: bool,
    projected: bool,
}

impl Sampling {
    const COMPARED: Sampling = Sampling {
        compared: true,
        projected: false,
    };
    const PROJECTED: Sampling = Sampling {
        compared: false,
        projected: true,
    };
}

/// The image and sampler of a sampling instruction, and its coordinates with the layer.
fn sampled(
    t: &mut Translator<'_>,
    instr: &Instr,
    projected: bool,
) -> Result<(Image, Value, Vec<Value>)> {
    let (image, sampler) = t.image(instr, 0)?;
    let sampler = sampler.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
    let shape = image.ty.shape;
    if shape.multisampled {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let count = shape.dim.coordinates() + usize::from(shape.arrayed);
    let all = count + usize::from(projected);
    let mut at = t.floats(instr, instr.word(1)?, all)?;
    if let Some(divisor) = at.get(count).copied().filter(|_| projected) {
        at.truncate(count);
        for value in &mut at {
            *value = t.builder.alu(Alu::FDiv, &[*value, divisor]);
        }
    }
    Ok((image, sampler, at))
}

fn sample(t: &mut Translator<'_>, instr: &Instr, sampling: Sampling) -> Result<()> {
    let (image, sampler, at) = sampled(t, instr, sampling.projected)?;
    let shape = image.ty.shape;
    let mut args = vec![image.opaque.resource, sampler];
    args.extend(&at);
    if sampling.compared {
        let mut reference = t.scalar(instr, 2, ir::Type::W32)?;
        if sampling.projected {
            let count = shape.dim.coordinates();
            let divisor = t.floats(instr, instr.word(1)?, count + 1)?[count];
            reference = t.builder.alu(Alu::FDiv, &[reference, divisor]);
        }
        args.push(reference);
    }
    let operands = Operands::read(instr, 2 + usize::from(sampling.compared))?;
    let lod = if let Some([x, y]) = operands.gradients {
        let count = shape.dim.coordinates();
        let changes = [t.floats(instr, x, count)?, t.floats(instr, y, count)?];
        args.extend(gradients(&mut t.builder, shape.dim, &at, &changes));
        Lod::Gradients
    } else if let (Some(bias), true) = (operands.bias, t.has_derivatives()) {
        args.extend(t.floats(instr, bias, 1)?);
        Lod::Bias
    } else if let Some(level) = operands.lod.or(operands.bias) {
        let level = t.floats(instr, level, 1)?;
        let zero = t.builder.function.as_word(level[0]).map(|bits| bits << 1) == Some(0);
        if !zero {
            args.extend(level);
        }
        if zero { Lod::Zero } else { Lod::Level }
    } else if t.has_derivatives() {
        Lod::Implicit
    } else {
        Lod::Zero
    };
    if let Some(least) = operands.min_lod {
        if !matches!(lod, Lod::Implicit | Lod::Bias | Lod::Gradients) {
            let what = "a least level where there are no derivatives";
            return Err(instr.unsupported(Feature::Use, what));
        }
        args.extend(t.floats(instr, least, 1)?);
    }
    if let Some(offset) = operands.offset {
        args.extend(t.integers(instr, offset, shape.dim.sizes())?);
    }
    let op = ImageOp {
        compare: sampling.compared,
        min_lod: operands.min_lod.is_some(),
        offset: operands.offset.is_some(),
        memory: Memory::Constant,
        ..ImageOp::new(ImageAction::Sample(lod), shape)
    };
    let words = t.builder.inst(ir::Op::Image(op), &args);
    t.define_words(instr, &words)
}

fn gather(t: &mut Translator<'_>, instr: &Instr, compared: bool) -> Result<()> {
    let (image, sampler, at) = sampled(t, instr, false)?;
    let shape = image.ty.shape;
    if !matches!(shape.dim, Dim::D2 | Dim::Cube) {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let mut args = vec![image.opaque.resource, sampler];
    args.extend(&at);
    let component = match compared {
        true => {
            args.push(t.scalar(instr, 2, ir::Type::W32)?);
            0
        }
        false => match t.module.constant_word(instr, instr.word(2)?)? {
            component @ 0..=3 => component as u8,
            other => return Err(instr.invalid(Invalid::Literal(other))),
        },
    };
    let operands = Operands::read(instr, 3)?;
    if operands.lod.is_some() || operands.bias.is_some() {
        return Err(instr.unsupported(Feature::Use, "a level of a gather"));
    }
    let op = |offset| ImageOp {
        compare: compared,
        offset,
        memory: Memory::Constant,
        ..ImageOp::new(ImageAction::Gather(component), shape)
    };
    let words = if let Some(offsets) = operands.offsets {
        // Each result is the texel (i0, j0), the last of its own footprint.
        let offsets = t.integers(instr, offsets, 8)?;
        let pairs = offsets.chunks(2);
        pairs
            .map(|pair| {
                let args: Vec<Value> = args.iter().chain(pair).copied().collect();
                t.builder.inst(ir::Op::Image(op(true)), &args)[3]
            })
            .collect()
    } else {
        if let Some(offset) = operands.offset {
            args.extend(t.integers(instr, offset, 2)?);
        }
        let op = op(operands.offset.is_some());
        t.builder.inst(ir::Op::Image(op), &args)
    };
    t.define_words(instr, &words)
}

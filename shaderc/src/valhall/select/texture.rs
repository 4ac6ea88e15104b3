//! Textures: fetches, samples and gathers, whose payload of registers says where and how.
//!
//! Facts: hardware/compiler-lowering.md 8; hardware/compiler-isel.md 11 and 12; hardware/valhall-isa.md 11.6.

use super::Selector;
use super::image::MASKS;
use crate::ir::range::upper_bound;
use crate::ir::{self, BindingKind, Dim, ImageAction, ImageOp, ImageShape, InstData, Lod};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{
    Instr, Modifier, Modifiers, Op, Operand, Select, Source, Space, Word, Words,
};
use smallvec::smallvec;

/// The descriptor of the sampler that fetches name: the first of the driver's own table, which the runtime puts there
/// for programs with sampled images (hardware/compiler-abi.md 1.3).
const NO_SAMPLER: u32 = 0;
/// Below the bits of a cube coordinate that hold the face.
const FACE_MASK: u32 = 0x1fff_ffff;
/// Largest level of detail that 8.8 bits are asked to hold.
const MAX_LEVEL: f32 = 16.0;

impl Selector<'_> {
    /// The two words of a texture message's handle: sampler, then texture.
    pub(super) fn texture_handle(
        &mut self,
        sampler: Option<ir::Value>,
        texture: ir::Value,
    ) -> Source {
        let low = match sampler {
            Some(sampler) => self.sampler_handle(sampler),
            None => self.moved(Source::constant(NO_SAMPLER)),
        };
        let high = self.in_register(texture);
        Source::plain(Operand::Pair(low, high))
    }

    /// The handle of a sampler, which may stand behind its image.
    fn sampler_handle(&mut self, sampler: ir::Value) -> Word {
        let binding = self
            .ir
            .binding_of(sampler)
            .and_then(|id| self.ir.binding(id));
        let kind = binding.map(|binding| binding.kind);
        if kind != Some(BindingKind::CombinedImageSampler) {
            return self.in_register(sampler);
        }
        let source = match self.known_handle(sampler) {
            Some(handle) => Source::constant(handle + 1),
            None => {
                let image = self.plain(sampler);
                self.compute(Op::IAdd, &[image, Source::constant(1)])
            }
        };
        match source.operand {
            Operand::Word(word) => word,
            _ => self.moved(source),
        }
    }

    /// A word of bytes, each cut off: constants are put together here.
    fn bytes(&mut self, parts: &[(ir::Value, u32)]) -> Option<Word> {
        let mut known = 0;
        let mut sum: Option<Source> = None;
        for &(value, shift) in parts {
            if let Some(bits) = self.ir.as_word(value) {
                known |= (bits & 0xff) << shift;
                continue;
            }
            let value = self.plain(value);
            let none = Source::constant(0).select(Select::B0);
            let byte = self.compute(Op::LShiftAnd, &[value, none, Source::constant(0xff)]);
            let shift = Source::constant(shift).select(Select::B0);
            let before = sum.unwrap_or(Source::constant(0));
            sum = Some(self.compute(Op::LShiftOr, &[byte, shift, before]));
        }
        match sum {
            None if known == 0 => None,
            None => Some(self.moved(Source::constant(known))),
            Some(sum) => {
                let none = Source::constant(0).select(Select::B0);
                let all = match known {
                    0 => sum,
                    known => self.compute(Op::LShiftOr, &[sum, none, Source::constant(known)]),
                };
                Some(match all.operand {
                    Operand::Word(word) => word,
                    _ => self.moved(all),
                })
            }
        }
    }

    /// A number that is at most 255, so that as a byte it can't mean another.
    fn at_most_a_byte(&mut self, value: ir::Value) -> Source {
        let source = self.plain(value);
        if upper_bound(self.ir, value) <= 255 {
            return source;
        }
        let most = Source::constant(255);
        let dest = self.function.new_value();
        self.emit(
            Instr {
                dests: smallvec![Word::Value(dest)],
                sources: smallvec![source, most, source, most],
                ..Instr::new(Op::CselU)
            }
            .with(Modifier::Lt),
        );
        Source::value(dest)
    }

    pub(super) fn fetch(&mut self, op: ImageOp, data: &InstData) -> Result<(), Unsupported> {
        let shape = op.shape;
        let count = shape.dim.coordinates() + usize::from(shape.arrayed);
        let (at, rest) = data.args[1..].split_at(count);
        let mut staging: Words = at.iter().map(|&value| self.in_register(value)).collect();
        // The sample, or the level; then the offsets.
        let (chosen, offsets) = rest.split_at(1);
        let chosen_shift = if shape.multisampled { 16 } else { 24 };
        let parts: Vec<(ir::Value, u32)> = offsets.iter().copied().zip((0..).step_by(8)).collect();
        let offsets = self.bytes(&parts);
        let word = match self.ir.as_word(chosen[0]) {
            Some(0) => offsets,
            Some(bits) => {
                let bits = bits.min(255) << chosen_shift;
                Some(self.joined(Source::constant(bits), 0, offsets))
            }
            None => {
                let chosen = self.at_most_a_byte(chosen[0]);
                Some(self.joined(chosen, chosen_shift, offsets))
            }
        };
        let handle = self.texture_handle(None, data.args[0]);
        let (dests, mask) = self.masked_results(data);
        let mut instr = texture(Op::TexFetch, shape)
            .with(mask)
            .with(Modifier::Format);
        if let Some(word) = word {
            staging.push(word);
            instr.add_modifier(Modifier::TexelOffset);
        }
        instr.dests = dests;
        instr.staging = staging;
        instr.sources = smallvec![handle];
        self.emit(instr);
        Ok(())
    }

    /// `value << shift | other`, in a register.
    fn joined(&mut self, value: Source, shift: u32, other: Option<Word>) -> Word {
        let other = match other {
            Some(other) => Source::plain(Operand::Word(other)),
            None if shift == 0 => return self.moved(value),
            None => Source::constant(0),
        };
        let shift = Source::constant(shift).select(Select::B0);
        let all = self.compute(Op::LShiftOr, &[value, shift, other]);
        match all.operand {
            Operand::Word(word) => word,
            _ => self.moved(all),
        }
    }

    pub(super) fn sample(
        &mut self,
        op: ImageOp,
        lod: Lod,
        data: &InstData,
    ) -> Result<(), Unsupported> {
        let payload = self.payload(op, data);
        let mut staging = payload.words;
        let handle = self.texture_handle(Some(data.args[1]), data.args[0]);
        let mode = match lod {
            Lod::Zero => Modifier::LodZero,
            Lod::Level => {
                staging.push(self.level(payload.level[0]));
                Modifier::LodExplicit
            }
            Lod::Implicit if !op.min_lod => Modifier::LodComputed,
            Lod::Implicit | Lod::Bias => {
                staging.push(self.bias(payload.level, op));
                Modifier::LodBiased
            }
            Lod::Gradients => {
                staging.extend(self.gradients(op, handle, payload.level));
                Modifier::LodGradients
            }
        };
        if staging.len() > 8 {
            return Err(self.unsupported("a sample with so many operands"));
        }
        let (dests, mask) = self.masked_results(data);
        let mut instr = texture(Op::TexSingle, op.shape)
            .with(mask)
            .with(mode)
            .with(Modifier::Format);
        payload
            .modifiers
            .into_iter()
            .for_each(|modifier| instr.add_modifier(modifier));
        instr.dests = dests;
        instr.staging = staging;
        instr.sources = smallvec![handle];
        self.emit(instr);
        Ok(())
    }

    pub(super) fn gather(
        &mut self,
        op: ImageOp,
        component: u8,
        data: &InstData,
    ) -> Result<(), Unsupported> {
        let payload = self.payload(op, data);
        let handle = self.texture_handle(Some(data.args[1]), data.args[0]);
        let (dests, mask) = self.masked_results(data);
        let component = match component {
            0 => Modifier::GatherR,
            1 => Modifier::GatherG,
            2 => Modifier::GatherB,
            _ => Modifier::GatherA,
        };
        let mut instr = texture(Op::TexGather, op.shape)
            .with(mask)
            .with(component)
            .with(Modifier::Format);
        payload
            .modifiers
            .into_iter()
            .for_each(|modifier| instr.add_modifier(modifier));
        instr.dests = dests;
        instr.staging = payload.words;
        instr.sources = smallvec![handle];
        self.emit(instr);
        Ok(())
    }

    /// The words of a payload that come before the level.
    // FACT: whether the unit itself limits the reference of a comparison to 0 and 1 where the texels are unsigned
    // normalised is not known (hardware/graphics-texture.md 7.6 has shaders do it, which don't know the format); it is
    // handed over as it is. Settled by a comparison with 1.5 on a depth image of 16 bits on any board.
    fn payload<'d>(&mut self, op: ImageOp, data: &'d InstData) -> Payload<'d> {
        let shape = op.shape;
        let args = &data.args[op.resources()..];
        let (at, args) = args.split_at(shape.dim.coordinates());
        let (layer, args) = args.split_at(shape.arrayed.into());
        let (reference, args) = args.split_at(op.compare.into());
        let (level, offsets) = args.split_at(op.level_operands() + usize::from(op.min_lod));
        let mut words = match shape.dim {
            Dim::Cube => self.cube(at),
            _ => at.iter().map(|&value| self.in_register(value)).collect(),
        };
        words.extend(layer.iter().map(|&value| self.in_register(value)));
        words.extend(reference.iter().map(|&value| self.in_register(value)));
        let parts: Vec<(ir::Value, u32)> = offsets.iter().copied().zip((0..).step_by(8)).collect();
        let mut modifiers = Modifiers::new();
        if op.compare {
            modifiers.push(Modifier::Shadow);
        }
        if let Some(word) = self.bytes(&parts) {
            words.push(word);
            modifiers.push(Modifier::TexelOffset);
        }
        Payload {
            words,
            level,
            modifiers,
        }
    }

    /// The face and the two coordinates on it that a direction means.
    pub(super) fn cube(&mut self, direction: &[ir::Value]) -> Words {
        let direction: Vec<Source> = direction
            .iter()
            .map(|&value| Source::plain(Operand::Word(self.in_register(value))))
            .collect();
        let [x, y, z] = [direction[0], direction[1], direction[2]];
        let largest = self.compute(Op::CubeFace1, &[x, y, z]);
        let face = self.compute(Op::CubeFace2, &[x, y, z]);
        let across = self.compute(Op::CubeSsel, &[z, x, face]);
        let down = self.compute(Op::CubeTsel, &[y, z, face]);
        let half = Source::constant(0.5f32.to_bits());
        let minus_zero = Source::constant((-0.0f32).to_bits());
        let inverse = self.compute(Op::FRcp, &[largest]);
        let scale = self.compute(Op::Fma, &[inverse, half, minus_zero]);
        let [s, t] = [across, down].map(|coordinate| {
            let dest = self.function.new_value();
            self.emit(
                Instr {
                    dests: smallvec![Word::Value(dest)],
                    sources: smallvec![coordinate, scale, half],
                    ..Instr::new(Op::Fma)
                }
                .with(Modifier::Clamp01),
            );
            dest
        });
        let first = self.function.new_value();
        self.emit(
            Instr {
                dests: smallvec![Word::Value(first)],
                sources: smallvec![Source::value(s), face, Source::constant(FACE_MASK)],
                ..Instr::new(Op::Mux)
            }
            .with(Modifier::MuxBit),
        );
        smallvec![Word::Value(first), Word::Value(t)]
    }

    /// A level of detail as the payload has it: signed 8.8.
    fn level(&mut self, level: ir::Value) -> Word {
        if let Some(bits) = self.ir.as_word(level) {
            let level = f32::from_bits(bits).clamp(-MAX_LEVEL, MAX_LEVEL);
            let fixed = (level * 256.0).round_ties_even() as i32;
            return self.moved(Source::constant(fixed.cast_unsigned()));
        }
        let level = Source::plain(Operand::Word(self.in_register(level)));
        let minus_zero = Source::constant((-0.0f32).to_bits());
        let part = Source::constant((1.0 / MAX_LEVEL).to_bits());
        let limited = self.function.new_value();
        self.emit(
            Instr {
                dests: smallvec![Word::Value(limited)],
                sources: smallvec![level, part, minus_zero],
                ..Instr::new(Op::Fma)
            }
            .with(Modifier::ClampM11),
        );
        let whole = Source::constant((MAX_LEVEL * 256.0).to_bits());
        let scaled = self.compute(Op::Fma, &[Source::value(limited), whole, minus_zero]);
        let fixed = self.compute(Op::F32ToS32, &[scaled]);
        match fixed.operand {
            Operand::Word(word) => word,
            _ => self.moved(fixed),
        }
    }

    /// What is added to a level that is computed, and below that the least level: a half each. Both are optional.
    fn bias(&mut self, operands: &[ir::Value], op: ImageOp) -> Word {
        let mut halves = operands.iter().map(|&value| self.level(value));
        let biased = op.action == ImageAction::Sample(Lod::Bias);
        let bias = if biased { halves.next() } else { None };
        let least = halves.next();
        let source = |word: Word| Source::plain(Operand::Word(word));
        let both = match (bias, least) {
            (Some(bias), Some(least)) => {
                let halves = [bias, least].map(|word| source(word).select(Select::H0));
                self.compute(Op::MkVec, &halves)
            }
            (Some(bias), None) => {
                let none = Source::constant(0).select(Select::B0);
                let low = Source::constant(0xffff);
                self.compute(Op::LShiftAnd, &[source(bias), none, low])
            }
            (None, least) => {
                let least = least.map_or(Source::constant(0), source);
                let high = Source::constant(16).select(Select::B0);
                self.compute(Op::LShiftOr, &[least, high, Source::constant(0)])
            }
        };
        match both.operand {
            Operand::Word(word) => word,
            _ => self.moved(both),
        }
    }

    /// The two words that a pair of derivatives becomes.
    fn gradients(&mut self, op: ImageOp, handle: Source, level: &[ir::Value]) -> [Word; 2] {
        let (x, y) = level.split_at(op.shape.dim.sizes());
        // Of each coordinate both derivatives.
        let staging = x.iter().zip(y).flat_map(|(x, y)| [*x, *y]);
        let staging: Vec<ir::Value> = staging.collect();
        let staging = staging
            .iter()
            .map(|&value| self.in_register(value))
            .collect();
        let dests = [(); 2].map(|()| Word::Value(self.function.new_value()));
        let shape = ImageShape {
            arrayed: false,
            ..op.shape
        };
        let instr = texture(Op::TexGradient, shape)
            .with(MASKS[0b11 - 1])
            .with(Modifier::Derivative)
            .with(Modifier::LodBiasDisable)
            .with(Modifier::LodClampDisable)
            .with(Modifier::Format);
        self.emit(Instr {
            dests: dests.into(),
            staging,
            sources: smallvec![handle],
            ..instr
        });
        dests
    }
}

/// What a texture message has before the level.
struct Payload<'d> {
    words: Words,
    /// The operands that say how the level is chosen.
    level: &'d [ir::Value],
    modifiers: Modifiers,
}

/// A texture message for an image of that shape, with both words of the handle.
pub(super) fn texture(op: Op, shape: ImageShape) -> Instr {
    let dimension = match shape.dim {
        Dim::Buffer | Dim::D1 => Modifier::Dim1,
        Dim::D2 => Modifier::Dim2,
        Dim::D3 => Modifier::Dim3,
        Dim::Cube => Modifier::DimCube,
    };
    let mut instr = Instr {
        space: Some(Space::Constant),
        ..Instr::new(op)
    };
    for modifier in [dimension, Modifier::Width32, Modifier::WideIndices] {
        instr.add_modifier(modifier);
    }
    if shape.arrayed {
        instr.add_modifier(Modifier::Array);
    }
    instr
}

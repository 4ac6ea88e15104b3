//! The level of detail that a sample would choose.
//!
//! TEX_GRADIENT gives it as differences across the quad make it; what descriptors limit it to is computed from them here.
//! Facts: hardware/compiler-isel.md 12 (LOD query), hardware/descriptors.md (sampler), hardware/compiler-abi.md 1.5 (texture).

use super::Selector;
use super::image::LEVELS_OFFSET;
use super::texture::texture;
use crate::ir::{self, BindingKind, Dim, ImageOp, ImageShape, InstData};
use crate::valhall::mir::{Instr, Modifier, Op, Select, Source, Word, Words};
use smallvec::smallvec;

/// Bytes from an image's descriptor to that of its sampler, where one stands behind the other.
const TO_SAMPLER: u32 = 32;
/// Offset of the word with the mode of a sampler's descriptor, and of that with the limits.
const MODE_OFFSET: u32 = 0;
const LIMITS_OFFSET: u32 = 4;
/// Modes: to the nearest level, and always the first one.
const NEAREST: u32 = 0;
const NONE: u32 = 1;
/// Part of a level that fixed-point numbers count.
const UNIT: f32 = 1.0 / 256.0;

impl Selector<'_> {
    /// The level that would be chosen, then the one before it is limited to those that there are.
    pub(super) fn query_lod(&mut self, op: ImageOp, data: &InstData) {
        let handle = self.texture_handle(Some(data.args[1]), data.args[0]);
        let at = &data.args[op.resources()..];
        let staging: Words = match op.shape.dim {
            Dim::Cube => self.cube(at),
            _ => at.iter().map(|&value| self.in_register(value)).collect(),
        };
        let shape = ImageShape {
            arrayed: false,
            ..op.shape
        };
        let dest = self.function.new_value();
        let instr = texture(Op::TexGradient, shape)
            .with(Modifier::MaskR)
            .with(Modifier::LodClampDisable)
            .with(Modifier::Format);
        self.emit(Instr {
            dests: smallvec![Word::Value(dest)],
            staging,
            sources: smallvec![handle],
            ..instr
        });
        let fixed = self.compute(Op::S16ToS32, &[Source::value(dest).select(Select::H0)]);
        let float = self.compute(Op::S32ToF32, &[fixed]);
        let level = self.compute(Op::Fma, &[float, float_of(UNIT), minus_zero()]);
        self.define_moved(data.results[1], level);
        let chosen = self.chosen_level(level, data);
        self.define_moved(data.results[0], chosen);
    }

    /// What becomes of a level by the sampler, and by the number of levels.
    fn chosen_level(&mut self, level: Source, data: &InstData) -> Source {
        let [image, sampler] = [data.args[0], data.args[1]];
        let binding = self
            .ir
            .binding_of(sampler)
            .and_then(|id| self.ir.binding(id));
        let behind = match binding.map(|binding| binding.kind) {
            Some(BindingKind::CombinedImageSampler) => TO_SAMPLER,
            _ => 0,
        };
        let mut word = |resource: ir::Value, byte: u32| {
            let load = self.descriptor_word(resource, byte);
            self.loaded(load)
        };
        let mode = word(sampler, behind + MODE_OFFSET);
        let limits = word(sampler, behind + LIMITS_OFFSET);
        let levels = word(image, LEVELS_OFFSET);
        let [least, most] = [0, 16].map(|low| {
            let fixed = self.field(limits, low, 0x1fff);
            let float = self.compute(Op::U32ToF32, &[fixed]);
            self.compute(Op::Fma, &[float, float_of(UNIT), minus_zero()])
        });
        // One less than there are.
        let last = self.field(levels, 16, 0x1f);
        let last = self.compute(Op::U32ToF32, &[last]);
        let most = self.compute(Op::FMin, &[most, last]);
        let level = self.compute(Op::FMax, &[level, least]);
        let level = self.compute(Op::FMin, &[level, most]);
        // Halfway the finer one is chosen.
        let half_more = self.compute(Op::FAdd, &[level, float_of(0.5)]);
        let dest = self.function.new_value();
        let up = Instr {
            dests: smallvec![Word::Value(dest)],
            sources: smallvec![half_more],
            ..Instr::new(Op::FRound)
        };
        self.emit(up.with(Modifier::RoundUp));
        let nearest = self.compute(Op::FAdd, &[Source::value(dest), float_of(-1.0)]);
        let mode = self.field(mode, 30, 0b11);
        let level = self.select_if(mode, NEAREST, nearest, level);
        self.select_if(mode, NONE, float_of(0.0), level)
    }

    /// `yes` where a word is `wanted`, else `no`.
    fn select_if(&mut self, word: Source, wanted: u32, yes: Source, no: Source) -> Source {
        let dest = self.function.new_value();
        let instr = Instr {
            dests: smallvec![Word::Value(dest)],
            sources: smallvec![word, Source::constant(wanted), yes, no],
            ..Instr::new(Op::CselU)
        };
        self.emit(instr.with(Modifier::Eq));
        Source::value(dest)
    }

    fn define_moved(&mut self, value: ir::Value, source: Source) {
        let instr = Instr {
            sources: smallvec![source],
            ..Instr::new(Op::Mov)
        };
        self.define(value, instr);
    }
}

fn float_of(value: f32) -> Source {
    Source::constant(value.to_bits())
}

fn minus_zero() -> Source {
    float_of(-0.0)
}

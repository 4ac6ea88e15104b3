//! Inputs of vertex and fragment programs: attributes, varyings, and what is interpolated besides.
//!
//! Facts: hardware/graphics-compiler.md 1.2 (attributes), 2.2 (varyings by offset), 3 (fragment inputs).

use super::Selector;
use crate::ir::{self, InstData, Sampling, SysVal, TexelKind};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{
    Half, Instr, Modifier, Op, Operand, Select, Source, Space, Special, Word, Words,
};
use eitri_isa::Arch;
use eitri_isa::preload::{INTERPOLATION_REGISTER, Preload, Stage};
use eitri_program::Attribute;
use smallvec::smallvec;

/// Vector sizes by number of components.
pub(super) const VECTORS: [Modifier; 4] = [
    Modifier::Vector1,
    Modifier::Vector2,
    Modifier::Vector3,
    Modifier::Vector4,
];

/// Numbers of what is interpolated that is no varying.
#[derive(Clone, Copy)]
enum Interpolated {
    Point = 0,
    FragW = 2,
    FragZ = 3,
}

impl Selector<'_> {
    pub(super) fn load_attribute(
        &mut self,
        attribute: ir::Attribute,
        data: &InstData,
    ) -> Result<(), Unsupported> {
        if attribute.location >= Attribute::MAX_LOCATIONS {
            return Err(self.unsupported(&format!("attribute {}", attribute.location)));
        }
        let [vertex, instance] = [Preload::VertexIndex, Preload::InstanceIndex]
            .map(|value| value.of(Stage::Vertex).map_or(0, |row| row.register));
        let sources = smallvec![self.preloaded(vertex), self.preloaded(instance)];
        let dests = self.results_from(attribute.first, data);
        let format = match attribute.kind {
            TexelKind::Float => Modifier::FormatF32,
            TexelKind::Signed => Modifier::FormatS32,
            TexelKind::Unsigned => Modifier::FormatU32,
        };
        let instr = Instr {
            sources,
            // Of table 0, entry by entry.
            immediate: Some(attribute.location.into()),
            space: Some(Space::Constant),
            ..Instr::new(Op::LdAttrImm)
        };
        let size = VECTORS[(dests.len() - 1) % VECTORS.len()];
        self.emit(Instr { dests, ..instr }.with(format).with(size));
        Ok(())
    }

    /// The results of a load that begins at the first component, of which so many are not wanted.
    fn results_from(&mut self, unwanted: u8, data: &InstData) -> Words {
        let mut words = Words::new();
        for _ in 0..unwanted {
            words.push(Word::Value(self.function.new_value()));
        }
        for &result in &data.results {
            words.push(Word::Value(self.word(result)));
        }
        words
    }

    /// A varying that the vertex program does not write has no value: whatever lies at the start of the record is as good.
    pub(super) fn load_varying(
        &mut self,
        varying: ir::Varying,
        data: &InstData,
    ) -> Result<(), Unsupported> {
        let slot = self.varyings.slot(varying.location);
        let (half, start) = slot.map_or((false, 0), |slot| (slot.half, slot.offset));
        let bytes = if half { 2 } else { 4 };
        let offset = start + u32::from(varying.first) * bytes;
        let format = match (varying.sampling, half) {
            // Nor of these: words that are not interpolated are not converted.
            (Sampling::Flat, false) if varying.half => {
                return Err(self.unsupported("halves of flat varyings of 32 bits"));
            }
            (Sampling::Flat, false) => Modifier::FlatWord,
            (_, false) => Modifier::SmoothWord,
            (Sampling::Flat, true) if varying.half => Modifier::FlatHalf,
            // `link` makes none: it would take registers of halves.
            (Sampling::Flat, true) => return Err(self.unsupported("flat varyings of 16 bits")),
            (_, true) => Modifier::SmoothHalf,
        };
        let (place, mode) = self.place_of_sampling(varying.sampling, &data.args);
        let update = match varying.sampling {
            Sampling::Flat => Modifier::Again,
            _ => Modifier::Keep,
        };
        let reach = match self.function.extra.arch {
            Arch::V9 | Arch::V10 => 1 << 8,
            _ => 1 << 11,
        };
        let dests = self.results_from(0, data);
        let size = VECTORS[(usize::from(varying.count) - 1) % VECTORS.len()];
        let (immediate, indexed) = match varying.half {
            false => (Op::LdVar32, Op::LdVarAt32),
            true => (Op::LdVar16, Op::LdVarAt16),
        };
        let mut instr = match offset < reach {
            true => Instr {
                sources: smallvec![place],
                immediate: Some(offset.into()),
                ..Instr::new(immediate)
            },
            false => Instr {
                sources: smallvec![place, Source::constant(offset)],
                ..Instr::new(indexed)
            },
        };
        instr.dests = dests;
        for modifier in [format, mode, update, size] {
            instr.add_modifier(modifier);
        }
        self.emit(instr);
        Ok(())
    }

    /// The word that says where something is interpolated, and how it says so.
    fn place_of_sampling(&mut self, sampling: Sampling, args: &[ir::Value]) -> (Source, Modifier) {
        match (sampling, args) {
            (Sampling::AtSample, &[sample]) => {
                let sample = self.plain(sample);
                let high = Source::constant(16).select(Select::B0);
                let place = self.compute(Op::LShiftOr, &[sample, high, Source::constant(0)]);
                (place, Modifier::AtSample)
            }
            (Sampling::AtOffset, &[x, y]) => {
                let [x, y] = [x, y].map(|offset| {
                    let offset = self.plain(offset);
                    // From the pixel's upper left, in 8.8.
                    let [unit, half] = [256.0f32, 128.0].map(|it| Source::constant(it.to_bits()));
                    let place = self.compute(Op::Fma, &[offset, unit, half]);
                    self.compute(Op::F32ToS32, &[place])
                });
                let halves = [x.select(Select::H0), y.select(Select::H0)];
                (self.compute(Op::MkVec, &halves), Modifier::AtPlace)
            }
            (sampling, _) => {
                let mode = match sampling {
                    Sampling::Centroid => Modifier::AtCentroid,
                    Sampling::Sample | Sampling::AtSample => Modifier::AtSample,
                    Sampling::Flat | Sampling::Center | Sampling::AtOffset => Modifier::AtCenter,
                };
                (self.preloaded(INTERPOLATION_REGISTER), mode)
            }
        }
    }

    /// 1/w at a place.
    pub(super) fn frag_w(&mut self, sampling: Sampling, data: &InstData) {
        let (place, mode) = self.place_of_sampling(sampling, &data.args);
        let instr = interpolated(Interpolated::FragW, place, mode);
        self.define(data.results[0], instr);
    }

    /// Depth, or a coordinate in a point.
    pub(super) fn special_varying(&mut self, sysval: SysVal, result: ir::Value) {
        let (place, mode) = self.place_of_sampling(Sampling::Center, &[]);
        if sysval == SysVal::FragZ {
            self.define(result, interpolated(Interpolated::FragZ, place, mode));
            return;
        }
        let both = match self.point {
            Some(both) => both,
            None => {
                let both = [(); 2].map(|()| Word::Value(self.function.new_value()));
                let instr = interpolated(Interpolated::Point, place, mode).with(Modifier::Vector2);
                let dests = both.into();
                self.emit(Instr { dests, ..instr });
                *self.point.insert(both)
            }
        };
        let own = both[usize::from(sysval == SysVal::PointY)];
        let copy = Instr {
            sources: smallvec![Source::plain(Operand::Word(own))],
            ..Instr::new(Op::Mov)
        };
        self.define(result, copy);
    }

    /// A coordinate of the sample in its pixel, in 256ths.
    pub(super) fn sample_position(
        &mut self,
        sysval: SysVal,
        result: ir::Value,
    ) -> Result<(), Unsupported> {
        let place = match self.sample_place {
            Some(place) => place,
            None => self.load_sample_place()?,
        };
        let half = match sysval {
            SysVal::SampleX => Select::H0,
            _ => Select::H1,
        };
        let place = Source::plain(Operand::Word(place));
        let number = self.compute(Op::U16ToU32, &[place.select(half)]);
        let number = self.compute(Op::U32ToF32, &[number]);
        let part = Source::constant((1.0f32 / 256.0).to_bits());
        let minus_zero = Source::constant((-0.0f32).to_bits());
        let instr = Instr {
            sources: smallvec![number, part, minus_zero],
            ..Instr::new(Op::Fma)
        };
        self.define(result, instr);
        Ok(())
    }

    /// Both coordinates of the sample: the table has two numbers of 16 bits a sample. They are loaded once in a block.
    fn load_sample_place(&mut self) -> Result<Word, Unsupported> {
        let sample = self.arrived(SysVal::SampleId)?;
        let two = Source::constant(2).select(Select::B0);
        let offset = self.compute(Op::LShiftOr, &[sample, two, Source::constant(0)]);
        let table = Source::plain(Operand::Special(Special::Sample, Half::Low));
        let address = [(); 2].map(|()| Word::Value(self.function.new_value()));
        let [low, high] = [
            match offset.operand {
                Operand::Word(word) => word,
                _ => self.moved(offset),
            },
            self.moved(Source::constant(0)),
        ];
        self.emit(Instr {
            dests: address.into(),
            sources: smallvec![table, Source::plain(Operand::Pair(low, high))],
            ..Instr::new(Op::IAdd64U)
        });
        let place = Word::Value(self.function.new_value());
        let load = Instr {
            dests: smallvec![place],
            sources: smallvec![Source::plain(Operand::Pair(address[0], address[1]))],
            immediate: Some(0),
            space: Some(Space::Constant),
            ..Instr::new(Op::Load32)
        };
        self.emit(load.with(Modifier::Unsigned));
        self.sample_place = Some(place);
        Ok(place)
    }
}

/// A load of what is no varying. What it leaves in the hidden register is of no use.
fn interpolated(what: Interpolated, place: Source, mode: Modifier) -> Instr {
    let instr = Instr {
        sources: smallvec![place],
        immediate: Some(what as i64),
        ..Instr::new(Op::LdVarSpecial)
    };
    instr
        .with(mode)
        .with(Modifier::FormatF32)
        .with(Modifier::Clobber)
}

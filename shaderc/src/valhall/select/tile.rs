//! Reads of the tile buffer: what colours, depth and stencil hold of the fragment.
//!
//! The last read of depth or stencil is not marked as such (v11 and later): that would only let fragments above begin sooner.
//! Facts: hardware/graphics-compiler.md 7 (tile reads), hardware/compiler-abi.md 3.5, hardware/valhall-isa.md 11.9.

use super::Selector;
use super::inputs::VECTORS;
use crate::ir::{InstData, TexelKind, TileLoad};
use crate::valhall::mir::{Half, Instr, Modifier, Op, Operand, Select, Source, Special, Word};
use eitri_isa::preload::{Preload, Stage};
use smallvec::smallvec;

/// Pixel indices: row 255 is the lane's own pixel.
const OWN_PIXEL: u32 = 0xff00_0000;
/// Where pixel indices have the target, and the targets that depth and stencil are.
const TARGET_SHIFT: u32 = 8;
const DEPTH: u8 = 255;
const STENCIL: u8 = 254;

impl Selector<'_> {
    /// What a target holds. The conversion of a colour is that of its blend descriptor, so the target may not have a blend
    /// shader: its descriptor would hold an address there.
    pub(super) fn load_tile(&mut self, tile: TileLoad, data: &InstData) {
        let target = match tile {
            TileLoad::Color { target, .. } => target,
            TileLoad::Depth => DEPTH,
            TileLoad::Stencil => STENCIL,
        };
        let indices = OWN_PIXEL | u32::from(target) << TARGET_SHIFT;
        let sample = data.args[0];
        let indices = match self.ir.as_word(sample) {
            Some(sample) => Source::constant(indices | sample & 0xff),
            None => {
                let sample = self.plain(sample);
                let none = Source::constant(0).select(Select::B0);
                self.compute(Op::LShiftOr, &[sample, none, Source::constant(indices)])
            }
        };
        let coverage = Preload::Coverage.of(Stage::Fragment);
        let coverage = self.preloaded(coverage.map_or(0, |row| row.register));
        let conversion = match tile {
            TileLoad::Color { target, .. } => Source::plain(Operand::Special(
                Special::BlendDescriptor(target),
                Half::High,
            )),
            TileLoad::Depth | TileLoad::Stencil => Source::constant(0),
        };
        let result = self.word(data.results[0]);
        // Above the low 8 bits stencil has anything.
        let raw = match tile {
            TileLoad::Stencil => self.function.new_value(),
            TileLoad::Color { .. } | TileLoad::Depth => result,
        };
        let others = data.results[1..].iter().map(|&result| self.word(result));
        let dests = std::iter::once(raw)
            .chain(others)
            .map(Word::Value)
            .collect();
        let instr = Instr {
            dests,
            sources: smallvec![indices, coverage, conversion],
            ..Instr::new(Op::LdTile)
        };
        let instr = match tile {
            TileLoad::Color { kind, .. } => instr
                .with(match kind {
                    TexelKind::Float => Modifier::FormatF32,
                    TexelKind::Signed => Modifier::FormatS32,
                    TexelKind::Unsigned => Modifier::FormatU32,
                })
                .with(VECTORS[3]),
            TileLoad::Depth => instr.with(Modifier::FormatF32).with(Modifier::DepthStencil),
            TileLoad::Stencil => instr.with(Modifier::FormatU32).with(Modifier::DepthStencil),
        };
        self.emit(instr);
        if raw != result {
            let none = Source::constant(0).select(Select::B0);
            let raw = Source::plain(Operand::Word(Word::Value(raw)));
            self.emit(Instr {
                dests: smallvec![Word::Value(result)],
                sources: smallvec![raw, none, Source::constant(0xff)],
                ..Instr::new(Op::LShiftAnd)
            });
        }
    }
}

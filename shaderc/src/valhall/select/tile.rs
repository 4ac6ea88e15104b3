//! Reads of the tile buffer: what a target holds of the fragment.
//!
//! Facts: hardware/graphics-compiler.md 7 (tile reads), hardware/compiler-abi.md 3.5.

use super::Selector;
use super::inputs::VECTORS;
use crate::ir::{InstData, TexelKind, TileLoad};
use crate::valhall::mir::{Half, Instr, Modifier, Op, Operand, Select, Source, Special, Word};
use eitri_isa::preload::{Preload, Stage};
use smallvec::smallvec;

/// Pixel indices: row 255 is the lane's own pixel.
const OWN_PIXEL: u32 = 0xff00_0000;
/// Where pixel indices have the target.
const TARGET_SHIFT: u32 = 8;

impl Selector<'_> {
    /// The colour of a target. The conversion is that of the target's blend descriptor, so the target may not have a blend
    /// shader: its descriptor would hold an address there.
    pub(super) fn load_tile(&mut self, tile: TileLoad, data: &InstData) {
        let indices = OWN_PIXEL | u32::from(tile.target) << TARGET_SHIFT;
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
        let conversion = Operand::Special(Special::BlendDescriptor(tile.target), Half::High);
        let format = match tile.kind {
            TexelKind::Float => Modifier::FormatF32,
            TexelKind::Signed => Modifier::FormatS32,
            TexelKind::Unsigned => Modifier::FormatU32,
        };
        let dests = data.results.iter();
        let instr = Instr {
            dests: dests
                .map(|&result| Word::Value(self.word(result)))
                .collect(),
            sources: smallvec![indices, coverage, Source::plain(conversion)],
            ..Instr::new(Op::LdTile)
        };
        self.emit(instr.with(format).with(VECTORS[3]));
    }
}

//! Outputs of vertex and fragment programs.
//!
//! A vertex program stores to buffers of the hardware's own. A fragment program ends with the test of what is left of its
//! fragment, then depth and stencil, then one BLEND a target.
//! Facts: hardware/graphics-compiler.md 1.3 (where stores go), 4 (fragment outputs), 5 (discard); compiler-abi.md 3.4.

use super::Selector;
use super::inputs::VECTORS;
use crate::ir::{self, Inst, InstData, Output, TexelKind};
use crate::machine::Origin;
use crate::valhall::expand_blends::CALL;
use crate::valhall::mir::{
    Half, Instr, Modifier, Op, Operand, Select, Source, Special, Word, Words,
};
use eitri_isa::Arch;
use eitri_isa::preload::{INTERPOLATION_REGISTER, Preload, Stage};
use eitri_program::ColorOutput;
use smallvec::smallvec;

/// The table of output buffers (hardware/compiler-abi.md 1.2).
const OUTPUT_TABLE: i64 = 61;
/// Elements from a vertex' position to its attributes.
const TO_ATTRIBUTES: u32 = 4;

/// Stores of so many words, and of so many halves.
const WIDE: [Op; 4] = [Op::Store32, Op::Store64, Op::Store96, Op::Store128];
const NARROW: [Op; 4] = [Op::Store16, Op::Store32, Op::Store48, Op::Store64];

/// Where attributes stand in their element, in bytes.
mod attribute {
    pub(super) const POINT_SIZE: i64 = 0;
    pub(super) const LAYER: i64 = 2;
    pub(super) const PRIMITIVE_ID: i64 = 12;
}

/// An output buffer's element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Element {
    Position,
    Attributes,
    Varyings,
}

/// An output, and the instruction that stores it.
#[derive(Clone, Copy)]
struct Stored<'i> {
    output: Output,
    inst: Inst,
    data: &'i InstData,
}

impl Selector<'_> {
    /// An output of a vertex program. Those of a fragment program are stored at its end, all together.
    pub(super) fn store_output(&mut self, output: Output, data: &InstData) {
        let words: Words = data
            .args
            .iter()
            .map(|&value| self.in_register(value))
            .collect();
        match output {
            Output::Position => self.store_to(Element::Position, Op::Store128, words, 0),
            Output::PointSize => {
                let halves = self.narrowed(&words);
                let offset = attribute::POINT_SIZE;
                self.store_to(Element::Attributes, Op::Store16, halves, offset);
            }
            Output::Layer => {
                self.store_to(Element::Attributes, Op::Store8, words, attribute::LAYER);
            }
            Output::PrimitiveId => {
                let offset = attribute::PRIMITIVE_ID;
                self.store_to(Element::Attributes, Op::Store32, words, offset);
            }
            Output::Varying { location, .. } => {
                // What no fragment program reads has no place.
                if let Some(slot) = self.varyings.slot(location) {
                    let ops = if slot.half { NARROW } else { WIDE };
                    let op = ops[(words.len() - 1) % ops.len()];
                    let words = if slot.half {
                        self.narrowed(&words)
                    } else {
                        words
                    };
                    self.store_to(Element::Varyings, op, words, slot.offset.into());
                }
            }
            Output::Color { .. }
            | Output::Depth
            | Output::Stencil
            | Output::SampleMask
            | Output::CoverageAlpha => {}
        }
    }

    /// Floats as floats of 16 bits, two a word.
    fn narrowed(&mut self, words: &[Word]) -> Words {
        let pairs = words.chunks(2).map(|pair| {
            let [first, second] = [pair[0], *pair.last().unwrap_or(&pair[0])]
                .map(|word| Source::plain(Operand::Word(word)));
            if self.function.extra.arch < Arch::V11 {
                return self.compute(Op::V2F32ToV2F16, &[first, second]);
            }
            let halves = [first, second].map(|source| self.narrow(source).select(Select::H0));
            self.compute(Op::MkVec, &halves)
        });
        let halves: Vec<Source> = pairs.collect();
        let word = |half: &Source| match half.operand {
            Operand::Word(word) => Some(word),
            _ => None,
        };
        halves.iter().filter_map(word).collect()
    }

    /// Stores to an element of an output buffer.
    fn store_to(&mut self, element: Element, op: Op, staging: Words, offset: i64) {
        let [low, high] = self.element(element);
        let hint = match element {
            Element::Position | Element::Attributes => Modifier::ToPositions,
            Element::Varyings => Modifier::ToVaryings,
        };
        let instr = Instr {
            staging,
            sources: smallvec![Source::plain(Operand::Pair(low, high))],
            immediate: Some(offset),
            ..Instr::new(op)
        };
        self.emit(instr.with(hint));
    }

    /// The address of an element, made once in a block.
    fn element(&mut self, element: Element) -> [Word; 2] {
        if let Some(address) = self.elements.get(&element) {
            return *address;
        }
        let index = Preload::OutputIndex.of(Stage::Vertex);
        let index = self.preloaded(index.map_or(0, |row| row.register));
        let index = match element {
            Element::Attributes => {
                self.compute(Op::IAdd, &[index, Source::constant(TO_ATTRIBUTES)])
            }
            Element::Position | Element::Varyings => index,
        };
        // Programs of their own store varyings to the same buffer as others positions.
        let buffer = match element {
            Element::Varyings => i64::from(self.function.extra.arch >= Arch::V12),
            Element::Position | Element::Attributes => 0,
        };
        let address = [(); 2].map(|()| Word::Value(self.function.new_value()));
        self.emit(Instr {
            dests: address.into(),
            sources: smallvec![index],
            immediate: Some(OUTPUT_TABLE << 24 | buffer),
            ..Instr::new(Op::LeaBufImm)
        });
        self.elements.insert(element, address);
        address
    }

    /// Lanes where a boolean is true only help from here on: it is a comparison of floats itself, or its word, all ones or zero,
    /// becomes one or zero.
    pub(super) fn demote(&mut self, data: &InstData) {
        let zero = Source::constant(0);
        let truth = data.args[0];
        let (sources, condition) = match self.ir.as_bool(truth) {
            Some(false) => return,
            Some(true) => ([zero, zero], Modifier::Eq),
            None => self.own_float_compare(truth).unwrap_or_else(|| {
                let truth = self.plain(truth);
                let none = Source::constant(0).select(Select::B0);
                let one = Source::constant(1.0f32.to_bits());
                let float = self.compute(Op::LShiftAnd, &[truth, none, one]);
                ([float, zero], Modifier::Ne)
            }),
        };
        let instr = Instr {
            sources: sources.into_iter().collect(),
            ..Instr::new(Op::Discard)
        };
        self.emit(instr.with(condition));
    }

    /// The end of a fragment program, in the block at hand.
    pub(super) fn fragment_end(&mut self, block: ir::BlockId) {
        let Some(fragment) = self.ir.stage.fragment() else {
            return;
        };
        let ir = self.ir;
        let insts = ir.block(block).insts.iter();
        let stored: Vec<Stored<'_>> = insts
            .filter_map(|&inst| match ir.inst(inst) {
                data @ InstData {
                    op: ir::Op::StoreOutput(output),
                    ..
                } => Some(Stored {
                    output: *output,
                    inst,
                    data,
                }),
                _ => None,
            })
            .collect();
        let value = |wanted: Output| {
            let found = stored.iter().find(|stored| stored.output == wanted);
            found.map(|stored| stored.data.args[0])
        };
        if let Some(first) = stored.first() {
            self.set_position(first.data.position, Origin::inst(first.inst));
        }
        let mut coverage = self.coverage(value(Output::SampleMask));
        let alpha = self.alpha(&stored);
        let datum = Source::plain(Operand::Special(Special::AtestDatum, Half::Low));
        coverage = self.tested(Instr {
            sources: smallvec![coverage, alpha, datum],
            ..Instr::new(Op::Atest)
        });
        let (depth, stencil) = (value(Output::Depth), value(Output::Stencil));
        if (depth.is_some() || stencil.is_some()) && !fragment.early_tests {
            let mut instr = Instr::new(Op::ZsEmit);
            let written = [
                (depth, Modifier::WriteDepth),
                (stencil, Modifier::WriteStencil),
            ];
            for (value, flag) in written {
                let source = match value {
                    Some(value) => {
                        instr.add_modifier(flag);
                        Source::plain(Operand::Word(self.in_register(value)))
                    }
                    None => Source::constant(0),
                };
                instr.sources.push(source);
            }
            instr.sources.push(coverage);
            coverage = self.tested(instr);
        }
        for target in 0..ColorOutput::MAX_TARGETS {
            self.blend(target, coverage, &stored);
        }
    }

    /// Samples that are left before the test.
    fn coverage(&mut self, mask: Option<ir::Value>) -> Source {
        let own = Preload::Coverage.of(Stage::Fragment);
        let own = self.preloaded(own.map_or(0, |row| row.register));
        match mask {
            None => own,
            Some(mask) => {
                let mask = self.plain(mask);
                let none = Source::constant(0).select(Select::B0);
                let both = self.compute(Op::LShiftAnd, &[mask, none, own]);
                Source::plain(Operand::Word(self.moved(both)))
            }
        }
    }

    /// The alpha that the test looks at.
    fn alpha(&mut self, stored: &[Stored<'_>]) -> Source {
        let own = stored
            .iter()
            .find_map(|Stored { output, data, .. }| match output {
                Output::CoverageAlpha => data.args.first().copied(),
                _ => None,
            });
        let color = || {
            stored
                .iter()
                .find_map(|Stored { output, data, .. }| match output {
                    Output::Color {
                        target: 0,
                        index: 0,
                        kind: TexelKind::Float,
                        ..
                    } => data.args.get(3).copied(),
                    _ => None,
                })
        };
        let of_halves = || {
            stored
                .iter()
                .find_map(|Stored { output, data, .. }| match output {
                    Output::Color {
                        target: 0,
                        index: 0,
                        half: true,
                        ..
                    } => data.args.get(1).copied(),
                    _ => None,
                })
        };
        if let Some(word) = of_halves().filter(|_| own.is_none()) {
            return self.plain(word).select(Select::H1);
        }
        match own.or_else(color) {
            Some(alpha) => self.plain(alpha),
            None => Source::constant(1.0f32.to_bits()),
        }
    }

    /// What a test leaves of the coverage.
    fn tested(&mut self, instr: Instr) -> Source {
        let coverage = self.function.new_value();
        self.emit(Instr {
            dests: smallvec![Word::Value(coverage)],
            ..instr
        });
        Source::value(coverage)
    }

    /// Blends a colour into its target, if it is written.
    fn blend(&mut self, target: u8, coverage: Source, stored: &[Stored<'_>]) {
        let color = |wanted: u8| {
            stored.iter().find_map(|stored| match stored.output {
                Output::Color {
                    target: other,
                    index,
                    kind,
                    half,
                    ..
                } if (other, index) == (target, wanted) => Some((kind, half, *stored)),
                _ => None,
            })
        };
        // Blend equations that read the second colour of a target read the first one, too.
        let Some((kind, half, Stored { inst, data, .. })) = color(0) else {
            return;
        };
        self.set_position(data.position, Origin::inst(inst));
        let words = |selector: &mut Self, data: &InstData| -> Words {
            let args = data.args.iter();
            args.map(|&value| selector.in_register(value)).collect()
        };
        let staging = words(self, data);
        let sample = match self.preloaded(INTERPOLATION_REGISTER).operand {
            Operand::Word(word) => word,
            other => self.moved(Source::plain(other)),
        };
        let mut held: Words = smallvec![sample];
        if let Some((_, _, second)) = color(1) {
            held.extend(words(self, second.data));
        }
        let format = match kind {
            TexelKind::Float if half => Modifier::FormatF16,
            TexelKind::Float => Modifier::FormatF32,
            TexelKind::Signed => Modifier::FormatS32,
            TexelKind::Unsigned => Modifier::FormatU32,
        };
        let descriptor = Operand::Special(Special::BlendDescriptor(target), Half::Low);
        let fixed = self.ir.stage.fragment().map_or(0, |stage| stage.fixed);
        let instr = Instr {
            staging,
            sources: smallvec![Source::plain(descriptor), coverage],
            held,
            // Instructions to skip: the call of a blend shader, where there can be one.
            immediate: Some(if fixed >> target & 1 != 0 { 0 } else { CALL }),
            ..Instr::new(Op::Blend)
        };
        self.emit(instr.with(format).with(VECTORS[3]));
    }
}

//! Addresses: numbers of elements, offsets with a constant part, descriptors.
//!
//! Buffers are indexed in words. What multiplies an offset is divided where that loses nothing; what is found once stays
//! known to the end of the block.  Facts: hardware/ir3-isa.md 12.

use super::Selector;
use crate::ir::range::upper_bound;
use crate::ir::{self, Alu, BindingKind, InstData, TexelKind};
use crate::ir3::descriptors;
use crate::ir3::mir::{Instr, Op, Operand, Source, Type, Word};

/// Bits of a byte offset below the number of the word.
const WORD_BITS: u32 = 2;
/// Deepest expression that is looked at for bits that are zero.
const DEPTH: u32 = 6;

/// A descriptor: its set, and its number there.
pub(super) struct Descriptor {
    pub(super) set: u8,
    pub(super) number: Source,
    pub(super) kind: BindingKind,
    /// What the texels of an image are.
    pub(super) texel: Type,
}

impl Selector<'_> {
    /// The word of a buffer in which a byte offset lies.
    pub(super) fn word_index(&mut self, offset: ir::Value) -> Word {
        let operand = self.word_index_operand(offset);
        let word = self.register(Source::plain(operand));
        self.indices.insert(offset, Operand::Word(word));
        word
    }

    fn word_index_operand(&mut self, offset: ir::Value) -> Operand {
        if let Some(bytes) = self.ir.as_word(offset) {
            return Operand::Constant(bytes >> WORD_BITS);
        }
        if let Some(known) = self.indices.get(&offset) {
            return *known;
        }
        let source = self
            .divided(offset)
            .unwrap_or_else(|| (Op::ShrB, self.plain(offset), Source::constant(WORD_BITS)));
        let (op, a, b) = source;
        let index = match (op, b.operand) {
            (Op::AddU | Op::ShlB, Operand::Constant(0)) | (Op::MulU24, Operand::Constant(1)) => a,
            _ => self.compute(op, &[a, b]),
        };
        self.indices.insert(offset, index.operand);
        index.operand
    }

    /// A quarter of an offset as an operation on what it is made of, where nothing is lost: neither low bits nor any
    /// above the word.
    fn divided(&mut self, offset: ir::Value) -> Option<(Op, Source, Source)> {
        let (alu, data) = self.alu_of(offset)?;
        let (first, second) = (data.args[0], *data.args.get(1)?);
        let constant = self.ir.as_word(second);
        let bound = u64::from(upper_bound(self.ir, first));
        let fits = |most: u64| most <= u64::from(u32::MAX);
        match (alu, constant) {
            (Alu::IShl, Some(by @ WORD_BITS..=31)) if fits(bound << by) => {
                let source = self.plain(first);
                Some((Op::ShlB, source, Source::constant(by - WORD_BITS)))
            }
            // What was shifted out at the top is cut off.
            (Alu::IShl, Some(WORD_BITS)) => {
                let source = self.plain(first);
                Some((Op::AndB, source, Source::constant(u32::MAX >> WORD_BITS)))
            }
            (Alu::IMul, Some(by)) if by % 4 == 0 && fits(bound * u64::from(by)) => {
                let by = by >> WORD_BITS;
                let small = bound < 1 << 24 && by < 1 << 24;
                let source = self.plain(first);
                small.then_some((Op::MulU24, source, Source::constant(by)))
            }
            (Alu::IAdd, _) => {
                let other = u64::from(upper_bound(self.ir, second));
                let whole = |value| self.zero_bits(value, DEPTH) >= WORD_BITS;
                if !fits(bound + other) || !whole(first) || !whole(second) {
                    return None;
                }
                let [a, b] = [first, second].map(|part| self.word_index_operand(part));
                Some((Op::AddU, Source::plain(a), Source::plain(b)))
            }
            _ => None,
        }
    }

    /// How many low bits of a value are zero for sure.
    pub(super) fn zero_bits(&self, value: ir::Value, depth: u32) -> u32 {
        if let Some(word) = self.ir.as_word(value) {
            return word.trailing_zeros();
        }
        let (Some((alu, data)), Some(depth)) = (self.alu_of(value), depth.checked_sub(1)) else {
            return 0;
        };
        let of = |number: usize| self.zero_bits(data.args[number], depth);
        match alu {
            Alu::IAdd | Alu::ISub | Alu::IOr | Alu::IXor => of(0).min(of(1)),
            Alu::UMin | Alu::UMax | Alu::SMin | Alu::SMax => of(0).min(of(1)),
            Alu::IAnd => of(0).max(of(1)),
            Alu::IMul => (of(0) + of(1)).min(32),
            Alu::IShl => match self.ir.as_word(data.args[1]) {
                Some(by) => (of(0) + (by & 31)).min(32),
                None => 0,
            },
            Alu::Select => of(1).min(of(2)),
            _ => 0,
        }
    }

    /// An offset as a value plus a constant that can be added after it was computed; no value when it is constant.
    pub(super) fn split_offset(&self, offset: ir::Value, most: u32) -> (Option<ir::Value>, u32) {
        if let Some(bits) = self.ir.as_word(offset) {
            return (None, bits);
        }
        if let Some((Alu::IAdd, data)) = self.alu_of(offset)
            && let Some(constant) = self.ir.as_word(data.args[1])
            && constant <= most
            && upper_bound(self.ir, data.args[0]) <= u32::MAX - constant
        {
            return (Some(data.args[0]), constant);
        }
        (Some(offset), 0)
    }

    /// The descriptor that a resource is; none, refused, where its set isn't known.
    pub(super) fn descriptor(&mut self, resource: ir::Value) -> Option<Descriptor> {
        let Some(id) = self.ir.binding_of(resource) else {
            self.refuse("a resource of several bindings");
            return None;
        };
        let (binding, first) = (&self.ir.bindings[id.index()], self.descriptors[id.index()]);
        let set = u8::try_from(binding.set).ok()?;
        let kind = binding.kind;
        let texel = match binding.image.map(|image| image.texel) {
            Some(TexelKind::Float) => Type::F32,
            Some(TexelKind::Signed) => Type::S32,
            Some(TexelKind::Unsigned) | None => Type::U32,
        };
        let number = match self.ir.as_resource(resource) {
            Some((_, element)) => Source::constant(first + element * descriptors::of_element(kind)),
            None => Source::word(self.in_register(resource)),
        };
        Some(Descriptor {
            set,
            number,
            kind,
            texel,
        })
    }

    /// An element of a binding that is chosen at run time: its number is that of the descriptor in the set.
    pub(super) fn resource(&mut self, binding: ir::BindingId, data: &InstData) {
        let first = Source::constant(self.descriptors[binding.index()]);
        let element = self.plain(data.args[0]);
        let each = descriptors::of_element(self.ir.bindings[binding.index()].kind);
        let number = match each {
            1 => Instr::on(Op::AddU, &[element, first]),
            // A set has fewer descriptors than 24 bits count.
            _ => Instr::on(Op::MadU24, &[Source::constant(each), element, first]),
        };
        self.define(data.results[0], number);
    }

    /// Refuses a binding that has no code.
    pub(super) fn check_binding(&mut self, binding: &ir::Binding) {
        if binding.set >= eitri_ir3_program::DESCRIPTOR_SETS {
            self.refuse(&format!(
                "binding {}:{}, beyond the {} sets that there are",
                binding.set,
                binding.binding,
                eitri_ir3_program::DESCRIPTOR_SETS
            ));
        }
    }
}

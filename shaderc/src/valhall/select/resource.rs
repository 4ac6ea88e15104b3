//! Resources: the handles of descriptors, and the sizes of buffers.
//!
//! The size of a buffer that is known is a uniform word, while there is room; else it is read from the descriptor, as data.
//! Facts: hardware/compiler-abi.md 1.2, 1.5.

use super::Selector;
use crate::ir::{self, BindingId, Dim, ImageAction, InstData, Uniform};
use crate::valhall::descriptors::{COMPUTED, SIZE_OFFSET, as_data, of_element};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{FauWord, Instr, Modifier, Op, Operand, Select, Source, Space};
use eitri_isa::preload::Stage;
use eitri_program::{Axis, DrawWord};
use smallvec::smallvec;

/// Uniform words up to which sizes of buffers are put among them, those of buffers not counted: the others are for addresses
/// and constants.
const MOST_WITH_SIZES: usize = 64;

/// An axis, as the program has it.
fn along(axis: ir::Axis) -> Axis {
    Axis::ALL[axis.index()]
}

impl Selector<'_> {
    /// Numbers the uniform words that the function reads.
    ///
    /// # Errors
    /// If there are more than the machine has.
    pub(super) fn number_uniforms(&mut self) -> Result<(), Unsupported> {
        let mut sizes = vec![];
        if self.function.extra.stage == Stage::Fragment {
            // Blend shaders find them there.
            let constants = (0..4).map(|number| FauWord::Draw(DrawWord::BlendConstant(number)));
            self.function.extra.fau.extend(constants);
        }
        for (_, inst) in self.ir.placed_insts() {
            let data = self.ir.inst(inst);
            match data.op {
                ir::Op::Uniform(uniform) => {
                    let word = self.fau_word(uniform)?;
                    self.number_uniform(data.results[0], word);
                }
                ir::Op::BufferSize => sizes.extend(self.known_handle(data.args[0]).map(|handle| {
                    let word = FauWord::BufferBytes(handle);
                    (data.results[0], word)
                })),
                ir::Op::Image(image)
                    if image.action == ImageAction::Size && image.shape.dim == Dim::Buffer =>
                {
                    // `texel_counts` has seen to it that the buffer is known.
                    let handle = self.known_handle(data.args[0]).unwrap_or(0);
                    self.number_uniform(data.results[0], FauWord::TexelCount(handle));
                }
                _ => {}
            }
        }
        let (count, most) = (
            self.function.extra.fau.len(),
            self.target.limits.uniform_words,
        );
        if count > most as usize {
            return Err(Unsupported {
                what: format!("{count} uniform words, more than {most}"),
                position: ir::Position::default(),
            });
        }
        let fau = self.function.extra.fau.iter();
        let pushed = fau.filter(|word| matches!(word, FauWord::BufferWord(..)));
        let most = pushed.count() + MOST_WITH_SIZES;
        for (value, word) in sizes {
            if self.function.extra.fau.len() < most {
                self.number_uniform(value, word);
            }
        }
        self.number_work(most);
        Ok(())
    }

    /// What fills the word of a uniform.
    fn fau_word(&self, uniform: Uniform) -> Result<FauWord, Unsupported> {
        Ok(match uniform {
            Uniform::PushConstant(offset) => FauWord::PushConstant(offset),
            Uniform::NumWorkgroups(axis) => FauWord::NumWorkgroups(axis),
            Uniform::BufferWord(binding, element, offset) => {
                let first = self.handles.get(binding.index()).copied().unwrap_or(0);
                FauWord::BufferWord(first + element, offset)
            }
            Uniform::BaseVertex => FauWord::Draw(DrawWord::FirstVertex),
            Uniform::BaseInstance => FauWord::Draw(DrawWord::BaseInstance),
            Uniform::ViewIndex => FauWord::Draw(DrawWord::ViewIndex),
            Uniform::ViewportScale(axis) => FauWord::Draw(DrawWord::ViewportScale(along(axis))),
            Uniform::BlendConstant(component) => FauWord::Draw(DrawWord::BlendConstant(component)),
            Uniform::ViewportOffset(axis) => FauWord::Draw(DrawWord::ViewportOffset(along(axis))),
        })
    }

    pub(super) fn number_uniform(&mut self, value: ir::Value, word: FauWord) {
        let fau = &mut self.function.extra.fau;
        let found = fau.iter().position(|other| *other == word);
        let index = found.unwrap_or_else(|| {
            fau.push(word);
            fau.len() - 1
        });
        self.uniforms.insert(value, index);
    }

    /// The handle of a resource that is known.
    pub(super) fn known_handle(&self, resource: ir::Value) -> Option<u32> {
        let (id, element) = self.ir.as_resource(resource)?;
        let kind = self.ir.binding(id)?.kind;
        Some(self.handles.get(id.index())? + element * of_element(kind))
    }

    /// The element of a binding.
    pub(super) fn resource(&mut self, binding: BindingId, data: &InstData) {
        let first = self.handles.get(binding.index()).copied().unwrap_or(0);
        let kind = self.ir.binding(binding).map(|binding| binding.kind);
        let mut element = self.plain(data.args[0]);
        if kind.is_some_and(|kind| of_element(kind) == 2) {
            let one = Source::constant(1).select(Select::B0);
            element = self.compute(Op::LShiftOr, &[element, one, Source::constant(0)]);
        }
        let sources = smallvec![element, Source::constant(first)];
        let instr = Instr {
            sources,
            ..Instr::new(Op::IAdd)
        };
        self.define(data.results[0], instr);
    }

    /// The size of a buffer, unless it is a uniform word.
    pub(super) fn buffer_size(&mut self, data: &InstData) {
        if self.uniforms.contains_key(&data.results[0]) {
            return;
        }
        let instr = self.descriptor_word(data.args[0], SIZE_OFFSET);
        self.define(data.results[0], instr);
    }

    /// The load of a word of a descriptor, at that byte of it.
    pub(super) fn descriptor_word(&mut self, resource: ir::Value, byte: u32) -> Instr {
        let (table, offset) = match self.known_handle(resource) {
            Some(handle) => {
                let (table, offset) = as_data(handle);
                (Source::constant(table), Source::constant(offset + byte))
            }
            None => {
                let handle = Source::plain(Operand::Word(self.in_register(resource)));
                let table = self.shifted(Op::RShiftOr, handle, COMPUTED.table_shift);
                let table = self.compute(Op::IAdd, &[table, Source::constant(COMPUTED.table)]);
                let index = self.shifted(Op::LShiftOr, handle, COMPUTED.left);
                let offset = self.shifted(Op::RShiftOr, index, COMPUTED.right);
                let offset = self.compute(Op::IAdd, &[offset, Source::constant(byte)]);
                (table, offset)
            }
        };
        let instr = Instr {
            sources: smallvec![offset, table],
            space: Some(Space::Constant),
            ..Instr::new(Op::LdBuffer32)
        };
        instr.with(Modifier::Unsigned)
    }

    pub(super) fn shifted(&mut self, op: Op, source: Source, by: u32) -> Source {
        let by = Source::constant(by).select(Select::B0);
        self.compute(op, &[source, by, Source::constant(0)])
    }
}

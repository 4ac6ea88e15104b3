//! Random vertex functions: they compute with attributes and numbers of the vertex, and store each output at their end.

use super::super::start::{Start, begin, declare};
use super::super::{Abilities, Content, DEPTH, Generator, Together};
use super::inputs::{INTEGERS, POSITION, SMALL, VERTEX_SLOTS};
use super::{Agreed, Handed};
use eitri_shaderc::Target;
use eitri_shaderc::ir::layout::order_blocks;
use eitri_shaderc::ir::{
    Alu, Attribute, Builder, Function, Op, Output, Sampling, Space, Stage, SysVal, Terminator,
    TexelKind, Uniform, Value, VertexStage,
};

/// What a vertex function hands on to a fragment function that agrees.
pub(super) fn generate(seed: u64, target: &Target, agreed: &Agreed) -> Function {
    let mut function = Function::new("main");
    function.lanes = target.lanes;
    function.stage = Stage::Vertex(VertexStage::default());
    let declared = declare(&mut function);
    let entry = function.new_block();
    let mut b = Builder::new(&mut function, entry);
    b.exact = true;
    let index = b.sys_val(SysVal::VertexIndex);
    let instance = b.sys_val(SysVal::InstanceIndex);
    let base = b.uniform(Uniform::BaseVertex);
    let base_instance = b.uniform(Uniform::BaseInstance);
    let mut attribute = |location, kind, count| {
        let attribute = Attribute {
            location,
            kind,
            first: 0,
            count,
        };
        b.inst(Op::LoadAttribute(attribute), &[])
    };
    let position = attribute(POSITION, TexelKind::Float, 4);
    let integers = attribute(INTEGERS, TexelKind::Unsigned, 4);
    let small = attribute(SMALL, TexelKind::Signed, 3);
    let number = b.alu_word(Alu::IAnd, index, VERTEX_SLOTS - 1);
    let mut words = vec![index, instance, base, base_instance];
    words.extend(integers.iter().chain(&small));
    let start = Start {
        seed: !seed,
        content: Content::SameBits,
        abilities: Abilities {
            spaces: &[Space::Scratch],
            together: Together::Nothing,
        },
        number,
        all: VERTEX_SLOTS,
        small: number,
        uniform: base,
        words,
    };
    let mut generator = begin(b, &declared, start);
    generator.statements(DEPTH, 12);
    let mut outputs = vec![(Output::Position, position.to_vec())];
    for handed in &agreed.handed {
        if let Some(output) = generator.handed(handed) {
            outputs.push(output);
        }
    }
    for (output, args) in outputs {
        generator.b.inst(Op::StoreOutput(output), &args);
    }
    generator.b.terminate(Terminator::Return);
    order_blocks(&mut function);
    function
}

impl Generator<'_> {
    /// An output with its words; none if nothing is stored.
    fn handed(&mut self, handed: &Handed) -> Option<(Output, Vec<Value>)> {
        if handed.stored == 0 {
            return None;
        }
        let mut words = self.results(u32::from(handed.stored));
        if handed.sampling != Sampling::Flat {
            for word in &mut words {
                *word = self.corner(*word, handed.relaxed.contains(&true));
            }
        }
        let output = Output::Varying {
            location: handed.location,
            count: handed.stored,
            relaxed: handed.relaxed[0],
        };
        Some((output, words))
    }

    /// A float whose plane has exact values at all places of a pixel: a multiple of the triangle's sides.
    fn corner(&mut self, word: Value, narrow: bool) -> Value {
        let most = if narrow { 1 } else { 15 };
        let small = self.b.alu_word(Alu::IAnd, word, most);
        let float = self.b.alu(Alu::U2F, &[small]);
        self.b.alu_float(Alu::FMul, float, super::inputs::SIDE)
    }
}

//! A module under construction: one compute shader with one storage buffer of words, at set 0, binding 0.

use std::collections::BTreeSet;

use rspirv::spirv::{
    AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    MAGIC_NUMBER, MemoryModel, Op, SelectionControl, StorageClass,
};

pub(super) type Id = u32;

/// A module under construction. The ids below are those of `new`.
pub(super) struct Module {
    words: Vec<u32>,
    next: Id,
    /// Numbers that are needed as constants.
    constants: BTreeSet<u32>,
    /// Declarations behind the constants.
    declarations: Vec<u32>,
}

const VOID: Id = 1;
pub(super) const WORD: Id = 2;
pub(super) const BOOL: Id = 3;
pub(super) const BUFFER: Id = 4;
pub(super) const POINTER: Id = 5;
const MAIN: Id = 6;
pub(super) const ZERO: Id = 7;
const FIRST_FREE: Id = 16;
/// A pointer to a variable of words, of the function's own.
pub(super) const OWN_POINTER: Id = 13;
/// Words before the first instruction.
const HEADER: usize = 5;

/// Constants of words: that of `n` has the id `CONSTANTS + n`.
const CONSTANTS: Id = 1 << 20;

impl Module {
    pub(super) fn new() -> Module {
        let [function, array, block, block_pointer, entry] = [8, 9, 10, 11, 12];
        let mut module = Module {
            words: vec![MAGIC_NUMBER, 0x0001_0300, 0, 0, 0],
            next: FIRST_FREE,
            constants: BTreeSet::new(),
            declarations: vec![],
        };
        let main = u32::from_le_bytes(*b"main");
        for capability in [
            Capability::Shader,
            Capability::GroupNonUniform,
            Capability::GroupNonUniformArithmetic,
        ] {
            module.op(Op::Capability, &[capability as u32]);
        }
        module.op(
            Op::MemoryModel,
            &[AddressingModel::Logical as u32, MemoryModel::GLSL450 as u32],
        );
        module.op(
            Op::EntryPoint,
            &[ExecutionModel::GLCompute as u32, MAIN, main, 0],
        );
        module.op(
            Op::ExecutionMode,
            &[MAIN, ExecutionMode::LocalSize as u32, 1, 1, 1],
        );
        module.op(Op::Decorate, &[array, Decoration::ArrayStride as u32, 4]);
        module.op(Op::Decorate, &[block, Decoration::Block as u32]);
        module.op(
            Op::MemberDecorate,
            &[block, 0, Decoration::Offset as u32, 0],
        );
        module.op(Op::Decorate, &[BUFFER, Decoration::DescriptorSet as u32, 0]);
        module.op(Op::Decorate, &[BUFFER, Decoration::Binding as u32, 0]);
        let storage = StorageClass::StorageBuffer as u32;
        module.op(Op::TypeVoid, &[VOID]);
        module.op(Op::TypeInt, &[WORD, 32, 0]);
        module.op(Op::TypeBool, &[BOOL]);
        module.op(Op::TypeFunction, &[function, VOID]);
        module.op(Op::TypeRuntimeArray, &[array, WORD]);
        module.op(Op::TypeStruct, &[block, array]);
        module.op(Op::TypePointer, &[block_pointer, storage, block]);
        module.op(Op::TypePointer, &[POINTER, storage, WORD]);
        let own = StorageClass::Function as u32;
        module.op(Op::TypePointer, &[OWN_POINTER, own, WORD]);
        module.op(Op::Constant, &[WORD, ZERO, 0]);
        module.op(Op::Variable, &[block_pointer, BUFFER, storage]);
        module.op(
            Op::Function,
            &[VOID, MAIN, FunctionControl::NONE.bits(), function],
        );
        module.op(Op::Label, &[entry]);
        module
    }

    pub(super) fn op(&mut self, op: Op, operands: &[u32]) {
        append(&mut self.words, op, operands);
    }

    /// Puts an instruction in front of the function, behind the constants.
    pub(super) fn declare(&mut self, op: Op, operands: &[u32]) {
        append(&mut self.declarations, op, operands);
    }

    pub(super) fn id(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    /// A constant less than [`CONSTANTS`]; `finish` declares it.
    pub(super) fn constant(&mut self, number: u32) -> Id {
        self.constants.insert(number);
        CONSTANTS + number
    }

    pub(super) fn make(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.id();
        let all: Vec<u32> = [ty, id]
            .into_iter()
            .chain(operands.iter().copied())
            .collect();
        self.op(op, &all);
        id
    }

    pub(super) fn place(&mut self, index: u32) -> Id {
        let index = self.constant(index);
        self.make(Op::AccessChain, POINTER, &[BUFFER, ZERO, index])
    }

    pub(super) fn load(&mut self, index: u32) -> Id {
        let place = self.place(index);
        self.make(Op::Load, WORD, &[place])
    }

    pub(super) fn store(&mut self, index: u32, value: Id) {
        let place = self.place(index);
        self.op(Op::Store, &[place, value]);
    }

    pub(super) fn label(&mut self, label: Id) {
        self.op(Op::Label, &[label]);
    }

    pub(super) fn jump(&mut self, label: Id) {
        self.op(Op::Branch, &[label]);
    }

    /// `if value != 0 goto yes else no`, where both meet at `merge`.
    pub(super) fn branch(&mut self, value: Id, yes: Id, no: Id, merge: Id) {
        let condition = self.make(Op::INotEqual, BOOL, &[value, ZERO]);
        self.op(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        self.op(Op::BranchConditional, &[condition, yes, no]);
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.op(Op::Return, &[]);
        self.op(Op::FunctionEnd, &[]);
        let mut declarations = vec![];
        for number in &self.constants {
            declarations.extend([
                4 << 16 | Op::Constant as u32,
                WORD,
                CONSTANTS + number,
                *number,
            ]);
        }
        declarations.append(&mut self.declarations);
        // Before the function, which is the only one.
        let mut at = HEADER;
        while self.words[at] & 0xffff != Op::Function as u32 {
            at += (self.words[at] >> 16) as usize;
        }
        self.words.splice(at..at, declarations);
        self.words[3] = 2 * CONSTANTS;
        self.words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }
}

fn append(words: &mut Vec<u32>, op: Op, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | op as u32);
    words.extend(operands);
}

//! Modules that grow: one kind of code as often as is asked for, to see how the work of a compiler grows with it.
//!
//! Needs: nothing.  Guarantees: valid SPIR-V 1.3 of one compute shader with one storage buffer of words at set 0, binding 0.

use std::collections::BTreeSet;

use rspirv::spirv::{
    AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    GroupOperation, LoopControl, MAGIC_NUMBER, MemoryModel, Op, Scope, SelectionControl,
    StorageClass,
};

/// A kind of code.
pub struct Growth {
    /// Its name.
    pub name: &'static str,
    /// What there is so many of.
    pub what: &'static str,
    /// A size that no shader of today has, and that a compiler should be done with, or refuse, in less than a second.
    pub large: u32,
    write: fn(&mut Module, u32),
}

impl Growth {
    /// All kinds.
    #[rustfmt::skip]
    pub const ALL: &[Growth] = &[
        Growth { name: "straight",     what: "operations in a row, each on the one before",          large: 10_000, write: straight },
        Growth { name: "live",         what: "words that are loaded first and all needed at the end", large: 1_000,  write: live },
        Growth { name: "stores",       what: "stores to neighbouring words",                          large: 4_000,  write: stores },
        Growth { name: "ifs",          what: "branches in a row that meet in a phi",                  large: 4_000,  write: ifs },
        Growth { name: "nested_ifs",   what: "branches in branches",                                  large: 20_000, write: nested_ifs },
        Growth { name: "dead_ifs",     what: "branches, each on what the one before chose, the last of which nobody reads", large: 20_000, write: dead_ifs },
        Growth { name: "loops",        what: "loops in a row",                                        large: 2_000,  write: loops },
        Growth { name: "nested_loops", what: "loops in loops",                                        large: 5_000,  write: nested_loops },
        Growth { name: "lanes",        what: "reductions over a subgroup in a row, each of the one before", large: 2_000, write: lanes },
        Growth { name: "switch",       what: "cases of a switch",                                     large: 16_000, write: switch },
    ];

    /// A module with so many of them, little-endian.
    pub fn module(&self, size: u32) -> Vec<u8> {
        let mut module = Module::new();
        (self.write)(&mut module, size);
        module.finish()
    }
}

type Id = u32;

/// A module under construction. The ids below are those of `new`.
struct Module {
    words: Vec<u32>,
    next: Id,
    /// Numbers that are needed as constants.
    constants: BTreeSet<u32>,
}

const VOID: Id = 1;
const WORD: Id = 2;
const BOOL: Id = 3;
const BUFFER: Id = 4;
const POINTER: Id = 5;
const MAIN: Id = 6;
const ZERO: Id = 7;
const FIRST_FREE: Id = 16;
/// Words before the first instruction.
const HEADER: usize = 5;

/// Constants of words: that of `n` has the id `CONSTANTS + n`.
const CONSTANTS: Id = 1 << 20;

impl Module {
    fn new() -> Module {
        let [function, array, block, block_pointer, entry] = [8, 9, 10, 11, 12];
        let mut module = Module {
            words: vec![MAGIC_NUMBER, 0x0001_0300, 0, 0, 0],
            next: FIRST_FREE,
            constants: BTreeSet::new(),
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
        module.op(Op::Constant, &[WORD, ZERO, 0]);
        module.op(Op::Variable, &[block_pointer, BUFFER, storage]);
        module.op(
            Op::Function,
            &[VOID, MAIN, FunctionControl::NONE.bits(), function],
        );
        module.op(Op::Label, &[entry]);
        module
    }

    fn op(&mut self, op: Op, operands: &[u32]) {
        self.words
            .push((operands.len() as u32 + 1) << 16 | op as u32);
        self.words.extend(operands);
    }

    fn id(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    /// A constant less than [`CONSTANTS`]; `finish` declares it.
    fn constant(&mut self, number: u32) -> Id {
        self.constants.insert(number);
        CONSTANTS + number
    }

    fn make(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.id();
        let all: Vec<u32> = [ty, id]
            .into_iter()
            .chain(operands.iter().copied())
            .collect();
        self.op(op, &all);
        id
    }

    fn place(&mut self, index: u32) -> Id {
        let index = self.constant(index);
        self.make(Op::AccessChain, POINTER, &[BUFFER, ZERO, index])
    }

    fn load(&mut self, index: u32) -> Id {
        let place = self.place(index);
        self.make(Op::Load, WORD, &[place])
    }

    fn store(&mut self, index: u32, value: Id) {
        let place = self.place(index);
        self.op(Op::Store, &[place, value]);
    }

    fn label(&mut self, label: Id) {
        self.op(Op::Label, &[label]);
    }

    fn jump(&mut self, label: Id) {
        self.op(Op::Branch, &[label]);
    }

    /// `if value != 0 goto yes else no`, where both meet at `merge`.
    fn branch(&mut self, value: Id, yes: Id, no: Id, merge: Id) {
        let condition = self.make(Op::INotEqual, BOOL, &[value, ZERO]);
        self.op(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        self.op(Op::BranchConditional, &[condition, yes, no]);
    }

    fn finish(mut self) -> Vec<u8> {
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

fn straight(module: &mut Module, size: u32) {
    let [mut x, y] = [0, 1].map(|index| module.load(index));
    for number in 0..size {
        x = match number % 3 {
            0 => module.make(Op::IMul, WORD, &[x, y]),
            1 => {
                let constant = module.constant(number);
                module.make(Op::IAdd, WORD, &[x, constant])
            }
            _ => module.make(Op::BitwiseXor, WORD, &[x, y]),
        };
    }
    module.store(0, x);
}

fn live(module: &mut Module, size: u32) {
    let words: Vec<Id> = (0..size).map(|index| module.load(index)).collect();
    let mut sum = words[0];
    for (number, word) in words.iter().rev().enumerate() {
        let other = words[(number * 7 + 3) % words.len()];
        let product = module.make(Op::IMul, WORD, &[*word, other]);
        sum = module.make(Op::BitwiseXor, WORD, &[sum, product]);
    }
    module.store(0, sum);
}

fn stores(module: &mut Module, size: u32) {
    let x = module.load(size);
    for index in 0..size {
        let constant = module.constant(index);
        let sum = module.make(Op::IAdd, WORD, &[x, constant]);
        module.store(index.wrapping_mul(5) % size, sum);
    }
}

fn ifs(module: &mut Module, size: u32) {
    let y = branches(module, size, true);
    module.store(0, y);
}

fn dead_ifs(module: &mut Module, size: u32) {
    branches(module, size, false);
}

/// Branches that meet in a phi; what the last one gives. With `stores` something else than the phi asks for each branch;
/// without, each branch asks for what the one before chose.
fn branches(module: &mut Module, size: u32, stores: bool) -> Id {
    let x = module.load(0);
    let mut y = module.load(1);
    let mut from = module.id();
    module.jump(from);
    module.label(from);
    for number in 0..size {
        let [yes, merge] = [(); 2].map(|()| module.id());
        let bit = module.constant(1 << (number % 16));
        let masked = module.make(Op::BitwiseAnd, WORD, &[if stores { x } else { y }, bit]);
        module.branch(masked, yes, merge, merge);
        module.label(yes);
        if stores {
            module.store(number + 2, y);
        }
        let sum = module.make(Op::IAdd, WORD, &[y, bit]);
        module.jump(merge);
        module.label(merge);
        y = module.make(Op::Phi, WORD, &[sum, yes, y, from]);
        from = merge;
    }
    y
}

fn nested_ifs(module: &mut Module, size: u32) {
    let x = module.load(0);
    let mut merges = vec![];
    for number in 0..size {
        let [yes, merge] = [(); 2].map(|()| module.id());
        let constant = module.constant(number + 1);
        let sum = module.make(Op::BitwiseXor, WORD, &[x, constant]);
        module.branch(sum, yes, merge, merge);
        module.label(yes);
        module.store(number + 1, sum);
        merges.push(merge);
    }
    while let Some(merge) = merges.pop() {
        module.jump(merge);
        module.label(merge);
    }
}

/// Opens a loop that is left when a word of memory is zero: its header, latch and merge, for `close`.
fn open(module: &mut Module, number: u32) -> [Id; 3] {
    let [header, inside, latch, merge] = [(); 4].map(|()| module.id());
    module.jump(header);
    module.label(header);
    let more = module.load(number);
    let condition = module.make(Op::INotEqual, BOOL, &[more, ZERO]);
    module.op(Op::LoopMerge, &[merge, latch, LoopControl::NONE.bits()]);
    module.op(Op::BranchConditional, &[condition, inside, merge]);
    module.label(inside);
    [header, latch, merge]
}

fn close(module: &mut Module, [header, latch, merge]: [Id; 3]) {
    module.jump(latch);
    module.label(latch);
    module.jump(header);
    module.label(merge);
}

fn loops(module: &mut Module, size: u32) {
    for number in 0..size {
        let ends = open(module, number);
        module.store(number + 1, ZERO);
        close(module, ends);
    }
}

fn nested_loops(module: &mut Module, size: u32) {
    let mut ends: Vec<[Id; 3]> = (0..size).map(|number| open(module, number)).collect();
    module.store(0, ZERO);
    while let Some(inner) = ends.pop() {
        close(module, inner);
    }
}

fn lanes(module: &mut Module, size: u32) {
    let scope = module.constant(Scope::Subgroup as u32);
    let mut x = module.load(0);
    for number in 0..size {
        let constant = module.constant(number);
        let sum = module.make(
            Op::GroupNonUniformIAdd,
            WORD,
            &[scope, GroupOperation::Reduce as u32, x],
        );
        x = module.make(Op::BitwiseXor, WORD, &[sum, constant]);
    }
    module.store(0, x);
}

fn switch(module: &mut Module, size: u32) {
    let x = module.load(0);
    let merge = module.id();
    let labels: Vec<Id> = (0..size).map(|_| module.id()).collect();
    module.op(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
    let cases = labels.iter().zip(0u32..);
    let cases = cases.flat_map(|(label, number)| [number, *label]);
    let operands: Vec<u32> = [x, merge].into_iter().chain(cases).collect();
    module.op(Op::Switch, &operands);
    for (label, number) in labels.into_iter().zip(1u32..) {
        module.label(label);
        let constant = module.constant(number);
        module.store(number, constant);
        module.jump(merge);
    }
    module.label(merge);
}

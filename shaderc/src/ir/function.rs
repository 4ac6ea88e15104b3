//! A function: values, instructions, blocks, and what the shader needs from outside.
//!
//! Needs: nothing.  Guarantees: ids are never reused; a constant of a given type and bits is one value.

use std::sync::Arc;

use rustc_hash::FxHashMap as HashMap;

use super::binding::{Binding, BindingId};
use super::block::{Block, Phi, Terminator};
use super::cfg::Cfg;
use super::inst::{Inst, InstData, Kinds, Op, Values};
use super::notes::Notes;
use super::source_names::SourceNames;
use super::{BlockId, Kind, Lanes, Spaces, Stage, Type, Value};

super::id! {
    /// A variable of one invocation, printed `v1`. Gone in the lowered form.
    Var, "v"
}

/// Elements of one type, reached by number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VarData {
    /// Type of each element.
    pub ty: Type,
    /// Number of elements, at least 1.
    pub len: u32,
    /// The name in the source, or empty.
    pub name: String,
}

/// How a value is defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// These bits, in every block; above the type's width they are zero. A resource is one too: [`Function::resource`].
    Word(u64),
    /// This truth value, in every block.
    Bool(bool),
    /// Result number `1` of instruction `0`.
    Result(Inst, u8),
    /// A phi of that block.
    Phi(BlockId),
}

/// X, Y or Z.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl Axis {
    /// All, in order.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// 0, 1 or 2.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Its letter.
    pub fn name(self) -> &'static str {
        ["x", "y", "z"][self.index()]
    }
}

/// A line of the source.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceLine {
    /// File name as the front compiler gave it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
}

/// Where an instruction came from.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Position {
    /// Byte offset of the SPIR-V instruction in the module.
    pub offset: u32,
    /// Its result id, if it has one.
    pub id: Option<u32>,
    /// From OpLine or DebugLine.
    pub source: Option<SourceLine>,
    /// Of an instruction of a function that was inlined: the call.
    pub call: Option<PositionId>,
}

super::id! {
    /// An entry of a function's list of positions. 0 is "unknown".
    PositionId, "p"
}

impl PositionId {
    /// Made by the compiler, not from an instruction of the module.
    pub const UNKNOWN: PositionId = PositionId(0);
}

/// An entry point with everything it calls.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name of the entry point.
    pub name: String,
    /// What it is run as.
    pub stage: Stage,
    /// Invocations of a workgroup; 1 of other stages than compute.
    pub workgroup_size: [u32; 3],
    /// Lanes of a subgroup.
    pub lanes: Lanes,
    /// Bytes of shared memory, a multiple of 16.
    pub shared_bytes: u32,
    /// Bytes of scratch memory of an invocation, a multiple of 16.
    pub scratch_bytes: u32,
    /// Descriptors, ordered by set and binding; none twice.
    pub bindings: Vec<Binding>,
    /// Constant memory of the program itself: what [`super::Space::Data`] holds, word by word, an even number of them.
    pub data: Vec<u32>,
    /// Bytes of push constants that the shader declares, a multiple of 4.
    pub push_constant_bytes: u32,
    /// Byte offset and length of each member of the push-constant block.
    pub push_members: Vec<(u32, u32)>,
    /// What the source says beyond instructions, for an interpreter that checks; empty unless that was asked for.
    pub notes: Notes,
    /// Variables and functions of the source, for a debugger; empty unless notes were asked for.
    pub source_names: SourceNames,
    /// Blocks in the order described in [`crate::ir`]. Blocks that are not listed don't exist any more.
    pub layout: Vec<BlockId>,
    vars: Vec<VarData>,
    values: Vec<(Type, ValueDef)>,
    constants: HashMap<(Type, u64), Value>,
    insts: Vec<InstData>,
    blocks: Vec<Block>,
    positions: Vec<Position>,
    position_ids: HashMap<Position, PositionId>,
    /// Its control flow as it was when somebody asked for it last ([`Cfg::of`]).
    pub(super) cfg: Option<Arc<Cfg>>,
}

impl Function {
    /// A function without blocks.
    pub fn new(name: impl Into<String>) -> Function {
        Function {
            name: name.into(),
            stage: Stage::Compute,
            workgroup_size: [1; 3],
            lanes: Lanes::DEFAULT,
            shared_bytes: 0,
            scratch_bytes: 0,
            bindings: vec![],
            data: vec![],
            push_constant_bytes: 0,
            push_members: vec![],
            notes: Notes::default(),
            source_names: SourceNames::default(),
            layout: vec![],
            vars: vec![],
            values: vec![],
            constants: HashMap::default(),
            insts: vec![],
            blocks: vec![],
            positions: vec![Position::default()],
            position_ids: HashMap::default(),
            cfg: None,
        }
    }

    /// The first block.
    ///
    /// # Panics
    /// Without blocks.
    pub fn entry(&self) -> BlockId {
        self.layout[0]
    }

    // Values.

    /// The 32-bit constant with these bits.
    pub fn word(&mut self, bits: u32) -> Value {
        self.constant_of(Type::W32, bits.into())
    }

    /// The 32-bit constant with the bits of this float.
    pub fn float(&mut self, value: f32) -> Value {
        self.word(value.to_bits())
    }

    /// The boolean constant.
    pub fn bool(&mut self, value: bool) -> Value {
        self.constant_of(Type::Bool, value.into())
    }

    /// The constant that names an element of a binding: the number of the binding above that of the element, 32 bits each.
    pub fn resource(&mut self, binding: BindingId, element: u32) -> Value {
        self.constant_of(
            Type::Resource,
            u64::from(binding.0) << 32 | u64::from(element),
        )
    }

    /// The constant of that type with these bits, of which those above its width don't count; a boolean is 0 or 1.
    pub fn constant_of(&mut self, ty: Type, bits: u64) -> Value {
        let (bits, def) = match ty {
            Type::Bool => (u64::from(bits != 0), ValueDef::Bool(bits != 0)),
            _ => (bits & ty.mask(), ValueDef::Word(bits & ty.mask())),
        };
        if let Some(value) = self.constants.get(&(ty, bits)) {
            return *value;
        }
        let value = self.new_value(ty, def);
        self.constants.insert((ty, bits), value);
        value
    }

    fn new_value(&mut self, ty: Type, def: ValueDef) -> Value {
        let value = Value(self.values.len() as u32);
        self.values.push((ty, def));
        value
    }

    /// What the value is.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()].0
    }

    /// How the value is defined.
    pub fn def(&self, value: Value) -> ValueDef {
        self.values[value.index()].1
    }

    /// The bits of a constant of 32 bits.
    pub fn as_word(&self, value: Value) -> Option<u32> {
        match self.values[value.index()] {
            (Type::W32, ValueDef::Word(bits)) => u32::try_from(bits).ok(),
            _ => None,
        }
    }

    /// The element of a binding that a constant names.
    pub fn as_resource(&self, value: Value) -> Option<(BindingId, u32)> {
        match self.values[value.index()] {
            (Type::Resource, ValueDef::Word(bits)) => {
                Some((BindingId((bits >> 32) as u32), bits as u32))
            }
            _ => None,
        }
    }

    /// The binding of which a resource is an element, where it can be only one.
    pub fn binding_of(&self, resource: Value) -> Option<BindingId> {
        let chosen = || match self.def_inst(resource)?.op {
            Op::Resource(binding) => Some(binding),
            _ => None,
        };
        let constant = self.as_resource(resource).map(|(binding, _)| binding);
        constant.or_else(chosen)
    }

    /// The binding.
    pub fn binding(&self, id: BindingId) -> Option<&Binding> {
        self.bindings.get(id.index())
    }

    /// The binding of that set with that number.
    pub fn find_binding(&self, set: u32, number: u32) -> Option<BindingId> {
        let mut bindings = self.bindings.iter();
        let index = bindings.position(|binding| (binding.set, binding.binding) == (set, number))?;
        Some(BindingId(index as u32))
    }

    /// A boolean constant.
    pub fn as_bool(&self, value: Value) -> Option<bool> {
        match self.def(value) {
            ValueDef::Bool(value) => Some(value),
            ValueDef::Word(_) | ValueDef::Result(..) | ValueDef::Phi(_) => None,
        }
    }

    /// The bits of any constant, a boolean as 0 or 1.
    pub fn as_bits(&self, value: Value) -> Option<u64> {
        match self.def(value) {
            ValueDef::Word(bits) => Some(bits),
            ValueDef::Bool(value) => Some(value.into()),
            ValueDef::Result(..) | ValueDef::Phi(_) => None,
        }
    }

    /// The instruction that defines the value.
    pub fn def_inst(&self, value: Value) -> Option<&InstData> {
        match self.def(value) {
            ValueDef::Result(inst, _) => Some(self.inst(inst)),
            ValueDef::Word(_) | ValueDef::Bool(_) | ValueDef::Phi(_) => None,
        }
    }

    /// Number of values; a value's index is less.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    // Instructions.

    /// The instruction.
    pub fn inst(&self, inst: Inst) -> &InstData {
        &self.insts[inst.index()]
    }

    /// The instruction, to change operands, operation or position. Its results stay.
    pub fn inst_mut(&mut self, inst: Inst) -> &mut InstData {
        &mut self.insts[inst.index()]
    }

    /// Takes the instruction out, to look at it while others are made. Until it is put back, an empty fence stands for it.
    pub(super) fn take_inst(&mut self, inst: Inst) -> InstData {
        let empty = InstData {
            op: Op::Fence(Spaces::NONE),
            args: Values::new(),
            results: Values::new(),
            exact: false,
            position: PositionId::UNKNOWN,
        };
        std::mem::replace(self.inst_mut(inst), empty)
    }

    /// Number of instructions ever made; an instruction's index is less.
    pub fn inst_count(&self) -> usize {
        self.insts.len()
    }

    /// Makes an instruction that stands in no block yet, with new results.
    pub fn new_inst(
        &mut self,
        op: Op,
        args: impl Into<Values>,
        exact: bool,
        position: PositionId,
    ) -> Inst {
        let args: Values = args.into();
        let inst = Inst(self.insts.len() as u32);
        let (kinds, results) = self.signature(op);
        let common = self.common_type(&kinds, &args);
        let results = results
            .iter()
            .enumerate()
            .map(|(number, kind)| {
                let ty = kind.ty().or(common).unwrap_or(Type::W32);
                self.new_value(ty, ValueDef::Result(inst, number as u8))
            })
            .collect();
        self.insts.push(InstData {
            op,
            args,
            results,
            exact,
            position,
        });
        inst
    }

    /// The type that all operands and results of kinds I and F, or T, of an instruction have: that of the first such
    /// operand. An operand that isn't there, or is no value, counts as none.
    pub fn common_type(&self, kinds: &[Kind], args: &[Value]) -> Option<Type> {
        let mut common = kinds.iter().zip(args).filter(|(kind, _)| kind.is_common());
        let (_, value) = common.next()?;
        self.values.get(value.index()).map(|(ty, _)| *ty)
    }

    /// The width at which an operation works: the type of its operands of kinds I and F, or T; else that of its first
    /// operand; 32 bits if it has none.
    pub fn width(&self, data: &InstData) -> Type {
        let Op::Alu(alu) = data.op else {
            return Type::W32;
        };
        let common = self.common_type(alu.operands(), &data.args);
        let first = data.args.first().map(|value| self.ty(*value));
        common.or(first).unwrap_or(Type::W32)
    }

    /// The kinds of an instruction's operands and results.
    pub fn signature(&self, op: Op) -> (Kinds, Kinds) {
        op.signature(|var| self.var(var).ty.kind())
    }

    // Blocks.

    /// Makes an empty block at the end of the layout. It ends in [`Terminator::Unreachable`] until that is replaced.
    pub fn new_block(&mut self) -> BlockId {
        let block = self.new_detached_block();
        self.layout.push(block);
        block
    }

    /// Makes an empty block that isn't in the layout yet.
    pub fn new_detached_block(&mut self) -> BlockId {
        let block = BlockId(self.blocks.len() as u32);
        self.blocks.push(Block {
            phis: vec![],
            insts: vec![],
            merge: None,
            terminator: Terminator::Unreachable,
            position: PositionId::UNKNOWN,
        });
        block
    }

    /// The block.
    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block.index()]
    }

    /// The block, to change.
    pub fn block_mut(&mut self, block: BlockId) -> &mut Block {
        &mut self.blocks[block.index()]
    }

    /// Number of blocks ever made; a block's index is less.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Adds a phi without sources and returns its value.
    pub fn new_phi(&mut self, block: BlockId, ty: Type) -> Value {
        let result = self.new_value(ty, ValueDef::Phi(block));
        self.block_mut(block).phis.push(Phi {
            result,
            sources: vec![],
        });
        result
    }

    // Variables and positions.

    /// Makes a variable.
    pub fn new_var(&mut self, data: VarData) -> Var {
        let var = Var(self.vars.len() as u32);
        self.vars.push(data);
        var
    }

    /// The variable.
    pub fn var(&self, var: Var) -> &VarData {
        &self.vars[var.index()]
    }

    /// The variable, to change.
    pub fn var_mut(&mut self, var: Var) -> &mut VarData {
        &mut self.vars[var.index()]
    }

    /// All variables ever made.
    pub fn vars(&self) -> impl Iterator<Item = (Var, &VarData)> {
        self.vars
            .iter()
            .enumerate()
            .map(|(index, data)| (Var(index as u32), data))
    }

    /// The entry for this position, which is added if it isn't there.
    pub fn position_id(&mut self, position: Position) -> PositionId {
        if let Some(id) = self.position_ids.get(&position) {
            return *id;
        }
        let id = PositionId(self.positions.len() as u32);
        self.positions.push(position.clone());
        self.position_ids.insert(position, id);
        id
    }

    /// The position.
    pub fn position(&self, id: PositionId) -> &Position {
        &self.positions[id.index()]
    }

    // Walks.

    /// All instructions, in layout order, with their blocks.
    pub fn placed_insts(&self) -> impl Iterator<Item = (BlockId, Inst)> + Clone {
        self.layout.iter().flat_map(|block| {
            self.block(*block)
                .insts
                .iter()
                .map(move |inst| (*block, *inst))
        })
    }

    /// Replaces every use of a value, phi sources and conditions included. `map` is called on each.
    pub fn map_uses(&mut self, mut map: impl FnMut(Value) -> Value) {
        for block in &self.layout {
            let data = &mut self.blocks[block.index()];
            for phi in &mut data.phis {
                for (_, value) in &mut phi.sources {
                    *value = map(*value);
                }
            }
            if let Some(value) = data.terminator.operand_mut() {
                *value = map(*value);
            }
            for inst in &data.insts {
                for value in &mut self.insts[inst.index()].args {
                    *value = map(*value);
                }
            }
        }
    }
}

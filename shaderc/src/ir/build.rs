//! Builder: appends instructions at a place, folding nothing.
//!
//! Needs: a function and a block.  Guarantees: what it makes carries the builder's position and exactness.
use super::block::Terminator;
use super::function::{Axis, Function, PositionId, Var};
use super::inst::{Access, AtomicOp, Inst, Op, Values};
use super::{Alu, BlockId, LaneOp, SysVal, Uniform, Value};

/// Where new instructions go: the end of a list that becomes (part of) a block.
pub struct Builder<'f> {
    /// The function under construction.
    pub function: &'f mut Function,
    /// The block that grows at its end.
    pub block: BlockId,
    /// Given to every instruction made.
    pub position: PositionId,
    /// Given to every instruction made.
    pub exact: bool,
}

impl<'f> Builder<'f> {
    /// A builder at the end of a block.
    pub fn new(function: &'f mut Function, block: BlockId) -> Builder<'f> {
        Builder {
            function,
            block,
            position: PositionId::UNKNOWN,
            exact: false,
        }
    }

    /// Appends any instruction; its results.
    pub fn inst(&mut self, op: Op, args: &[Value]) -> Values {
        let inst = self.append(op, args);
        self.function.inst(inst).results.clone()
    }

    fn append(&mut self, op: Op, args: &[Value]) -> Inst {
        let inst = self.function.new_inst(op, args, self.exact, self.position);
        self.function.block_mut(self.block).insts.push(inst);
        inst
    }

    /// Appends a pure operation; its result.
    pub fn alu(&mut self, alu: Alu, args: &[Value]) -> Value {
        // Every row of the table has exactly one result.
        let inst = self.append(Op::Alu(alu), args);
        self.function.inst(inst).results[0]
    }

    /// An operation with an immediate of the other operand's width as last operand.
    pub fn alu_bits(&mut self, alu: Alu, arg: Value, bits: u64) -> Value {
        let bits = self.function.constant_of(self.function.ty(arg), bits);
        self.alu(alu, &[arg, bits])
    }

    /// An operation with an immediate integer of 32 bits as last operand.
    pub fn alu_word(&mut self, alu: Alu, arg: Value, word: u32) -> Value {
        let word = self.function.word(word);
        self.alu(alu, &[arg, word])
    }

    /// An operation with an immediate float as last operand.
    pub fn alu_float(&mut self, alu: Alu, arg: Value, float: f32) -> Value {
        self.alu_word(alu, arg, float.to_bits())
    }

    /// `condition ? yes : no`
    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.alu(Alu::Select, &[condition, yes, no])
    }

    /// The word constant.
    pub fn word(&mut self, bits: u32) -> Value {
        self.function.word(bits)
    }

    /// The float constant.
    pub fn float(&mut self, value: f32) -> Value {
        self.function.float(value)
    }

    /// Reads a number that the hardware gives.
    pub fn sys_val(&mut self, sys_val: SysVal) -> Value {
        self.inst(Op::SysVal(sys_val), &[])[0]
    }

    /// An operation of the lanes that run it together; its result.
    pub fn lanes(&mut self, lanes: LaneOp, args: &[Value]) -> Value {
        // Every row of the table has exactly one result.
        self.inst(Op::Lanes(lanes), args)[0]
    }

    /// Reads a word that the dispatch has in common.
    pub fn uniform(&mut self, uniform: Uniform) -> Value {
        self.inst(Op::Uniform(uniform), &[])[0]
    }

    /// Number of workgroups.
    pub fn num_workgroups(&mut self, axis: Axis) -> Value {
        self.uniform(Uniform::NumWorkgroups(axis))
    }

    /// Loads elements.
    pub fn load(&mut self, access: Access, address: &[Value]) -> Values {
        self.inst(Op::Load(access), address)
    }

    /// Stores elements.
    pub fn store(&mut self, access: Access, address: &[Value], words: &[Value]) {
        let args: Vec<Value> = address.iter().chain(words).copied().collect();
        self.inst(Op::Store(access), &args);
    }

    /// Does an atomic operation; the element before. `operands` as [`Op::Atomic`] says.
    pub fn atomic(
        &mut self,
        op: AtomicOp,
        access: Access,
        address: &[Value],
        operands: &[Value],
    ) -> Value {
        let args: Vec<Value> = address.iter().chain(operands).copied().collect();
        self.inst(Op::Atomic(op, access), &args)[0]
    }

    /// Reads an element of a variable.
    pub fn load_var(&mut self, var: Var, element: Value) -> Value {
        self.inst(Op::LoadVar(var), &[element])[0]
    }

    /// Writes an element of a variable.
    pub fn store_var(&mut self, var: Var, element: Value, value: Value) {
        self.append(Op::StoreVar(var), &[element, value]);
    }

    /// Ends the block.
    pub fn terminate(&mut self, terminator: Terminator) {
        let position = self.position;
        let block = self.function.block_mut(self.block);
        block.terminator = terminator;
        block.position = position;
    }
}

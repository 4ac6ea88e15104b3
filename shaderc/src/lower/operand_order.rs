//! Operand order: a constant last where operands may change places.
//!
//! Needs: nothing.  Guarantees: rules and the back end need to look for constants in one place only.
use crate::ir::{BlockId, Function, Inst, Op};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "operand_order",
    what: "constants become the last operand of operations that commute",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let constant_first = |(_, inst): &(BlockId, Inst)| {
        let data = function.inst(*inst);
        let Op::Alu(alu) = data.op else { return false };
        let constant = |index: usize| function.as_bits(data.args[index]).is_some();
        alu.commutes() && constant(0) && !constant(1)
    };
    // Mostly there are none.
    let turned: Vec<(BlockId, Inst)> = function.placed_insts().filter(constant_first).collect();
    for (_, inst) in &turned {
        function.inst_mut(*inst).args.swap(0, 1);
    }
    Changed::from_bool(!turned.is_empty())
}

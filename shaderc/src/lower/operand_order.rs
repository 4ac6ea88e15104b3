//! Operand order: a constant last where operands may change places.
//!
//! Needs: nothing.  Guarantees: rules and the back end need to look for constants in one place only.
use crate::ir::{Function, Op};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "operand_order",
    what: "constants become the last operand of operations that commute",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut changed = Changed::No;
    for (_, inst) in function.placed_insts().collect::<Vec<_>>() {
        let data = function.inst(inst);
        let Op::Alu(alu) = data.op else { continue };
        let constant = |index: usize| function.as_bits(data.args[index]).is_some();
        if alu.commutes() && constant(0) && !constant(1) {
            function.inst_mut(inst).args.swap(0, 1);
            changed = Changed::Yes;
        }
    }
    changed
}

//! Atomics that change nothing, such as an addition of 0, become atomic loads.
//!
//! Needs: nothing.  Guarantees: the same result. What is ordered around an atomic is in fences of its own, and a volatile
//! load is what an atomic load is translated to.  Facts: hardware/compiler-isel.md 9.

use crate::ir::{Access, AtomicOp, Function, Inst, InstData, Memory, Op, Type};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "idle_atomics",
    what: "atomics that change nothing become loads",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let atomics = function.placed_insts().map(|(_, inst)| inst);
    let idle = |inst: Inst| Some((inst, idle(function, function.inst(inst))?));
    let idle: Vec<(Inst, Access)> = atomics.filter_map(idle).collect();
    for (inst, access) in &idle {
        let data = function.inst_mut(*inst);
        data.op = Op::Load(Access {
            memory: Memory::Atomic,
            ..*access
        });
        data.args.truncate(access.address_operands());
    }
    Changed::from_bool(!idle.is_empty())
}

/// The access of an atomic that leaves each word as it is.
fn idle(function: &Function, data: &InstData) -> Option<Access> {
    let Op::Atomic(op, access) = data.op else {
        return None;
    };
    let operand = function.as_word(*data.args.get(access.address_operands())?)?;
    let neutral = match op {
        AtomicOp::Add | AtomicOp::Or | AtomicOp::Xor | AtomicOp::UMax => 0,
        AtomicOp::And | AtomicOp::UMin => u32::MAX,
        AtomicOp::SMin => i32::MAX.cast_unsigned(),
        AtomicOp::SMax => i32::MIN.cast_unsigned(),
        AtomicOp::Exchange | AtomicOp::CompareExchange => return None,
    };
    (access.elem == Type::W32 && operand == neutral).then_some(access)
}

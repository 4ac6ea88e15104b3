//! Dead code: instructions and phis whose results nobody needs.
//!
//! Needs: nothing.  Guarantees: what is left has an effect or feeds one.  Never: removes a loop or a branch.
use crate::ir::{Function, Value, ValueDef};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "dead_code",
    what: "instructions and phis that nothing needs go",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut needed = vec![false; function.value_count()];
    let mut work: Vec<Value> = vec![];
    for block in &function.layout {
        let data = function.block(*block);
        work.extend(data.terminator.operand());
        for inst in &data.insts {
            let data = function.inst(*inst);
            if data.op.has_effect() {
                work.extend(&data.args);
            }
        }
    }
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut needed[value.index()], true) {
            continue;
        }
        match function.def(value) {
            ValueDef::Word(_) | ValueDef::Bool(_) => {}
            ValueDef::Result(inst, _) => work.extend(&function.inst(inst).args),
            ValueDef::Phi(block) => {
                let mut phis = function.block(block).phis.iter();
                if let Some(phi) = phis.find(|phi| phi.result == value) {
                    work.extend(phi.sources.iter().map(|(_, source)| *source));
                }
            }
        }
    }
    let mut changed = Changed::No;
    for block in function.layout.clone() {
        let mut insts = std::mem::take(&mut function.block_mut(block).insts);
        let before = insts.len() + function.block(block).phis.len();
        insts.retain(|inst| {
            let data = function.inst(*inst);
            let read = data.results.iter().any(|value| needed[value.index()]);
            data.op.has_effect() || read
        });
        let data = function.block_mut(block);
        data.insts = insts;
        data.phis.retain(|phi| needed[phi.result.index()]);
        if data.insts.len() + data.phis.len() != before {
            changed = Changed::Yes;
        }
    }
    changed
}

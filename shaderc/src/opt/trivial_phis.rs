//! Trivial phis: those whose sources are all one value, or themselves.
//!
//! Needs: nothing.  Guarantees: no such phi is left.

use crate::ir::{Function, Phi, Value};
use crate::pass::{Changed, Pass};
use crate::replaced::{Joins, trivial_phis};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "trivial_phis",
    what: "phis with only one source value become that value",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let blocks = function.layout.iter();
    let phis: Vec<&Phi> = blocks
        .flat_map(|block| &function.block(*block).phis)
        .collect();
    let replaced = trivial_phis(&phis);
    if replaced.is_empty() {
        return Changed::No;
    }
    for block in function.layout.clone() {
        let phis = &mut function.block_mut(block).phis;
        phis.retain(|phi| !replaced.has(phi.result));
    }
    replaced.everywhere(function);
    Changed::Yes
}

impl Joins<Value> for &Phi {
    fn result(&self) -> Value {
        self.result
    }

    fn sources(&self) -> impl Iterator<Item = Value> {
        self.sources.iter().map(|(_, source)| *source)
    }
}

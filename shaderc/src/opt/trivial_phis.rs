//! Trivial phis: those whose sources are all one value, or themselves.
//!
//! Needs: nothing.  Guarantees: no such phi is left.
use std::collections::HashMap;

use crate::ir::rewrite::replace_uses;
use crate::ir::{Function, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "trivial_phis",
    what: "phis with only one source value become that value",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut changed = Changed::No;
    loop {
        let mut replaced: HashMap<Value, Value> = HashMap::new();
        for block in function.layout.clone() {
            for phi in &function.block(block).phis {
                let mut others = phi
                    .sources
                    .iter()
                    .map(|(_, value)| resolve(&replaced, *value))
                    .filter(|value| *value != phi.result);
                let Some(first) = others.next() else {
                    // Only itself: a loop that is never entered, so any value will do.
                    continue;
                };
                if others.all(|value| value == first) {
                    replaced.insert(phi.result, first);
                }
            }
            let phis = &mut function.block_mut(block).phis;
            phis.retain(|phi| !replaced.contains_key(&phi.result));
        }
        if replaced.is_empty() {
            return changed;
        }
        replace_uses(function, &replaced);
        changed = Changed::Yes;
    }
}

fn resolve(replaced: &HashMap<Value, Value>, mut value: Value) -> Value {
    while let Some(next) = replaced.get(&value) {
        value = *next;
    }
    value
}

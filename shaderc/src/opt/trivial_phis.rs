//! Trivial phis: those whose sources are all one value, or themselves.
//!
//! Needs: nothing.  Guarantees: no such phi is left.
use std::collections::VecDeque;

use rustc_hash::FxHashMap as HashMap;

use crate::ir::rewrite::replace_uses;
use crate::ir::{Function, Phi, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "trivial_phis",
    what: "phis with only one source value become that value",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut phis: Vec<&Phi> = vec![];
    for block in &function.layout {
        phis.extend(&function.block(*block).phis);
    }
    if phis.is_empty() {
        return Changed::No;
    }
    // By value: the phis that read it, by number. Those of phis alone are wanted.
    let mut readers: HashMap<Value, Vec<usize>> = HashMap::default();
    for phi in &phis {
        readers.insert(phi.result, vec![]);
    }
    for (number, phi) in phis.iter().enumerate() {
        for (_, source) in &phi.sources {
            if let Some(readers) = readers.get_mut(source) {
                readers.push(number);
            }
        }
    }
    let mut replaced: HashMap<Value, Value> = HashMap::default();
    let mut work: VecDeque<usize> = (0..phis.len()).collect();
    while let Some(number) = work.pop_front() {
        let phi = phis[number];
        if replaced.contains_key(&phi.result) {
            continue;
        }
        let mut only = None;
        let trivial = phi.sources.iter().all(|(_, source)| {
            let value = resolve(&mut replaced, *source);
            value == phi.result || *only.get_or_insert(value) == value
        });
        // Only itself: a loop that is never entered, so any value will do.
        if let (true, Some(value)) = (trivial, only) {
            replaced.insert(phi.result, value);
            work.extend(readers.remove(&phi.result).unwrap_or_default());
        }
    }
    if replaced.is_empty() {
        return Changed::No;
    }
    for block in function.layout.clone() {
        let phis = &mut function.block_mut(block).phis;
        phis.retain(|phi| !replaced.contains_key(&phi.result));
    }
    replace_uses(function, &replaced);
    Changed::Yes
}

/// What a value has become. What is looked up is closer next time.
fn resolve(replaced: &mut HashMap<Value, Value>, value: Value) -> Value {
    let mut at = value;
    while let Some(&next) = replaced.get(&at) {
        let Some(&further) = replaced.get(&next) else {
            return next;
        };
        replaced.insert(at, further);
        at = further;
    }
    at
}

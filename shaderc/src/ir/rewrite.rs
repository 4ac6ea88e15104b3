//! Rewriting: instructions replaced one by one, in place.
//!
//! Needs: definitions before uses in layout order, phis apart.  Guarantees: all uses of a replaced result are replaced.
use std::collections::HashMap;

use super::{Builder, Function, InstData, Value};

/// Calls `each` on every instruction, operands already replaced. It may build others in front and return the values
/// that take the place of the results; then the instruction goes.
pub fn rewrite(
    function: &mut Function,
    mut each: impl FnMut(&mut Builder<'_>, &InstData) -> Option<Vec<Value>>,
) -> bool {
    let mut replaced: HashMap<Value, Value> = HashMap::new();
    let mut changed = false;
    for block in function.layout.clone() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let mut builder = Builder::new(function, block);
        for inst in insts {
            for arg in &mut builder.function.inst_mut(inst).args {
                *arg = replaced.get(arg).copied().unwrap_or(*arg);
            }
            let data = builder.function.inst(inst).clone();
            builder.position = data.position;
            builder.exact = data.exact;
            match each(&mut builder, &data) {
                Some(values) => {
                    changed = true;
                    replaced.extend(data.results.iter().copied().zip(values));
                }
                None => builder.function.block_mut(block).insts.push(inst),
            }
        }
    }
    if !replaced.is_empty() {
        replace_uses(function, &replaced);
    }
    changed
}

/// Replaces uses; a replacement may itself be replaced.
pub fn replace_uses(function: &mut Function, replaced: &HashMap<Value, Value>) {
    function.map_uses(|value| {
        let mut value = value;
        // A chain is no longer than the map, so this ends even if a pass made a cycle.
        for _ in 0..=replaced.len() {
            match replaced.get(&value) {
                Some(next) => value = *next,
                None => break,
            }
        }
        value
    });
}

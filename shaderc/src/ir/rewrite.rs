//! Rewriting: instructions replaced one by one, in place.
//!
//! Needs: definitions before uses in layout order, phis apart.  Guarantees: all uses of a replaced result are replaced.

use rustc_hash::FxHashMap as HashMap;

use super::{Builder, Function, InstData, Value};

/// Calls `each` on every instruction, operands already replaced. It may build others in front and return the values
/// that take the place of the results; then the instruction goes.
pub fn rewrite(
    function: &mut Function,
    mut each: impl FnMut(&mut Builder<'_>, &InstData) -> Option<Vec<Value>>,
) -> bool {
    let mut replaced: HashMap<Value, Value> = HashMap::default();
    let mut changed = false;
    // Each block's new list takes the memory of the one before.
    let mut free = vec![];
    for block in function.layout.clone() {
        let mut insts = std::mem::replace(&mut function.block_mut(block).insts, free);
        let mut builder = Builder::new(function, block);
        for inst in insts.drain(..) {
            for arg in &mut builder.function.inst_mut(inst).args {
                *arg = replaced.get(arg).copied().unwrap_or(*arg);
            }
            // Lent to `each`, which may change everything else: nothing asks for what an instruction is before it stands.
            let data = builder.function.take_inst(inst);
            builder.position = data.position;
            builder.exact = data.exact;
            match each(&mut builder, &data) {
                Some(values) => {
                    changed = true;
                    replaced.extend(data.results.iter().copied().zip(values));
                }
                None => builder.function.block_mut(block).insts.push(inst),
            }
            *builder.function.inst_mut(inst) = data;
        }
        free = insts;
    }
    if !replaced.is_empty() {
        replace_uses(function, &replaced);
    }
    changed
}

/// Replaces uses; a replacement may itself be replaced.
pub fn replace_uses(function: &mut Function, replaced: &HashMap<Value, Value>) {
    if replaced.is_empty() {
        return;
    }
    let ends = ends(replaced);
    function.map_uses(|value| ends.get(&value).copied().unwrap_or(value));
}

/// Where each chain of replacements ends.
fn ends(replaced: &HashMap<Value, Value>) -> HashMap<Value, Value> {
    let mut ends: HashMap<Value, Value> =
        HashMap::with_capacity_and_hasher(replaced.len(), Default::default());
    let mut path = vec![];
    for (start, next) in replaced {
        let mut at = *next;
        path.push(*start);
        while let Some(next) = ends.get(&at).or_else(|| replaced.get(&at)).copied() {
            // A chain is no longer than the map, so this ends even if a pass made a cycle.
            if path.len() > replaced.len() {
                break;
            }
            path.push(at);
            at = next;
        }
        ends.extend(path.drain(..).map(|value| (value, at)));
    }
    ends
}

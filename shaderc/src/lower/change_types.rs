//! Values of types that the target lacks become values of others: the walk that passes for 8, 16 and 64 bits share.
//!
//! Needs: definitions before uses in layout order, phis apart.  Guarantees: no phi and no operand has such a type
//! any more, unless the pass makes one.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Builder, Function, Inst, InstData, Type, Value};

/// What stands for a value, and how an instruction on such values is done.
pub(super) trait ChangeTypes {
    /// Whether values of the type are taken apart.
    fn changes(&self, ty: Type) -> bool;

    /// Number of 32-bit words that stand for one.
    fn words(&self) -> usize;

    /// Builds what does the work of an instruction that has such an operand or result. Returns what stands for each
    /// result: one value, or words for those that are taken apart.
    fn inst(&mut self, b: &mut Builder<'_>, data: &InstData, args: &[Parts]) -> Vec<Parts>;

    /// Whether an instruction is built anew.
    fn concerns(&self, function: &Function, data: &InstData) -> bool {
        let mut values = data.args.iter().chain(&data.results);
        values.any(|value| self.changes(function.ty(*value)))
    }

    /// Whether a switch on a value of the type switches on something else.
    fn selects(&self, ty: Type) -> bool {
        self.changes(ty)
    }

    /// What a switch on such a value switches on.
    fn selector(&mut self, b: &mut Builder<'_>, parts: &Parts) -> Value;
}

/// What stands for one value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Parts {
    /// What the value was.
    pub ty: Type,
    /// Itself, or words from the lowest.
    pub values: Vec<Value>,
}

impl Parts {
    pub fn one(ty: Type, value: Value) -> Parts {
        Parts {
            ty,
            values: vec![value],
        }
    }
}

/// A phi that is taken apart.
struct Pending {
    block: crate::ir::BlockId,
    results: Vec<Value>,
    sources: Vec<(crate::ir::BlockId, Value)>,
}

/// Changes a whole function; whether there was anything to change.
pub(super) fn change_types(function: &mut Function, change: &mut impl ChangeTypes) -> bool {
    if !touched(function, change) {
        return false;
    }
    let mut map: HashMap<Value, Parts> = HashMap::default();
    let pending = split_phis(function, change, &mut map);
    for block in function.layout.clone() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let mut builder = Builder::new(function, block);
        for inst in insts {
            replace_args(builder.function, inst, &map);
            let data = builder.function.inst(inst).clone();
            if !change.concerns(builder.function, &data) {
                builder.function.block_mut(block).insts.push(inst);
                continue;
            }
            builder.position = data.position;
            builder.exact = data.exact;
            let args: Vec<Parts> = data
                .args
                .iter()
                .map(|value| parts(builder.function, change, &map, *value))
                .collect();
            let results = change.inst(&mut builder, &data, &args);
            map.extend(data.results.iter().copied().zip(results));
        }
        if let Some(selector) = builder.function.block(block).terminator.operand() {
            builder.position = builder.function.block(block).position;
            builder.exact = false;
            let parts = parts(builder.function, change, &map, selector);
            let value = match change.selects(builder.function.ty(selector)) {
                true => change.selector(&mut builder, &parts),
                false => parts.values[0],
            };
            if let Some(operand) = function.block_mut(block).terminator.operand_mut() {
                *operand = value;
            }
        }
    }
    fill_phis(function, change, &map, pending);
    true
}

/// Whether a function has values of such types at all.
fn touched(function: &Function, change: &impl ChangeTypes) -> bool {
    let vars = function.vars().any(|(_, data)| change.changes(data.ty));
    let insts = || function.placed_insts().map(|(_, inst)| function.inst(inst));
    let phis = function.layout.iter().any(|block| {
        let mut phis = function.block(*block).phis.iter();
        phis.any(|phi| change.changes(function.ty(phi.result)))
    });
    let selectors = function.layout.iter().any(|block| {
        let operand = function.block(*block).terminator.operand();
        operand.is_some_and(|selector| change.selects(function.ty(selector)))
    });
    vars || phis || selectors || insts().any(|data| change.concerns(function, data))
}

/// Operands that were replaced by one value of their own type.
fn replace_args(function: &mut Function, inst: Inst, map: &HashMap<Value, Parts>) {
    for arg in 0..function.inst(inst).args.len() {
        let old = function.inst(inst).args[arg];
        if let Some(Parts { values, .. }) = map.get(&old)
            && let &[new] = values.as_slice()
            && function.ty(new) == function.ty(old)
        {
            function.inst_mut(inst).args[arg] = new;
        }
    }
}

fn parts(
    function: &mut Function,
    change: &impl ChangeTypes,
    map: &HashMap<Value, Parts>,
    value: Value,
) -> Parts {
    if let Some(parts) = map.get(&value) {
        return parts.clone();
    }
    let ty = function.ty(value);
    match function.as_bits(value) {
        Some(bits) if change.changes(ty) => {
            let words =
                (0..change.words()).map(|number| function.word((bits >> (32 * number)) as u32));
            Parts {
                ty,
                values: words.collect(),
            }
        }
        _ => Parts::one(ty, value),
    }
}

/// Phis of such types make way for phis of words.
fn split_phis(
    function: &mut Function,
    change: &impl ChangeTypes,
    map: &mut HashMap<Value, Parts>,
) -> Vec<Pending> {
    let mut pending = vec![];
    for block in function.layout.clone() {
        let phis = std::mem::take(&mut function.block_mut(block).phis);
        let (old, kept): (Vec<_>, Vec<_>) = phis
            .into_iter()
            .partition(|phi| change.changes(function.ty(phi.result)));
        function.block_mut(block).phis = kept;
        for phi in old {
            let ty = function.ty(phi.result);
            let results: Vec<Value> = (0..change.words())
                .map(|_| function.new_phi(block, Type::W32))
                .collect();
            let values = results.clone();
            map.insert(phi.result, Parts { ty, values });
            pending.push(Pending {
                block,
                results,
                sources: phi.sources,
            });
        }
    }
    pending
}

fn fill_phis(
    function: &mut Function,
    change: &impl ChangeTypes,
    map: &HashMap<Value, Parts>,
    pending: Vec<Pending>,
) {
    for phi in pending {
        for (from, value) in phi.sources {
            let parts = parts(function, change, map, value);
            let made = &mut function.block_mut(phi.block).phis;
            for (result, value) in phi.results.iter().zip(parts.values) {
                for own in made.iter_mut().filter(|own| own.result == *result) {
                    own.sources.push((from, value));
                }
            }
        }
    }
    // Sources of the other phis, which may be results that were replaced.
    let single = |value: Value| match map.get(&value).map(|parts| parts.values.as_slice()) {
        Some(&[new]) => new,
        _ => value,
    };
    for block in function.layout.clone() {
        for phi in &mut function.block_mut(block).phis {
            for (_, value) in &mut phi.sources {
                *value = single(*value);
            }
        }
    }
}

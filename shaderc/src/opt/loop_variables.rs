//! Loop variables: what crosses rounds of a loop or leaves it goes through variables, so that its blocks can be copied.
//!
//! Needs: bodies that lie apart.  Guarantees: no header of theirs and no block behind them has phis, and no value that one
//! of them defines is read outside of it. `promote_variables` makes values of the variables again.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::cfg::Cfg;
use crate::ir::loops::Body;
use crate::ir::rewrite::Replaced;
use crate::ir::{BlockId, Builder, Function, Op, Value, ValueDef, Var, VarData};

/// Puts variables in the place of the phis of headers and of what bodies leave behind. Loops together: what looks through
/// the whole function does so once.
pub(super) fn demote_bodies(function: &mut Function, cfg: &Cfg, loops: &[(BlockId, &Body)]) {
    // By block: the number of the loop to whose body it belongs.
    let mut inside = vec![None; function.block_count()];
    for (number, (_, body)) in loops.iter().enumerate() {
        for block in body.blocks() {
            inside[block.index()] = Some(number);
        }
    }
    let mut replaced = Replaced::default();
    for (number, (header, body)) in loops.iter().enumerate() {
        demote_phis(function, *header, &mut replaced);
        for block in body.blocks() {
            for target in function.block(*block).terminator.targets() {
                if inside[target.index()] != Some(number) {
                    demote_phis(function, target, &mut replaced);
                }
            }
        }
    }
    replaced.everywhere(function);
    demote_outside_uses(function, cfg, &inside);
}

/// A variable for a value.
fn variable(function: &mut Function, value: Value) -> Var {
    let ty = function.ty(value);
    function.new_var(VarData {
        ty,
        len: 1,
        name: String::new(),
    })
}

/// Phis to variables: stored at the end of each predecessor, loaded where the phi stood.
fn demote_phis(function: &mut Function, block: BlockId, replaced: &mut Replaced) {
    let phis = std::mem::take(&mut function.block_mut(block).phis);
    let zero = function.word(0);
    let mut loads = vec![];
    let mut stores = vec![];
    for phi in phis {
        let var = variable(function, phi.result);
        let position = function.block(block).position;
        let load = function.new_inst(Op::LoadVar(var), [zero].as_slice(), false, position);
        replaced.insert(phi.result, function.inst(load).results[0]);
        loads.push(load);
        for (from, value) in phi.sources {
            stores.push((from, var, value));
        }
    }
    for (from, var, value) in stores {
        let mut builder = Builder::new(function, from);
        builder.store_var(var, zero, value);
    }
    function.block_mut(block).insts.splice(0..0, loads);
}

/// Values defined inside of a loop and used outside of it go through variables. `inside` says of each block which of the
/// bodies it belongs to.
fn demote_outside_uses(function: &mut Function, cfg: &Cfg, inside: &[Option<usize>]) {
    let places = crate::ir::cfg::inst_blocks(function);
    let mut vars: HashMap<Value, Var> = HashMap::default();
    let leaves = |function: &Function, value: Value, user: BlockId| {
        let block = cfg.block_of(function, &places, value);
        let own = block.and_then(|block| inside[block.index()]);
        own.is_some() && own != inside[user.index()]
    };
    let zero = function.word(0);
    for block in function.layout.clone() {
        // Sources of phis are read at the end of the predecessor.
        for number in 0..function.block(block).phis.len() {
            for source in 0..function.block(block).phis[number].sources.len() {
                let (from, value) = function.block(block).phis[number].sources[source];
                if leaves(function, value, from) {
                    let var = var_of(function, &mut vars, value);
                    let load = Builder::new(function, from).load_var(var, zero);
                    function.block_mut(block).phis[number].sources[source].1 = load;
                }
            }
        }
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let mut loaded: HashMap<Value, Value> = HashMap::default();
        for inst in insts {
            for number in 0..function.inst(inst).args.len() {
                let value = function.inst(inst).args[number];
                if leaves(function, value, block) {
                    let load = load_once(function, block, &mut vars, &mut loaded, value);
                    function.inst_mut(inst).args[number] = load;
                }
            }
            function.block_mut(block).insts.push(inst);
        }
        if let Some(value) = function.block(block).terminator.operand()
            && leaves(function, value, block)
        {
            let load = load_once(function, block, &mut vars, &mut loaded, value);
            if let Some(operand) = function.block_mut(block).terminator.operand_mut() {
                *operand = load;
            }
        }
    }
    let mut in_order: Vec<(Value, Var)> = vars.into_iter().collect();
    in_order.sort();
    for (value, var) in in_order {
        store_after_definition(function, &places, value, var);
    }
}

fn var_of(function: &mut Function, vars: &mut HashMap<Value, Var>, value: Value) -> Var {
    if let Some(var) = vars.get(&value) {
        return *var;
    }
    let var = variable(function, value);
    vars.insert(value, var);
    var
}

fn load_once(
    function: &mut Function,
    block: BlockId,
    vars: &mut HashMap<Value, Var>,
    loaded: &mut HashMap<Value, Value>,
    value: Value,
) -> Value {
    if let Some(load) = loaded.get(&value) {
        return *load;
    }
    let var = var_of(function, vars, value);
    let zero = function.word(0);
    let load = Builder::new(function, block).load_var(var, zero);
    loaded.insert(value, load);
    load
}

fn store_after_definition(
    function: &mut Function,
    places: &[Option<BlockId>],
    value: Value,
    var: Var,
) {
    let zero = function.word(0);
    let (block, at) = match function.def(value) {
        ValueDef::Phi(block) => (block, 0),
        ValueDef::Result(inst, _) => {
            let Some(block) = places.get(inst.index()).copied().flatten() else {
                return;
            };
            let insts = &function.block(block).insts;
            let at = insts.iter().position(|other| *other == inst);
            (block, at.map_or(insts.len(), |at| at + 1))
        }
        ValueDef::Word(_) | ValueDef::Bool(_) => return,
    };
    let position = function.block(block).position;
    let store = function.new_inst(Op::StoreVar(var), [zero, value].as_slice(), false, position);
    function.block_mut(block).insts.insert(at, store);
}

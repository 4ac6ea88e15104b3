//! Loop unrolling: short loops whose number of rounds is known become straight code.
//!
//! Needs: constants folded.  Guarantees: only loops whose exit is computed from constants alone are unrolled, and as many
//! rounds are made as it takes; folding the exit's conditions is left to others.
//! How: what crosses rounds or leaves the loop goes through variables, so that blocks can simply be copied;
//! `promote_variables` makes values of them again. What is copied is the loop's body ([`ir::loops`](crate::ir::loops)): a
//! way out on which lanes do something together is copied for each round.  Facts: hardware/compiler-ir.md 4.6.

use rustc_hash::FxHashMap as HashMap;

use crate::interp::eval::eval;
use crate::ir::cfg::Cfg;
use crate::ir::copy::copy_body;
use crate::ir::layout::order_blocks;
use crate::ir::loops::{Body, Loop, Loops};
use crate::ir::rewrite::Replaced;
use crate::ir::{BlockId, Builder, Function, Op, Terminator, Value, ValueDef, Var, VarData};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "unroll_loops",
    what: "short loops with a known number of rounds become straight code",
    run,
};

/// What a loop may become. The round in which it is left counts.
struct Budget {
    rounds: u32,
    instructions: usize,
}

/// Of an ordinary loop: where the loop's own cost weighs, and neighbouring accesses may merge.
const ORDINARY: Budget = Budget {
    rounds: 33,
    instructions: 768,
};
/// Of a loop that loads from places which are then constant: neighbours merge, and what they have in common is loaded once.
const LOADING: Budget = Budget {
    rounds: 33,
    instructions: 2048,
};
/// Of a loop that indexes a variable: with constant indices that costs nothing, else selects or memory. Only if no other
/// access keeps the variable in memory all the same.
const INDEXING: Budget = Budget {
    rounds: 129,
    instructions: 4096,
};

/// Functions with more instructions are left alone: each loop costs a clean-up of the whole function.
const MAX_FUNCTION: usize = 16_384;

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::of(function);
    if cfg.loops.is_empty() || function.placed_insts().count() > MAX_FUNCTION {
        return Changed::No;
    }
    let loops = Loops::new(function, &cfg);
    let mut candidates = vec![];
    // Loops around one that is unrolled wait for the next run: a clean-up shows what they have become.
    let mut has_inner_candidate = vec![false; cfg.loops.len()];
    let mut settled = None;
    let mut made = 0;
    for own in loops.iter().rev() {
        if has_inner_candidate[own.number()] {
            continue;
        }
        let settled = settled.get_or_insert_with(|| settled_vars(function, &loops, &cfg));
        let body = own.body();
        if let Some(rounds) = rounds(function, &cfg, own, &body, settled) {
            made += rounds as usize * size(function, &body);
            if made > MAX_FUNCTION {
                break;
            }
            let header = own.header();
            candidates.push(Candidate {
                header,
                body,
                rounds,
            });
            let mut around = own.around();
            while let Some(outer) = around.filter(|outer| !has_inner_candidate[outer.number()]) {
                has_inner_candidate[outer.number()] = true;
                around = outer.around();
            }
        }
    }
    if candidates.is_empty() {
        return Changed::No;
    }
    unroll(function, &cfg, &candidates);
    Changed::Yes
}

/// A loop that is unrolled. No body lies in another.
struct Candidate {
    header: BlockId,
    body: Body,
    rounds: u32,
}

/// Instructions and terminators of a loop.
fn size(function: &Function, body: &Body) -> usize {
    let blocks = body.blocks().iter();
    blocks
        .map(|block| function.block(*block).insts.len() + 1)
        .sum()
}

/// How often the loop's body begins, if that is known and worth the code.
fn rounds(
    function: &Function,
    cfg: &Cfg,
    own: Loop<'_>,
    body: &Body,
    settled: &[bool],
) -> Option<u32> {
    let &[latch] = own.latches() else {
        return None;
    };
    let insts = || {
        let blocks = body.blocks().iter();
        blocks.flat_map(|block| &function.block(*block).insts)
    };
    let counted = own.natural().iter().find_map(|block| {
        let Terminator::Branch {
            condition,
            then,
            otherwise,
        } = function.block(*block).terminator
        else {
            return None;
        };
        let stays = own.goes_round(then);
        if stays == own.goes_round(otherwise) || !cfg.dominates(*block, latch) {
            return None;
        }
        let most = INDEXING.rounds;
        simulate(function, own.header(), latch, condition, stays, most)
    })?;
    // Whether a variable is indexed by what is then constant.
    let mut known = start(function, own.header(), latch);
    let indexing = insts().any(|inst| {
        let data = function.inst(*inst);
        let (Op::LoadVar(var) | Op::StoreVar(var)) = data.op else {
            return false;
        };
        settled[var.index()]
            && function.as_word(data.args[0]).is_none()
            && evaluate(function, &mut known, data.args[0], DEPTH).is_some()
    });
    let mut loading = || {
        insts().any(|inst| {
            let data = function.inst(*inst);
            let Op::Load(access) = data.op else {
                return false;
            };
            let offset = data.args[access.address_operands() - 1];
            function.as_word(offset).is_none()
                && evaluate(function, &mut known, offset, DEPTH).is_some()
        })
    };
    let budget = match indexing {
        true => INDEXING,
        false if loading() => LOADING,
        false => ORDINARY,
    };
    let size = size(function, body);
    let fits = counted <= budget.rounds && counted as usize * size <= budget.instructions;
    fits.then_some(counted)
}

/// By variable: whether every index of it is constant or follows from counters of the loops around it.
fn settled_vars(function: &Function, loops: &Loops<'_>, cfg: &Cfg) -> Vec<bool> {
    let mut settled = vec![true; function.vars().count()];
    for (block, inst) in function.placed_insts() {
        let data = function.inst(inst);
        let (Op::LoadVar(var) | Op::StoreVar(var)) = data.op else {
            continue;
        };
        if !settled[var.index()] || function.as_word(data.args[0]).is_some() {
            continue;
        }
        let mut known = HashMap::default();
        let mut around = cfg.innermost_loop(block);
        while let Some(number) = around {
            let own = loops.get(number);
            if let &[latch] = own.latches() {
                known.extend(start(function, own.header(), latch));
            }
            around = cfg.loops[number].parent;
        }
        settled[var.index()] = evaluate(function, &mut known, data.args[0], DEPTH).is_some();
    }
    settled
}

/// The header's phis that are constant in the first round.
fn start(function: &Function, header: BlockId, latch: BlockId) -> HashMap<Value, u64> {
    let mut known = HashMap::default();
    for phi in &function.block(header).phis {
        let mut entering = phi.sources.iter().filter(|(from, _)| *from != latch);
        if let (Some((_, value)), None) = (entering.next(), entering.next())
            && let Some(bits) = function.as_bits(*value)
        {
            known.insert(phi.result, bits);
        }
    }
    known
}

/// Counts rounds until the condition leaves the loop.
fn simulate(
    function: &Function,
    header: BlockId,
    latch: BlockId,
    condition: Value,
    stay: bool,
    most: u32,
) -> Option<u32> {
    let mut known = start(function, header, latch);
    for round in 1..=most {
        let mut memo = known.clone();
        let stays = evaluate(function, &mut memo, condition, DEPTH)? != 0;
        if stays != stay {
            return Some(round);
        }
        let mut next = HashMap::default();
        for phi in &function.block(header).phis {
            let source = phi.sources.iter().find(|(from, _)| *from == latch);
            let bits = source.and_then(|(_, value)| evaluate(function, &mut memo, *value, DEPTH));
            if let Some(bits) = bits {
                next.insert(phi.result, bits);
            }
        }
        known = next;
    }
    None
}

/// Deepest expression that is evaluated.
const DEPTH: u32 = 32;

/// The bits of a value, if they follow from what is known.
fn evaluate(
    function: &Function,
    known: &mut HashMap<Value, u64>,
    value: Value,
    depth: u32,
) -> Option<u64> {
    if let Some(bits) = function.as_bits(value).or(known.get(&value).copied()) {
        return Some(bits);
    }
    let data = function.def_inst(value)?;
    let Op::Alu(alu) = data.op else { return None };
    let mut args = [0; 4];
    for (arg, value) in args.iter_mut().zip(&data.args) {
        *arg = evaluate(function, known, *value, depth.checked_sub(1)?)?;
    }
    let bits = eval(alu, function.width(data), args);
    known.insert(value, bits);
    Some(bits)
}

/// Unrolls loops together: what looks through the whole function does so once.
fn unroll(function: &mut Function, cfg: &Cfg, candidates: &[Candidate]) {
    // By block: the number of the candidate to whose body it belongs.
    let mut inside = vec![None; function.block_count()];
    for (number, Candidate { body, .. }) in candidates.iter().enumerate() {
        for block in body.blocks() {
            inside[block.index()] = Some(number);
        }
    }
    let mut replaced = Replaced::default();
    for (number, Candidate { header, body, .. }) in candidates.iter().enumerate() {
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
    // What a loop defines is read in it alone now, so one table serves all copies of all loops.
    let mut values = Replaced::default();
    for Candidate { body, rounds, .. } in candidates {
        // The first round is the loop itself; each back edge goes to the next copy, the last one nowhere.
        let mut copies = vec![body.blocks().to_vec()];
        for _ in 1..*rounds {
            copies.push(copy_body(function, body, &mut values));
        }
        let nowhere = function.new_block();
        let heads: Vec<BlockId> = copies.iter().map(|blocks| blocks[0]).collect();
        for (round, blocks) in copies.iter().enumerate() {
            let (header, next) = (heads[round], heads.get(round + 1).unwrap_or(&nowhere));
            for block in blocks {
                let terminator = &mut function.block_mut(*block).terminator;
                terminator.map_targets(|target| if target == header { *next } else { target });
            }
        }
    }
    order_blocks(function);
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

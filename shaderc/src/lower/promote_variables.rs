//! Variables to SSA: every element that is only reached by constant numbers becomes values and phis.
//!
//! Needs: nothing.  Guarantees: only variables with a dynamic access are left.  An element read before it is written
//! is zero.  Phis are placed at dominance frontiers, and only where the element is live.
//! Facts: hardware/compiler-ir.md 4.1.
use std::collections::HashMap;

use crate::ir::cfg::Cfg;
use crate::ir::rewrite::replace_uses;
use crate::ir::{BlockId, Function, Op, Type, Value, Var};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "promote_variables",
    what: "elements of variables reached by constant numbers become values",
    run,
};

/// An element of a variable, numbered through.
type Cell = usize;

/// What a block does to a cell, in order.
enum Access {
    Load(Cell, Value),
    Store(Cell, Value),
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let cells = Cells::find(function);
    if cells.types.is_empty() {
        return Changed::No;
    }
    let accesses = take_accesses(function, &cells);
    if accesses.iter().all(Vec::is_empty) {
        return Changed::No;
    }
    let cfg = Cfg::new(function);
    let live_in = live_in(function, &cfg, &accesses, cells.types.len());
    let phis = place_phis(function, &cfg, &accesses, &cells, &live_in);
    rename(function, &cfg, accesses, &cells, &phis);
    Changed::Yes
}

/// The cells of the variables that can be promoted.
struct Cells {
    first: HashMap<Var, Cell>,
    types: Vec<Type>,
}

impl Cells {
    fn find(function: &Function) -> Cells {
        let mut dynamic = vec![false; function.vars().count()];
        let mut used = vec![false; function.vars().count()];
        for (_, inst) in function.placed_insts() {
            let data = function.inst(inst);
            if let Op::LoadVar(var) | Op::StoreVar(var) = data.op {
                used[var.index()] = true;
                dynamic[var.index()] |= function.as_word(data.args[0]).is_none();
            }
        }
        let mut cells = Cells {
            first: HashMap::new(),
            types: vec![],
        };
        for (var, data) in function.vars() {
            if used[var.index()] && !dynamic[var.index()] {
                cells.first.insert(var, cells.types.len());
                let types = std::iter::repeat_n(data.ty, data.len as usize);
                cells.types.extend(types);
            }
        }
        cells
    }
}

/// Takes the loads and stores of cells out of their blocks. By block index.
fn take_accesses(function: &mut Function, cells: &Cells) -> Vec<Vec<Access>> {
    let mut accesses: Vec<Vec<Access>> = vec![];
    accesses.resize_with(function.block_count(), Vec::new);
    let mut outside: HashMap<Value, Value> = HashMap::new();
    for block in function.layout.clone() {
        let mut kept = vec![];
        for inst in function.block(block).insts.clone() {
            let data = function.inst(inst).clone();
            let (Op::LoadVar(var) | Op::StoreVar(var)) = data.op else {
                kept.push(inst);
                continue;
            };
            let Some(first) = cells.first.get(&var) else {
                kept.push(inst);
                continue;
            };
            let number = function.as_word(data.args[0]).unwrap_or(0);
            let cell = first + number as usize;
            let inside = number < function.var(var).len;
            match (data.op, inside) {
                (Op::LoadVar(_), true) => {
                    accesses[block.index()].push(Access::Load(cell, data.results[0]));
                }
                (Op::LoadVar(_), false) => {
                    let zero = function.constant_of(function.var(var).ty, 0);
                    outside.insert(data.results[0], zero);
                }
                (_, true) => accesses[block.index()].push(Access::Store(cell, data.args[1])),
                (_, false) => {}
            }
        }
        function.block_mut(block).insts = kept;
    }
    if !outside.is_empty() {
        for access in accesses.iter_mut().flatten() {
            if let Access::Store(_, value) = access {
                *value = outside.get(value).copied().unwrap_or(*value);
            }
        }
        replace_uses(function, &outside);
    }
    accesses
}

/// A set of cells.
#[derive(Clone, PartialEq)]
struct CellSet(Vec<u64>);

impl CellSet {
    fn new(count: usize) -> CellSet {
        CellSet(vec![0; count.div_ceil(64)])
    }

    fn has(&self, cell: Cell) -> bool {
        self.0[cell / 64] >> (cell % 64) & 1 == 1
    }

    fn insert(&mut self, cell: Cell) {
        self.0[cell / 64] |= 1 << (cell % 64);
    }

    /// Adds the cells of `other` that aren't in `except`; whether that added any.
    fn add_except(&mut self, other: &CellSet, except: &CellSet) -> bool {
        let mut changed = false;
        for ((word, other), except) in self.0.iter_mut().zip(&other.0).zip(&except.0) {
            let new = *word | (other & !except);
            changed |= new != *word;
            *word = new;
        }
        changed
    }
}

/// Cells that may be read before they are written, at the start of each block.
fn live_in(function: &Function, cfg: &Cfg, accesses: &[Vec<Access>], count: usize) -> Vec<CellSet> {
    let mut written = vec![CellSet::new(count); function.block_count()];
    let mut live = written.clone();
    for block in cfg.rpo() {
        let index = block.index();
        for access in &accesses[index] {
            match access {
                Access::Load(cell, _) if !written[index].has(*cell) => live[index].insert(*cell),
                Access::Load(..) => {}
                Access::Store(cell, _) => written[index].insert(*cell),
            }
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for block in cfg.rpo().iter().rev() {
            for target in function.block(*block).terminator.targets() {
                let wanted = live[target.index()].clone();
                changed |= live[block.index()].add_except(&wanted, &written[block.index()]);
            }
        }
    }
    live
}

/// The phi of each cell that needs one, by block index.
fn place_phis(
    function: &mut Function,
    cfg: &Cfg,
    accesses: &[Vec<Access>],
    cells: &Cells,
    live_in: &[CellSet],
) -> Vec<HashMap<Cell, Value>> {
    let frontiers = cfg.dominance_frontiers();
    let mut stores: HashMap<Cell, Vec<BlockId>> = HashMap::new();
    for block in cfg.rpo() {
        for access in &accesses[block.index()] {
            if let Access::Store(cell, _) = access {
                stores.entry(*cell).or_default().push(*block);
            }
        }
    }
    let mut phis: Vec<HashMap<Cell, Value>> = vec![HashMap::new(); function.block_count()];
    let mut in_order: Vec<(Cell, Vec<BlockId>)> = stores.into_iter().collect();
    in_order.sort_by_key(|(cell, _)| *cell);
    for (cell, mut work) in in_order {
        while let Some(block) = work.pop() {
            for join in &frontiers[block.index()] {
                let index = join.index();
                if live_in[index].has(cell) && !phis[index].contains_key(&cell) {
                    let value = function.new_phi(*join, cells.types[cell]);
                    phis[index].insert(cell, value);
                    work.push(*join);
                }
            }
        }
    }
    phis
}

fn rename(
    function: &mut Function,
    cfg: &Cfg,
    accesses: Vec<Vec<Access>>,
    cells: &Cells,
    phis: &[HashMap<Cell, Value>],
) {
    // Value of a cell at the end of a block, as far as it was asked for.
    let mut at_end: Vec<HashMap<Cell, Value>> = phis.to_vec();
    let mut replaced: HashMap<Value, Value> = HashMap::new();
    for block in cfg.rpo() {
        for access in &accesses[block.index()] {
            match access {
                Access::Load(cell, result) => {
                    let value = value_at_end(function, cfg, &mut at_end, cells, *block, *cell);
                    replaced.insert(*result, value);
                }
                Access::Store(cell, value) => {
                    let value = replaced.get(value).copied().unwrap_or(*value);
                    at_end[block.index()].insert(*cell, value);
                }
            }
        }
    }
    for block in cfg.rpo() {
        for (cell, phi) in &phis[block.index()] {
            let mut sources = vec![];
            for from in cfg.predecessors(*block) {
                let value = value_at_end(function, cfg, &mut at_end, cells, *from, *cell);
                sources.push((*from, value));
            }
            let made = &mut function.block_mut(*block).phis;
            if let Some(made) = made.iter_mut().find(|made| made.result == *phi) {
                made.sources = sources;
            }
        }
    }
    replace_uses(function, &replaced);
}

/// Looks up the dominators until one defines the cell; remembers the answer for this block.
fn value_at_end(
    function: &mut Function,
    cfg: &Cfg,
    at_end: &mut [HashMap<Cell, Value>],
    cells: &Cells,
    block: BlockId,
    cell: Cell,
) -> Value {
    let mut at = Some(block);
    while let Some(here) = at {
        if let Some(value) = at_end[here.index()].get(&cell) {
            let value = *value;
            at_end[block.index()].insert(cell, value);
            return value;
        }
        at = cfg.idom(here);
    }
    let zero = function.constant_of(cells.types[cell], 0);
    at_end[block.index()].insert(cell, zero);
    zero
}

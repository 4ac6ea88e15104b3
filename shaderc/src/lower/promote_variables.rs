//! Variables to SSA (scalar replacement of aggregates): every element that is only reached by constant numbers becomes values and phis.
//!
//! Needs: nothing.  Guarantees: only variables with a dynamic access are left.  An element read before it is written
//! is zero.  Phis are placed at dominance frontiers, and only where the element is live.
//! Facts: hardware/compiler-ir.md 4.1.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::cfg::Cfg;
use crate::ir::rewrite::Replaced;
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
    if function.vars().next().is_none() {
        return Changed::No;
    }
    let cells = Cells::find(function);
    if cells.types.is_empty() {
        return Changed::No;
    }
    let accesses = take_accesses(function, &cells);
    if accesses.iter().all(Vec::is_empty) {
        return Changed::No;
    }
    let cfg = Cfg::of(function);
    let phis = place_phis(function, &cfg, &accesses, &cells);
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
            first: HashMap::default(),
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
    let mut outside = Replaced::default();
    for block in function.layout.clone() {
        let mut insts = std::mem::take(&mut function.block_mut(block).insts);
        insts.retain(|&inst| {
            let data = function.inst(inst);
            let (Op::LoadVar(var) | Op::StoreVar(var)) = data.op else {
                return true;
            };
            let Some(first) = cells.first.get(&var) else {
                return true;
            };
            let number = function.as_word(data.args[0]).unwrap_or(0);
            let cell = first + number as usize;
            let inside = number < function.var(var).len;
            match (data.op, inside) {
                (Op::LoadVar(_), true) => {
                    accesses[block.index()].push(Access::Load(cell, data.results[0]));
                }
                (Op::LoadVar(_), false) => {
                    let result = data.results[0];
                    let zero = function.constant_of(function.var(var).ty, 0);
                    outside.insert(result, zero);
                }
                (_, true) => accesses[block.index()].push(Access::Store(cell, data.args[1])),
                (_, false) => {}
            }
            false
        });
        function.block_mut(block).insts = insts;
    }
    if !outside.is_empty() {
        for access in accesses.iter_mut().flatten() {
            if let Access::Store(_, value) = access {
                *value = outside.get(*value);
            }
        }
        outside.everywhere(function);
    }
    accesses
}

/// Where cells are read before anything in the block writes them, and where they are written; by cell, in reverse postorder.
struct Places {
    read: Vec<Vec<BlockId>>,
    written: Vec<Vec<BlockId>>,
}

impl Places {
    fn of(cfg: &Cfg, accesses: &[Vec<Access>], count: usize) -> Places {
        let mut places = Places {
            read: vec![vec![]; count],
            written: vec![vec![]; count],
        };
        for block in cfg.rpo() {
            for access in &accesses[block.index()] {
                match access {
                    Access::Load(cell, _) => {
                        if places.written[*cell].last() != Some(block)
                            && places.read[*cell].last() != Some(block)
                        {
                            places.read[*cell].push(*block);
                        }
                    }
                    Access::Store(cell, _) => {
                        if places.written[*cell].last() != Some(block) {
                            places.written[*cell].push(*block);
                        }
                    }
                }
            }
        }
        places
    }
}

/// A cell's value at the start of a block: one of the phis that this pass made.
struct CellPhi {
    cell: Cell,
    /// Its number among the block's phis.
    number: usize,
}

/// The phi of each cell that needs one, by block index: at the dominance frontiers, and only where the cell is read later.
/// Each cell is followed alone: that is as much work as there are blocks in which it lives.
fn place_phis(
    function: &mut Function,
    cfg: &Cfg,
    accesses: &[Vec<Access>],
    cells: &Cells,
) -> Vec<Vec<CellPhi>> {
    let Places { read, written } = Places::of(cfg, accesses, cells.types.len());
    let frontiers = cfg.dominance_frontiers();
    let mut phis: Vec<Vec<CellPhi>> = vec![];
    phis.resize_with(function.block_count(), Vec::new);
    // By block: the last cell that is known to live at its start, and to be written there.
    let mut live: Vec<Option<Cell>> = vec![None; function.block_count()];
    let mut writes = live.clone();
    for (cell, (read, mut work)) in read.into_iter().zip(written).enumerate() {
        for block in &work {
            writes[block.index()] = Some(cell);
        }
        let mut reading = read;
        for block in &reading {
            live[block.index()] = Some(cell);
        }
        while let Some(block) = reading.pop() {
            for from in cfg.predecessors(block) {
                if writes[from.index()] != Some(cell)
                    && live[from.index()].replace(cell) != Some(cell)
                {
                    reading.push(*from);
                }
            }
        }
        while let Some(block) = work.pop() {
            for join in frontiers.of(block.index()) {
                let made = &mut phis[join.index()];
                let known = made.last().is_some_and(|made| made.cell == cell);
                if live[join.index()] == Some(cell) && !known {
                    function.new_phi(*join, cells.types[cell]);
                    let number = function.block(*join).phis.len() - 1;
                    made.push(CellPhi { cell, number });
                    work.push(*join);
                }
            }
        }
    }
    phis
}

/// Replaces loads by what was stored last, and gives the phis their sources.
fn rename(
    function: &mut Function,
    cfg: &Cfg,
    accesses: Vec<Vec<Access>>,
    cells: &Cells,
    phis: &[Vec<CellPhi>],
) {
    // By cell: the values that it has got in blocks that dominate one another, the nearest last.
    let mut values: Vec<Vec<(BlockId, Value)>> = vec![vec![]; cells.types.len()];
    let mut replaced = Replaced::default();
    let zeros: Vec<Value> = cells
        .types
        .iter()
        .map(|ty| function.constant_of(*ty, 0))
        .collect();
    let current = |values: &mut [Vec<(BlockId, Value)>], block: BlockId, cell: Cell| {
        let list = &mut values[cell];
        // The walk goes down the dominator tree: a block that is left does not come back.
        while list
            .pop_if(|(from, _)| !cfg.dominates(*from, block))
            .is_some()
        {}
        list.last().map_or(zeros[cell], |(_, value)| *value)
    };
    for block in cfg.dominator_preorder() {
        for phi in &phis[block.index()] {
            let result = function.block(block).phis[phi.number].result;
            values[phi.cell].push((block, result));
        }
        for access in &accesses[block.index()] {
            match access {
                Access::Load(cell, result) => {
                    replaced.insert(*result, current(&mut values, block, *cell));
                }
                Access::Store(cell, value) => {
                    let value = replaced.get(*value);
                    values[*cell].push((block, value));
                }
            }
        }
        let mut targets = function.block(block).terminator.targets();
        targets.sort();
        targets.dedup();
        for target in targets {
            for phi in &phis[target.index()] {
                let value = current(&mut values, block, phi.cell);
                let made = &mut function.block_mut(target).phis[phi.number];
                made.sources.push((block, value));
            }
        }
    }
    let mut order = vec![0; function.block_count()];
    for (number, block) in cfg.rpo().iter().enumerate() {
        order[block.index()] = number;
    }
    for (block, made) in phis.iter().enumerate() {
        for phi in made {
            let made = &mut function.block_mut(BlockId(block as u32)).phis[phi.number];
            made.sources.sort_by_key(|(from, _)| order[from.index()]);
        }
    }
    replaced.everywhere(function);
}

//! Conditions on edges: what a branch further up says of a condition where control goes from one block to another.
//!
//! Needs: terminators.  Guarantees: what is known holds whenever control takes the edge.
use crate::ir::cfg::Cfg;
use crate::ir::{BlockId, Function, Terminator, Value};

/// How many blocks back a branch on the condition is looked for.
const MOST_BLOCKS: usize = 4;

/// What a condition is on an edge: as a constant, or since only a branch on the condition leads there.
pub(super) fn known_on_edge(
    function: &Function,
    cfg: &Cfg,
    value: Value,
    mut edge: (BlockId, BlockId),
) -> Option<bool> {
    let constant = function.as_bool(value);
    if constant.is_some() {
        return constant;
    }
    for _ in 0..MOST_BLOCKS {
        let (from, to) = edge;
        if let Terminator::Branch {
            condition, then, ..
        } = function.block(from).terminator
            && condition == value
        {
            return Some(then == to);
        }
        let [before] = cfg.predecessors(from) else {
            return None;
        };
        edge = (*before, from);
    }
    None
}

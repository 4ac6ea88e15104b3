//! Copies of blocks: the one place where the IR's blocks are cloned.
//!
//! Needs: a [`Body`], which holds whatever must be copied together: an instruction that depends on the lanes which run it
//! together ([`Op::is_convergent`](super::Op::is_convergent)) never stays behind for several copies to share.
//! Guarantees: each copy has blocks, instructions and values of its own.  Facts: hardware/compiler-correctness.md 5.11.

use rustc_hash::FxHashMap as HashMap;

use super::loops::Body;
use super::rewrite::Replaced;
use super::{BlockId, Function, Value};

/// Copies a loop's body; edges and values inside it are those of the copy. The header, which comes first, has no phis.
/// `values` is given the copy of each value.
pub fn copy_body(function: &mut Function, body: &Body, values: &mut Replaced) -> Vec<BlockId> {
    let blocks = body.blocks();
    let copies: Vec<BlockId> = blocks.iter().map(|_| function.new_block()).collect();
    let block_map: HashMap<BlockId, BlockId> =
        blocks.iter().copied().zip(copies.iter().copied()).collect();
    for (block, copied) in blocks.iter().zip(&copies) {
        for phi in function.block(*block).phis.clone() {
            let ty = function.ty(phi.result);
            let result = function.new_phi(*copied, ty);
            values.insert(phi.result, result);
        }
        for inst in function.block(*block).insts.clone() {
            let data = function.inst(inst).clone();
            let made = function.new_inst(data.op, data.args, data.exact, data.position);
            let results = function.inst(made).results.clone();
            values.extend(data.results.iter().copied().zip(results));
            function.block_mut(*copied).insts.push(made);
        }
        let (terminator, position, merge) = {
            let data = function.block(*block);
            (data.terminator.clone(), data.position, data.merge)
        };
        let copy = function.block_mut(*copied);
        copy.terminator = terminator;
        copy.position = position;
        let copy_of = |end| block_map.get(&end).copied().unwrap_or(end);
        copy.merge = merge.map(|merge| merge.map(copy_of));
    }
    let map = |value: Value| values.get(value);
    for (block, copied) in blocks.iter().zip(&copies) {
        for number in 0..function.block(*block).phis.len() {
            let sources = function.block(*block).phis[number].sources.clone();
            function.block_mut(*copied).phis[number].sources = sources
                .into_iter()
                .map(|(from, value)| (block_map.get(&from).copied().unwrap_or(from), map(value)))
                .collect();
        }
        for inst in function.block(*copied).insts.clone() {
            for arg in &mut function.inst_mut(inst).args {
                *arg = map(*arg);
            }
        }
        let terminator = &mut function.block_mut(*copied).terminator;
        terminator.map_targets(|target| block_map.get(&target).copied().unwrap_or(target));
        if let Some(operand) = terminator.operand_mut() {
            *operand = map(*operand);
        }
    }
    copies
}

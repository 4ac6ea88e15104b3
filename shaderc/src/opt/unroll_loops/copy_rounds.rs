//! Copies of a loop's body, one for each round; what crosses rounds or leaves the loop goes through variables.

use super::Candidate;
use crate::ir::cfg::Cfg;
use crate::ir::copy::copy_body;
use crate::ir::layout::order_blocks;
use crate::ir::rewrite::Replaced;
use crate::ir::{BlockId, Function};
use crate::opt::loop_variables::demote_bodies;

/// Unrolls loops together: what looks through the whole function does so once.
pub(super) fn unroll(function: &mut Function, cfg: &Cfg, candidates: &[Candidate]) {
    let loops: Vec<_> = candidates
        .iter()
        .map(|Candidate { header, body, .. }| (*header, body))
        .collect();
    demote_bodies(function, cfg, &loops);
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

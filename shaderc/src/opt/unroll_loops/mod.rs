//! Loop unrolling: short loops whose number of rounds is known become straight code.
//!
//! Needs: constants folded.  Guarantees: only loops whose exit is computed from constants alone are unrolled, and as many
//! rounds are made as it takes; folding the exit's conditions is left to others.
//! How: what crosses rounds or leaves the loop goes through variables, so that blocks can simply be copied;
//! `promote_variables` makes values of them again. What is copied is the loop's body ([`ir::loops`](crate::ir::loops)): a
//! way out on which lanes do something together is copied for each round.  Facts: hardware/compiler-ir.md 4.6.

mod copy_rounds;
mod rounds;

use self::copy_rounds::unroll;
use self::rounds::{rounds, size, vars_indexed_by_induction};
use crate::ir::cfg::Cfg;
use crate::ir::loops::{Body, Loops};
use crate::ir::{BlockId, Function};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "unroll_loops",
    what: "short loops with a known number of rounds become straight code",
    run,
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
    let mut indexed_by_induction = None;
    let mut made = 0;
    for own in loops.iter().rev() {
        if has_inner_candidate[own.number()] {
            continue;
        }
        let indexed_by_induction = indexed_by_induction
            .get_or_insert_with(|| vars_indexed_by_induction(function, &loops, &cfg));
        let body = own.body();
        if let Some(rounds) = rounds(function, &cfg, own, &body, indexed_by_induction) {
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

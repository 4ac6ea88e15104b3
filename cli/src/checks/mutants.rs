//! A sample of mutants of each crate that may have some: a test must catch every one that the page doesn't call equivalent.

use super::Case;
use crate::mutants::{self, Equivalents, Judgement, Suite, Tree};
use crate::outcome::Failure;
use crate::runs::parallel;
use crate::workspace::Workspace;

/// So many of all crates together; always the same of the same code.
const SAMPLE: usize = 40;
const SEED: u64 = 1;

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let subjects = mutants::subjects();
    let mut tree = Tree::of(workspace, &subjects)?;
    let all = tree.mutants();
    let order = mutants::shuffled(&all, (0..all.len()).collect(), SEED);
    let chosen = tree.plant(workspace, &subjects, &[order], SAMPLE)?.concat();
    let equivalents = Equivalents::read(workspace)?;
    let suite = Suite::of(workspace, &tree, &subjects)?;
    let mut cases = Vec::new();
    let ask = |number: &usize| suite.judge(*number);
    parallel::in_order(&chosen, parallel::available(), ask, |number, verdict| {
        let mutant = &all[*number];
        let failure = match Judgement::of(mutant, verdict?, &equivalents) {
            Judgement::Caught { .. } | Judgement::Equivalent { .. } => None,
            Judgement::Survived { why } => Some(format!("at {}: {why}", mutant.place())),
        };
        cases.push(Case::ran(mutant.name(), failure));
        Ok::<(), Failure>(())
    })?;
    suite.clean()?;
    Ok(cases)
}

//! A sample of mutants of each crate that may have some: a test must catch every one that the page doesn't call equivalent.

use super::Case;
use crate::mutants::{self, Equivalents, Judgement, Mutant, Suite, Tree};
use crate::outcome::Failure;
use crate::runs::parallel;
use crate::workspace::Workspace;

/// So many of all crates together; always the same of the same code.
const SAMPLE: usize = 40;
const SEED: u64 = 1;

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let subjects = mutants::subjects();
    let tree = Tree::grow(workspace, &subjects)?;
    let (numbers, all): (Vec<usize>, Vec<Mutant>) = tree.mutants().into_iter().unzip();
    let equivalents = Equivalents::read(workspace)?;
    let suite = Suite::of(workspace, &tree, &subjects)?;
    let chosen = mutants::sample(&all, SAMPLE, SEED);
    let mut cases = Vec::new();
    let ask = |index: &usize| suite.judge(numbers[*index]);
    parallel::in_order(&chosen, parallel::available(), ask, |index, verdict| {
        let mutant = &all[*index];
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

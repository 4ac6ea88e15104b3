//! Variants: ways to order and place a function's instructions, of which the cheapest is kept.
//!
//! What shortens waits lengthens lives: hoisting and early loads may cost threads, or memory traffic. Nobody knows before
//! registers are allocated, so each variant is finished and its cost is compared.
//! How: variants are tried in the order of their list, as long as the best one so far is tight. One that is as cheap as an
//! earlier one is not taken.

use super::{Function, Machine};
use crate::pass::{Changed, Pass, Runner};

/// A variant.
pub(crate) struct Variant<M: Machine> {
    /// What it tries, in a sentence.
    pub(crate) what: &'static str,
    /// What it begins with.
    pub(crate) base: Base,
    /// A pass on that. Without a change there is no variant; if the variant is kept, later ones begin with the result.
    pub(crate) change: Option<Pass<Function<M>>>,
    /// A pass behind it, for this variant alone.
    pub(crate) last: Option<Pass<Function<M>>>,
    /// The pass that this variant does without: only worth trying if that has changed something.
    pub(crate) without: Option<Pass<Function<M>>>,
}

/// What a variant begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    /// What the best variant so far began with, its change included.
    Best,
    /// The function before anything was hoisted. Later variants begin with it too.
    Unhoisted,
}

/// A function that is finished, with its cost.
pub(crate) trait Candidate {
    type Cost: Ord;

    /// What variants are compared by.
    fn cost(&self) -> Self::Cost;

    /// Whether another variant may be better.
    fn is_tight(&self) -> bool;
}

/// What comes of finishing a variant.
pub(crate) enum Attempt<C> {
    /// A function that is finished.
    Finished(C),
    /// Nothing: it can't be cheaper than the one it is compared with, which was known before the end.
    Hopeless,
    /// Nothing: the runner stopped.
    Stopped,
}

/// Hoists invariants, and finishes variants, each with the best one so far to compare with. Returns the cheapest; none if the
/// runner stopped before the end, or no variant was finished.
///
/// # Errors
/// That of the first variant that can't be finished.
pub(crate) fn cheapest<M: Machine, C: Candidate, E>(
    mut function: Function<M>,
    hoist: Pass<Function<M>>,
    variants: &[Variant<M>],
    runner: &mut Runner<'_>,
    mut finish: impl FnMut(Function<M>, Option<&C>, &mut Runner<'_>) -> Result<Attempt<C>, E>,
) -> Result<Option<C>, E> {
    let mut unhoisted = (function.loop_count() > 0).then(|| function.clone());
    if runner.improve(&mut function, hoist) == Changed::No {
        unhoisted = None;
    }
    let mut best: Option<C> = None;
    let mut base = function;
    // Whether the last pass of the best variant changed anything.
    let mut last_changed = false;
    for variant in variants {
        if best.as_ref().is_some_and(|best| !best.is_tight()) {
            break;
        }
        match (variant.base, &variant.without) {
            (Base::Unhoisted, _) => match unhoisted.take() {
                Some(unhoisted) => base = unhoisted,
                None => continue,
            },
            (Base::Best, Some(_)) if !last_changed => continue,
            (Base::Best, _) => {}
        }
        let mut changed_base = variant.change.map(|_| base.clone());
        if let (Some(base), Some(change)) = (&mut changed_base, variant.change)
            && runner.improve(base, change) == Changed::No
        {
            continue;
        }
        let mut function = changed_base.as_ref().unwrap_or(&base).clone();
        let last = variant.last.map(|last| runner.improve(&mut function, last));
        let candidate = match finish(function, best.as_ref(), runner)? {
            Attempt::Finished(candidate) => candidate,
            Attempt::Hopeless => {
                last_changed |= best.is_none() && last == Some(Changed::Yes);
                continue;
            }
            Attempt::Stopped => return Ok(None),
        };
        if best
            .as_ref()
            .is_none_or(|best| candidate.cost() < best.cost())
        {
            best = Some(candidate);
            base = changed_base.unwrap_or(base);
            last_changed = last == Some(Changed::Yes);
        }
    }
    Ok(best)
}

/// Variants as text, a line each.
pub(crate) fn print<M: Machine>(variants: &[Variant<M>]) -> String {
    let lines = variants.iter().map(|variant| {
        let marked = |words: &str, pass: Option<Pass<Function<M>>>| {
            pass.map(|pass| format!("{words} {}*", pass.name))
        };
        let parts = [
            (variant.base == Base::Unhoisted).then(|| "nothing hoisted".to_owned()),
            marked("with", variant.change),
            marked("with", variant.last),
            marked("without", variant.without),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("    {} ({})\n", variant.what, parts.join(", "))
    });
    lines.collect()
}

//! A wave on random control flow, for tests: the lanes at the lowest place run, the others wait where they are.
//!
//! Facts: hardware/ir3-isa.md 7 (wave model).

use std::collections::{BTreeMap, BTreeSet};

/// Most steps of a walk.
const STEPS: usize = 300;
/// Lanes of the wave.
const LANES: u32 = 8;

/// Control flow: by place, where lanes may go on. Both targets of a branch may be anywhere.
pub(super) struct Walk {
    pub(super) successors: Vec<Vec<usize>>,
}

/// What runs, and who waits.
pub(super) struct Step<'a> {
    pub(super) runs: usize,
    pub(super) waiting: &'a [usize],
    /// None of the lanes that ran last go on here: where those came from, and where they went to.
    pub(super) resumed: Option<(usize, usize)>,
}

impl Walk {
    /// The control flow that a list of choices stands for.
    pub(super) fn random(choices: &[u16]) -> Walk {
        let last = choices.len();
        let of = |(place, &choice): (usize, &u16)| {
            let number = usize::from(choice / 8);
            let (target, other) = (number % (last + 1), number / (last + 1) % (last + 1));
            match choice % 8 {
                0 => vec![target],
                1 => vec![place + 1],
                // In most programs one way leads on.
                2..=3 if target != other => vec![target, other],
                _ if target == place + 1 => vec![target],
                _ => vec![place + 1, target],
            }
        };
        let mut successors: Vec<Vec<usize>> = choices.iter().enumerate().map(of).collect();
        successors.push(vec![]);
        Walk { successors }
    }

    /// Lets a wave walk, and shows each of its steps.
    pub(super) fn run(&self, seed: u64, mut show: impl FnMut(&Step<'_>)) {
        let mut random = seed;
        let mut bit = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            random >> 60
        };
        let mut lanes: BTreeMap<usize, u32> = BTreeMap::from([(0, LANES)]);
        let mut last: Option<(usize, BTreeSet<usize>)> = None;
        for _ in 0..STEPS {
            let Some((runs, count)) = lanes.pop_first() else {
                return;
            };
            let waiting: Vec<usize> = lanes.keys().copied().collect();
            let resumed = last.and_then(|(from, went)| {
                let to = went.first().copied().filter(|_| !went.contains(&runs));
                to.map(|to| (from, to))
            });
            show(&Step {
                runs,
                waiting: &waiting,
                resumed,
            });
            let mut went = BTreeSet::new();
            match self.successors[runs].as_slice() {
                [] => {}
                [only] => {
                    went.insert(*only);
                    *lanes.entry(*only).or_default() += count;
                }
                [first, second, ..] => {
                    // All of them, none, or some.
                    let stay = match bit() {
                        0..5 => count,
                        5..8 => 0,
                        _ => count / 2,
                    };
                    for (to, count) in [(*first, stay), (*second, count - stay)] {
                        if count > 0 {
                            went.insert(to);
                            *lanes.entry(to).or_default() += count;
                        }
                    }
                }
            }
            last = Some((runs, went));
        }
    }
}

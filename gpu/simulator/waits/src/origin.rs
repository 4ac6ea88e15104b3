//! Origins: from an instruction backward to the message that was not waited for, and the path between them.

use crate::finding::Jump;
use crate::program::Code;
use eitri_isa::Instr;
use std::collections::{BTreeMap, VecDeque};

/// The decoded program as a graph. Instructions that control flow does not reach are not in it.
pub(crate) struct Graph<'c> {
    pub(crate) code: &'c Code<'c>,
    pub(crate) instrs: BTreeMap<usize, Instr>,
    pub(crate) predecessors: BTreeMap<usize, Vec<usize>>,
}

/// What a search backward does at an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Goes on to the instructions before.
    On,
    /// Ends on this path: nothing before it matters.
    Stop,
    /// This is it.
    Found,
}

/// A message, or the start of the program, and the branches from there on.
pub(crate) struct Origin {
    pub(crate) index: Option<usize>,
    pub(crate) path: Vec<Jump>,
}

impl Graph<'_> {
    /// The nearest origin before an instruction; `None` if every path stops before there is one. With `or_start` the start of the
    /// program is an origin.
    pub(crate) fn origin(
        &self,
        at: usize,
        or_start: bool,
        mut step: impl FnMut(usize, &Instr) -> Step,
    ) -> Option<Origin> {
        // What comes after each instruction on the way to `at`.
        let mut after: BTreeMap<usize, usize> = BTreeMap::new();
        let mut work = VecDeque::from([at]);
        while let Some(node) = work.pop_front() {
            if or_start && node == 0 {
                return Some(Origin {
                    index: None,
                    path: self.path(0, node == at, at, &after),
                });
            }
            for before in self.predecessors.get(&node).into_iter().flatten() {
                if after.contains_key(before) {
                    continue;
                }
                let Some(instr) = self.instrs.get(before) else {
                    continue;
                };
                match step(*before, instr) {
                    Step::Stop => {}
                    Step::On => {
                        after.insert(*before, node);
                        work.push_back(*before);
                    }
                    Step::Found => {
                        after.insert(*before, node);
                        return Some(Origin {
                            index: Some(*before),
                            path: self.path(*before, false, at, &after),
                        });
                    }
                }
            }
        }
        None
    }

    fn path(
        &self,
        from: usize,
        empty: bool,
        to: usize,
        after: &BTreeMap<usize, usize>,
    ) -> Vec<Jump> {
        let mut jumps = vec![];
        let mut node = from;
        // Each step follows a link that was made when the search went the other way: at most one an instruction.
        for _ in 0..after.len() {
            let Some(next) = after.get(&node).filter(|_| !empty) else {
                break;
            };
            if *next != node + 1 {
                jumps.push(Jump {
                    from: self.code.address(node),
                    to: self.code.address(*next),
                });
            }
            node = *next;
            if node == to {
                break;
            }
        }
        jumps
    }
}

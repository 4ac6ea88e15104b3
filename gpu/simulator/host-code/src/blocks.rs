//! Blocks: runs of instructions between the places where it may be decided anew who runs, or where a turn may end.

use eitri_model::host_code::{Does, Flow, STRIDE, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions that are executed one after another.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Number of the first one in its page.
    pub(crate) place: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
    /// Whether what follows is host code, too.
    pub(crate) goes_on: bool,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Another block begins, and nothing else.
    Joined,
    /// A turn may end.
    Stride,
    /// Slots are waited for.
    Wait(u8),
    /// It is decided anew who runs.
    Reconverge,
    /// The last step is a branch.
    Branch,
    /// The last step sends a message.
    Message,
}

impl Block {
    /// Number of the instruction behind it.
    pub(crate) fn following(&self) -> usize {
        self.place + self.steps.len()
    }

    /// Whether a turn may end behind it.
    pub(crate) fn may_end(&self) -> bool {
        self.end != End::Joined || self.following().is_multiple_of(STRIDE)
    }
}

/// Where the branch at `place` goes, if that is in the page.
pub(crate) fn target(place: usize, step: &Step) -> Option<usize> {
    match step.does() {
        Does::Branch { offset, .. } => (place + 1).checked_add_signed(offset as isize),
        _ => None,
    }
}

/// The blocks of what can be reached from `start`. One begins behind it: a job executes its first instruction of a page by a single
/// step, which fetches the page.
pub(crate) fn blocks(steps: &BTreeMap<usize, Option<Step>>, start: usize) -> Vec<Block> {
    let mut leaders = leaders(steps);
    if steps.contains_key(&(start + 1)) {
        leaders.insert(start + 1);
    }
    let mut blocks = Vec::new();
    for leader in &leaders {
        let mut block = Block {
            place: *leader,
            steps: Vec::new(),
            end: End::Joined,
            goes_on: false,
        };
        let mut dead = 0;
        while let Some(Some(step)) = steps.get(&block.following()) {
            // What is read after its last use is for single steps to report: the next block asks before it runs.
            if step.reads() & dead != 0 {
                break;
            }
            dead = (dead | step.last_use()) & !step.writes();
            block.steps.push(*step);
            if step.ends_block() {
                block.end = end(step);
                break;
            }
            if block.following().is_multiple_of(STRIDE) {
                block.end = End::Stride;
                break;
            }
            if leaders.contains(&block.following()) {
                break;
            }
        }
        if !block.steps.is_empty() {
            blocks.push(block);
        }
    }
    let begun: BTreeSet<usize> = blocks.iter().map(|block| block.place).collect();
    for block in &mut blocks {
        block.goes_on = begun.contains(&block.following());
    }
    blocks
}

fn end(step: &Step) -> End {
    match (step.does(), step.flow()) {
        (Does::Branch { .. }, _) => End::Branch,
        (Does::Message, _) => End::Message,
        (_, Flow::Reconverge) => End::Reconverge,
        (_, flow) => End::Wait(flow.waits_for()),
    }
}

/// Places where blocks begin.
fn leaders(steps: &BTreeMap<usize, Option<Step>>) -> BTreeSet<usize> {
    let mut leaders = BTreeSet::new();
    let mut follows = false;
    let mut dead = 0;
    let mut expected = usize::MAX;
    for (place, step) in steps {
        let Some(step) = step else {
            follows = false;
            continue;
        };
        if !follows
            || *place != expected
            || place.is_multiple_of(STRIDE)
            || step.reads() & dead != 0
        {
            leaders.insert(*place);
            dead = 0;
        }
        dead = (dead | step.last_use()) & !step.writes();
        leaders.extend(target(*place, step));
        follows = !step.ends_block();
        expected = place + 1;
    }
    leaders
}

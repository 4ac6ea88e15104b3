//! Bundles: values that share registers, and their coalescing.
//!
//! A bundle is a run of registers to be found; each member value sits at one word of it. Groups start as bundles, and
//! every copy joins the bundles of its two ends when nothing that lives at the same time would fall on the same word.
//! Two values with the same *origin* (one a copy of the other, each written once) hold the same bits wherever both
//! live, so they never contradict each other.  Facts: hardware/compiler-backend.md 5.4, 7.4.

use crate::valhall::liveness::{Liveness, Range};
use crate::valhall::mir::{Function, Op, Register, Value, Word};

/// The longest run that coalescing may build: twice the longest payload.
const WIDEST: usize = 8;

/// Part of a word's time, with the value that it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) range: Range,
    origin: Value,
}

/// Values that share a run of registers.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    /// Each with the word it sits at.
    pub(crate) members: Vec<(Value, usize)>,
    /// By word: when it is taken, sorted.
    pub(crate) words: Vec<Vec<Segment>>,
    /// What the number of the first register must be modulo 2.
    pub(crate) parity: Option<usize>,
    /// The register that the first word must have.
    pub(crate) fixed: Option<usize>,
}

/// All bundles of a function.
pub(crate) struct Bundles {
    bundles: Vec<Option<Bundle>>,
    /// By value: its bundle and word; none for values that are never live.
    place: Vec<Option<(usize, usize)>>,
}

/// Whether a preloaded value may stay where the hardware put it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Preloads {
    /// It stays, and keeps the register from others.
    Stay,
    /// It is copied away at once.
    Move,
}

impl Bundles {
    /// Builds the bundles of a function whose groups are isolated.
    pub(crate) fn build(function: &Function, liveness: &Liveness, preloads: Preloads) -> Bundles {
        let origins = find_origins(function, liveness);
        let mut bundles = Bundles {
            bundles: Vec::new(),
            place: vec![None; function.values as usize],
        };
        for (index, ranges) in liveness
            .ranges
            .iter()
            .enumerate()
            .filter(|(_, ranges)| !ranges.is_empty())
        {
            let value = Value(index as u32);
            let segments = ranges
                .iter()
                .map(|&range| Segment {
                    range,
                    origin: origins[index],
                })
                .collect();
            bundles.place[index] = Some((bundles.bundles.len(), 0));
            bundles.bundles.push(Some(Bundle {
                members: vec![(value, 0)],
                words: vec![segments],
                parity: None,
                fixed: None,
            }));
        }
        for preload in &function.preloads {
            if let Some((bundle, _)) = preload
                .dest
                .value()
                .and_then(|value| bundles.place[value.index()])
                && let Some(bundle) = &mut bundles.bundles[bundle]
            {
                bundle.fixed = Some(usize::from(preload.register.number()));
            }
        }
        bundles.join_groups(function);
        bundles.join_copies(function, preloads);
        bundles
    }

    /// The bundles that are left.
    pub(crate) fn into_vec(self) -> Vec<Bundle> {
        self.bundles.into_iter().flatten().collect()
    }

    fn join_groups(&mut self, function: &Function) {
        for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            for group in instr.groups() {
                let values: Vec<Value> = group.iter().filter_map(|word| word.value()).collect();
                let Some(&first) = values.first() else {
                    continue;
                };
                // Isolation made group members fresh or freshly written, so these joins cannot fail.
                for (offset, &value) in values.iter().enumerate().skip(1) {
                    self.join(first, value, offset as isize);
                }
                if let Some((index, word)) = self.place[first.index()]
                    && let Some(bundle) = &mut self.bundles[index]
                {
                    bundle.parity = Some(word % 2);
                }
            }
        }
    }

    /// Joins the ends of copies, those in the deepest loops first.
    fn join_copies(&mut self, function: &Function, preloads: Preloads) {
        let depths = function.loop_depths();
        let mut copies = Vec::new();
        for (block, depth) in function.blocks.iter().zip(depths) {
            for (to, from) in block.instrs.iter().filter_map(|instr| instr.as_copy()) {
                if let (Word::Value(to), Word::Value(from)) = (to, from) {
                    let preloaded = function
                        .preloads
                        .iter()
                        .any(|preload| preload.dest == Word::Value(from));
                    if !(preloaded && preloads == Preloads::Move) {
                        copies.push((depth, to, from));
                    }
                }
            }
        }
        copies.sort_by_key(|&(depth, ..)| std::cmp::Reverse(depth));
        for (_, to, from) in copies {
            self.join(from, to, 0);
        }
    }

    /// Puts `b` `distance` words behind `a`, if that contradicts nothing. True when they are so.
    fn join(&mut self, a: Value, b: Value, distance: isize) -> bool {
        let (Some((first, word_a)), Some((second, word_b))) =
            (self.place[a.index()], self.place[b.index()])
        else {
            return false;
        };
        let shift = word_a as isize + distance - word_b as isize;
        if first == second {
            return shift == 0;
        }
        let (Some(left), Some(right)) = (&self.bundles[first], &self.bundles[second]) else {
            return false;
        };
        let Some(joined) = left.joined(right, shift) else {
            return false;
        };
        for &(value, word) in &joined.members {
            self.place[value.index()] = Some((first, word));
        }
        self.bundles[first] = Some(joined);
        self.bundles[second] = None;
        true
    }
}

impl Bundle {
    /// Both bundles as one, with `other`'s first word at word `shift` of `self`'s, unless they contradict each other.
    fn joined(&self, other: &Bundle, shift: isize) -> Option<Bundle> {
        // In the new bundle, whose first word is the lower of the two.
        let (mine, theirs) = if shift >= 0 {
            (0, shift as usize)
        } else {
            (shift.unsigned_abs(), 0)
        };
        let width = (self.words.len() + mine).max(other.words.len() + theirs);
        if width > WIDEST {
            return None;
        }
        let parity = agree(
            self.parity.map(|parity| (parity + mine) % 2),
            other.parity.map(|parity| (parity + theirs) % 2),
        )?;
        let moved = |fixed: Option<usize>, by: usize| match fixed {
            Some(register) => register.checked_sub(by).map(Some),
            None => Some(None),
        };
        let fixed = agree(moved(self.fixed, mine)?, moved(other.fixed, theirs)?)?;
        if let Some(register) = fixed
            && (register + width > Register::COUNT
                || parity.is_some_and(|parity| register % 2 != parity))
        {
            return None;
        }
        let mut words = vec![Vec::new(); width];
        for (word, segments) in self.words.iter().enumerate() {
            words[word + mine] = segments.clone();
        }
        for (word, segments) in other.words.iter().enumerate() {
            words[word + theirs] = merge(&words[word + theirs], segments)?;
        }
        let members = self
            .members
            .iter()
            .map(|&(value, word)| (value, word + mine));
        let members = members
            .chain(
                other
                    .members
                    .iter()
                    .map(|&(value, word)| (value, word + theirs)),
            )
            .collect();
        Some(Bundle {
            members,
            words,
            parity,
            fixed,
        })
    }

    /// The first point at which it is live.
    pub(crate) fn start(&self) -> u32 {
        self.words
            .iter()
            .filter_map(|segments| segments.first())
            .map(|segment| segment.range.from)
            .min()
            .unwrap_or(0)
    }

    /// For how many points its words are live, added up.
    pub(crate) fn length(&self) -> u32 {
        self.words
            .iter()
            .flatten()
            .map(|segment| segment.range.to - segment.range.from)
            .sum()
    }
}

/// The common demand of two, or nothing when they differ.
fn agree(a: Option<usize>, b: Option<usize>) -> Option<Option<usize>> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => None,
        (a, b) => Some(a.or(b)),
    }
}

/// The union of two sorted lists; nothing when segments with different origins overlap.
fn merge(a: &[Segment], b: &[Segment]) -> Option<Vec<Segment>> {
    let mut all: Vec<Segment> = a.iter().chain(b).copied().collect();
    all.sort_by_key(|segment| (segment.range.from, segment.range.to));
    let mut merged: Vec<Segment> = Vec::with_capacity(all.len());
    for segment in all {
        match merged.last_mut() {
            Some(last) if segment.range.from < last.range.to => {
                if last.origin != segment.origin {
                    return None;
                }
                last.range.to = last.range.to.max(segment.range.to);
            }
            _ => merged.push(segment),
        }
    }
    Some(merged)
}

/// For each value the one whose bits it always holds: itself, or what it was copied from.
fn find_origins(function: &Function, liveness: &Liveness) -> Vec<Value> {
    let mut origins: Vec<Value> = (0..function.values).map(Value).collect();
    let once = |value: Value| liveness.definitions[value.index()] == 1;
    for instr in function
        .blocks
        .iter()
        .flat_map(|block| &block.instrs)
        .filter(|instr| instr.op == Op::Mov)
    {
        if let Some((Word::Value(to), Word::Value(from))) = instr.as_copy()
            && once(to)
            && once(from)
        {
            origins[to.index()] = from;
        }
    }
    for index in 0..origins.len() {
        let mut root = origins[index];
        while origins[root.index()] != root {
            root = origins[root.index()];
        }
        origins[index] = root;
    }
    origins
}

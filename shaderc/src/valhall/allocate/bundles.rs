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
    /// Each with the word it sits at, counted from `-below`.
    members: Vec<(Value, isize)>,
    /// How many words stand before the one that was first at the beginning.
    below: isize,
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
    /// By value: its bundle and word, counted as the bundle counts; none for values that are never live.
    place: Vec<Option<(usize, isize)>>,
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
                below: 0,
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
                    bundle.parity = Some(bundle.index(word) % 2);
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
        // What `b`'s bundle calls its word 0 is so much further in `a`'s.
        let shift = word_a + distance - word_b;
        if first == second {
            return shift == 0;
        }
        let (Some(left), Some(right)) = (self.bundles[first].take(), self.bundles[second].take())
        else {
            return false;
        };
        // The smaller one moves: then each value moves seldom.
        let (into, mut larger, from, smaller, shift) = match left.size() >= right.size() {
            true => (first, left, second, right, shift),
            false => (second, right, first, left, -shift),
        };
        let Some(fit) = larger.fit(&smaller, shift) else {
            self.bundles[into] = Some(larger);
            self.bundles[from] = Some(smaller);
            return false;
        };
        for &(value, word) in &smaller.members {
            self.place[value.index()] = Some((into, word + shift));
        }
        larger.take(smaller, shift, fit);
        self.bundles[into] = Some(larger);
        true
    }
}

/// How one bundle fits into another.
struct Fit {
    /// Words that are put before and behind those of the larger.
    before: usize,
    behind: usize,
    /// Where the first word of the smaller comes to stand.
    at: usize,
    parity: Option<usize>,
    fixed: Option<usize>,
}

impl Bundle {
    /// The place in `words` of a word that is counted as the members count.
    fn index(&self, word: isize) -> usize {
        (word + self.below).unsigned_abs()
    }

    /// Its members, each with the word it sits at.
    pub(crate) fn members(&self) -> impl Iterator<Item = (Value, usize)> {
        self.members
            .iter()
            .map(|&(value, word)| (value, self.index(word)))
    }

    /// How much there is to move.
    fn size(&self) -> usize {
        let segments: usize = self.words.iter().map(Vec::len).sum();
        self.members.len() + segments
    }

    /// How `other` fits with its word 0 at word `shift` of this one, unless they contradict each other.
    fn fit(&self, other: &Bundle, shift: isize) -> Option<Fit> {
        let first = shift - other.below + self.below;
        let before = usize::try_from(-first).unwrap_or(0);
        let at = usize::try_from(first).unwrap_or(0);
        let width = (self.words.len() + before).max(at + other.words.len());
        if width > WIDEST {
            return None;
        }
        let parity = agree(
            self.parity.map(|parity| (parity + before) % 2),
            other.parity.map(|parity| (parity + at) % 2),
        )?;
        let moved = |fixed: Option<usize>, by: usize| match fixed {
            Some(register) => register.checked_sub(by).map(Some),
            None => Some(None),
        };
        let fixed = agree(moved(self.fixed, before)?, moved(other.fixed, at)?)?;
        if let Some(register) = fixed
            && (register + width > Register::COUNT
                || parity.is_some_and(|parity| register % 2 != parity))
        {
            return None;
        }
        for (number, segments) in other.words.iter().enumerate() {
            let own = (at + number).checked_sub(before);
            if let Some(own) = own.and_then(|own| self.words.get(own))
                && contradict(own, segments)
            {
                return None;
            }
        }
        Some(Fit {
            before,
            behind: width - before - self.words.len(),
            at,
            parity,
            fixed,
        })
    }

    /// Takes in another that fits.
    fn take(&mut self, other: Bundle, shift: isize, fit: Fit) {
        let before = std::iter::repeat_n(Vec::new(), fit.before);
        self.words.splice(0..0, before);
        let behind = std::iter::repeat_n(Vec::new(), fit.behind);
        self.words.extend(behind);
        self.below += fit.before as isize;
        for (own, segments) in self.words[fit.at..].iter_mut().zip(other.words) {
            merge(own, segments);
        }
        let members = other.members.into_iter();
        self.members
            .extend(members.map(|(value, word)| (value, word + shift)));
        (self.parity, self.fixed) = (fit.parity, fit.fixed);
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

/// Whether segments with different origins overlap, in two sorted lists without overlaps of their own.
fn contradict(large: &[Segment], small: &[Segment]) -> bool {
    small.iter().any(|segment| {
        let next = large.partition_point(|other| other.range.to <= segment.range.from);
        let meets = large[next..]
            .iter()
            .take_while(|other| other.range.from < segment.range.to);
        meets
            .into_iter()
            .any(|other| other.origin != segment.origin)
    })
}

/// Puts the segments of one sorted list into another. Those that overlap have one origin, and become one.
fn merge(large: &mut Vec<Segment>, small: Vec<Segment>) {
    if large.is_empty() {
        *large = small;
        return;
    }
    for mut segment in small {
        let start = large.partition_point(|other| other.range.to <= segment.range.from);
        let behind = segment.range.to;
        let meets = large[start..]
            .iter()
            .take_while(|other| other.range.from < behind);
        let mut end = start;
        for other in meets {
            segment.range.from = segment.range.from.min(other.range.from);
            segment.range.to = segment.range.to.max(other.range.to);
            end += 1;
        }
        large.splice(start..end, [segment]);
    }
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

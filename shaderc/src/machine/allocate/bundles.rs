//! Bundles: values that share registers, and their coalescing.
//!
//! A bundle is a run of units to be found; each member value sits at some of them. Groups start as bundles, and
//! every copy joins the bundles of its two ends when nothing that lives at the same time would fall on the same unit.
//! Two units of values with the same *origin* (one a copy of the other, each written once) hold the same bits wherever
//! both live, so they never contradict each other.
//! Units are counted in grains: as many of them as the smallest value of the function takes.
//! Facts: hardware/compiler-backend.md 5.4, 7.4.

use std::ops::RangeInclusive;

use rustc_hash::FxHashMap as HashMap;
use smallvec::{SmallVec, smallvec};

use super::origins::{Origins, Part};
use crate::machine::interface::CopiedPart;
use crate::machine::liveness::{Liveness, Range};
use crate::machine::{Class, Function, Instruction, Machine, Register, Value, Word};

/// Part of a unit's time, with the value that it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) range: Range,
    origin: Part,
}

/// When a unit is taken, sorted. Most values live in one piece, and then it needs no memory of its own.
pub(crate) type Segments = SmallVec<[Segment; 1]>;

/// Values that share a run of units. Most bundles begin as one value of one unit, and many stay that.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    /// Each with the first unit it sits at, counted from `-below`.
    members: SmallVec<[(Value, isize); 1]>,
    /// How many units stand before the one that was first at the beginning.
    below: isize,
    /// By unit: when it is taken, sorted.
    pub(crate) units: SmallVec<[Segments; 1]>,
    /// Where the first unit may lie.
    pub(crate) alignment: Alignment,
    /// The number that the first unit must have.
    pub(crate) fixed: Option<usize>,
    /// The numbers that it may have, as the classes of the members demand.
    pub(crate) bases: RangeInclusive<usize>,
}

/// What a number must be modulo another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Alignment {
    /// A power of two.
    modulus: usize,
    rest: usize,
}

impl Alignment {
    /// Multiples of a power of two.
    fn to(modulus: usize) -> Alignment {
        Alignment { modulus, rest: 0 }
    }

    /// Whether a number is such.
    pub(crate) fn holds(self, number: usize) -> bool {
        number % self.modulus == self.rest
    }

    /// What must hold of a number that is so much less.
    fn before(self, by: usize) -> Alignment {
        let by = by % self.modulus;
        let rest = (self.rest + self.modulus - by) % self.modulus;
        Alignment { rest, ..self }
    }

    /// What must hold for both to hold, if they can.
    fn and(self, other: Alignment) -> Option<Alignment> {
        let (loose, strict) = match self.modulus <= other.modulus {
            true => (self, other),
            false => (other, self),
        };
        loose.holds(strict.rest).then_some(strict)
    }
}

/// How many units the smallest value takes: all that there are begin and end at multiples of that.
pub(crate) fn grain_of<M: Machine>(function: &Function<M>) -> usize {
    let units = function.values.iter().map(|class| class.units());
    units.min().unwrap_or(1)
}

/// Units, counted in grains, and when they hold nothing.
pub(crate) fn clobbered(liveness: &Liveness, grain: usize) -> Vec<(usize, Range)> {
    let clobbers = liveness.clobbers.iter();
    let units = |&(first, count, range): &(usize, usize, Range)| {
        (first / grain..(first + count).div_ceil(grain)).map(move |unit| (unit, range))
    };
    clobbers.flat_map(units).collect()
}

/// Whether a preloaded value is copied, so that [`Joins::ButPreloads`] makes other bundles than [`Joins::All`].
pub(crate) fn copies_preloads<M: Machine>(function: &Function<M>) -> bool {
    let instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    let mut copies = instrs.flat_map(|instr| instr.copies(function));
    copies.any(|copy| function.preloaded_values().any(|value| value == copy.from))
}

/// The most units that are taken at one point: no fewer can hold the bundles, whatever the order.
pub(crate) fn most_taken(bundles: &[Bundle]) -> usize {
    let units = bundles.iter().flat_map(|bundle| &bundle.units);
    let ranges = || units.clone().flatten().map(|segment| segment.range);
    let end = ranges().map(|range| range.to).max().unwrap_or(0);
    // By point, how many more units are taken from there on.
    let mut more = vec![0_isize; end as usize + 1];
    for range in ranges() {
        more[range.from as usize] += 1;
        more[range.to as usize] -= 1;
    }
    let mut taken = 0;
    let counts = more.into_iter().map(|more| {
        taken += more;
        taken
    });
    counts.max().unwrap_or(0).unsigned_abs()
}

/// All bundles of a function.
pub(crate) struct Bundles {
    bundles: Vec<Option<Bundle>>,
    /// Those that must have a number, and perhaps some that are gone.
    pinned: Vec<usize>,
    /// By value: its bundle and first unit, counted as the bundle counts; none for values that are never live.
    place: Vec<Option<(usize, isize)>>,
    /// The longest run that coalescing may build.
    widest: usize,
    /// How many units of the machine one of these is.
    grain: usize,
    /// When units hold nothing.
    clobbers: Vec<(usize, Range)>,
    /// Registers are asked for, or clobbered, in the midst of code.
    guarded: bool,
}

/// Which copies join the values at their ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Joins {
    /// All: a preloaded value stays where the hardware put it, and keeps the register from others.
    All,
    /// Those of preloaded values don't: these are copied away at once.
    ButPreloads,
    /// None: a value that is read as a part of a group is moved there. That costs moves, and leaves each where it fits.
    None,
}

impl Bundles {
    /// Builds the bundles of a function whose groups are isolated, counted in grains of so many units.
    pub(crate) fn build<M: Machine>(
        function: &Function<M>,
        liveness: &Liveness,
        origins: &Origins,
        joins: Joins,
        grain: usize,
    ) -> Bundles {
        let live = liveness.ranges.iter().filter(|ranges| !ranges.is_empty());
        let mut bundles = Bundles {
            bundles: Vec::with_capacity(live.count()),
            pinned: Vec::new(),
            place: vec![None; function.values.len()],
            widest: M::WIDEST / grain,
            grain,
            clobbers: clobbered(liveness, grain),
            guarded: false,
        };
        for (index, ranges) in liveness
            .ranges
            .iter()
            .enumerate()
            .filter(|(_, ranges)| !ranges.is_empty())
        {
            let value = Value(index as u32);
            let class = function.class(value);
            let (units, span) = (class.units() / grain, class.span());
            let segments = |unit: usize| -> Segments {
                let origin = origins.of((value, unit));
                let ranges = ranges.iter();
                ranges.map(|&range| Segment { range, origin }).collect()
            };
            bundles.place[index] = Some((bundles.bundles.len(), 0));
            bundles.bundles.push(Some(Bundle {
                members: smallvec![(value, 0)],
                below: 0,
                units: (0..units).map(segments).collect(),
                alignment: Alignment::to(units),
                fixed: None,
                bases: span.start / grain..=(span.end / grain).saturating_sub(units),
            }));
        }
        let preloads = function.preloads.iter();
        let preloads = preloads.map(|preload| (preload.dest, preload.register));
        let instrs = function.blocks.iter().flat_map(|block| &block.instrs);
        let inside: Vec<_> = instrs.flat_map(Instruction::fixed).collect();
        bundles.guarded = !inside.is_empty() || !bundles.clobbers.is_empty();
        for (word, register) in preloads.chain(inside) {
            if let Some((index, _)) = word.value().and_then(|value| bundles.place[value.index()])
                && let Some(bundle) = &mut bundles.bundles[index]
            {
                bundle.fixed = Some(register.unit() / grain);
                bundles.pinned.push(index);
            }
        }
        bundles.join_groups(function);
        if joins != Joins::None {
            bundles.join_copies(function, joins);
        }
        bundles
    }

    /// The bundles that are left.
    pub(crate) fn into_vec(self) -> Vec<Bundle> {
        self.bundles.into_iter().flatten().collect()
    }

    /// Isolation made what is read fresh, and what is written is written there alone, so these joins can't fail.
    fn join_groups<M: Machine>(&mut self, function: &Function<M>) {
        for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            for group in instr.groups() {
                let mut values = group.iter().filter_map(|word| word.value());
                let Some(first) = values.next() else {
                    continue;
                };
                let grain = self.grain;
                let units = |value: Value| function.class(value).units() / grain;
                let mut distance = units(first);
                for value in values {
                    let further = units(value);
                    self.join(first, value, distance as isize);
                    distance += further;
                }
                let aligned = Alignment::to((M::GROUP_UNITS / grain).max(1));
                if let Some((index, unit)) = self.place[first.index()]
                    && let Some(bundle) = &mut self.bundles[index]
                    && let Some(both) = bundle.alignment.and(aligned.before(bundle.index(unit)))
                {
                    bundle.alignment = both;
                }
            }
            for (written, read) in instr.ties() {
                if let (Word::Value(written), Word::Value(read)) = (written, read) {
                    self.join(read, written, 0);
                }
            }
        }
    }

    /// Joins the ends of copies: those in the deepest loops first, and of these those between which there are most copies.
    fn join_copies<M: Machine>(&mut self, function: &Function<M>, joins: Joins) {
        let depths = function.loop_depths();
        let mut copies = Vec::new();
        for (block, depth) in function.blocks.iter().zip(depths) {
            for copy in block.instrs.iter().flat_map(|instr| instr.copies(function)) {
                let preloaded = || function.preloaded_values().any(|value| value == copy.from);
                if joins != Joins::ButPreloads || !preloaded() {
                    copies.push((depth, copy));
                }
            }
        }
        let ends = |copy: &CopiedPart| (copy.from.min(copy.to), copy.from.max(copy.to));
        let mut often: HashMap<_, u32> = HashMap::default();
        for (depth, copy) in &copies {
            *often.entry((*depth, ends(copy))).or_default() += 1;
        }
        copies.sort_by_cached_key(|(depth, copy)| {
            std::cmp::Reverse((*depth, often[&(*depth, ends(copy))]))
        });
        for (_, copy) in copies {
            let distance = -((copy.unit / self.grain) as isize);
            if !self.guarded || self.stays_free(copy.from, copy.to, distance) {
                self.join(copy.from, copy.to, distance);
            }
        }
    }

    /// Whether a bundle that must lie in one place may take in another: what comes there is not clobbered, and nothing else
    /// must lie there meanwhile.
    fn stays_free(&self, a: Value, b: Value, distance: isize) -> bool {
        let (Some((first, unit_a)), Some((second, unit_b))) =
            (self.place[a.index()], self.place[b.index()])
        else {
            return true;
        };
        let (Some(one), Some(other)) = (&self.bundles[first], &self.bundles[second]) else {
            return true;
        };
        // Where the first unit of the second stands, counted from that of the first.
        let apart = one.index(unit_a) as isize + distance - other.index(unit_b) as isize;
        let (comes, base) = match (one.fixed, other.fixed) {
            (Some(unit), None) => (other, unit as isize + apart),
            (None, Some(unit)) => (one, unit as isize - apart),
            (None, None) | (Some(_), Some(_)) => return true,
        };
        let Ok(base) = usize::try_from(base) else {
            return false;
        };
        let rivals = self.pinned.iter().copied();
        let rivals = rivals.filter(|index| ![first, second].contains(index));
        let rivals = rivals.filter_map(|index| {
            let rival = self.bundles[index].as_ref()?;
            Some((rival, rival.fixed?))
        });
        let rivals: Vec<(&Bundle, usize)> = rivals.collect();
        comes.units.iter().zip(base..).all(|(segments, unit)| {
            let clobbers = self.clobbers.iter().filter(|(at, _)| *at == unit);
            let mut clobbers = clobbers.map(|(_, range)| *range);
            let taken = rivals.iter().filter_map(|(rival, start)| {
                let own = unit.checked_sub(*start)?;
                rival.units.get(own)
            });
            let meets = |range: Range| {
                let mut own = segments.iter().map(|segment| segment.range);
                own.any(|own| own.from < range.to && range.from < own.to)
            };
            // What is the same in both will be one when its copies are joined.
            let mut taken = taken.map(|rival| contradict(rival, segments));
            !clobbers.any(meets) && !taken.any(|contradicts| contradicts)
        })
    }

    /// Puts `b` `distance` units behind `a`, if that contradicts nothing. True when they are so.
    fn join(&mut self, a: Value, b: Value, distance: isize) -> bool {
        let (Some((first, unit_a)), Some((second, unit_b))) =
            (self.place[a.index()], self.place[b.index()])
        else {
            return false;
        };
        // What `b`'s bundle calls its unit 0 is so much further in `a`'s.
        let shift = unit_a + distance - unit_b;
        if first == second {
            return shift == 0;
        }
        let Ok([left, right]) = self.bundles.get_disjoint_mut([first, second]) else {
            return false;
        };
        let (Some(one), Some(other)) = (&*left, &*right) else {
            return false;
        };
        // The smaller one moves: then each value moves seldom.
        let (into, larger, smaller, shift) = match one.size() >= other.size() {
            true => (first, left, right, shift),
            false => (second, right, left, -shift),
        };
        let (Some(larger), Some(moves)) = (larger, &*smaller) else {
            return false;
        };
        let Some(fit) = larger.fit(moves, shift, self.widest) else {
            return false;
        };
        for &(value, unit) in &moves.members {
            self.place[value.index()] = Some((into, unit + shift));
        }
        if let Some(moves) = smaller.take() {
            let is_new = larger.fixed.is_none() && moves.fixed.is_some();
            larger.take(moves, shift, fit);
            if is_new {
                self.pinned.push(into);
            }
        }
        true
    }
}

/// How one bundle fits into another.
struct Fit {
    /// Units that are put before and behind those of the larger.
    before: usize,
    behind: usize,
    /// Where the first unit of the smaller comes to stand.
    at: usize,
    alignment: Alignment,
    fixed: Option<usize>,
    bases: RangeInclusive<usize>,
}

impl Bundle {
    /// The place in `units` of a unit that is counted as the members count.
    fn index(&self, unit: isize) -> usize {
        (unit + self.below).unsigned_abs()
    }

    /// Its members, each with the first unit it sits at.
    pub(crate) fn members(&self) -> impl Iterator<Item = (Value, usize)> {
        self.members
            .iter()
            .map(|&(value, unit)| (value, self.index(unit)))
    }

    /// How much there is to move.
    fn size(&self) -> usize {
        let segments: usize = self.units.iter().map(|unit| unit.len()).sum();
        self.members.len() + segments
    }

    /// How `other` fits with its unit 0 at unit `shift` of this one, unless they contradict each other.
    fn fit(&self, other: &Bundle, shift: isize, widest: usize) -> Option<Fit> {
        let first = shift - other.below + self.below;
        let before = usize::try_from(-first).unwrap_or(0);
        let at = usize::try_from(first).unwrap_or(0);
        let width = (self.units.len() + before).max(at + other.units.len());
        if width > widest {
            return None;
        }
        let alignment = self.alignment.before(before);
        let alignment = alignment.and(other.alignment.before(at))?;
        let moved = |fixed: Option<usize>, by: usize| match fixed {
            Some(unit) => unit.checked_sub(by).map(Some),
            None => Some(None),
        };
        let fixed = agree(moved(self.fixed, before)?, moved(other.fixed, at)?)?;
        let lowest =
            (self.bases.start().saturating_sub(before)).max(other.bases.start().saturating_sub(at));
        let highest =
            (self.bases.end().checked_sub(before)?).min(other.bases.end().checked_sub(at)?);
        let bases = lowest..=highest;
        if bases.is_empty() {
            return None;
        }
        if let Some(unit) = fixed
            && !(bases.contains(&unit) && alignment.holds(unit))
        {
            return None;
        }
        for (number, segments) in other.units.iter().enumerate() {
            let own = (at + number).checked_sub(before);
            if let Some(own) = own.and_then(|own| self.units.get(own))
                && contradict(own, segments)
            {
                return None;
            }
        }
        Some(Fit {
            before,
            behind: width - before - self.units.len(),
            at,
            alignment,
            fixed,
            bases,
        })
    }

    /// Takes in another that fits.
    fn take(&mut self, other: Bundle, shift: isize, fit: Fit) {
        let before = std::iter::repeat_n(Segments::new(), fit.before);
        self.units.insert_many(0, before);
        let behind = std::iter::repeat_n(Segments::new(), fit.behind);
        self.units.extend(behind);
        self.below += fit.before as isize;
        for (own, segments) in self.units[fit.at..].iter_mut().zip(other.units) {
            merge(own, segments);
        }
        let members = other.members.into_iter();
        self.members
            .extend(members.map(|(value, unit)| (value, unit + shift)));
        (self.alignment, self.fixed, self.bases) = (fit.alignment, fit.fixed, fit.bases);
    }

    /// Whether there is a unit that a member of either may lie in.
    pub(crate) fn may_meet(&self, other: &Bundle) -> bool {
        let end = |bundle: &Bundle| bundle.bases.end() + bundle.units.len();
        *self.bases.start() < end(other) && *other.bases.start() < end(self)
    }

    /// The first point at which it is live.
    pub(crate) fn start(&self) -> u32 {
        self.units
            .iter()
            .filter_map(|segments| segments.first())
            .map(|segment| segment.range.from)
            .min()
            .unwrap_or(0)
    }

    /// For how many points its units are live, added up.
    pub(crate) fn length(&self) -> u32 {
        self.units
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
fn merge(large: &mut Segments, small: Segments) {
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
        // What is behind moves only if the list becomes longer or shorter.
        match end - start {
            0 => large.insert(start, segment),
            1 => large[start] = segment,
            _ => {
                large[start] = segment;
                large.drain(start + 1..end);
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Slots: places in memory for values that are spilled. Values share one where they don't live at the same time, and
//! the operands of a phi in memory have its slot where they can: then nothing is copied.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::machine::Value;
use crate::machine::liveness::{Range, Ranges};

/// Bytes of a slot.
pub(super) const BYTES: u32 = 4;

/// Slots of values, counted from 0, and how many there are.
pub(super) struct Slots {
    pub(super) of: BTreeMap<Value, u32>,
    pub(super) count: u32,
}

/// Values that have one slot.
struct Web {
    members: Vec<Value>,
    ranges: Ranges,
}

/// Gives every value a slot. `ranges` are the lives of all values; `alike` names pairs that should have one slot.
pub(super) fn assign(
    values: &BTreeSet<Value>,
    ranges: &[Ranges],
    alike: &[(Value, Value)],
) -> Slots {
    let mut webs: Vec<Web> = Vec::with_capacity(values.len());
    let mut web_of: BTreeMap<Value, usize> = BTreeMap::new();
    for &value in values {
        web_of.insert(value, webs.len());
        webs.push(Web {
            members: vec![value],
            ranges: ranges[value.index()].clone(),
        });
    }
    for (a, b) in alike {
        let (Some(&into), Some(&from)) = (web_of.get(a), web_of.get(b)) else {
            continue;
        };
        if into == from || meet(&webs[into].ranges, &webs[from].ranges) {
            continue;
        }
        let Web { members, ranges } = std::mem::replace(
            &mut webs[from],
            Web {
                members: vec![],
                ranges: Ranges::new(),
            },
        );
        for &member in &members {
            web_of.insert(member, into);
        }
        webs[into].members.extend(members);
        webs[into].ranges.extend(ranges);
        webs[into].ranges.sort_by_key(|range| range.from);
    }
    // As they begin; a slot is free again when all of its last web is over.
    let whole = |web: &Web| match (web.ranges.first(), web.ranges.last()) {
        (Some(first), Some(last)) => (first.from, last.to),
        _ => (0, 0),
    };
    webs.retain(|web| !web.members.is_empty());
    webs.sort_by_key(|web| whole(web).0);
    let mut slots = Slots {
        of: BTreeMap::new(),
        count: 0,
    };
    let mut taken: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    for web in &webs {
        let (from, to) = whole(web);
        let free = taken.peek().filter(|Reverse((end, _))| *end <= from);
        let slot = match free.map(|Reverse((_, slot))| *slot) {
            Some(slot) => {
                taken.pop();
                slot
            }
            None => {
                slots.count += 1;
                slots.count - 1
            }
        };
        taken.push(Reverse((to, slot)));
        for &member in &web.members {
            slots.of.insert(member, slot);
        }
    }
    slots
}

/// Whether two lives have a point in common. Both are sorted.
fn meet(a: &[Range], b: &[Range]) -> bool {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(one), Some(other)) = (a.peek(), b.peek()) {
        if one.to <= other.from {
            a.next();
        } else if other.to <= one.from {
            b.next();
        } else {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: u32, to: u32) -> Ranges {
        Ranges::from_slice(&[Range { from, to }])
    }

    #[test]
    fn slots_are_shared_by_those_that_do_not_live_together_and_by_a_phi_and_its_operands() {
        let lives = [range(1, 5), range(2, 9), range(5, 8), range(9, 12)];
        let values: BTreeSet<Value> = (0..4).map(Value).collect();
        let slots = assign(&values, &lives, &[]);
        assert_eq!(slots.count, 2);
        assert_ne!(slots.of[&Value(0)], slots.of[&Value(1)]);
        assert_ne!(slots.of[&Value(1)], slots.of[&Value(2)]);
        let slots = assign(
            &values,
            &lives,
            &[(Value(3), Value(2)), (Value(0), Value(1))],
        );
        assert_eq!(slots.of[&Value(2)], slots.of[&Value(3)]);
        assert_ne!(slots.of[&Value(0)], slots.of[&Value(1)]);
    }
}

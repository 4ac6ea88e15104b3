//! Place: a node and the buses that it lies behind, so that its registers can be told in the machine's own addresses.
//!
//! Facts: the device tree's own specification (`reg`, `ranges`, `status`), by way of `dtoolkit`.

use super::{ranges, text};
use crate::region::Region;
use dtoolkit::Node;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::standard::Range;

/// How deep a node may lie.
const DEEPEST: usize = 6;

/// A node, with those above it but for the root.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) node: FdtNode<'a>,
    above: [Option<FdtNode<'a>>; DEEPEST],
}

impl<'a> Place<'a> {
    fn of_root(node: FdtNode<'a>) -> Place<'a> {
        let above = [None; DEEPEST];
        Place { node, above }
    }

    /// A node below this one; `None` where it lies too deep.
    fn below(self, child: FdtNode<'a>) -> Option<Place<'a>> {
        let mut above = self.above;
        *above.iter_mut().find(|place| place.is_none())? = Some(self.node);
        Some(Place { node: child, above })
    }

    /// The node of a path.
    pub(super) fn named(tree: Fdt<'a>, path: &str) -> Option<Place<'a>> {
        let root = Place::of_root(tree.root());
        let mut names = path.split('/').filter(|name| !name.is_empty());
        names.try_fold(root, |place, name| place.below(place.node.child(name)?))
    }

    /// The first node that is in use and of a kind.
    pub(super) fn compatible(tree: Fdt<'a>, kind: &str) -> Option<Place<'a>> {
        Place::of_root(tree.root()).find(kind)
    }

    fn find(self, kind: &str) -> Option<Place<'a>> {
        let mut below = self.node.children().filter_map(|node| self.below(node));
        below.find_map(|place| match place.is(kind) && place.is_used() {
            true => Some(place),
            false => place.find(kind),
        })
    }

    /// Whether it is of a kind.
    pub(super) fn is(self, kind: &str) -> bool {
        let mut kinds = self.node.compatible().into_iter().flatten();
        kinds.any(|it| it == kind)
    }

    /// Whether it is not switched off.
    pub(super) fn is_used(self) -> bool {
        text(self.node, "status").is_none_or(|status| matches!(status, "okay" | "ok"))
    }

    /// Its registers, as the machine addresses them; none where they lie behind a bus without a way in.
    pub(super) fn registers(self) -> impl Iterator<Item = Region> + use<'a> {
        ranges(self.node).filter_map(move |(base, bytes)| {
            // The root is first of those above, and translates nothing.
            let buses = self.above.into_iter().flatten().skip(1);
            let mut on_the_way = [None; DEEPEST];
            for (place, bus) in on_the_way.iter_mut().rev().zip(buses) {
                *place = Some(bus);
            }
            let mut buses = on_the_way.into_iter().flatten();
            let base = buses.try_fold(base, |base, bus| through(bus, base))?;
            Some(Region {
                base: usize::try_from(base).ok()?,
                bytes: usize::try_from(bytes).ok()?,
            })
        })
    }
}

/// What an address behind a bus is before it.
fn through(bus: FdtNode<'_>, address: u64) -> Option<u64> {
    let mut known = bus.ranges().ok()??.peekable();
    if known.peek().is_none() {
        // The same addresses.
        return Some(address);
    }
    let numbers = |range: Range<'_>| {
        let child: u64 = range.child_bus_address().ok()?;
        let parent: u64 = range.parent_bus_address().ok()?;
        let length: u64 = range.length().ok()?;
        Some((child, parent, length))
    };
    known
        .filter_map(numbers)
        .find_map(|(child, parent, length)| {
            let inside = address.checked_sub(child)?;
            (inside < length).then(|| parent.checked_add(inside))?
        })
}

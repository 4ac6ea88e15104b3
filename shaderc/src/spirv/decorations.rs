//! Decorations: what annotations say about ids and members.
//!
//! Needs: nothing.  Guarantees: unknown decorations are kept but never matter.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use rspirv::spirv::Decoration;

/// Decorations of one target: number and literals.
type List = Vec<(u32, Vec<u32>)>;

/// Decorations of the whole module.
#[derive(Default)]
pub(crate) struct DecorationTable {
    ids: HashMap<u32, List>,
    members: HashMap<(u32, u32), List>,
    /// All that there are, of whatever.
    kinds: HashSet<u32>,
}

/// The decorations of one target.
#[derive(Clone, Copy)]
pub(crate) struct Decorations<'t>(&'t [(u32, Vec<u32>)]);

impl DecorationTable {
    /// Adds a decoration with its literals.
    pub fn decorate(&mut self, id: u32, decoration: u32, operands: &[u32]) {
        self.kinds.insert(decoration);
        let list = self.ids.entry(id).or_default();
        list.push((decoration, operands.to_vec()));
    }

    /// Adds a decoration of a member.
    pub fn decorate_member(&mut self, id: u32, member: u32, decoration: u32, operands: &[u32]) {
        self.kinds.insert(decoration);
        let list = self.members.entry((id, member)).or_default();
        list.push((decoration, operands.to_vec()));
    }

    /// Gives an id the decorations of a group.
    pub fn decorate_as(&mut self, group: u32, id: u32) {
        let list = self.ids.get(&group).cloned().unwrap_or_default();
        self.ids.entry(id).or_default().extend(list);
    }

    /// Gives a member the decorations of a group.
    pub fn decorate_member_as(&mut self, group: u32, id: u32, member: u32) {
        let list = self.ids.get(&group).cloned().unwrap_or_default();
        self.members.entry((id, member)).or_default().extend(list);
    }

    /// The decorations of an id.
    pub fn of(&self, id: u32) -> Decorations<'_> {
        Decorations(self.ids.get(&id).map_or(&[], Vec::as_slice))
    }

    /// The decorations of a member of a struct.
    pub fn of_member(&self, id: u32, member: u32) -> Decorations<'_> {
        Decorations(self.members.get(&(id, member)).map_or(&[], Vec::as_slice))
    }

    /// Whether anything has that decoration.
    pub fn any(&self, decoration: Decoration) -> bool {
        self.kinds.contains(&(decoration as u32))
    }

    /// All ids with that decoration, with its first literal.
    pub fn with(&self, decoration: Decoration) -> impl Iterator<Item = (u32, u32)> {
        self.ids.iter().filter_map(move |(id, list)| {
            let literal = Decorations(list).literal(decoration)?;
            Some((*id, literal))
        })
    }
}

impl<'t> Decorations<'t> {
    /// The literals of a decoration that is there.
    pub fn find(&self, decoration: Decoration) -> Option<&'t [u32]> {
        let found = self.0.iter().find(|(kind, _)| *kind == decoration as u32);
        found.map(|(_, operands)| operands.as_slice())
    }
    /// The first literal of a decoration.
    pub fn literal(&self, decoration: Decoration) -> Option<u32> {
        self.find(decoration)
            .and_then(|operands| operands.first().copied())
    }

    /// Whether the decoration is there.
    pub fn has(&self, decoration: Decoration) -> bool {
        self.find(decoration).is_some()
    }
}

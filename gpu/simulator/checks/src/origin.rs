//! Origins: where an undefined value comes from.
use rustc_hash::FxHashMap;

use crate::undefined::Fault;

/// What made a value undefined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// A variable of the invocation that nothing was stored to.
    Variable,
    /// Shared memory, a buffer or an image that nobody wrote.
    Memory,
    /// A vertex buffer that nobody wrote.
    Attribute,
    /// An attachment that holds nothing there.
    Attachment,
    /// An operation.
    Arithmetic(Fault),
    /// A lane that did not run the operation with the one that asked for its value.
    InactiveLane,
    /// A lane that there is not.
    NoLane,
}

impl Source {
    /// Whether its place is where the value is used, not where it was loaded.
    fn moves(self) -> bool {
        matches!(self, Source::Variable | Source::Attribute)
    }
}

/// An origin: what, and at which instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Origin {
    pub(crate) source: Source,
    pub(crate) site: u32,
    /// Whether the value was computed with: from there on it has its place.
    pub(crate) settled: bool,
}

/// A number of an origin; 0 is none.
pub(crate) type OriginId = u32;

/// All origins, each once.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    all: Vec<Origin>,
    ids: FxHashMap<Origin, OriginId>,
}

impl Origins {
    pub(crate) fn id(&mut self, origin: Origin) -> OriginId {
        let all = &mut self.all;
        *self.ids.entry(origin).or_insert_with(|| {
            all.push(origin);
            all.len() as OriginId
        })
    }

    pub(crate) fn get(&self, id: OriginId) -> Option<Origin> {
        self.all.get((id as usize).checked_sub(1)?).copied()
    }

    /// The origin of what is loaded from a variable: its place is the last such load before it is computed with.
    pub(crate) fn moved(&mut self, id: OriginId, site: u32) -> OriginId {
        match self.get(id) {
            Some(origin) if origin.source.moves() && !origin.settled => {
                self.id(Origin { site, ..origin })
            }
            _ => id,
        }
    }

    /// The origin of what was computed with a value.
    pub(crate) fn settled(&mut self, id: OriginId, site: u32) -> OriginId {
        match self.get(id) {
            Some(origin) if origin.source.moves() && !origin.settled => self.id(Origin {
                site,
                settled: true,
                ..origin
            }),
            _ => id,
        }
    }
}

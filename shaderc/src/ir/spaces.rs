//! Sets of memories: which of them a fence orders.
use std::ops::BitOr;

use super::Space;

/// Memories that other invocations see.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Spaces {
    /// Buffers, images, and all memory that has addresses.
    pub buffers: bool,
    /// What the workgroup shares.
    pub shared: bool,
}

impl Spaces {
    /// None of them.
    pub const NONE: Spaces = Spaces::new(false, false);
    /// All but what the workgroup shares.
    pub const BUFFERS: Spaces = Spaces::new(true, false);
    /// What the workgroup shares.
    pub const SHARED: Spaces = Spaces::new(false, true);
    /// All that others see.
    pub const ALL: Spaces = Spaces::new(true, true);

    const NAMES: [(Spaces, &'static str); 4] = [
        (Spaces::ALL, ""),
        (Spaces::BUFFERS, "buffers"),
        (Spaces::SHARED, "shared"),
        (Spaces::NONE, "none"),
    ];

    const fn new(buffers: bool, shared: bool) -> Spaces {
        Spaces { buffers, shared }
    }

    /// Whether it is none.
    pub fn is_empty(self) -> bool {
        self == Spaces::NONE
    }

    /// Whether accesses of this space are to memory that is one of them.
    pub fn contains(self, space: Space) -> bool {
        match space {
            Space::Buffer | Space::Global => self.buffers,
            Space::Shared => self.shared,
            Space::Scratch | Space::Data => false,
        }
    }

    /// What a machine calls the one that it is; nothing if it is both or none.
    pub(crate) fn single<S>(self, buffers: S, shared: S) -> Option<S> {
        match (self.buffers, self.shared) {
            (true, false) => Some(buffers),
            (false, true) => Some(shared),
            _ => None,
        }
    }

    /// How the text form says which they are; nothing for all.
    pub(super) fn name(self) -> &'static str {
        let name = Spaces::NAMES.iter().find(|(spaces, _)| *spaces == self);
        name.map_or("", |(_, name)| name)
    }

    /// Those that the text form says.
    pub(super) fn from_name(name: &str) -> Option<Spaces> {
        let named = Spaces::NAMES.iter().find(|(_, own)| *own == name);
        named.map(|(spaces, _)| *spaces)
    }
}

impl BitOr for Spaces {
    type Output = Spaces;

    fn bitor(self, other: Spaces) -> Spaces {
        Spaces::new(self.buffers | other.buffers, self.shared | other.shared)
    }
}

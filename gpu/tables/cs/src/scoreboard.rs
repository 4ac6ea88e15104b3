//! Scoreboard slots: the counters of unfinished asynchronous work, and masks of them.
//!
//! Facts: hardware/command-stream.md 1.7.

use core::fmt;
use core::ops::BitOr;

/// A scoreboard slot, 0 to 15. A GPU reports how many it has: 8 on v10, up to 16 later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u8);

impl Slot {
    /// Slot `number`; `None` from 16 on.
    pub const fn new(number: u8) -> Option<Slot> {
        if number < 16 {
            Some(Slot(number))
        } else {
            None
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The mask with this slot only.
    pub const fn mask(self) -> SlotMask {
        SlotMask(1 << self.0)
    }
}

/// `slot!(3)` is [`Slot`] 3; a number from 16 on does not compile.
#[macro_export]
macro_rules! slot {
    ($number:expr) => {
        const {
            match $crate::Slot::new($number) {
                Some(slot) => slot,
                None => panic!("slots are 0 to 15"),
            }
        }
    };
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A set of slots: bit s is slot s. An empty one waits for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SlotMask(u16);

impl SlotMask {
    /// No slot.
    pub const NONE: SlotMask = SlotMask(0);

    /// The mask with these bits.
    pub const fn new(bits: u16) -> SlotMask {
        SlotMask(bits)
    }

    /// Slots 0 to `count` - 1; all 16 from 16 on.
    pub const fn first(count: u8) -> SlotMask {
        if count >= 16 {
            SlotMask(u16::MAX)
        } else {
            SlotMask((1 << count) - 1)
        }
    }

    /// The bits.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether it has no slot.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `slot` is in it.
    pub const fn contains(self, slot: Slot) -> bool {
        self.0 >> slot.0 & 1 != 0
    }

    /// The slots, rising.
    pub fn slots(self) -> impl Iterator<Item = Slot> {
        (0..16).map(Slot).filter(move |&slot| self.contains(slot))
    }
}

impl From<Slot> for SlotMask {
    fn from(slot: Slot) -> SlotMask {
        slot.mask()
    }
}

impl BitOr for SlotMask {
    type Output = SlotMask;

    fn bitor(self, other: SlotMask) -> SlotMask {
        SlotMask(self.0 | other.0)
    }
}

//! Costs: what the CPU did between two moments.

use crate::{Gpu, instructions};
use eitri_kernel::println;

/// What was done, since some moment or up to one.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) instructions: u32,
    /// Bytes stored to memory of the GPU.
    stored: u64,
    /// Waits of the platform.
    waits: u32,
    /// Instructions of those waits.
    asleep: u32,
}

impl Cost {
    pub(crate) fn now(device: &Gpu) -> Cost {
        Cost {
            instructions: instructions::executed(),
            stored: device.platform().stored(),
            waits: device.platform().waits(),
            asleep: device.platform().asleep(),
        }
    }

    /// What `action` costs, with its result.
    pub(crate) fn of<T>(device: &mut Gpu, action: impl FnOnce(&mut Gpu) -> T) -> (Cost, T) {
        let before = Cost::now(device);
        let result = action(device);
        (Cost::now(device).since(before), result)
    }

    /// What was done since `before`.
    pub(crate) fn since(self, before: Cost) -> Cost {
        Cost {
            instructions: self.instructions.wrapping_sub(before.instructions),
            stored: self.stored.saturating_sub(before.stored),
            waits: self.waits.saturating_sub(before.waits),
            asleep: self.asleep.wrapping_sub(before.asleep),
        }
    }

    /// What each of `count` things has cost beyond `fewer`.
    pub(crate) fn less(self, fewer: Cost, count: u32) -> Cost {
        let beyond = self.since(fewer);
        Cost {
            instructions: beyond.instructions / count,
            stored: beyond.stored / u64::from(count),
            waits: beyond.waits / count,
            asleep: beyond.asleep / count,
        }
    }

    /// Both.
    pub(crate) const fn and(self, other: Cost) -> Cost {
        Cost {
            instructions: self.instructions.wrapping_add(other.instructions),
            stored: self.stored.saturating_add(other.stored),
            waits: self.waits.saturating_add(other.waits),
            asleep: self.asleep.wrapping_add(other.asleep),
        }
    }

    /// What each of `count` things has cost.
    pub(crate) fn each(self, count: u32) -> Cost {
        Cost {
            instructions: self.instructions / count,
            stored: self.stored / u64::from(count),
            waits: self.waits / count,
            asleep: self.asleep / count,
        }
    }

    /// The same without the platform's own waits.
    pub(crate) const fn awake(self) -> Cost {
        Cost {
            instructions: self.instructions.wrapping_sub(self.asleep),
            ..self
        }
    }

    /// Polls of a wait: the platform waits after each but the last.
    pub(crate) const fn polls(self) -> u32 {
        self.waits + 1
    }

    /// Writes the line for `eitri bench record`.
    pub(crate) fn print(self, what: &str) {
        println!("bench {what} {} {}", self.instructions, self.stored);
    }

    /// The same of a wait.
    pub(crate) fn print_with_polls(self, what: &str) {
        let Cost {
            instructions,
            stored,
            ..
        } = self;
        println!("bench {what} {instructions} {stored} {}", self.polls());
    }
}

//! Choices of a seed.

use fastrand::Rng;

/// Choices, the same for a seed on every machine.
pub(crate) struct Random(Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Rng::with_seed(seed))
    }

    /// One of them. There must be one.
    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.0.usize(..all.len())]
    }

    /// A number from `least` to `most`.
    pub(crate) fn between(&mut self, least: u32, most: u32) -> u32 {
        self.0.u32(least..=most)
    }

    /// A whole number from `least` to `most`.
    pub(crate) fn signed(&mut self, least: i32, most: i32) -> i32 {
        self.0.i32(least..=most)
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: u32) -> bool {
        self.0.u32(..times) == 0
    }

    /// A multiple of an eighth from 0 to 1.
    pub(crate) fn eighths(&mut self) -> f32 {
        self.between(0, 8) as f32 / 8.0
    }

    /// Four multiples of an eighth.
    pub(crate) fn colour(&mut self) -> [f32; 4] {
        std::array::from_fn(|_| self.eighths())
    }

    /// A word.
    pub(crate) fn word(&mut self) -> u32 {
        self.0.u32(..)
    }
}

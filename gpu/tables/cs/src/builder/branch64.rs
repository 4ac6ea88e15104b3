//! Branches on 64-bit values, made of branches on their halves.
//!
//! Facts: hardware/command-stream.md 6.2 (table of 64-bit comparisons).

use super::Builder;
use super::chunk::ChunkSource;
use super::label::Label;
use crate::enums::Condition;
use crate::register::Pair;

impl<'m, S: ChunkSource<'m>> Builder<'m, S> {
    /// Goes to `label` when `value`, a signed 64-bit number, compares with 0 as asked. Must stand in a block.
    pub fn branch64(&mut self, condition: Condition, value: Pair, label: &mut Label) -> &mut Self {
        use Condition::{Always, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let (low, high) = (value.low(), value.high());
        let mut fall_through = Label::new();
        match condition {
            Equal => self
                .branch(NotEqual, low, &mut fall_through)
                .branch(Equal, high, label),
            NotEqual => self
                .branch(NotEqual, low, label)
                .branch(NotEqual, high, label),
            Less => self.branch(Less, high, label),
            GreaterEqual => self.branch(Less, high, &mut fall_through).goto(label),
            LessEqual => self
                .branch(Less, high, label)
                .branch(NotEqual, high, &mut fall_through)
                .branch(Equal, low, label),
            Greater => self
                .branch(Less, high, &mut fall_through)
                .branch(NotEqual, high, label)
                .branch(NotEqual, low, label),
            Always => self.goto(label),
        };
        self.bind(&mut fall_through)
    }
}

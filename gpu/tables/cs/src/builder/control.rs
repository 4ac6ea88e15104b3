//! Structured control flow, lowered to branches: if, else, while, match, break, continue.
//!
//! Facts: hardware/command-stream.md 6.2 (the table of lowerings).

use super::chunk::ChunkSource;
use super::error::BuildFault;
use super::label::Label;
use super::{Builder, OneChunk};
use crate::enums::Condition;
use crate::register::Reg;

/// A loop that is being built.
#[derive(Debug, Default)]
pub struct Loop {
    start: Label,
    end: Label,
}

/// A match that is being built.
#[derive(Debug)]
pub struct Match<'b, 'm, S: ChunkSource<'m> = OneChunk> {
    builder: &'b mut Builder<'m, S>,
    value: Reg,
    scratch: Reg,
    /// Where a value goes on that is not that of the last case; none before the first case.
    next_case: Option<Label>,
    end: Label,
    has_default: bool,
}

impl<'m, S: ChunkSource<'m>> Builder<'m, S> {
    /// Does `then` when `value`, signed, compares with 0 as asked.
    pub fn if_then(
        &mut self,
        condition: Condition,
        value: Reg,
        then: impl FnOnce(&mut Self),
    ) -> &mut Self {
        self.block(|b| {
            let mut end = Label::new();
            if let Some(inverse) = condition.inverse() {
                b.branch(inverse, value, &mut end);
            }
            then(b);
            b.bind(&mut end);
        })
    }

    /// Does `then` when `value`, signed, compares with 0 as asked, and `otherwise` when not.
    pub fn if_else(
        &mut self,
        condition: Condition,
        value: Reg,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) -> &mut Self {
        let Some(inverse) = condition.inverse() else {
            return self.block(then);
        };
        self.block(|b| {
            let (mut other, mut end) = (Label::new(), Label::new());
            b.branch(inverse, value, &mut other);
            then(b);
            b.goto(&mut end);
            b.bind(&mut other);
            otherwise(b);
            b.bind(&mut end);
        })
    }

    /// Does `body` as long as `value`, signed, compares with 0 as asked; the test stands before the loop and at its end.
    pub fn while_do(
        &mut self,
        condition: Condition,
        value: Reg,
        body: impl FnOnce(&mut Self, &mut Loop),
    ) -> &mut Self {
        self.block(|b| {
            let mut this = Loop::default();
            if let Some(inverse) = condition.inverse() {
                b.branch(inverse, value, &mut this.end);
            }
            b.bind(&mut this.start);
            body(b, &mut this);
            b.branch(condition, value, &mut this.start);
            b.bind(&mut this.end);
        })
    }

    /// Leaves the loop when `value` compares with 0 as asked.
    pub fn break_if(&mut self, of: &mut Loop, condition: Condition, value: Reg) -> &mut Self {
        self.branch(condition, value, &mut of.end)
    }

    /// Goes to the start of the loop's body when `value` compares with 0 as asked; the loop's own test is not made.
    pub fn continue_if(&mut self, of: &mut Loop, condition: Condition, value: Reg) -> &mut Self {
        self.branch(condition, value, &mut of.start)
    }

    /// Does one of several things, by `value`. `scratch` holds differences; it may be `value` itself only when there is
    /// one case.
    pub fn match_on(
        &mut self,
        value: Reg,
        scratch: Reg,
        cases: impl FnOnce(&mut Match<'_, 'm, S>),
    ) -> &mut Self {
        self.block(|b| {
            let mut this = Match {
                builder: b,
                value,
                scratch,
                next_case: None,
                end: Label::new(),
                has_default: false,
            };
            cases(&mut this);
            let Match {
                builder,
                next_case,
                mut end,
                ..
            } = this;
            if let Some(mut next_case) = next_case {
                builder.bind(&mut next_case);
            }
            builder.bind(&mut end);
        })
    }
}

impl<'m, S: ChunkSource<'m>> Match<'_, 'm, S> {
    /// Does `body` when the value is `case`.
    pub fn case(&mut self, case: u32, body: impl FnOnce(&mut Builder<'m, S>)) -> &mut Self {
        if !self.begin("case") {
            return self;
        }
        let difference = if case == 0 {
            self.value
        } else {
            let negated = case.cast_signed().wrapping_neg();
            self.builder.add32(self.scratch, self.value, negated);
            self.scratch
        };
        let mut next_case = Label::new();
        self.builder
            .branch(Condition::NotEqual, difference, &mut next_case);
        body(self.builder);
        self.next_case = Some(next_case);
        self
    }

    /// Does `body` when the value is that of no case. Stands last.
    pub fn default(&mut self, body: impl FnOnce(&mut Builder<'m, S>)) -> &mut Self {
        if self.begin("default") {
            self.has_default = true;
            body(self.builder);
        }
        self
    }

    /// Ends the case before; whether another may follow.
    fn begin(&mut self, what: &'static str) -> bool {
        if self.has_default {
            self.builder.fail(what, BuildFault::CaseAfterDefault);
            return false;
        }
        if let Some(mut next_case) = self.next_case.take() {
            self.builder.goto(&mut self.end);
            self.builder.bind(&mut next_case);
        }
        true
    }
}

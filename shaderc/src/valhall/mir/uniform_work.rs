//! Uniform work: a uniform word that is worked out where a dispatch is recorded.

use std::fmt;

use eitri_program::{FauOp, FauOperand};
use smallvec::SmallVec;

use super::FauWord;

/// A word, and what is done to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UniformWork {
    /// What it begins with; no [`FauWord::Worked`].
    pub start: FauWord,
    /// What is done, one after the other.
    pub steps: SmallVec<[(FauOp, FauOperand); 4]>,
}

impl UniformWork {
    /// None, of a word.
    pub(crate) fn of(start: FauWord) -> UniformWork {
        let steps = SmallVec::new();
        UniformWork { start, steps }
    }

    /// The work of a text as `Display` writes it.
    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Option<UniformWork> {
        let mut parts = text.split(", ");
        let mut work = UniformWork::of(FauWord::parse(parts.next()?)?);
        for part in parts {
            let (name, operand) = part.split_once(' ')?;
            let op = FauOp::ALL.iter().find(|op| format!("{op:?}") == name)?;
            let operand = match operand.strip_prefix("push ") {
                Some(offset) => FauOperand::PushConstant(offset.parse().ok()?),
                None => FauOperand::Constant(operand.parse().ok()?),
            };
            work.steps.push((*op, operand));
        }
        Some(work)
    }
}

impl fmt::Display for UniformWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.start)?;
        for (op, operand) in &self.steps {
            match operand {
                FauOperand::Constant(value) => write!(f, ", {op:?} {value}")?,
                FauOperand::PushConstant(offset) => write!(f, ", {op:?} push {offset}")?,
            }
        }
        Ok(())
    }
}

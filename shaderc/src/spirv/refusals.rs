//! Refusals: what isn't supported is collected, so that a user is told all of it at once.
//!
//! Needs: errors of single instructions.  Guarantees: each thing that is refused is named once, at the first place; what
//! goes wrong only because something before it was refused isn't mentioned.
//! Never: goes on behind what breaks a rule, or behind a limit.

use rustc_hash::FxHashSet as HashSet;

use super::error::{Error, Feature};
use super::reader::{Instr, Result, is_terminator};

/// The most that are collected.
const MOST: usize = 20;

/// What was refused so far.
#[derive(Clone, Default)]
pub(super) struct Refusals {
    errors: Vec<Error>,
    /// Results that have no meaning, because of what was refused.
    unknown: HashSet<u32>,
}

impl Refusals {
    /// Notes an error of an instruction.
    ///
    /// # Errors
    /// The error again, if nothing behind it can be looked at.
    pub(super) fn note(&mut self, instr: &Instr, error: Box<Error>) -> Result<()> {
        let refusal = matches!(
            *error,
            Error::Unsupported { feature, .. } if feature != Feature::Limit
        );
        let known = !self.concerns(instr);
        if is_terminator(instr.op) || known && !refusal {
            return Err(error);
        }
        if known && !self.names(&error) {
            self.errors.push(*error);
        }
        self.unknown.extend(instr.result);
        Ok(())
    }

    /// Notes that a result has got some value after all.
    pub(super) fn give_meaning(&mut self, id: u32) {
        self.unknown.remove(&id);
    }

    /// Whether an instruction reads what has no meaning.
    fn concerns(&self, instr: &Instr) -> bool {
        let mut ids = instr.operands.iter().chain(instr.ty.as_ref());
        ids.any(|id| self.unknown.contains(id))
    }

    /// Whether the same thing was named already, or enough was.
    fn names(&self, error: &Error) -> bool {
        let Error::Unsupported { feature, name, .. } = error else {
            return false;
        };
        let same = |known: &Error| matches!(known, Error::Unsupported { feature: other, name: named, .. } if other == feature && named == name);
        self.errors.len() >= MOST || self.errors.iter().any(same)
    }

    /// All of them.
    ///
    /// # Errors
    /// If there are any.
    pub(super) fn finish(self) -> std::result::Result<(), Vec<Error>> {
        match self.errors.is_empty() {
            true => Ok(()),
            false => Err(self.errors),
        }
    }

    /// All of them, and the error behind which nothing could be looked at, if it stands for itself.
    pub(super) fn with(self, last: Error) -> Vec<Error> {
        let mut errors = self.errors;
        // What breaks a rule may do so only for want of what was refused.
        if errors.is_empty() || matches!(last, Error::Unsupported { .. }) {
            errors.push(last);
        }
        errors
    }
}

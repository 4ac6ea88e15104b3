//! Labels and blocks: branches to places that are not known yet.
//!
//! An unbound label is a chain through the branches to it: each holds, in its offset field, how far back the one before
//! it is; the first holds -1.  Binding walks the chain.  Positions count from the start of the block, so that a block
//! may move.  Facts: hardware/command-stream.md 6.2.

use super::Builder;
use super::checks::InFlight;
use super::chunk::ChunkSource;
use super::error::BuildFault;
use crate::enums::Condition;
use crate::instr::{Branch, Instr};
use crate::register::Reg;

/// A place in a block, to branch to; [`Builder::bind`] says where.
#[derive(Debug, Default)]
pub struct Label {
    /// The block in which it was used first.
    block: Option<u32>,
    /// Where it is.
    target: Option<usize>,
    /// The last branch to it, while it is unbound.
    last_branch: Option<usize>,
    /// What may be in flight there.
    in_flight: InFlight,
}

impl Label {
    /// A label that is not bound yet.
    pub fn new() -> Label {
        Label::default()
    }
}

/// Blocks so far.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Where the outermost open block begins in the current chunk.
    start: Option<usize>,
    /// Its number.
    number: u32,
    /// Labels with branches to them that are not bound.
    unbound: usize,
}

impl Blocks {
    pub(super) fn start_mut(&mut self) -> Option<&mut usize> {
        self.start.as_mut()
    }

    pub(super) fn is_open(&self) -> bool {
        self.start.is_some()
    }
}

/// The end of a chain.
const NO_BRANCH: i16 = -1;

impl<'m, S: ChunkSource<'m>> Builder<'m, S> {
    /// Builds instructions that stay in one chunk, so that they can branch among each other. Blocks nest; the
    /// constructs of control flow are blocks.
    pub fn block(&mut self, build: impl FnOnce(&mut Self)) -> &mut Self {
        if self.blocks.is_open() {
            build(self);
            return self;
        }
        self.blocks.start = Some(self.output.position());
        self.blocks.number += 1;
        build(self);
        self.blocks.start = None;
        let labels = core::mem::take(&mut self.blocks.unbound);
        if labels != 0 {
            self.fail("block", BuildFault::UnresolvedLabel { labels });
        }
        self
    }

    /// Goes to `label` when `value`, signed, compares with 0 as asked. Must stand in a block.
    pub fn branch(&mut self, condition: Condition, value: Reg, label: &mut Label) -> &mut Self {
        if self.error.is_none()
            && let Err(fault) = self.try_branch(condition, value, label)
        {
            self.fail("BRANCH", fault);
        }
        self
    }

    /// Goes to `label`. Must stand in a block.
    pub fn goto(&mut self, label: &mut Label) -> &mut Self {
        self.branch(Condition::Always, Reg::default(), label)
    }

    /// Says that `label` is here. Must stand in a block.
    pub fn bind(&mut self, label: &mut Label) -> &mut Self {
        if self.error.is_none()
            && let Err(fault) = self.try_bind(label)
        {
            self.fail("label", fault);
        }
        self
    }

    fn try_branch(
        &mut self,
        condition: Condition,
        value: Reg,
        label: &mut Label,
    ) -> Result<(), BuildFault> {
        self.enter(label)?;
        let backwards = label.target.is_some();
        if let Some(slot) = self.config.load_store_slot
            && backwards
            && !self.in_flight.is_within(label.in_flight)
        {
            self.wait_for_memory(slot)?;
        }
        let branch = |offset| {
            Instr::Branch(Branch {
                condition,
                value,
                offset,
            })
        };
        // The wait that a branch on a loaded register needs comes first, and moves it.
        let probe = branch(0);
        let word = probe.encode(self.config.arch)?;
        let info = probe.info();
        self.config.check(info, word)?;
        let usage = info.usage(word, self.config.arch);
        if let Some(slot) = self.config.load_store_slot
            && self.in_flight.must_wait(&usage)
        {
            self.wait_for_memory(slot)?;
        }
        let position = self.position_in_block();
        let offset = match (label.target, label.last_branch) {
            (Some(target), _) => offset_between(position, target)?,
            (None, Some(last)) => distance(position as i64 - last as i64)?,
            (None, None) => NO_BRANCH,
        };
        self.append(branch(offset).encode(self.config.arch)?)?;
        if !backwards {
            if label.last_branch.replace(position).is_none() {
                self.blocks.unbound += 1;
            }
            label.in_flight = label.in_flight.merged(self.in_flight);
        }
        if condition == Condition::Always {
            // What follows is reached only from where a label says.
            self.in_flight = InFlight::default();
        }
        Ok(())
    }

    fn try_bind(&mut self, label: &mut Label) -> Result<(), BuildFault> {
        self.enter(label)?;
        if label.target.is_some() {
            return Err(BuildFault::LabelBoundTwice);
        }
        let target = self.position_in_block();
        let start = self.blocks.start.unwrap_or(0);
        let mut branch = label.last_branch.take();
        if branch.is_some() {
            self.blocks.unbound -= 1;
        }
        while let Some(position) = branch {
            let offset = offset_between(position, target)?;
            let Some(word) = self.output.word_mut(start + position) else {
                break; // a branch's position is a word of the block
            };
            let link = *word as i16;
            *word = *word & !0xffff | u64::from(offset.cast_unsigned());
            branch = match link {
                NO_BRANCH => None,
                back => position.checked_add_signed(-isize::from(back)),
            };
        }
        label.target = Some(target);
        self.in_flight = self.in_flight.merged(label.in_flight);
        label.in_flight = self.in_flight;
        Ok(())
    }

    /// A label lives in one block.
    fn enter(&self, label: &mut Label) -> Result<(), BuildFault> {
        let open = self.blocks.is_open().then_some(self.blocks.number);
        match (open, label.block) {
            (Some(open), None) => label.block = Some(open),
            (Some(open), Some(its)) if open == its => {}
            _ => return Err(BuildFault::LabelOutsideBlock),
        }
        Ok(())
    }

    fn position_in_block(&self) -> usize {
        self.output.position() - self.blocks.start.unwrap_or(0)
    }
}

/// What a branch at `position` to `target` holds: counted from the instruction behind it.
fn offset_between(position: usize, target: usize) -> Result<i16, BuildFault> {
    distance(target as i64 - position as i64 - 1)
}

fn distance(offset: i64) -> Result<i16, BuildFault> {
    i16::try_from(offset).map_err(|_| BuildFault::BranchOutOfRange { offset })
}

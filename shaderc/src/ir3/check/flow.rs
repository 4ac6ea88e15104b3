//! Flow of a finished program: stretches of instructions that run one after the other, and where each may go on.

use std::ops::Range;

use eitri_ir3_isa::{Instr, Op};
use smallvec::SmallVec;

use super::{Wrong, text};

/// Where a stretch may go on.
pub(super) type Next = SmallVec<[usize; 2]>;

/// The program in stretches.
pub(super) struct Flow {
    /// By stretch: its first instruction.
    pub(super) starts: Vec<usize>,
    /// By stretch: those that may follow, each once.
    pub(super) next: Vec<Next>,
    /// Number of instructions.
    length: usize,
}

impl Flow {
    /// Finds it.
    ///
    /// # Errors
    /// [`Wrong::Flow`] for an instruction that leads nowhere.
    pub(super) fn of(code: &[Instr]) -> Result<Flow, Wrong> {
        let mut targets = Vec::with_capacity(code.len());
        let mut is_start = vec![false; code.len()];
        for (at, instr) in code.iter().enumerate() {
            let targeted = target(code, at, instr)?;
            for &to in &targeted {
                // What is branched to, and what follows a branch.
                is_start[to] |= to != at + 1 || instr.target().is_some();
            }
            if instr.target().is_some() && at + 1 < code.len() {
                is_start[at + 1] = true;
            }
            targets.push(targeted);
        }
        if let Some(first) = is_start.first_mut() {
            *first = true;
        }
        let starts: Vec<usize> = (0..code.len()).filter(|&at| is_start[at]).collect();
        let ends = starts.iter().skip(1).copied().chain([code.len()]);
        let stretch = |at: &usize| starts.partition_point(|start| start < at);
        let next = ends.map(|end| match end.checked_sub(1) {
            Some(last) => targets[last].iter().map(stretch).collect(),
            None => Next::new(),
        });
        let next = next.collect();
        Ok(Flow {
            starts,
            next,
            length: code.len(),
        })
    }

    /// The instructions of a stretch.
    pub(super) fn instrs(&self, stretch: usize) -> Range<usize> {
        let end = self.starts.get(stretch + 1).copied();
        self.starts[stretch]..end.unwrap_or(self.length)
    }
}

/// Where an instruction may go on, each place once.
fn target(code: &[Instr], at: usize, instr: &Instr) -> Result<Next, Wrong> {
    let wrong = || Wrong::Flow {
        at,
        text: text(instr),
    };
    let mut next = Next::new();
    if let Some(target) = instr.target() {
        let to = at.checked_add_signed(target as isize);
        next.push(to.filter(|to| *to < code.len()).ok_or_else(wrong)?);
    }
    let last = at + 1 == code.len();
    match instr.op() {
        Op::End if !last => return Err(wrong()),
        Op::End | Op::Jump => {}
        _ if last => return Err(wrong()),
        _ if !next.contains(&(at + 1)) => next.push(at + 1),
        _ => {}
    }
    Ok(next)
}

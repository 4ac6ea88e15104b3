//! Disassembles a stream: its instructions, and labels where its branches lead.

use core::fmt;

use super::Syntax;
use super::print::{Text, disassemble};
use crate::arch::Arch;
use crate::instr::{DecodeError, Instr};

/// The lines of a stream.
///
/// ```
/// use eitri_cs::Arch;
/// use eitri_cs::text::Listing;
///
/// let words = [0x1042_4200_ffff_ffff, 0x1600_4200_1000_fffe];
/// let mut targets = [false; 3];
/// let listing = Listing::new(&words, Arch::V10, &mut targets);
/// let text: String = listing.map(|line| format!("{line}\n")).collect();
/// assert_eq!(text, "label_0:\nADD_IMMEDIATE32 r66, r66, #-1\nBRANCH.gt r66, label_0\n");
/// ```
#[derive(Clone, Debug)]
pub struct Listing<'s> {
    words: &'s [u64],
    targets: &'s [bool],
    arch: Arch,
    position: usize,
    /// The label in front of `position` has been given.
    labelled: bool,
}

/// A line of a listing.
#[derive(Clone, Copy, Debug)]
pub enum Line {
    /// A branch leads here: bytes from the start of the stream.
    Label(u64),
    /// An instruction.
    Instruction(Text),
    /// A word that is none.
    Error(DecodeError),
}

impl<'s> Listing<'s> {
    /// The lines of `words`. `targets` is room for a mark on each word and on the end; where there is less, branches to
    /// what lies behind it show their offsets.
    pub fn new(words: &'s [u64], arch: Arch, targets: &'s mut [bool]) -> Listing<'s> {
        targets.fill(false);
        for (position, &word) in words.iter().enumerate() {
            if let Some(target) = branch_target(word, arch, position)
                && target <= words.len()
                && let Some(mark) = targets.get_mut(target)
            {
                *mark = true;
            }
        }
        Listing {
            words,
            targets,
            arch,
            position: 0,
            labelled: false,
        }
    }

    fn has_label(&self, position: usize) -> bool {
        self.targets.get(position) == Some(&true)
    }
}

/// Where the branch at `position` leads.
fn branch_target(word: u64, arch: Arch, position: usize) -> Option<usize> {
    match Instr::decode(word, arch) {
        Ok(Instr::Branch(branch)) => (position + 1).checked_add_signed(branch.offset.into()),
        _ => None,
    }
}

impl Iterator for Listing<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let position = self.position;
        if self.has_label(position) && !self.labelled {
            self.labelled = true;
            return Some(Line::Label(position as u64 * 8));
        }
        let &word = self.words.get(position)?;
        self.position += 1;
        self.labelled = false;
        let target = branch_target(word, self.arch, position).filter(|&at| self.has_label(at));
        Some(match disassemble(word, self.arch, Syntax::Eitri) {
            Ok(mut text) => {
                text.target = target.map(|target| target as u64 * 8);
                Line::Instruction(text)
            }
            Err(error) => Line::Error(error),
        })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Label(offset) => write!(f, "label_{offset:x}:"),
            Line::Instruction(text) => text.fmt(f),
            Line::Error(error) => write!(f, "error: {error}"),
        }
    }
}

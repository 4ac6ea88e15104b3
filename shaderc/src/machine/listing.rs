//! Listing: the program as text, for people and for tests that must not change unseen.
//!
//! One line an instruction: its index, its word, its text; labels where branches lead, and comments that say where a
//! branch goes and where the source line changes. The same input always gives the same text. What it takes is kept with
//! the program; the text is made when somebody writes it, which most never do.

use std::fmt;

use super::{BlockId, Function, Instruction, Location, Machine};
use crate::target;

/// A packed program that can be written as text.
#[derive(Clone, PartialEq, Debug)]
pub struct Listing {
    machine: target::Machine,
    files: Vec<String>,
    lines: Vec<Line>,
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Line {
    word: u64,
    block: BlockId,
    location: Location,
    /// Where a branch goes.
    to: Option<BlockId>,
}

/// An instruction of a listing.
#[derive(Clone, PartialEq, Debug)]
pub struct Row<'l> {
    /// Number of the block that it stands in.
    pub block: u32,
    /// The encoded instruction.
    pub word: u64,
    /// The instruction as text.
    pub text: String,
    /// The file and line of the source that it comes from, if known.
    pub source: Option<(&'l str, u32)>,
    /// Number of the block that it branches to.
    pub to: Option<u32>,
}

impl Listing {
    /// Of a function and the words that it became, one for each instruction.
    pub(crate) fn new<M: Machine>(
        machine: target::Machine,
        function: &Function<M>,
        words: &[u64],
    ) -> Listing {
        let blocks = function.block_ids().zip(&function.blocks);
        let instrs =
            blocks.flat_map(|(id, block)| block.instrs.iter().map(move |instr| (id, instr)));
        let line = |((block, instr), word): ((BlockId, &M::Instr), &u64)| Line {
            word: *word,
            block,
            location: instr.location(),
            to: instr.jumps_to(),
        };
        Listing {
            machine,
            files: function.files.clone(),
            lines: instrs.zip(words).map(line).collect(),
        }
    }

    /// The instructions in their order, for those who print them in another form.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.lines.iter().map(|line| {
            let text = self.machine.back_end().disassemble(line.word);
            let text = text.unwrap_or_else(|| "not an instruction".to_owned());
            Row {
                block: line.block.0,
                word: line.word,
                text: text.trim_end().to_owned(),
                source: match line.location.line {
                    0 => None,
                    number => Some((self.file(line.location), number)),
                },
                to: line.to.map(|to| to.0),
            }
        })
    }

    fn file(&self, location: Location) -> &str {
        let file = self.files.get(location.file as usize);
        file.map_or("", String::as_str)
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut targeted: Vec<BlockId> = self.lines.iter().filter_map(|line| line.to).collect();
        targeted.sort();
        // The blocks that begin with this line: those before the last have no instructions.
        let mut next = 0;
        let mut place = None;
        for (index, line) in self.lines.iter().enumerate() {
            for number in next..=line.block.0 {
                if targeted.binary_search(&BlockId(number)).is_ok() {
                    writeln!(f, "{}:", BlockId(number))?;
                }
            }
            next = line.block.0 + 1;
            let location = line.location;
            if location.line != 0 && place != Some(location) {
                place = Some(location);
                writeln!(f, "    ; {}:{}", self.file(location), location.line)?;
            }
            let text = self.machine.back_end().disassemble(line.word);
            let text = text.as_deref().unwrap_or("not an instruction").trim_end();
            match line.to {
                Some(to) => writeln!(f, "{index:5}  {:016x}  {text}  ; to {to}", line.word)?,
                None => writeln!(f, "{index:5}  {:016x}  {text}", line.word)?,
            }
        }
        Ok(())
    }
}

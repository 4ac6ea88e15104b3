//! Listing: the program as text, for people and for tests that must not change unseen.
//!
//! One line an instruction: its index, its word, its text; labels where branches lead, and comments that say where a
//! branch goes and where the source line changes. The same input always gives the same text. What it takes is kept with
//! the program; the text is made when somebody writes it, which most never do.

use std::fmt;

use super::{BlockId, Function, Instruction, Location, Machine, Origin};
use crate::{ir, target};
use rustc_hash::FxHashMap as HashMap;

/// A packed program that can be written as text.
#[derive(Clone, PartialEq, Debug)]
pub struct Listing {
    machine: target::Machine,
    files: Vec<String>,
    lines: Vec<Line>,
    representation: Vec<IrLine>,
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

/// A line of the IR that machine code was selected from.
#[derive(Clone, PartialEq, Debug)]
pub struct IrLine {
    /// The line, indented.
    pub text: String,
    /// The file and line of the source that it comes from, if known.
    pub source: Option<(String, u32)>,
    origin: Origin,
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
    /// Which line of [`Listing::representation`] it was selected for, if that is known and was kept.
    pub origin: Option<usize>,
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
            representation: vec![],
        }
    }

    /// The same with the IR that the machine code was selected from.
    pub(crate) fn with_representation(self, ir: &ir::Function) -> Listing {
        Listing {
            representation: representation(ir),
            ..self
        }
    }

    /// The IR that the machine code was selected from, line by line; empty unless `Options::representation` asked for it.
    pub fn representation(&self) -> &[IrLine] {
        &self.representation
    }

    /// By instruction, the file and line of the source that it comes from, if known.
    pub fn sources(&self) -> impl Iterator<Item = Option<(&str, u32)>> {
        self.lines.iter().map(|line| self.source(line.location))
    }

    fn source(&self, location: Location) -> Option<(&str, u32)> {
        match location.line {
            0 => None,
            number => Some((self.file(location), number)),
        }
    }

    /// The instructions in their order, for those who print them in another form.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let kept = self.representation.iter().map(|line| line.origin);
        let kept = kept.zip(0..).filter(|(origin, _)| origin.is_known());
        let places: HashMap<Origin, usize> = kept.collect();
        self.lines.iter().map(move |line| {
            let text = self.machine.back_end().disassemble(line.word);
            let text = text.unwrap_or_else(|| "not an instruction".to_owned());
            Row {
                block: line.block.0,
                word: line.word,
                text: text.trim_end().to_owned(),
                source: self.source(line.location),
                to: line.to.map(|to| to.0),
                origin: places.get(&line.location.origin).copied(),
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
        let mut place = (0, 0);
        for (index, line) in self.lines.iter().enumerate() {
            for number in next..=line.block.0 {
                if targeted.binary_search(&BlockId(number)).is_ok() {
                    writeln!(f, "{}:", BlockId(number))?;
                }
            }
            next = line.block.0 + 1;
            let location = line.location;
            if location.line != 0 && place != (location.file, location.line) {
                place = (location.file, location.line);
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

/// IR as text, with what its lines are.
fn representation(function: &ir::Function) -> Vec<IrLine> {
    let line = |text: String, position: ir::PositionId, origin: Origin| {
        let source = function.position(position).source.as_ref();
        IrLine {
            text,
            source: source.map(|source| (source.file.clone(), source.line)),
            origin,
        }
    };
    let plain = |text: String| line(text, ir::PositionId::UNKNOWN, Origin::default());
    let head = function.show_head();
    let mut lines: Vec<IrLine> = head.lines().map(|text| plain(text.to_owned())).collect();
    for &id in &function.layout {
        let block = function.block(id);
        lines.push(plain(format!("{id}:")));
        let merge = block.merge.map(|merge| merge.to_string());
        let phis = block.phis.iter().map(|phi| function.show_phi(phi));
        let start = merge.into_iter().chain(phis);
        lines.extend(start.map(|text| plain(format!("  {text}"))));
        lines.extend(block.insts.iter().map(|&inst| {
            let position = function.inst(inst).position;
            let text = format!("  {}", function.show_inst(inst));
            line(text, position, Origin::inst(inst))
        }));
        let end = format!("  {}", function.show_terminator(&block.terminator));
        lines.push(line(end, block.position, Origin::end(id)));
    }
    lines
}

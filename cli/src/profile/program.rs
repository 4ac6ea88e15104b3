//! Programs of a profile: machine code with what was counted of each instruction, and the same by line of the IR and of the source.

use super::figures::Figures;
use crate::reports::pressure;
use eitri_isa::{Arch, Instr};
use eitri_shaderc::{IrLine, Listing};
use std::collections::BTreeMap;

/// A compiled program that may run.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    /// What it is called: its entry point, or shader and stage.
    pub(crate) name: String,
    /// The stage, or the program of a vertex shader.
    pub(crate) stage: &'static str,
    pub(crate) words: Vec<u64>,
    pub(crate) listing: Listing,
}

/// A file and a line of it.
pub(crate) type SourcePlace = (String, u32);

/// An instruction of machine code.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) word: u64,
    pub(crate) text: String,
    /// Number of its block, and of the one that it branches to.
    pub(crate) block: u32,
    pub(crate) to: Option<u32>,
    pub(crate) source: Option<SourcePlace>,
    /// The line of the IR that it was selected for.
    pub(crate) ir: Option<usize>,
    /// Slots that it waits for, a bit a slot.
    pub(crate) waits_for: u8,
    /// Registers whose values are read later, a bit a register.
    pub(crate) live: Option<u64>,
    pub(crate) figures: Figures,
}

/// A line of something, and what was counted of its instructions.
#[derive(Clone, Debug)]
pub(crate) struct CountedLine {
    pub(crate) text: String,
    pub(crate) source: Option<SourcePlace>,
    /// `None`: no machine code comes from it.
    pub(crate) figures: Option<Figures>,
}

/// A program with what was counted.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) stage: &'static str,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) ir: Vec<CountedLine>,
    pub(crate) total: Figures,
}

impl Program {
    /// The program, with the figures of each of its instructions.
    pub(super) fn new(code: &Code, figures: &[Figures], arch: Arch) -> Program {
        let rows: Vec<_> = code.listing.rows().collect();
        let live = pressure::live(&rows, arch);
        let none = Figures::default();
        let instructions: Vec<Instruction> = rows
            .iter()
            .enumerate()
            .map(|(number, row)| {
                let live = live.as_ref().map(|live| live[number]);
                let decoded = Instr::decode(row.word, arch).ok();
                Instruction {
                    word: row.word,
                    text: row.text.clone(),
                    block: row.block,
                    to: row.to,
                    source: row.source.map(|(file, line)| (file.to_owned(), line)),
                    ir: row.origin,
                    waits_for: decoded.map_or(0, |instr| instr.flow.waits_for()),
                    live,
                    figures: Figures {
                        registers: live.map_or(0, u64::count_ones),
                        ..*figures.get(number).unwrap_or(&none)
                    },
                }
            })
            .collect();
        let ir = counted_ir(code.listing.representation(), &instructions);
        Program {
            name: code.name.clone(),
            stage: code.stage,
            total: Figures::sum(instructions.iter().map(|it| &it.figures)),
            instructions,
            ir,
        }
    }

    /// What was counted of each line of the sources; `None`: of instructions that come from none.
    pub(crate) fn by_source(&self) -> BTreeMap<Option<&SourcePlace>, Figures> {
        let mut lines: BTreeMap<Option<&SourcePlace>, Figures> = BTreeMap::new();
        for instruction in &self.instructions {
            let line = lines.entry(instruction.source.as_ref()).or_default();
            line.add(&instruction.figures);
        }
        lines
    }

    /// What was counted of instructions that were selected for no line of the IR: passes added them.
    pub(crate) fn added(&self) -> Figures {
        let added = self.instructions.iter().filter(|it| it.ir.is_none());
        Figures::sum(added.map(|it| &it.figures))
    }
}

fn counted_ir(lines: &[IrLine], instructions: &[Instruction]) -> Vec<CountedLine> {
    let mut counted: Vec<CountedLine> = lines
        .iter()
        .map(|line| CountedLine {
            text: line.text.clone(),
            source: line.source.clone(),
            figures: None,
        })
        .collect();
    for instruction in instructions {
        if let Some(line) = instruction.ir.and_then(|line| counted.get_mut(line)) {
            let figures = line.figures.get_or_insert_with(Figures::default);
            figures.add(&instruction.figures);
        }
    }
    counted
}

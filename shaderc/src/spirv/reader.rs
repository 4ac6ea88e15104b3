//! Words to instructions: framing, and rspirv's grammar for names and operands.
//!
//! Needs: any bytes.  Guarantees: every instruction has a known opcode and all operands that its grammar demands.
//! rspirv's own parser isn't used: it panics on some malformed OpSpecConstantOp, and drops trailing operands of others.
use rustc_hash::FxHashMap as HashMap;
use std::fmt;
use std::ops::{Deref, Range};
use std::rc::Rc;

use rspirv::grammar::{
    INSTRUCTION_TABLE, Instruction, LogicalOperand, OperandKind, OperandQuantifier,
};
use rspirv::spirv::{self, Op};

use super::error::{Error, Feature, Framing, Invalid, Place};

/// A result of reading: errors are large, so they are boxed.
pub(crate) type Result<T> = std::result::Result<T, Box<Error>>;

/// A source line as OpLine gives it; the file is the id of an OpString.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// Words of the module that stand in a row; the module is kept as long as they are.
#[derive(Clone)]
pub(crate) struct Words {
    module: Rc<[u32]>,
    range: Range<u32>,
}

impl Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        let Range { start, end } = self.range;
        self.module.get(start as usize..end as usize).unwrap_or(&[])
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// An instruction of the module.
#[derive(Clone, Debug)]
pub(crate) struct Instr {
    pub op: Op,
    /// What it is called, and what kinds its operands are of.
    grammar: &'static Instruction<'static>,
    pub ty: Option<u32>,
    pub result: Option<u32>,
    /// All words after type and result.
    pub operands: Words,
    /// Byte offset.
    pub offset: u32,
    /// The line in force, and its text once strings are known.
    pub line: Option<Line>,
    pub source: Option<Rc<str>>,
}

impl Instr {
    /// Its name without `Op`.
    pub fn name(&self) -> &'static str {
        self.grammar.opname
    }

    /// What kinds its operands are of.
    pub fn form(&self) -> &'static [LogicalOperand] {
        self.grammar.operands
    }

    pub fn place(&self) -> Place {
        Place {
            offset: self.offset,
            name: format!("Op{}", self.name()),
            id: self.result,
            source: self.source.as_deref().map(str::to_owned),
        }
    }

    pub fn invalid(&self, what: Invalid) -> Box<Error> {
        Box::new(Error::Invalid {
            place: self.place(),
            what,
        })
    }

    pub fn unsupported(&self, feature: Feature, name: impl Into<String>) -> Box<Error> {
        Box::new(Error::Unsupported {
            place: self.place(),
            feature,
            name: name.into(),
        })
    }

    /// The header's word for the tool that wrote the module.
    pub fn generator(&self) -> u32 {
        // `read` refuses a module that is shorter than a header.
        self.operands.module[GENERATOR]
    }

    /// Operand word `index`.
    pub fn word(&self, index: usize) -> Result<u32> {
        let word = self.operands.get(index).copied();
        word.ok_or_else(|| self.invalid(Invalid::MissingOperand))
    }

    /// Operand words from `index` on.
    pub fn rest(&self, index: usize) -> &[u32] {
        self.operands.get(index..).unwrap_or(&[])
    }

    /// The result id, which the grammar says is there.
    pub fn result(&self) -> Result<u32> {
        self.result
            .ok_or_else(|| self.invalid(Invalid::MissingOperand))
    }

    /// The result type id, which the grammar says is there.
    pub fn result_type(&self) -> Result<u32> {
        self.ty.ok_or_else(|| self.invalid(Invalid::MissingOperand))
    }

    /// The string that begins at operand `index`, and the index after it.
    pub fn string(&self, index: usize) -> Result<(String, usize)> {
        let mut bytes = vec![];
        for (number, word) in self.rest(index).iter().enumerate() {
            for byte in word.to_le_bytes() {
                if byte == 0 {
                    let text = String::from_utf8(bytes);
                    let text = text.map_err(|_| self.invalid(Invalid::String))?;
                    return Ok((text, index + number + 1));
                }
                bytes.push(byte);
            }
        }
        Err(self.invalid(Invalid::String))
    }
}

const HEADER_WORDS: usize = 5;
/// Where the header has the tool that wrote the module.
const GENERATOR: usize = 2;
/// Where the header has the bound of all ids.
const BOUND: usize = 3;

/// The debug information whose lines stand beside OpLine's, as NonSemantic.Shader.DebugInfo.100 has them.
#[derive(Default)]
struct DebugInfo {
    /// The id of the instruction set, if the module imports it.
    set: Option<u32>,
    /// Constants by id: lines are given as such.
    constants: HashMap<u32, u32>,
    /// By id of a DebugSource: the OpString that names the file.
    sources: HashMap<u32, u32>,
}

impl DebugInfo {
    const NAME: &str = "NonSemantic.Shader.DebugInfo.100";
    const SOURCE: u32 = 35;
    const LINE: u32 = 103;
    const NO_LINE: u32 = 104;

    /// Takes in an instruction, and changes the line in force if it says so. What it does not understand is passed over: debug
    /// information never makes valid input fail.
    fn take(&mut self, instr: &Instr, line: &mut Option<Line>) {
        match instr.op {
            Op::ExtInstImport
                if instr
                    .string(0)
                    .is_ok_and(|(name, _)| name == DebugInfo::NAME) =>
            {
                self.set = instr.result;
            }
            Op::Constant => {
                if let (Some(id), [bits]) = (instr.result, &*instr.operands) {
                    self.constants.insert(id, *bits);
                }
            }
            Op::ExtInst => {
                let [set, number, operands @ ..] = &*instr.operands else {
                    return;
                };
                if Some(*set) != self.set {
                    return;
                }
                match (*number, operands) {
                    (DebugInfo::SOURCE, [file, ..]) => {
                        self.sources.extend(instr.result.map(|id| (id, *file)));
                    }
                    (DebugInfo::LINE, [source, first, _, column, ..]) => {
                        let constant = |id| self.constants.get(id).copied();
                        let file = self.sources.get(source).copied();
                        if let (Some(file), Some(first)) = (file, constant(first)) {
                            *line = Some(Line {
                                file,
                                line: first,
                                column: constant(column).unwrap_or(0),
                            });
                        }
                    }
                    (DebugInfo::NO_LINE, _) => *line = None,
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// Splits a module into instructions; OpLine and OpNoLine are taken in, the rest is as it stands.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<Instr>> {
    let framing = |framing| Box::new(Error::NotSpirv(framing));
    if !bytes.len().is_multiple_of(4) || bytes.len() < 4 * HEADER_WORDS {
        return Err(framing(Framing::Length(bytes.len())));
    }
    let words = words(bytes).map_err(|magic| framing(Framing::Magic(magic)))?;
    let words: Rc<[u32]> = words.into();
    let [_, major, minor, _] = words[1].to_be_bytes();
    if major != spirv::MAJOR_VERSION || minor > spirv::MINOR_VERSION {
        return Err(framing(Framing::Version(major, minor)));
    }
    let mut instructions = vec![];
    // The table is looked through from its beginning each time, and a module has few kinds of instructions.
    let mut seen: HashMap<u16, &'static Instruction<'static>> = HashMap::default();
    let mut line = None;
    let mut debug_info = DebugInfo::default();
    let mut at = HEADER_WORDS;
    while at < words.len() {
        let offset = 4 * at as u32;
        let count = (words[at] >> 16) as usize;
        let opcode = words[at] as u16;
        if count == 0 || at + count > words.len() {
            return Err(framing(Framing::WordCount(offset)));
        }
        let grammar = match seen.get(&opcode) {
            Some(grammar) => *grammar,
            None => {
                let found = INSTRUCTION_TABLE.lookup_opcode(opcode.into());
                let found = found.ok_or_else(|| framing(Framing::Opcode(offset, opcode)))?;
                seen.insert(opcode, found);
                found
            }
        };
        let end = at + count;
        let mut operands = &words[at + 1..end];
        let mut instr = Instr {
            op: grammar.opcode,
            grammar,
            ty: None,
            result: None,
            operands: Words {
                module: words.clone(),
                range: end as u32..end as u32,
            },
            offset,
            line,
            source: None,
        };
        let mut needed = 0;
        for logical in grammar.operands {
            match logical.kind {
                OperandKind::IdResultType | OperandKind::IdResult => {
                    let (first, rest) = operands
                        .split_first()
                        .ok_or_else(|| instr.invalid(Invalid::MissingOperand))?;
                    operands = rest;
                    if logical.kind == OperandKind::IdResult {
                        if *first >= words[BOUND] {
                            return Err(instr.invalid(Invalid::Bound(*first, words[BOUND])));
                        }
                        instr.result = Some(*first);
                    } else {
                        instr.ty = Some(*first);
                    }
                }
                _ => needed += usize::from(logical.quantifier == OperandQuantifier::One),
            }
        }
        if operands.len() < needed {
            return Err(instr.invalid(Invalid::MissingOperand));
        }
        instr.operands.range.start -= operands.len() as u32;
        at = end;
        match instr.op {
            Op::Line => {
                line = Some(Line {
                    file: instr.word(0)?,
                    line: instr.word(1)?,
                    column: instr.word(2)?,
                });
            }
            Op::NoLine => line = None,
            _ => {
                // A line holds to the end of its block at most.
                if is_terminator(instr.op) || instr.op == Op::FunctionEnd {
                    line = None;
                }
                debug_info.take(&instr, &mut line);
                instructions.push(instr);
            }
        }
    }
    Ok(instructions)
}

/// The words in this machine's order, or the first word if it isn't the magic number in either.
fn words(bytes: &[u8]) -> std::result::Result<Vec<u32>, u32> {
    let chunks = || {
        bytes
            .chunks_exact(4)
            .map(|word| [word[0], word[1], word[2], word[3]])
    };
    let little: Vec<u32> = chunks().map(u32::from_le_bytes).collect();
    match little.first() {
        Some(&spirv::MAGIC_NUMBER) => Ok(little),
        Some(word) if word.swap_bytes() == spirv::MAGIC_NUMBER => {
            Ok(chunks().map(u32::from_be_bytes).collect())
        }
        first => Err(first.copied().unwrap_or(0)),
    }
}

/// Whether an instruction ends a block.
pub(crate) fn is_terminator(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Kill
            | Op::Unreachable
            | Op::TerminateInvocation
            | Op::IgnoreIntersectionKHR
            | Op::TerminateRayKHR
            | Op::EmitMeshTasksEXT
    )
}

//! Explanations: finds what the tables know by the names that people write, and prints it.
//!
//! Guarantees: every name of [`names`] is found; a word never makes it panic.  Never: knows what a command line is.
//!
//! ```
//! use eitri_isa::explain::find;
//!
//! let text = find("lane_id").map(|topic| topic.to_string());
//! assert_eq!(text.as_deref(), Some("lane_id: special value 1 of page 3, 64 bits, v9-v14\n"));
//! assert!(find("fadd.f32").is_some());
//! ```

use core::fmt;

use crate::arch::Arch;
use crate::describe::{Bits, What};
use crate::error::DecodeError;
use crate::field::{Field, Words};
use crate::flow::Flow;
use crate::instr::Instr;
use crate::op::Op;
use crate::row::{Access, Kind, Layout, Row};
use crate::source::Src;
use crate::special::{Special, SpecialRow};
use crate::syntax::Syntax;

/// Something that the tables know.
#[derive(Clone, Copy, Debug)]
pub enum Topic {
    /// An instruction.
    Instruction(&'static Row),
    /// All instructions of a mnemonic, whatever their types.
    Mnemonic(&'static str),
    /// A special value.
    Special(&'static SpecialRow),
    /// A value of flow control.
    Flow(Flow),
    /// A word, on a generation, and the instruction that it is.
    Word(u64, Arch, Instr),
}

/// The name of a row up to its type.
fn base(row: &'static Row) -> &'static str {
    row.name.split_once('.').map_or(row.name, |(base, _)| base)
}

/// The names by which something is found. To suggest the nearest from.
pub fn names() -> impl Iterator<Item = &'static str> {
    let instructions = Op::ALL.iter().map(|op| op.name());
    let bases = Op::ALL.iter().map(|op| base(op.row()));
    let specials = Special::ALL.iter().map(|row| row.name);
    let flows = Flow::ALL.iter().skip(1).map(|(_, word, _)| *word);
    instructions.chain(bases).chain(specials).chain(flows)
}

/// What `name` names, in upper or lower case: an instruction with or without its type (in either dialect), a special
/// value, a word of flow control.
pub fn find(name: &str) -> Option<Topic> {
    let same = |other: &str| other.eq_ignore_ascii_case(name);
    if let Some(op) = Op::from_name(name) {
        return Some(Topic::Instruction(op.row()));
    }
    let rows = || Op::ALL.iter().map(|op| op.row());
    if let Some(row) = rows().find(|row| row.mesa26.is_some_and(same)) {
        return Some(Topic::Instruction(row));
    }
    if let Some(row) = rows().find(|row| same(base(row))) {
        return Some(Topic::Mnemonic(base(row)));
    }
    if let Some(row) = const { &Special::ALL }.iter().find(|row| same(row.name)) {
        return Some(Topic::Special(row));
    }
    Flow::ALL
        .iter()
        .skip(1)
        .find(|(_, word, _)| same(word))
        .map(|(flow, _, _)| Topic::Flow(*flow))
}

/// What a word is.
///
/// # Errors
/// As [`Instr::decode`].
pub fn find_word(word: u64, arch: Arch) -> Result<Topic, DecodeError> {
    Ok(Topic::Word(word, arch, Instr::decode(word, arch)?))
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Instruction(row) => {
                heading(f, row)?;
                row.bits().try_for_each(|bits| line(f, row, &bits, None))
            }
            Self::Mnemonic(name) => {
                let rows = || {
                    Op::ALL
                        .iter()
                        .map(|op| op.row())
                        .filter(|row| base(row) == name)
                };
                writeln!(f, "{name}: {}", rows().next().map_or("", Row::meaning))?;
                rows().try_for_each(|row| writeln!(f, "  {} ({})", row.name, row.archs))
            }
            Self::Special(row) => {
                writeln!(
                    f,
                    "{}: special value {} of page {}, 64 bits, {}",
                    row.name, row.index, row.page, row.archs
                )
            }
            Self::Flow(flow) => {
                write!(
                    f,
                    "{}: flow control {}, {}",
                    flow.word(),
                    flow as u8,
                    flow.archs()
                )?;
                let slots = flow.waits_for();
                if slots != 0 {
                    f.write_str("; waits for slots")?;
                    (0..8)
                        .filter(|slot| slots & (1 << slot) != 0)
                        .try_for_each(|slot| write!(f, " {slot}"))?;
                }
                writeln!(f)
            }
            Self::Word(word, arch, ref instr) => {
                writeln!(f, "{word:016x}: {}", instr.display(arch, Syntax::Mesa24))?;
                let row = instr.row();
                heading(f, row)?;
                row.bits()
                    .try_for_each(|bits| line(f, row, &bits, Some((word, instr))))
            }
        }
    }
}

fn heading(f: &mut fmt::Formatter<'_>, row: &'static Row) -> fmt::Result {
    writeln!(f, "{}: {}", row.name, row.meaning())?;
    write!(f, "  {}; unit {}", row.archs, row.unit)?;
    if row.kind.is_message() {
        write!(f, "; message ({:?})", row.kind)?;
    }
    if row.kind == Kind::CrossLane {
        f.write_str("; reads other lanes")?;
    }
    if row.mesa26 != Some(row.name) {
        write!(
            f,
            "; {} in the text of Mesa 26.2",
            row.mesa26.unwrap_or("unknown")
        )?;
    }
    writeln!(
        f,
        "{}",
        match row.layout {
            Layout::Full => "",
            Layout::Partial => "; other fields may exist",
            Layout::OpcodeOnly => "; only the opcode is known",
        }
    )
}

/// One part of the word: bits, what they are, legal values; of a given word, also what they hold.
fn line(
    f: &mut fmt::Formatter<'_>,
    row: &'static Row,
    bits: &Bits,
    word: Option<(u64, &Instr)>,
) -> fmt::Result {
    let Bits { pos, width, .. } = *bits;
    match width {
        1 => write!(f, "  {pos:>2}      ")?,
        _ => write!(f, "  {pos:>2}..{:<2}  ", pos + width - 1)?,
    }
    match bits.what {
        What::Fixed(value) => write!(f, "must be {value:#x}")?,
        What::Flow => f.write_str("flow control")?,
        What::Page => f.write_str("page of uniforms and special values")?,
        What::Opcode(value) => write!(f, "opcode {value:#x}")?,
        What::Dest => f.write_str("destination")?,
        What::DestMask => f.write_str("written halves of the destination: 1 h0, 2 h1, 3 all")?,
        What::StagingFirst(access) => write!(f, "first register {}", verb(access))?,
        What::StagingCount { access, bias: 0 } => {
            write!(f, "number of registers {}", verb(access))?
        }
        What::StagingCount { access, bias } => {
            write!(f, "number of registers {}, less {bias}", verb(access))?
        }
        What::Direction(value) => write!(f, "direction of the registers: {value}")?,
        What::Source(index) => {
            let size = row
                .sources
                .get(usize::from(index))
                .map_or(0, |source| source.size);
            write!(f, "source {} ({size} bits)", letter(index))?;
        }
        What::Neg(index) => write!(f, "source {}: neg", letter(index))?,
        What::Abs(index) => write!(f, "source {}: abs", letter(index))?,
        What::Not(index) => write!(f, "source {}: not", letter(index))?,
        What::Select(index, select) => {
            write!(f, "source {}: {}:", letter(index), select.table.name)?;
            for row in select.table.rows {
                write!(f, " {} {}", row.value, or_nothing(row.mesa24))?;
            }
        }
        What::Field(field) => modifier(f, field)?,
        What::Immediate(immediate) => {
            let (least, greatest) = immediate.range();
            write!(
                f,
                "immediate {}, {least} to {greatest}",
                immediate.id.name()
            )?;
        }
    }
    if let Some((word, instr)) = word {
        held(f, bits, word, instr)?;
    }
    writeln!(f)
}

/// What the bits hold in a word.
fn held(f: &mut fmt::Formatter<'_>, bits: &Bits, word: u64, instr: &Instr) -> fmt::Result {
    let value = (word >> bits.pos) & (u64::MAX >> (64 - bits.width));
    match bits.what {
        What::Fixed(_) | What::Opcode(_) | What::Direction(_) => Ok(()),
        What::Flow => write!(f, " = {value} {}", instr.flow.word()),
        What::Field(field) => {
            let text = field.word(field.extract(word)).map_or("", |word| word.text);
            write!(f, " = {value} {text}")
        }
        What::Immediate(immediate) => write!(f, " = {}", immediate.extract(word)),
        What::Source(index) => {
            let operand = instr
                .source(usize::from(index))
                .map(|Src { operand, .. }| operand);
            write!(f, " = {value:#x}")?;
            operand.map_or(Ok(()), |operand| write!(f, " {operand}"))
        }
        _ => write!(f, " = {value}"),
    }
}

fn modifier(f: &mut fmt::Formatter<'_>, field: &Field) -> fmt::Result {
    match field.words {
        Words::Flag(word) => write!(f, "flag {word}")?,
        Words::Enum { words, default } => {
            write!(f, "{}:", field.name)?;
            for word in words
                .iter()
                .filter(|word| field.allowed & (1 << word.value) != 0)
            {
                let mark = if default == Some(word.value) {
                    " (default)"
                } else {
                    ""
                };
                write!(f, " {} {}{mark}", word.value, or_nothing(word.text))?;
            }
        }
    }
    if field.note.is_empty() {
        Ok(())
    } else {
        write!(f, " [{}]", field.note)
    }
}

/// What stands for a value that prints nothing.
const fn or_nothing(word: &str) -> &str {
    if word.is_empty() { "-" } else { word }
}

const fn verb(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "written",
    }
}

/// Sources go by letters in sentences.
const fn letter(index: u8) -> char {
    (b'A' + index) as char
}

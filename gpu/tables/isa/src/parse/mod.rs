//! From text to an instruction: the assembler.
//!
//! Guarantees: what the printer writes is read back as the same instruction, unless the dialect does not say all (see [`Syntax`]).
//! Every error has the span of text that it is about. Facts: hardware/valhall-isa.md sections 7 and 19.

mod error;
mod head;
mod number;
mod operand;

pub use error::{Expected, ParseError, ParseErrorKind, Span};

use crate::arch::Arch;
use crate::error::{EncodeError, Part, Rule};
use crate::field::ImmId;
use crate::instr::{Instr, MAX_SOURCES};
use crate::row::{Access, DestKind, Row};
use crate::syntax::Syntax;

/// A piece of the line, with where it starts.
#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    start: usize,
}

impl<'a> Token<'a> {
    /// Without the blanks around it.
    fn trim(self) -> Self {
        let text = self.text.trim_start();
        Self {
            start: self.start + (self.text.len() - text.len()),
            text: text.trim_end(),
        }
    }

    /// What is before and after the first `separator`.
    fn split_once(self, separator: char) -> Option<(Self, Self)> {
        let at = self.text.find(separator)?;
        Some((self.until(at), self.from(at + separator.len_utf8())))
    }

    fn until(self, end: usize) -> Self {
        Self {
            text: &self.text[..end],
            ..self
        }
    }

    fn from(self, start: usize) -> Self {
        Self {
            text: &self.text[start..],
            start: self.start + start,
        }
    }

    /// Its pieces between the separators.
    fn split(self, separator: char) -> impl Iterator<Item = Self> + use<'a> {
        let mut rest = Some(self);
        core::iter::from_fn(move || {
            let token = rest?;
            let (piece, after) = match token.split_once(separator) {
                Some((piece, after)) => (piece, Some(after)),
                None => (token, None),
            };
            rest = after;
            Some(piece)
        })
    }

    fn span(self) -> Span {
        Span {
            start: self.start,
            end: self.start + self.text.len(),
        }
    }

    fn error(self, kind: ParseErrorKind) -> ParseError {
        ParseError {
            span: self.span(),
            kind,
        }
    }
}

/// Where the parts of a line stand, for errors that are found when the whole is encoded.
struct Places {
    line: Span,
    mnemonic: Span,
    dest: Span,
    read: Span,
    write: Span,
    sources: [Span; MAX_SOURCES],
    immediates: Span,
}

impl Places {
    fn of_part(&self, part: Part) -> Span {
        match part {
            Part::Destination => self.dest,
            Part::StagingRead => self.read,
            Part::StagingWrite => self.write,
            Part::Source(index) => self
                .sources
                .get(usize::from(index))
                .copied()
                .unwrap_or(self.line),
            Part::Immediate(_) => self.immediates,
            Part::Modifier(_) | Part::Field(_) => self.mnemonic,
        }
    }

    fn of(&self, error: &EncodeError, instr: &Instr) -> Span {
        match *error {
            EncodeError::Missing { part, .. } | EncodeError::NoSuch { part, .. } => {
                self.of_part(part)
            }
            EncodeError::SourceModifier { source_index, .. } => {
                self.of_part(Part::Source(source_index))
            }
            EncodeError::Immediate { .. } => self.immediates,
            EncodeError::NoValue { .. } => self.mnemonic,
            EncodeError::Rule(rule) => match rule {
                Rule::NoSuchInstruction { .. }
                | Rule::NoHardware { .. }
                | Rule::FieldValue { .. }
                | Rule::CompareWithoutExchange { .. }
                | Rule::Flow { .. } => self.mnemonic,
                Rule::SelectValue { source_index, .. }
                | Rule::OddSource { source_index, .. }
                | Rule::RegistersOnly { source_index, .. } => {
                    self.of_part(Part::Source(source_index))
                }
                Rule::OddDestination { .. } | Rule::DestinationMask { .. } => self.dest,
                Rule::OddRange { first, count, .. } | Rule::RangeCount { first, count, .. } => {
                    let is_read = instr.read.is_some_and(|range| {
                        (range.first().index(), range.count()) == (first, count)
                    });
                    if is_read { self.read } else { self.write }
                }
                Rule::CheckedWidth { .. } => match instr.read {
                    Some(_) => self.read,
                    None => self.write,
                },
                Rule::Misaligned { .. } | Rule::ImmediateValue { .. } => self.immediates,
                Rule::SpecialValue { .. }
                | Rule::TwoPages { .. }
                | Rule::TooManyConstants { .. }
                | Rule::TooManySlots { .. } => {
                    let given = self.sources.iter().filter(|span| span.end > span.start);
                    given
                        .copied()
                        .reduce(|all, span| Span {
                            end: span.end,
                            ..all
                        })
                        .unwrap_or(self.line)
                }
            },
        }
    }
}

impl Instr {
    /// Reads one instruction.
    ///
    /// # Errors
    /// If the line is no instruction of the dialect and the generation. The error has the span of bytes that it is about.
    pub fn parse(line: &str, arch: Arch, syntax: Syntax) -> Result<Self, ParseError> {
        let line = assemble(line, arch, syntax)?;
        line.refusal.map_or(Ok(line.instr), Err)
    }

    /// Reads one instruction and gives its word.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn assemble(line: &str, arch: Arch, syntax: Syntax) -> Result<u64, ParseError> {
        let line = assemble(line, arch, syntax)?;
        line.refusal.map_or(Ok(line.word), Err)
    }

    /// The same for all that text can say: the word, and why the hardware of `arch` refuses it, if it does.
    ///
    /// # Errors
    /// If the line is no instruction of the dialect and the generation.
    pub fn assemble_text(
        line: &str,
        arch: Arch,
        syntax: Syntax,
    ) -> Result<(u64, Option<ParseError>), ParseError> {
        assemble(line, arch, syntax).map(|line| (line.word, line.refusal))
    }
}

/// A line that was read.
struct Line {
    instr: Instr,
    word: u64,
    /// Why the hardware refuses it, if it does.
    refusal: Option<ParseError>,
}

fn assemble(line: &str, arch: Arch, syntax: Syntax) -> Result<Line, ParseError> {
    let whole = Token {
        text: line,
        start: 0,
    }
    .trim();
    if whole.text.is_empty() {
        return Err(whole.error(ParseErrorKind::Empty));
    }
    let (head, rest) = match whole.text.find(char::is_whitespace) {
        Some(at) => (whole.until(at), whole.from(at)),
        None => (whole, whole.from(whole.text.len())),
    };
    let mut instr = head::parse(head, syntax)?;
    let mut places = Places {
        line: whole.span(),
        mnemonic: head.span(),
        dest: whole.span(),
        read: whole.span(),
        write: whole.span(),
        sources: [Span::default(); MAX_SOURCES],
        immediates: whole.span(),
    };
    operands(&mut instr, &mut places, whole, rest, arch, syntax)?;
    let refused = |error: EncodeError| ParseError {
        span: places.of(&error, &instr),
        kind: ParseErrorKind::Encode(error),
    };
    let word = instr.encode_text(arch).map_err(refused)?;
    let refusal = instr.check(arch).err();
    let refusal = refusal.map(|rule| refused(rule.into()));
    Ok(Line {
        instr,
        word,
        refusal,
    })
}

/// How many operands the text of a row has.
fn operand_count(row: &Row) -> usize {
    let dest = usize::from(row.dest != DestKind::None);
    row.staging.len() + dest + row.sources.len() + row.immediates.len()
}

fn operands(
    instr: &mut Instr,
    places: &mut Places,
    whole: Token<'_>,
    rest: Token<'_>,
    arch: Arch,
    syntax: Syntax,
) -> Result<(), ParseError> {
    let row = instr.row();
    let items = || {
        rest.split(',')
            .map(Token::trim)
            .filter(|item| !item.text.is_empty())
    };
    let (expected, found) = (operand_count(row), items().count());
    if found != expected {
        // Points at the first operand too many, or at the whole line if some are missing.
        let at = items().nth(expected).unwrap_or(whole);
        return Err(at.error(ParseErrorKind::OperandCount {
            expected: expected as u8,
            found,
        }));
    }
    let mut items = items();
    let mut next = || items.next().unwrap_or(whole);
    for spec in row.staging {
        let item = next();
        let range = Some(operand::staging(item)?);
        match spec.access {
            Access::Read => (instr.read, places.read) = (range, item.span()),
            Access::Write => (instr.write, places.write) = (range, item.span()),
        }
    }
    if row.dest != DestKind::None {
        let item = next();
        instr.dest = Some(operand::dest(item, row.dest, syntax)?);
        places.dest = item.span();
    }
    for (index, spec) in row.sources.iter().enumerate() {
        let item = next();
        instr.sources[index] = Some(operand::source(item, instr, index, spec, arch, syntax)?);
        places.sources[index] = item.span();
    }
    for immediate in row.immediates {
        let item = next();
        let wrong = item.error(ParseErrorKind::Expected(Expected::Immediate(immediate.id)));
        let text = match immediate.id {
            ImmId::Constant => item
                .text
                .strip_prefix('#')
                .map(|rest| item.from(item.text.len() - rest.len())),
            id => item
                .split_once(':')
                .filter(|(name, _)| name.text == id.name())
                .map(|(_, value)| value),
        };
        let value = text.ok_or(wrong)?;
        let (least, greatest) = immediate.range();
        let number = number::parse(value, least, greatest)?;
        instr
            .set_imm(immediate.id, number)
            .map_err(|error| value.error(ParseErrorKind::Encode(error)))?;
        places.immediates = item.span();
    }
    Ok(())
}

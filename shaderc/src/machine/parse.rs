//! Reads the text that `print` writes, and runs passes on it. Used by tests and by nothing else.
//!
//! `;` begins a comment. Blocks must be numbered from 0 in order. A comment `expect: …` names what the line becomes.

use super::function::{Block, BlockId, Function, Phi, Preload, Terminator, Value, Word};
use super::interface::{Class, Instruction, Machine, Reads, WordOf, WordsOf};

/// What was wrong with a line of text.
#[derive(Debug)]
pub(crate) struct ParseError {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// A machine whose text can be read.
pub(crate) trait Text: Machine {
    /// Its classes, the usual one first.
    const CLASSES: &[Self::Class];

    /// The register of that name.
    fn register(text: &str) -> Option<Self::Register>;

    /// What a phi chooses.
    fn operand(text: &str) -> Option<Self::Operand>;

    /// What a branch asks.
    fn condition(text: &str) -> Option<Self::Condition>;

    /// An instruction; `classes` are those of the values, if they were listed.
    fn instr(code: &str, classes: &[Self::Class]) -> Option<Self::Instr>;

    /// Takes in a line before the code; none if it is something else.
    fn extra(extra: &mut Self::Extra, code: &str) -> Option<()>;
}

impl<M: Text> Function<M> {
    /// Parses machine IR.
    pub(crate) fn parse(text: &str) -> Result<Function<M>, ParseError> {
        let mut function = Function::default();
        for (number, line) in text.lines().enumerate() {
            let code = line.split(';').next().unwrap_or_default().trim();
            if !code.is_empty() {
                parse_line(&mut function, code).ok_or_else(|| ParseError {
                    line: number + 1,
                    text: line.to_owned(),
                })?;
            }
        }
        let count = count_values(&function).max(function.values.len());
        function.values.resize(count, M::CLASSES[0]);
        Ok(function)
    }
}

/// Parses a text that is right.
#[track_caller]
pub(crate) fn read<M: Text>(text: &str) -> Function<M> {
    Function::parse(text).unwrap_or_else(|error| panic!("line {}: {}", error.line, error.text))
}

/// Runs passes on a text and compares what each line became.
#[track_caller]
pub(crate) fn check<M: Text>(text: &str, passes: impl FnOnce(&mut Function<M>)) {
    let mut function = read(text);
    passes(&mut function);
    expect(text, &function.to_string());
}

/// Of each line that has `; expect:` the text after the mark must be in what is printed, in this order.
#[track_caller]
pub(crate) fn expect(text: &str, printed: &str) {
    let mut rest = printed;
    for line in text.lines() {
        let Some((_, expected)) = line.split_once("; expect:") else {
            continue;
        };
        let expected = expected.trim();
        let at = rest
            .find(expected)
            .unwrap_or_else(|| panic!("`{expected}` is not, or not in order, in\n{printed}"));
        rest = &rest[at + expected.len()..];
    }
}

/// The text with `%` for each value, whatever its number.
pub(crate) fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(next) = chars.next() {
        out.push(next);
        while next == '%' && chars.next_if(char::is_ascii_digit).is_some() {}
    }
    out
}

/// One more than the highest value named.
fn count_values<M: Machine>(function: &Function<M>) -> usize {
    let mut highest = None;
    let mut see = |value: Option<Value>| highest = highest.max(value.map(|value| value.0));
    for preload in &function.preloads {
        see(preload.dest.value());
    }
    for block in &function.blocks {
        for phi in &block.phis {
            see(Some(phi.dest));
            phi.sources
                .iter()
                .flat_map(|(_, operand)| operand.words())
                .for_each(|word| see(word.value()));
        }
        for instr in &block.instrs {
            instr
                .read_values()
                .chain(instr.written_values())
                .for_each(|value| see(Some(value)));
        }
        see(block.terminator.read().and_then(Word::value));
    }
    highest.map_or(0, |number| number as usize + 1)
}

/// The values that a line lists, if it begins with the name of a class.
fn parse_class<M: Text>(function: &mut Function<M>, code: &str) -> Option<()> {
    let (name, values) = code.split_once(' ')?;
    let class = M::CLASSES.iter().find(|class| class.name() == Some(name))?;
    for value in values.split(' ') {
        let value = parse_word::<M>(value)?.value()?;
        let count = function.values.len().max(value.index() + 1);
        function.values.resize(count, M::CLASSES[0]);
        function.values[value.index()] = *class;
    }
    Some(())
}

fn parse_line<M: Text>(function: &mut Function<M>, code: &str) -> Option<()> {
    if let Some(rest) = code.strip_prefix("preload ") {
        let (dest, register) = rest.split_once(" = ")?;
        let Word::Register(register) = parse_word::<M>(register)? else {
            return None;
        };
        function.preloads.push(Preload {
            dest: parse_word::<M>(dest)?,
            register,
        });
        return Some(());
    }
    if function.blocks.is_empty() {
        let extra = M::extra(&mut function.extra, code);
        if extra.or_else(|| parse_class(function, code)).is_some() {
            return Some(());
        }
    }
    if let Some(label) = code.strip_suffix(':') {
        let id = parse_block(label)?;
        (id.index() == function.blocks.len()).then_some(())?;
        function.blocks.push(Block::new(Terminator::End));
        return Some(());
    }
    let classes = &function.values;
    let block = function.blocks.last_mut()?;
    // A back end may have an instruction of one of these names.
    if code == "end" {
        block.terminator = Terminator::End;
    } else if let Some(to) = code.strip_prefix("jump ").and_then(parse_block) {
        block.terminator = Terminator::Jump(to);
    } else if let Some(rest) = code.strip_prefix("branch ") {
        let [condition, taken, otherwise] = split(rest).try_into().ok()?;
        block.terminator = Terminator::Branch {
            condition: M::condition(&condition)?,
            taken: parse_block(&taken)?,
            otherwise: parse_block(&otherwise)?,
        };
    } else if let Some((dest, rest)) = code.split_once(" = phi ") {
        let sources = split(rest)
            .iter()
            .map(|item| {
                let (from, operand) = item.split_once(' ')?;
                Some((parse_block(from)?, M::operand(operand)?))
            })
            .collect::<Option<Vec<_>>>()?;
        block.phis.push(Phi {
            dest: parse_word::<M>(dest)?.value()?,
            sources,
        });
    } else {
        block.instrs.push(M::instr(code, classes)?);
    }
    Some(())
}

/// The parts of a list.
pub(crate) fn split(text: &str) -> Vec<String> {
    text.split(',')
        .map(|item| item.trim().to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}

/// A number in decimal, or in hexadecimal after `0x`.
pub(crate) fn parse_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

pub(crate) fn parse_block(text: &str) -> Option<BlockId> {
    text.trim().strip_prefix('b')?.parse().ok().map(BlockId)
}

/// A value or a register.
pub(crate) fn parse_word<M: Text>(text: &str) -> Option<WordOf<M>> {
    let text = text.trim();
    if let Some(number) = text.strip_prefix('%') {
        return number.parse().ok().map(|number| Word::Value(Value(number)));
    }
    M::register(text).map(Word::Register)
}

/// Words joined by `:`.
pub(crate) fn parse_run<M: Text>(text: &str) -> Option<WordsOf<M>> {
    text.split(':').map(parse_word::<M>).collect()
}

/// A pair of words in brackets.
pub(crate) fn parse_pair<M: Text>(text: &str) -> Option<(WordOf<M>, WordOf<M>)> {
    let words = parse_run::<M>(text.strip_prefix('[')?.strip_suffix(']')?)?;
    match words.as_slice() {
        &[low, high] => Some((low, high)),
        _ => None,
    }
}

//! Reads the text that `print` writes. Used by tests and by nothing else, so it lives under `cfg(test)`.
//!
//! `;` begins a comment. Blocks must be numbered from 0 in order.

#![cfg(test)]

use super::instr::{Instr, Words};
use super::machine::{Valhall, WordClass};
use super::modifier::{Flow, Modifier};
use super::op::Op;
use super::operand::{Half, Operand, Register, Source, Space, Special, Word};
use super::{Block, BlockId, FauWord, Function, Phi, Preload, Terminator, Value};
use crate::machine::{self, Instruction as _};
use eitri_isa::Select;

/// What was wrong with a line of text.
#[derive(Debug)]
pub(crate) struct ParseError {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl machine::Function<Valhall> {
    /// Parses machine IR.
    pub(crate) fn parse(text: &str) -> Result<Function, ParseError> {
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
        function.values = vec![WordClass; count_values(&function)];
        Ok(function)
    }
}

/// One more than the highest value named.
fn count_values(function: &Function) -> usize {
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

fn parse_line(function: &mut Function, code: &str) -> Option<()> {
    if let Some(rest) = code.strip_prefix("preload ") {
        let (dest, register) = rest.split_once(" = ")?;
        let Word::Register(register) = parse_word(register)? else {
            return None;
        };
        function.preloads.push(Preload {
            dest: parse_word(dest)?,
            register,
        });
        return Some(());
    }
    if let Some(rest) = code.strip_prefix("fau ") {
        let (_, what) = rest.split_once(" = ")?;
        function.extra.fau.push(FauWord::parse(what)?);
        return Some(());
    }
    if let Some(label) = code.strip_suffix(':') {
        let id = parse_block(label)?;
        (id.index() == function.blocks.len()).then_some(())?;
        function.blocks.push(Block::new(Terminator::End));
        return Some(());
    }
    let block = function.blocks.last_mut()?;
    if code == "end" {
        block.terminator = Terminator::End;
    } else if let Some(to) = code.strip_prefix("jump ") {
        block.terminator = Terminator::Jump(parse_block(to)?);
    } else if let Some(rest) = code.strip_prefix("branch ") {
        let [condition, taken, otherwise] = split(rest).try_into().ok()?;
        block.terminator = Terminator::Branch {
            condition: parse_source(&condition)?,
            taken: parse_block(&taken)?,
            otherwise: parse_block(&otherwise)?,
        };
    } else if let Some((dest, rest)) = code.split_once(" = phi ") {
        let sources = split(rest)
            .iter()
            .map(|item| {
                let (from, operand) = item.split_once(' ')?;
                Some((parse_block(from)?, parse_source(operand)?.operand))
            })
            .collect::<Option<Vec<_>>>()?;
        block.phis.push(Phi {
            dest: parse_word(dest)?.value()?,
            sources,
        });
    } else {
        block.instrs.push(parse_instr(code)?);
    }
    Some(())
}

fn split(text: &str) -> Vec<String> {
    text.split(',')
        .map(|item| item.trim().to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}

fn parse_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn parse_block(text: &str) -> Option<BlockId> {
    text.trim().strip_prefix('b')?.parse().ok().map(BlockId)
}

fn parse_word(text: &str) -> Option<Word> {
    let text = text.trim();
    if let Some(number) = text.strip_prefix('%') {
        return number.parse().ok().map(|number| Word::Value(Value(number)));
    }
    Register::new(text.strip_prefix('r')?.parse().ok()?).map(Word::Register)
}

fn parse_run(text: &str) -> Option<Words> {
    text.split(':').map(parse_word).collect()
}

fn parse_operand(text: &str) -> Option<Operand> {
    if let Some(special) = Special::ALL
        .into_iter()
        .find(|special| special.name() == text)
    {
        return Some(Operand::Special(special, Half::Low));
    }
    if let Some(pair) = text.strip_prefix('[') {
        let words = parse_run(pair.strip_suffix(']')?)?;
        let &[low, high] = words.as_slice() else {
            return None;
        };
        return Some(Operand::Pair(low, high));
    }
    if let Some(bits) = text.strip_prefix('#') {
        return parse_number(bits).map(Operand::Constant);
    }
    if let Some(word) = text.strip_prefix('u') {
        return word.parse().ok().map(Operand::Fau);
    }
    if let Some(entry) = text.strip_prefix('t') {
        return entry.parse().ok().map(Operand::Table);
    }
    parse_word(text).map(Operand::Word)
}

fn parse_source(text: &str) -> Option<Source> {
    let (text, last) = text
        .strip_prefix('^')
        .map_or((text, false), |rest| (rest, true));
    let mut parts = text.split('.');
    let mut source = Source {
        last,
        ..Source::plain(parse_operand(parts.next()?)?)
    };
    for part in parts {
        match part {
            "neg" => source.neg = true,
            "abs" => source.abs = true,
            "not" => source.not = true,
            "high" => {
                let Operand::Special(special, _) = source.operand else {
                    return None;
                };
                source.operand = Operand::Special(special, Half::High);
            }
            _ => source.select = parse_select(part)?,
        }
    }
    Some(source)
}

fn parse_select(word: &str) -> Option<Select> {
    use Select::{B0, B1, B2, B3, H0, H1, W0};
    let known = [H0, H1, B0, B1, B2, B3, W0];
    known
        .into_iter()
        .find(|select| format!("{select:?}").eq_ignore_ascii_case(word))
}

fn parse_flow(word: &str) -> Option<Flow> {
    let waits = [0b1100_0111, 0b0100_0111]
        .into_iter()
        .chain(1..=7)
        .map(Flow::Wait);
    waits
        .chain([Flow::Reconverge, Flow::End])
        .find(|flow| flow.isa().word() == word)
}

fn parse_instr(code: &str) -> Option<Instr> {
    let (dests, rest) = match code.split_once(" = ") {
        Some((dests, rest)) => (parse_run(dests)?, rest),
        None => (Words::new(), code),
    };
    let (head, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    let fits = |op: &&Op| {
        head.strip_prefix(op.mnemonic())
            .is_some_and(|tail| tail.is_empty() || tail.starts_with('.'))
    };
    let op = *Op::ALL
        .iter()
        .filter(fits)
        .max_by_key(|op| op.mnemonic().len())?;
    let mut instr = Instr {
        dests,
        ..Instr::new(op)
    };
    for word in head[op.mnemonic().len()..]
        .split('.')
        .filter(|word| !word.is_empty())
    {
        match parse_flow(word) {
            Some(flow) => instr.flow = flow,
            None => instr.add_modifier(Modifier::from_text(word)?),
        }
    }
    for item in split(operands) {
        if let Some(run) = item.strip_prefix('@') {
            instr.staging = parse_run(run)?;
        } else if let Some(value) = item.strip_prefix("imm:") {
            instr.immediate = Some(value.parse().ok()?);
        } else if let Some(block) = item.strip_prefix("to:") {
            instr.target = Some(parse_block(block)?);
        } else if let Some(name) = item.strip_prefix("space:") {
            instr.space = Some(Space::ALL.into_iter().find(|space| space.name() == name)?);
        } else if item == "volatile" {
            instr.volatile = true;
        } else if let Some(slot) = item.strip_prefix("slot:") {
            instr.slot = Some(slot.parse().ok()?);
        } else {
            instr.sources.push(parse_source(&item)?);
        }
    }
    Some(instr)
}

#[test]
fn text_survives_printing_and_parsing() {
    let text = "\
fau u0 = push 4
fau u1 = constant 0x7
preload %0 = r60
b0:
  %1:%2 = LEA_PKA %0, #0x1000000
  %3 = FADD.f32.clamp_0_1 %0.neg.abs.h0, u1
  STORE.i32.wait01 @%3, [%1:%2], imm:-4, space:buffer, volatile, slot:2
  branch %3.h0, b1, b2
b1:
  jump b2
b2:
  %4 = phi b0 %3, b1 t0
  STORE.i64 @%4:%4, thread_local_pointer, imm:8, space:spill
  r3 = IADD_IMM.i32.end ^r2, imm:1
  end
";
    let function =
        Function::parse(text).unwrap_or_else(|error| panic!("line {}: {}", error.line, error.text));
    assert_eq!(function.to_string(), text);
    assert_eq!(function.values.len(), 5);
}

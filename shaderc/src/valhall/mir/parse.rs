//! Reads the text that `print` writes: what of it is this machine's. Used by tests and by nothing else.

#![cfg(test)]

use super::Function;
use super::instr::{Instr, Words};
use super::machine::Valhall;
use super::modifier::{Flow, Modifier};
use super::op::Op;
use super::operand::{Half, Operand, Register, Source, Space, Special};
use super::part::{Part, Width};
use super::{FauWord, UniformWork};
use crate::machine::parse::{
    Text, parse_block, parse_number, parse_pair, parse_run, parse_word, split,
};
use eitri_isa::Select;

impl Text for Valhall {
    const CLASSES: &[Width] = &[Width::Word, Width::Half, Width::Byte];

    fn register(text: &str) -> Option<Register> {
        let text = text.strip_prefix('r')?;
        let parts = [Width::Half, Width::Byte].into_iter();
        let named = parts.flat_map(Part::of_width).find_map(|part| {
            let number = text.strip_suffix(&part.to_string())?;
            Some((number, part))
        });
        let (number, part) = named.unwrap_or((text, Part::WHOLE));
        Some(Register::new(number.parse().ok()?)?.part_of(part))
    }

    fn operand(text: &str) -> Option<Operand> {
        parse_source(text).map(|source| source.operand)
    }

    fn condition(text: &str) -> Option<Source> {
        parse_source(text)
    }

    fn instr(code: &str, _: &[Width]) -> Option<Instr> {
        parse_instr(code)
    }

    fn extra(extra: &mut <Valhall as crate::machine::Machine>::Extra, code: &str) -> Option<()> {
        let (name, what) = code.split_once(" = ")?;
        match name.split_once(' ')? {
            ("fau", _) => extra.fau.push(FauWord::parse(what)?),
            ("work", _) => extra.work.push(UniformWork::parse(what)?),
            _ => return None,
        }
        Some(())
    }
}

fn parse_operand(text: &str) -> Option<Operand> {
    if let Some(special) = Special::ALL
        .into_iter()
        .find(|special| special.name() == text)
    {
        return Some(Operand::Special(special, Half::Low));
    }
    if text.starts_with('[') {
        return parse_pair::<Valhall>(text).map(|(low, high)| Operand::Pair(low, high));
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
    parse_word::<Valhall>(text).map(Operand::Word)
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
    use Select::{B0, B1, B2, B3, H00, H0, H1, H10, H11, W0};
    let known = [H0, H1, H00, H10, H11, B0, B1, B2, B3, W0];
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
        .chain([Flow::Reconverge, Flow::Discard, Flow::End])
        .find(|flow| flow.isa().word() == word)
}

fn parse_instr(code: &str) -> Option<Instr> {
    let (dests, rest) = match code.split_once(" = ") {
        Some((dests, rest)) => (parse_run::<Valhall>(dests)?, rest),
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
        if let Some(run) = item.strip_prefix("held:") {
            instr.held = parse_run::<Valhall>(run)?;
        } else if let Some(run) = item.strip_prefix('@') {
            instr.staging = parse_run::<Valhall>(run)?;
        } else if let Some(value) = item.strip_prefix("imm:") {
            instr.immediate = Some(value.parse().ok()?);
        } else if let Some(block) = item.strip_prefix("to:") {
            instr.target = Some(parse_block(block)?);
        } else if let Some(name) = item.strip_prefix("space:") {
            instr.space = Some(Space::ALL.into_iter().find(|space| space.name() == name)?);
        } else if item == "volatile" {
            instr.volatile = true;
        } else if item == "atomic" {
            instr.atomic = true;
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

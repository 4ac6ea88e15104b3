//! A small assembler of SPIR-V text, so that tests can say exactly which words a module has.
//!
//! Lines are `[%id =] OpName operands`. Names of ids are free; enumerants of the kinds below are written by name,
//! everything else as a number.
use std::collections::HashMap;
use std::str::FromStr;

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind, OperandQuantifier};
use rspirv::spirv;

/// The ids by name, in order of appearance from 1.
#[derive(Default)]
struct Ids(HashMap<String, u32>);

impl Ids {
    fn number(&mut self, name: &str) -> u32 {
        let next = self.0.len() as u32 + 1;
        *self.0.entry(name.to_owned()).or_insert(next)
    }
}

/// The module.
#[track_caller]
pub fn assemble(text: &str) -> Vec<u8> {
    let mut ids = Ids::default();
    let mut body = vec![];
    for line in text.lines() {
        let line = line.split(';').next().unwrap().trim();
        if !line.is_empty() {
            body.extend(instruction(line, &mut ids));
        }
    }
    let bound = ids.0.len() as u32 + 1;
    let mut words = vec![spirv::MAGIC_NUMBER, 0x0001_0300, 0, bound, 0];
    words.extend(body);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[track_caller]
fn instruction(line: &str, ids: &mut Ids) -> Vec<u32> {
    let (result, rest) = match line.split_once('=') {
        Some((result, rest)) if result.trim().starts_with('%') => {
            (Some(result.trim()), rest.trim())
        }
        _ => (None, line),
    };
    let mut tokens = tokens(rest).into_iter();
    let name = tokens.next().unwrap();
    let grammar = INSTRUCTION_TABLE
        .iter()
        .find(|row| Some(row.opname) == name.strip_prefix("Op"))
        .unwrap_or_else(|| panic!("no instruction {name}"));
    let mut words = vec![];
    for operand in grammar.operands {
        if operand.kind == OperandKind::IdResult {
            words.push(ids.number(result.unwrap_or_else(|| panic!("{line}: no result"))));
            continue;
        }
        match operand.quantifier {
            OperandQuantifier::One => {
                // A line may be short on purpose.
                let Some(token) = tokens.next() else { break };
                encode(operand.kind, &token, ids, &mut words);
            }
            OperandQuantifier::ZeroOrOne => {
                if let Some(token) = tokens.next() {
                    encode(operand.kind, &token, ids, &mut words);
                }
            }
            OperandQuantifier::ZeroOrMore => {
                for token in tokens.by_ref() {
                    encode(operand.kind, &token, ids, &mut words);
                }
            }
        }
    }
    for token in tokens {
        encode(OperandKind::IdRef, &token, ids, &mut words);
    }
    let mut whole = vec![(words.len() as u32 + 1) << 16 | grammar.opcode as u32];
    whole.extend(words);
    whole
}

fn tokens(line: &str) -> Vec<String> {
    let mut tokens = vec![];
    for (index, part) in line.split('"').enumerate() {
        match index % 2 {
            0 => tokens.extend(part.split_whitespace().map(str::to_owned)),
            _ => tokens.push(format!("\"{part}")),
        }
    }
    tokens
}

fn encode(kind: OperandKind, token: &str, ids: &mut Ids, words: &mut Vec<u32>) {
    fn named<T: FromStr>(token: &str, number: impl Fn(T) -> u32) -> Option<u32> {
        T::from_str(token).ok().map(number)
    }
    if let Some(text) = token.strip_prefix('"') {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        words.extend(
            bytes
                .chunks(4)
                .map(|word| u32::from_le_bytes(word.try_into().unwrap())),
        );
        return;
    }
    if token.starts_with('%') {
        words.push(ids.number(token));
        return;
    }
    let enumerant = match kind {
        OperandKind::Capability => named(token, |x: spirv::Capability| x as u32),
        OperandKind::AddressingModel => named(token, |x: spirv::AddressingModel| x as u32),
        OperandKind::MemoryModel => named(token, |x: spirv::MemoryModel| x as u32),
        OperandKind::ExecutionModel => named(token, |x: spirv::ExecutionModel| x as u32),
        OperandKind::ExecutionMode => named(token, |x: spirv::ExecutionMode| x as u32),
        OperandKind::StorageClass => named(token, |x: spirv::StorageClass| x as u32),
        OperandKind::Decoration => named(token, |x: spirv::Decoration| x as u32),
        OperandKind::LiteralSpecConstantOpInteger => INSTRUCTION_TABLE
            .iter()
            .find(|row| row.opname == token)
            .map(|row| row.opcode as u32),
        _ => None,
    };
    let built_in = || named(token, |x: spirv::BuiltIn| x as u32);
    let number = || {
        token
            .parse()
            .ok()
            .or_else(|| token.parse::<i32>().ok().map(|x| x as u32))
    };
    let float = || token.parse().ok().map(f32::to_bits);
    let word = enumerant.or_else(number).or_else(float).or_else(built_in);
    words.push(word.unwrap_or_else(|| panic!("what is {token}?")));
}

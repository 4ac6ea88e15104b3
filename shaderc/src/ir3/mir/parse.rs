//! Reads the text that `print` writes: what of it is this machine's. Used by tests and by nothing else.
//!
//! Whether sources are half registers follows from the first that is a register, or from the types of a move.

#![cfg(test)]

use eitri_ir3_program::UniformRange;

use super::operand::{Asked, Operand, Source};
use super::{AtomicKind, Class, Condition, Extra, Instr, Ir3, Op, Register, Shape, Space, Type};
use super::{Word, Words};
use crate::ir::{Combine, ScanForm};
use crate::machine;
use crate::machine::parse::{
    Text, parse_block, parse_number, parse_pair, parse_run, parse_word, split,
};

impl Text for Ir3 {
    const CLASSES: &[Class] = &[Class::Full, Class::Half, Class::Shared, Class::Predicate];

    fn register(text: &str) -> Option<Register> {
        let (name, component) = text.split_once('.')?;
        let (letters, vector) = name.split_at(name.find(|c: char| c.is_ascii_digit())?);
        let vector: u8 = vector.parse().ok()?;
        let component = ["x", "y", "z", "w"]
            .iter()
            .position(|own| *own == component)? as u8;
        let (class, vector) = match (letters, vector) {
            ("r", 48..=55) => (Class::Shared, vector - 48),
            ("r", 0..=47) => (Class::Full, vector),
            ("hr", 0..=47) => (Class::Half, vector),
            ("p", 0) => (Class::Predicate, 0),
            _ => return None,
        };
        Some(Register::new(class, 4 * vector + component))
    }

    fn operand(text: &str) -> Option<Operand> {
        if text.starts_with('[') {
            return parse_pair::<Ir3>(text).map(|(low, high)| Operand::Pair(low, high));
        }
        if let Some(bits) = text.strip_prefix('#') {
            return parse_number(bits).map(Operand::Constant);
        }
        if let Some(place) = text.strip_prefix('c') {
            let (vector, component) = place.split_once('.')?;
            let component = ["x", "y", "z", "w"]
                .iter()
                .position(|own| *own == component)?;
            return Some(Operand::Const(
                4 * vector.parse::<u16>().ok()? + component as u16,
            ));
        }
        if let Ok(number) = text.parse::<i32>() {
            return Some(Operand::Immediate(number as u32));
        }
        parse_word::<Ir3>(text).map(Operand::Word)
    }

    fn condition(text: &str) -> Option<Asked> {
        if text == "others" {
            return Some(Asked::Others);
        }
        let (all, text) = flag(text, "all ");
        let (not, text) = flag(text, "!");
        let predicate = parse_word::<Ir3>(text)?;
        Some(match all {
            true => Asked::All { predicate, not },
            false => Asked::Each { predicate, not },
        })
    }

    fn instr(code: &str, classes: &[Class]) -> Option<Instr> {
        instr(code, classes)
    }

    fn extra(extra: &mut Extra, code: &str) -> Option<()> {
        if let Some(words) = code.strip_prefix("push words ") {
            extra.push_words = parse_number(words)?;
        } else if let Some(rest) = code.strip_prefix("immediate ") {
            let (_, word) = rest.split_once(" = ")?;
            extra.immediates.push(parse_number(word)?);
        } else {
            let (place, range) = code.strip_prefix("uniforms ")?.split_once(" vec4 ")?;
            let (set, binding) = place.split_once(':')?;
            let (first, last) = range.split_once(" to ")?;
            let first = parse_number(first)?;
            extra.uniforms.push(UniformRange {
                set: parse_number(set)?,
                binding: parse_number(binding)?,
                first,
                count: parse_number(last)? + 1 - first,
            });
        }
        Some(())
    }
}

/// Whether a text begins with a flag, and what follows.
fn flag<'t>(text: &'t str, flag: &str) -> (bool, &'t str) {
    match text.strip_prefix(flag) {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

/// A number in brackets behind a name, 0 if it is not there, and what follows.
fn count<'t>(text: &'t str, name: &str) -> Option<(u8, &'t str)> {
    let Some(rest) = text.strip_prefix(name) else {
        return Some((0, text));
    };
    let (number, rest) = rest.split_once(')')?;
    Some((number.parse().ok()?, rest))
}

fn source(text: &str) -> Option<Source> {
    let (not, text) = flag(text, "(not)");
    let (neg, text) = flag(text, "(neg)");
    let (abs, text) = flag(text, "(abs)");
    let (steps, text) = flag(text, "(r)");
    Some(Source {
        operand: Ir3::operand(text)?,
        abs,
        neg,
        not,
        steps,
    })
}

fn types(text: &str) -> Option<(Type, Type)> {
    let mut pairs = Type::ALL
        .iter()
        .flat_map(|from| Type::ALL.map(|to| (*from, to)));
    pairs.find(|(from, to)| match from == to {
        true => text == from.name(),
        false => text == format!("{}{}", from.name(), to.name()),
    })
}

fn class(word: Word, classes: &[Class]) -> Class {
    match word {
        machine::Word::Value(value) => classes.get(value.index()).copied().unwrap_or_default(),
        machine::Word::Register(register) => register.class(),
    }
}

fn instr(code: &str, classes: &[Class]) -> Option<Instr> {
    let (dests, rest) = match code.split_once(" = ") {
        Some((dests, rest)) => (parse_run::<Ir3>(dests)?, rest),
        None => (Words::new(), code),
    };
    let (sy, rest) = flag(rest, "(sy)");
    let (ss, rest) = flag(rest, "(ss)");
    let (join, rest) = flag(rest, "(jp)");
    let (saturate, rest) = flag(rest, "(sat)");
    let (repeat, rest) = count(rest, "(rpt")?;
    let (nops, rest) = count(rest, "(nop")?;
    let (head, items) = rest.split_once(' ').unwrap_or((rest, ""));
    let fits = |op: &&Op| {
        let tail = head.strip_prefix(op.name());
        tail.is_some_and(|tail| tail.is_empty() || tail.starts_with('.'))
    };
    // Of those of one name the first.
    let named = Op::ALL.iter().filter(fits).rev();
    let op = *named.max_by_key(|op| op.name().len())?;
    let mut instr = Instr {
        dests,
        saturate,
        repeat,
        nops,
        join,
        sync: super::Sync { ss, sy },
        ..Instr::new(op)
    };
    let words = head[op.name().len()..].split('.');
    if op == Op::Scan {
        let mut words = words.clone().filter(|word| !word.is_empty());
        let (combine, form) = (words.next()?, words.next()?);
        let mut combines = Combine::ALL.iter();
        let mut forms = ScanForm::ALL.iter();
        instr.scan = Some((
            *combines.find(|own| own.alu().name() == combine)?,
            forms.find(|(_, name)| *name == form)?.0,
        ));
    }
    for word in words
        .filter(|_| op != Op::Scan)
        .filter(|word| !word.is_empty())
    {
        let kind = AtomicKind::ALL.into_iter().find(|kind| kind.name() == word);
        let atomic = op.is_descriptor_atomic() || matches!(op, Op::AtomicLocal | Op::AtomicGlobal);
        let condition = Condition::ALL.into_iter().find(|own| own.name() == word);
        match word {
            "p" => instr.predicate = true,
            "even" => instr.round_even = true,
            _ if atomic && kind.is_some() => instr.atomic = kind,
            _ if condition.is_some() => instr.condition = condition,
            _ => instr.types = Some(types(word)?),
        }
    }
    for (number, item) in split(items).iter().enumerate() {
        if let Some(run) = item.strip_prefix('@') {
            instr.data = parse_run::<Ir3>(run)?;
        } else if let Some(bytes) = item.strip_prefix("offset:") {
            instr.offset = bytes.parse().ok()?;
        } else if let Some(set) = item.strip_prefix("set:") {
            instr.set = Some(set.parse().ok()?);
        } else if let Some(block) = item.strip_prefix("to:") {
            instr.target = Some(parse_block(block)?);
        } else if let Some(name) = item.strip_prefix("space:") {
            instr.space = Some(Space::ALL.into_iter().find(|space| space.name() == name)?);
        } else if let Some(run) = item.strip_prefix("at ") {
            instr.coordinates = parse_run::<Ir3>(run)?;
        } else if item == "volatile" {
            instr.volatile = true;
        } else if item == "3d" {
            instr.texture.three = true;
        } else if item == "array" {
            instr.texture.arrayed = true;
        } else if item == "compare" {
            instr.texture.compare = true;
        } else if item == "offsets" {
            instr.texture.offset = true;
        } else {
            let (not, item) = flag(item, "!");
            instr.not |= not && number == 0;
            instr.sources.push(source(item)?);
        }
    }
    let kinds = instr
        .sources
        .iter()
        .flat_map(|source| source.operand.read_words());
    let first = kinds.map(|word| class(word, classes)).next();
    let is_shared = |kind: Option<Class>| kind == Some(Class::Shared);
    if op == Op::Move && is_shared(instr.dests.first().map(|word| class(*word, classes))) {
        instr.op = Op::WriteShared;
    } else if op == Op::Move && is_shared(first) {
        instr.op = Op::ReadShared;
    }
    instr.half = match (instr.op.shape(), instr.types) {
        (Shape::Memory | Shape::Flow, _) => false,
        (_, Some((from, _))) => from.is_half(),
        (_, None) => first == Some(Class::Half),
    };
    Some(instr)
}

#[test]
fn text_survives_printing_and_parsing() {
    let text = "\
push words 4
uniforms 0:1 vec4 2 to 3
immediate 0 = 0x3f800000
half %1 %5
predicate %4
shared %6
preload %0 = r0.x
preload %6 = r48.x
b0:
  %7 = mov.u32 %6
  %1 = mov.f32f16.even %0
  %5 = (sat)add.f (neg)(abs)%1, c1.x
  %2:%3 = ldib.b.u32 %0, 1, set:0, space:buffer
  %4 = cmps.u.lt.p %0, #0x7
  branch !%4, b1, b2
b1:
  r0.x = (sy)(ss)(jp)(rpt2)add.u (r)r1.x, 3
  hr3.y = (nop2)mad.f16 hr0.x, hr0.y, hr0.z
  atomic.b.cmpxchg.u32 %2, 0, @%3:%0, set:1, space:buffer, volatile
  stp.u16 %2, @%5, offset:8, space:spill
  ldg.u32 [%2:%3]
  br !p0.x, to:b2
  jump to:b2
  jump b2
b2:
  %8 = phi b0 #0x1, b1 %2
  r48.y = mov r0.x
  %9 = dp4acc.mixed %8, %8, %8
  %2:%3:%9 = scan.iadd.exclusive %8, %0
  %2:%3 = saml.f32 17, at %8:%9:%0, array, compare, offsets, @%2:%3, set:0, space:constant
  stib.b.typed.f32 2, at %2:%3, @%8:%9, set:1, space:buffer
  branch all p0.y, b1, b3
b3:
  branch others, b4, b5
b4:
  jump b5
b5:
  end
";
    let function = crate::machine::parse::read::<Ir3>(text);
    assert_eq!(function.to_string(), text);
    let ops: Vec<Op> = function.blocks[0]
        .instrs
        .iter()
        .map(|instr| instr.op)
        .collect();
    assert_eq!(ops[..2], [Op::ReadShared, Op::Move]);
    assert!(function.blocks[0].instrs[2].half && !function.blocks[0].instrs[1].half);
}

//! Every operation on integers of 8 bits that were cut out of wider ones: machine code against the interpreter.
//!
//! A byte may stand in the word that a half was extended to, so what lies above its 8 bits differs by where it came from.
//! Operands come of halves, of results on halves, of words, and of bytes that were halves in between; results are read back
//! through each width and with both extensions.

use std::fmt::Write as _;

use super::operations::{Machine, Tolerance, compare, function};
use eitri_shaderc::ir::{Alu, Kind, Type};

/// Lines that make the bytes `%c0` to `%c4`, and numbers `%n0` to `%n3` below 4.
const BYTES: &str = "  %h0 = u2u16 %i0\n  %h1 = u2u16 %i1\n  %p = imul %h1, 3:w16\n  %c0 = u2u8 %h0\n  %c1 = u2u8 %p\n  \
     %c2 = u2u8 %i1\n  %s = s2s16 %c0\n  %t = iadd %s, 0x155:w16\n  %c3 = u2u8 %t\n  %u = u2u16 %c1\n  %c4 = u2u8 %u\n  \
     %n0 = iand %i0, 3\n  %n1 = iand %i1, 3\n  %n2 = iand %f0, 3\n  %n3 = iand %f1, 3\n  %b0 = slt %i0, %i1\n  \
     %b1 = ult %i0, %i1\n";
const COUNT: usize = 5;

/// The ways to read a byte: the conversions, one on the other.
const READS: &[&[&str]] = &[
    &["u2u32"],
    &["s2s32"],
    &["u2u16", "u2u32"],
    &["u2u16", "s2s32"],
    &["s2s16", "s2s32"],
    &["s2s16", "u2u32"],
];

/// The operand of a kind, another one in each turn. Divisors are odd: a quotient by zero is some value.
fn operand(alu: Alu, kind: Kind, place: usize, turn: usize) -> String {
    let divides = matches!(
        alu,
        Alu::UDiv | Alu::UMod | Alu::SDiv | Alu::SRem | Alu::SMod
    );
    match kind {
        Kind::B => format!("%b{}", turn % 2),
        Kind::W32 => format!("%n{}", (place + turn) % 4),
        _ if divides && place == 1 => format!("%odd{}", (place + 3 * turn) % COUNT),
        _ => format!("%c{}", (place + 3 * turn) % COUNT),
    }
}

/// Reads a result of a type: the words that it gives.
fn read(body: &mut String, name: &str, ty: Type) -> Vec<String> {
    match ty {
        Type::Bool => {
            let _ = writeln!(body, "  {name}w = select {name}, 1, 2");
            vec![format!("{name}w")]
        }
        Type::W8 => {
            let each = READS.iter().enumerate().map(|(way, conversions)| {
                let mut value = name.to_owned();
                for (step, conversion) in conversions.iter().enumerate() {
                    let next = format!("{name}w{way}s{step}");
                    let _ = writeln!(body, "  {next} = {conversion} {value}");
                    value = next;
                }
                value
            });
            each.collect()
        }
        _ => vec![name.to_owned()],
    }
}

fn check(machine: Machine, alu: Alu) -> Result<(), String> {
    let mut body = BYTES.to_owned();
    for number in 0..COUNT {
        let _ = writeln!(body, "  %odd{number} = ior %c{number}, 1:w8");
    }
    let (mut results, mut tolerances) = (vec![], vec![]);
    // Two turns have each byte in a first or second place.
    let turns = if eitri_testdata::long() { COUNT } else { 2 };
    for turn in 0..turns {
        let kinds = alu.operands().iter().enumerate();
        let operands = kinds.map(|(place, &kind)| operand(alu, kind, place, turn));
        let operands: Vec<String> = operands.collect();
        let what = format!("{} {}", alu.name(), operands.join(", "));
        let name = format!("%r{turn}");
        let _ = writeln!(body, "  {name} = {what}");
        for word in read(&mut body, &name, alu.result().ty().unwrap_or(Type::W8)) {
            tolerances.push((
                format!("{what}, read as {word},"),
                Tolerance::Same { float: false },
            ));
            results.push(word);
        }
    }
    compare(machine, &function(&body, &results), &tolerances)
}

/// Checks every operation that there is on 8 bits; what fails, by name.
pub fn check_all(machine: Machine) -> Vec<String> {
    let all = Alu::ALL.iter().copied();
    let on_bytes = |alu: &Alu| alu.widths().has(Type::W8) || *alu == Alu::Select;
    all.filter(on_bytes)
        .filter_map(|alu| check(machine, alu).err())
        .collect()
}

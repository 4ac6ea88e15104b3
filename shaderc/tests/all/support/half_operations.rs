//! Every operation that a target has on 16 bits: machine code against the interpreter.
//!
//! As [`super::operations`], with results that are read in each way: as they are, extended by zeros, by the sign or as a
//! float, and by more than one, since an instruction may take the extension in.

use std::fmt::Write as _;

use super::operations::{BOOLEANS, Machine, Tolerance, compare, function};
use eitri_shaderc::Target;
use eitri_shaderc::ir::{Alu, Kind, Type};

/// Lines that make the halves `%h0` and `%h1` of integers, `%g0` and `%g1` of floats.
const HALVES: &str = "  %h0 = u2u16 %i0\n  %h1 = u2u16 %i1\n  %g0 = f2f16 %f0\n  %g1 = f2f16 %f1\n";

/// The operand of a kind in a register.
fn register(alu: Alu, kind: Kind, index: usize) -> String {
    let letter = match (alu, kind) {
        (Alu::U2U16, _) | (_, Kind::W32) => "i",
        (_, Kind::F32) => "f",
        (_, Kind::B) => "b",
        (_, kind) if kind.is_float() => "g",
        // Bits are bits: the last of a selection or of minima is as good as any.
        _ => "h",
    };
    format!("%{letter}{}", index % 2)
}

/// Constants of a kind: the first few, all of them in the long form.
fn constants(kind: Kind) -> Vec<String> {
    let halves = |all: &[u32]| all.iter().map(|bits| format!("{bits:#x}:w16")).collect();
    let mut all: Vec<String> = match kind {
        Kind::W32 => ["17", "1", "0xffffffff", "0", "7", "15", "16", "31"]
            .map(str::to_owned)
            .to_vec(),
        Kind::B => vec!["true".into(), "false".into()],
        Kind::I | Kind::T => halves(&[0xffff, 0x1234, 5, 0, 1, 15, 255, 0x7fff, 0x8000, 0xfe01]),
        Kind::F => halves(&[0x4248, 0x3c00, 0x8000, 0, 0xbc00, 0x3800, 0x7bff, 0x3555]),
        _ => vec![],
    };
    if !eitri_testdata::long() {
        all.truncate(3);
    }
    all
}

/// Checks one operation with registers, and with each operand constant.
fn check(machine: Machine, alu: Alu) -> Result<(), String> {
    let kinds = alu.operands();
    let of = |(index, kind): (usize, &Kind)| register(alu, *kind, index);
    let plain: Vec<String> = kinds.iter().enumerate().map(of).collect();
    let mut lists = vec![plain.clone()];
    for (place, &kind) in kinds.iter().enumerate().filter(|_| kinds.len() > 1) {
        for constant in constants(kind) {
            let mut list = plain.clone();
            list[place] = constant;
            lists.push(list);
        }
    }
    let ty = alu.result().ty().unwrap_or(Type::W16);
    let float = alu.result().is_float();
    let is_rough = !matches!(Tolerance::of(alu, Type::W16), Tolerance::Half { ulps: 0 });
    let extensions: &[&[&str]] = match (ty, float) {
        (Type::W16, true) => &[&["u2u32"], &["f2f32"], &["u2u32", "f2f32"]],
        (Type::W16, false) => &[&["u2u32"], &["s2s32"], &["s2s32", "u2u32"]],
        (Type::Bool, _) => &[&["select"], &["halves"], &["select", "halves"]],
        _ => &[&[]],
    };
    let mut body = format!("{BOOLEANS}{HALVES}");
    let (mut results, mut tolerances) = (vec![], vec![]);
    for (number, list) in lists.iter().enumerate() {
        let what = format!("{} {}", alu.name(), list.join(", "));
        // With constants each list is read in one way; all of them take long.
        let all = number == 0 || eitri_testdata::long();
        let ways = extensions.iter().enumerate();
        for (way, extensions) in ways.filter(|(way, _)| all || number % extensions.len() == *way) {
            let name = format!("%r{number}x{way}");
            let _ = writeln!(body, "  {name} = {what}");
            if extensions.is_empty() {
                results.push(name.clone());
                tolerances.push((what.clone(), Tolerance::of(alu, Type::W16)));
            }
            for extension in *extensions {
                let word = format!("%{extension}{number}x{way}");
                let line = match *extension {
                    "select" => format!("{word} = select {name}, 1, 2"),
                    "halves" => format!(
                        "%s{number}x{way} = select {name}, 1:w16, %h0\n  {word} = u2u32 %s{number}x{way}"
                    ),
                    _ => format!("{word} = {extension} {name}"),
                };
                let _ = writeln!(body, "  {line}");
                results.push(word);
                let tolerance = match *extension {
                    "u2u32" => Tolerance::of(alu, Type::W16),
                    // What is a unit apart as a half is more than that as a float.
                    "f2f32" if is_rough => Tolerance::Near {
                        ulps: 1 << 13,
                        absolute: 0.0,
                    },
                    _ => Tolerance::FromHalf {
                        float: *extension == "f2f32",
                    },
                };
                tolerances.push((what.clone(), tolerance));
            }
        }
    }
    compare(machine, &function(&body, &results), &tolerances)
}

/// Checks every operation that a target has on 16 bits; what fails, by name.
pub fn check_all(machine: Machine, target: &Target) -> Vec<String> {
    let all = Alu::ALL.iter().copied();
    all.filter(|&alu| target.has(alu, Type::W16))
        .filter_map(|alu| check(machine, alu).err())
        .collect()
}

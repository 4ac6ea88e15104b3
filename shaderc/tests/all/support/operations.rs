//! Every operation of the IR, and random expressions of them: machine code against the interpreter.
//!
//! Operands are the awkward ones: zeros, ends of ranges, denormals, infinities, NaN. Each operation is compiled with its
//! operands in registers and with each of them constant, since constants take other roads through the compiler.

use std::fmt::Write as _;

use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::ir::Function;
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::{Alu, Kind, Level, Type};

/// A machine that runs code.
#[derive(Clone, Copy)]
pub struct Machine {
    /// Compiles a function and runs it; gives the listing.
    pub run: fn(&Function, &Dispatch, &mut Buffers) -> Result<String, String>,
    /// It takes subnormals for zeros, and the sign of a zero as it comes.
    pub flushes: bool,
}

/// Threads of a run: each has four words of its own.
const THREADS: usize = 256;

const WORDS: [u32; 24] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    100,
    255,
    256,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ffff,
    0xffff_fff0,
    0x1234_5678,
    0x00ff_00ff,
    0xdead_beef,
    0xffff_ff80,
    0xffff_8000,
    5,
    24,
];

const FLOATS: [f32; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    1.5,
    2.5,
    -2.5,
    0.1,
    100.25,
    -1e10,
    3e38,
    -3e38,
    1e-38,
    1e-40,
    -1e-45,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    0.999_999_9,
    65504.0,
    1e-5,
];

/// Deterministic noise.
fn mix(seed: u32) -> u32 {
    let mut x = seed.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    x ^= x >> 15;
    x = x.wrapping_mul(0x2c1b_3c6d);
    x ^ x >> 12
}

/// Four words a thread: two integers and two floats.
fn inputs() -> Vec<u8> {
    let word = |index: usize| {
        let (thread, column) = (index / 4, index % 4);
        let pick = mix(index as u32) as usize;
        match column {
            0 => WORDS[thread % WORDS.len()],
            1 => {
                if thread < 128 {
                    WORDS[pick % WORDS.len()]
                } else {
                    mix(index as u32 ^ 77)
                }
            }
            2 => FLOATS[thread % FLOATS.len()].to_bits(),
            _ => {
                if thread < 128 {
                    FLOATS[pick % FLOATS.len()].to_bits()
                } else {
                    ((pick % 4001) as f32 / 37.0 - 50.0).to_bits()
                }
            }
        }
    };
    (0..4 * THREADS)
        .flat_map(|index| word(index).to_le_bytes())
        .collect()
}

/// A function that stores what `body` computes: each result a word at its place of the thread's row.
pub(super) fn function(body: &str, results: &[String]) -> String {
    let mut text = String::from(
        "function main\nworkgroup 64 1 1\nbinding 0 0 storage\n\
         binding 0 1 storage written\nb0:\n  %g = global_id.x\n  %at = ishl %g, 4\n  \
         %i0, %i1, %f0, %f1 = load.buffer.4.align16 @0.0, %at\n",
    );
    text.push_str(body);
    let _ = writeln!(text, "  %row = imul %g, {}", 4 * results.len());
    for (index, result) in results.iter().enumerate() {
        if index == 0 {
            let _ = writeln!(text, "  store.buffer @0.1, %row, {result}");
        } else {
            let _ = writeln!(
                text,
                "  %row{index} = iadd %row, {}\n  store.buffer @0.1, %row{index}, {result}",
                4 * index
            );
        }
    }
    text.push_str("  return\n");
    text
}

/// How close a result must be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tolerance {
    /// The same bits, any NaN for any NaN where the result is a float.
    Same { float: bool },
    /// So many units in the last place, or this far apart.
    Near { ulps: u32, absolute: f32 },
    /// As `Near`, but anything goes where the argument is outside of what has a promised precision.
    Vague { absolute: f32 },
    /// Halves: any NaN for any NaN in each.
    Halves,
    /// A half in a word, so many units in the last place apart at most.
    Half { ulps: u32 },
    /// A word that comes of a half: the same bits, any NaN for any NaN where it is a float.
    FromHalf { float: bool },
}

impl Tolerance {
    /// True when the special-function unit, which takes subnormals for zeros, may give anything for these inputs.
    fn excuses(self, inputs: &[u32]) -> bool {
        let subnormal = |bits: &u32| f32::from_bits(*bits).is_subnormal();
        matches!(self, Tolerance::Near { .. }) && inputs.iter().any(subnormal)
    }

    /// Whether floats on the way are halves, which are subnormal sooner.
    fn is_of_half(self) -> bool {
        matches!(self, Tolerance::Half { .. } | Tolerance::FromHalf { .. })
    }

    fn accepts(self, got: u32, expected: u32) -> bool {
        let (g, e) = (f32::from_bits(got), f32::from_bits(expected));
        let nan = |half: u32| half & 0x7c00 == 0x7c00 && half & 0x3ff != 0;
        match self {
            Tolerance::Half { ulps } => got.abs_diff(expected) <= ulps || nan(got) && nan(expected),
            Tolerance::Same { float } | Tolerance::FromHalf { float } => {
                got == expected || float && g.is_nan() && e.is_nan()
            }
            Tolerance::Near { ulps, absolute } => {
                let order = |bits: u32| {
                    if bits >> 31 != 0 {
                        -i64::from(bits & 0x7fff_ffff)
                    } else {
                        i64::from(bits)
                    }
                };
                g.is_nan() && e.is_nan()
                    || g == e
                    || (g - e).abs() <= absolute
                    || order(got).abs_diff(order(expected)) <= u64::from(ulps)
            }
            // The table functions clamp, which turns a NaN into a number.
            Tolerance::Vague { absolute } => e.is_nan() || (g - e).abs() <= absolute,
            Tolerance::Halves => [0, 16].into_iter().all(|shift| {
                let (got, expected) = (got >> shift & 0xffff, expected >> shift & 0xffff);
                got == expected || nan(got) && nan(expected)
            }),
        }
    }

    /// Of an operation on words, or on halves.
    pub(super) fn of(alu: Alu, width: Type) -> Tolerance {
        let float = alu.result().is_float();
        if width == Type::W16 {
            // Special functions are rounded twice.
            let special = matches!(alu, Alu::FRcp | Alu::FRsq | Alu::FExp2 | Alu::FLog2);
            return match alu.result().ty() {
                None | Some(Type::W16) => Tolerance::Half {
                    ulps: special.into(),
                },
                Some(_) => Tolerance::FromHalf { float },
            };
        }
        match alu {
            Alu::FRcp | Alu::FRsq => Tolerance::Near {
                ulps: 2,
                absolute: 1.3e-38,
            },
            Alu::FExp2 => Tolerance::Near {
                ulps: 260,
                absolute: 1e-38,
            },
            Alu::FLog2 => Tolerance::Near {
                ulps: 8,
                absolute: 1e-6,
            },
            // Only small angles have a promised precision.
            Alu::FSin | Alu::FCos => Tolerance::Vague { absolute: 2.1 },
            alu if alu == Alu::PackHalf || alu.result() == Kind::H2 => Tolerance::Halves,
            _ => Tolerance::Same { float },
        }
    }
}

/// Whether any word, or half of one, is a subnormal.
fn has_subnormal(words: &[u32]) -> bool {
    let half = |bits: u32| bits & 0x7c00 == 0 && bits & 0x3ff != 0;
    words
        .iter()
        .any(|&bits| f32::from_bits(bits).is_subnormal() || half(bits) || half(bits >> 16))
}

/// Whether a float is less than the least normal half.
fn is_small_half(bits: &u32) -> bool {
    let float = f32::from_bits(*bits);
    float != 0.0 && float.abs() < 2.0f32.powi(-14)
}

/// The constants of a line that are written as bits.
fn constants_in(line: &str) -> Vec<u32> {
    let words = line
        .split([' ', ',', ':'])
        .filter_map(|word| word.strip_prefix("0x"));
    words
        .filter_map(|digits| u32::from_str_radix(digits, 16).ok())
        .collect()
}

/// Two halves without the signs of zeros.
fn unsigned_zeros(bits: u32) -> u32 {
    [0, 16]
        .into_iter()
        .fold(bits, |bits, shift| match bits >> shift & 0x7fff {
            0 => bits & !(0x8000 << shift),
            _ => bits,
        })
}

/// Runs a function both ways and compares its rows.
pub(super) fn compare(
    machine: Machine,
    text: &str,
    tolerances: &[(String, Tolerance)],
) -> Result<(), String> {
    let ir = parse(text).map_err(|error| format!("{error}\n{text}"))?;
    let dispatch = Dispatch {
        groups: [(THREADS / 64) as u32, 1, 1],
        push_constants: vec![],
        step_limit: 1 << 32,
    };
    let bytes = vec![0; 4 * THREADS * tolerances.len()];
    let before = Buffers::from([
        ((0, 0, 0), Buffer { bytes: inputs() }),
        ((0, 1, 0), Buffer { bytes }),
    ]);
    let (mut expected, mut got) = (before.clone(), before);
    interpret(&ir, &dispatch, &mut expected).map_err(|trap| format!("{trap}\n{text}"))?;
    let listing =
        (machine.run)(&ir, &dispatch, &mut got).map_err(|error| format!("{error}\n{text}"))?;
    let word = |buffers: &Buffers, at: usize| {
        let bytes = &buffers[&(0, 1, 0)].bytes[4 * at..4 * at + 4];
        u32::from_le_bytes(bytes.try_into().expect("four bytes"))
    };
    let inputs = inputs();
    for at in 0..THREADS * tolerances.len() {
        let (what, tolerance) = &tolerances[at % tolerances.len()];
        let (got, expected) = (word(&got, at), word(&expected, at));
        let row: Vec<u32> = inputs[at / tolerances.len() * 16..][..16]
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect();
        let (g, e) = (f32::from_bits(got), f32::from_bits(expected));
        let flushed = machine.flushes
            && (g == e
                || unsigned_zeros(got) == unsigned_zeros(expected)
                || has_subnormal(&constants_in(what))
                || has_subnormal(&row)
                || has_subnormal(&[expected])
                || tolerance.is_of_half() && row[2..].iter().chain([&expected]).any(is_small_half))
            && is_about_floats(what);
        // The exponent of what has none is some value.
        let free = what.starts_with("frexp_exp") && !f32::from_bits(row[2]).is_finite();
        let excused = tolerance.excuses(&row) || flushed || free;
        if !tolerance.accepts(got, expected) && !excused {
            let input: Vec<String> = row.iter().map(|word| format!("{word:#x}")).collect();
            return Err(format!(
                "{what} with {}: machine {got:#x} ({g:e}), interpreter {expected:#x} ({e:e})\n{listing}",
                input.join(" "),
            ));
        }
    }
    Ok(())
}

/// Whether a line's operation reads or gives floats, or booleans, which come of a comparison of floats.
fn is_about_floats(line: &str) -> bool {
    let name = line.split_once(" = ").map_or(line, |(_, rest)| rest);
    let alu = name.split(' ').next().and_then(Alu::from_name);
    alu.is_some_and(|alu| {
        let about = |kind: Kind| kind.is_float() || kind == Kind::H2 || kind == Kind::B;
        about(alu.result())
            || alu.operands().iter().any(|kind| about(*kind))
            || matches!(alu, Alu::HalfLow | Alu::HalfHigh)
    })
}

/// Lines that make the booleans `%b0` and `%b1`.
pub(super) const BOOLEANS: &str = "  %b0 = slt %i0, %i1\n  %b1 = flt %f0, %f1\n";

/// The operand of a kind in a register.
fn register(kind: Kind, index: usize) -> &'static str {
    match (kind, index % 2) {
        (Kind::B, 0) => "%b0",
        (Kind::B, _) => "%b1",
        (kind, 0) if kind.is_float() => "%f0",
        (kind, _) if kind.is_float() => "%f1",
        (_, 0) => "%i0",
        (_, _) => "%i1",
    }
}

/// Constants of a kind.
fn constants(kind: Kind) -> Vec<String> {
    match kind {
        kind if kind.is_integer() || kind == Kind::T || kind == Kind::H2 => [
            0,
            1,
            5,
            8,
            16,
            24,
            31,
            255,
            65535,
            0x8000_0000u32,
            0xffff_ffff,
            0x1234_5678,
            0x3c00_bc00,
        ]
        .map(|bits| format!("{bits:#x}"))
        .to_vec(),
        Kind::B => vec!["true".into(), "false".into()],
        _ => [
            "0.0", "-0.0", "1.0", "-1.0", "0.25", "-0.5", "3.7", "65535.0",
        ]
        .map(str::to_owned)
        .to_vec(),
    }
}

/// Operations that the back end has, on words of 32 bits and booleans.
fn low() -> impl Iterator<Item = Alu> {
    let other = [Kind::W64, Kind::R];
    let plain = move |alu: &Alu| {
        !other.contains(&alu.result()) && !alu.operands().iter().any(|kind| other.contains(kind))
    };
    let low = Alu::ALL.iter().copied();
    low.filter(|alu| alu.level() == Level::Low).filter(plain)
}

/// Checks one operation with registers, and with each operand constant.
fn check(machine: Machine, alu: Alu) -> Result<(), String> {
    let kinds = alu.operands();
    let plain: Vec<String> = kinds
        .iter()
        .enumerate()
        .map(|(index, &kind)| register(kind, index).to_owned())
        .collect();
    let mut lists = vec![plain.clone()];
    for (place, &kind) in kinds.iter().enumerate() {
        for constant in constants(kind) {
            let mut list = plain.clone();
            list[place] = constant;
            // What folds to a constant never reaches the back end.
            if kinds.len() > 1 {
                lists.push(list);
            }
        }
    }
    let mut body = String::from(BOOLEANS);
    let (mut results, mut tolerances) = (vec![], vec![]);
    for (index, list) in lists.iter().enumerate() {
        let what = format!("{} {}", alu.name(), list.join(", "));
        let _ = writeln!(body, "  %r{index} = {what}");
        if matches!(alu.result(), Kind::B) {
            let _ = writeln!(body, "  %w{index} = select %r{index}, 1, 2");
            results.push(format!("%w{index}"));
        } else {
            results.push(format!("%r{index}"));
        }
        tolerances.push((what, Tolerance::of(alu, Type::W32)));
    }
    compare(machine, &function(&body, &results), &tolerances)
}

/// Checks every operation that `wanted` takes; what fails, by name.
pub fn check_all(machine: Machine, wanted: impl Fn(Alu) -> bool) -> Vec<String> {
    low()
        .filter(|&alu| wanted(alu))
        .filter_map(|alu| check(machine, alu).err())
        .collect()
}

/// A random expression: operations whose results feed later ones, kinds kept apart.
fn expression(
    machine: Machine,
    choices: &[(usize, [usize; 4])],
) -> (String, Vec<String>, Vec<(String, Tolerance)>) {
    // Exact operations only; what packs halves would let the bits of a NaN through.
    let usable: Vec<Alu> = low()
        .filter(|&alu| alu != Alu::PackHalf)
        .filter(|&alu| matches!(Tolerance::of(alu, Type::W32), Tolerance::Same { .. }))
        // What was flushed on the way can't be told from what is wrong.
        .filter(|&alu| {
            let float = |kind: Kind| kind.is_float() || kind == Kind::H2;
            let halves = matches!(alu, Alu::HalfLow | Alu::HalfHigh);
            !machine.flushes
                || !(halves
                    || float(alu.result())
                    || alu.operands().iter().any(|kind| float(*kind)))
        })
        .collect();
    let mut pools: [Vec<String>; 3] = [
        ["%i0", "%i1", "1", "16", "255", "0xffffffff"]
            .map(str::to_owned)
            .to_vec(),
        ["%f0", "%f1", "0.5", "-0.0"].map(str::to_owned).to_vec(),
        ["%b0", "%b1"].map(str::to_owned).to_vec(),
    ];
    let pool = |kind: Kind| match kind {
        Kind::B => 2,
        kind if kind.is_float() => 1,
        _ => 0,
    };
    let mut body = String::from(match machine.flushes {
        true => "  %b0 = slt %i0, %i1\n  %b1 = ult %i1, %i0\n",
        false => BOOLEANS,
    });
    let (mut results, mut tolerances) = (vec![], vec![]);
    for (index, (which, picks)) in choices.iter().enumerate() {
        let alu = usable[which % usable.len()];
        let args: Vec<String> = alu
            .operands()
            .iter()
            .zip(picks)
            .map(|(&kind, pick)| {
                let pool = &pools[pool(kind)];
                // Rather what was made last: that is what gets fused.
                let from_end = (pick % 64).min(pick / 64 % pool.len());
                pool[pool.len() - 1 - from_end.min(pool.len() - 1)].clone()
            })
            .collect();
        let name = format!("%v{index}");
        let line = format!("{name} = {} {}", alu.name(), args.join(", "));
        let _ = writeln!(body, "  {line}");
        pools[pool(alu.result())].push(name.clone());
        let float = alu.result().is_float();
        if matches!(alu.result(), Kind::B) {
            let _ = writeln!(body, "  %w{index} = select {name}, 1, 2");
        }
        // Not every value is stored: one that is used once alone may be fused away.
        if index % 3 == 2 || index + 1 == choices.len() {
            results.push(if matches!(alu.result(), Kind::B) {
                format!("%w{index}")
            } else {
                name
            });
            tolerances.push((line, Tolerance::Same { float }));
        }
    }
    (body, results, tolerances)
}

/// Checks the expression that choices stand for.
pub fn check_expression(machine: Machine, choices: &[(usize, [usize; 4])]) -> Result<(), String> {
    let (body, results, tolerances) = expression(machine, choices);
    let compared = compare(machine, &function(&body, &results), &tolerances);
    compared.map_err(|error| format!("{error}\n{body}"))
}

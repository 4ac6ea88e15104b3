//! The ALU against vectors that were computed elsewhere: words, registers before, registers after.
//!
//! Facts: data/isa-semantics-vectors.json, whose `fields` explain the members.

use super::{Environment, Executor, Memory, Place, Program, Stopped, WARP, Warp, WarpTurn};
use crate::fabric::Fabric;
use crate::memory::{PhysicalMemory, SparseMemory};
use eitri_csf::registers::address_space::{TranslationMode, transcfg};
use eitri_isa::Arch;
use serde_json::Value;
use std::format;
use std::string::String;
use std::vec::Vec;

/// A fabric whose space 1 maps every address to itself.
pub(crate) fn identity_fabric() -> Fabric {
    let mut fabric = Fabric::new(crate::config::Config::default());
    let space = fabric.mmu.space_mut(1);
    space.programmed.transcfg = transcfg::MODE.set(0, TranslationMode::Identity);
    space.update();
    fabric
}

fn number(value: &Value) -> u32 {
    let text = value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"));
    u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("{text}"))
}

fn register(name: &str) -> u8 {
    name[1..]
        .parse()
        .unwrap_or_else(|_| panic!("{name} is no register"))
}

/// NOP with the flow `end`.
const END: u64 = 0x7800_c000_0000_0000;

/// The registers after `word`, run with the registers `before` in every lane.
fn run(word: u64, arch: Arch, before: &[(u8, u32)]) -> Result<Vec<u32>, String> {
    let mut fabric = identity_fabric();
    let mut memory = SparseMemory::new(1 << 20);
    for (index, word) in [word, END].into_iter().enumerate() {
        memory
            .write64(0x1000 + 8 * index as u64, word)
            .map_err(|error| format!("{error}"))?;
    }
    let environment = Environment {
        space: 1,
        allocated: u64::MAX,
        ..Environment::default()
    };
    let mut warp = Warp::new(0, WARP as u32, 0x1000);
    for (register, value) in before {
        warp.preload(*register, [*value; WARP]);
    }
    let (_, stopped) = Executor {
        program: &mut Program::new(arch),
        environment: &environment,
        memory_unit: &mut Memory::default(),
        place: Place::default(),
        fabric: &mut fabric,
        memory: &mut memory,
    }
    .run(&mut warp, WarpTurn::of(10));
    if stopped != Stopped::Ended {
        return Err(format!("{stopped:?}: {:?}", fabric.journal.diagnoses()));
    }
    let lanes = warp.registers.iter();
    lanes
        .map(|lanes| match lanes.iter().all(|value| *value == lanes[0]) {
            true => Ok(lanes[0]),
            false => Err(format!("lanes differ: {lanes:x?}")),
        })
        .collect()
}

/// Whether `got` is right for one register of a vector.
fn agrees(got: u32, expected: u32, nan: Option<&Value>, ulp: i64) -> bool {
    let (width, lanes) = match nan {
        Some(nan) => (nan[0].as_u64().unwrap_or(32) as u32, nan[1].as_array()),
        None => (32, None),
    };
    let parts = |width: u32| (0..32 / width).map(move |part| (part, part * width));
    let any_nan = |part: u32| {
        lanes.is_some_and(|lanes| lanes.iter().any(|lane| lane.as_u64() == Some(part.into())))
    };
    let whole = parts(width).all(|(part, shift)| {
        let mask = u32::MAX >> (32 - width);
        let (got, expected) = (got >> shift & mask, expected >> shift & mask);
        if any_nan(part) {
            let infinity = if width == 16 { 0x7c00 } else { 0x7f80_0000 };
            return got & mask >> 1 > infinity;
        }
        got == expected || (width == 32 && near(got, expected, 0x7f80_0000, ulp))
    });
    whole
        || (ulp != 0
            && parts(16).all(|(_, shift)| {
                let (got, expected) = (got >> shift & 0xffff, expected >> shift & 0xffff);
                got == expected || near(got, expected, 0x7c00, ulp)
            }))
}

/// Whether two finite floats of one sign are at most `ulp` numbers apart.
fn near(got: u32, expected: u32, infinity: u32, ulp: i64) -> bool {
    let sign = infinity + (infinity & infinity.wrapping_neg());
    let finite = |bits: u32| bits & (sign - 1) < infinity;
    (got & sign == expected & sign)
        && finite(got)
        && finite(expected)
        && (i64::from(got) - i64::from(expected)).abs() <= ulp
}

fn read_vectors() -> Value {
    let path = eitri_testdata::kept("isa-semantics-vectors.json");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}"))
}

fn word_of(vector: &Value) -> u64 {
    let text = vector["word"].as_str().unwrap_or_default();
    u64::from_str_radix(text, 16).unwrap_or_else(|_| panic!("{text}"))
}

/// The words of all vectors that instructions of `arch` have.
pub(super) fn words_of(arch: Arch) -> Vec<u64> {
    let file = read_vectors();
    let vectors = file["vectors"].as_array().into_iter().flatten();
    let on = |vector: &&Value| {
        let limit = |index: usize| vector["arch"].get(index).and_then(Value::as_u64);
        let (first, last) = (limit(0).unwrap_or(9), limit(1).unwrap_or(14));
        (first..=last).contains(&arch.major().into())
    };
    vectors.filter(on).map(word_of).collect()
}

#[test]
fn the_alu_agrees_with_every_vector() {
    let file = read_vectors();
    let vectors = file["vectors"]
        .as_array()
        .unwrap_or_else(|| panic!("no vectors"));
    let (mut wrong, mut runs) = (Vec::new(), 0);
    for vector in vectors {
        let text = vector["word"].as_str().unwrap_or_default();
        let word = word_of(vector);
        // Absent: every generation has the form.
        let limit = |index: usize| vector["arch"].get(index).and_then(Value::as_u64);
        let (first, last) = (limit(0).unwrap_or(9), limit(1).unwrap_or(14));
        let archs = Arch::ALL
            .into_iter()
            .filter(|arch| (first..=last).contains(&arch.major().into()));
        let members = |name: &str| -> Vec<(u8, u32)> {
            let object = vector[name].as_object();
            object
                .into_iter()
                .flatten()
                .map(|(name, value)| (register(name), number(value)))
                .collect()
        };
        let (before, after) = (members("in"), members("out"));
        let ulp = vector["ulp"].as_i64().unwrap_or(0);
        for arch in archs {
            runs += 1;
            let place = format!("{} {text} on {arch}", vector["id"]);
            let registers = match run(word, arch, &before) {
                Ok(registers) => registers,
                Err(why) => {
                    wrong.push(format!("{place}: {why}"));
                    continue;
                }
            };
            for (register, expected) in &after {
                let got = registers[usize::from(*register)];
                let nan = vector["nan"].get(format!("r{register}"));
                if !agrees(got, *expected, nan, ulp) {
                    wrong.push(format!(
                        "{place} {}: r{register} = {got:#010x}, expected {expected:#010x}, from {}",
                        vector["text"], vector["in"]
                    ));
                }
            }
        }
    }
    let shown: Vec<_> = wrong.iter().take(40).map(String::as_str).collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        runs,
        shown.join("\n")
    );
    assert_eq!((vectors.len(), runs), (1874, 9994));
}

/// What the vectors do not reach: forms of one generation, computed by hand from valhall-isa.md 9.3, 9.7 and 10.
#[test]
fn forms_of_one_generation_give_what_the_facts_say() {
    #[track_caller]
    fn check(text: &str, arch: Arch, before: [u32; 3], expected: u32) {
        let word = eitri_isa::Instr::assemble(text, arch, eitri_isa::Syntax::Mesa24)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let before: Vec<_> = (2..).zip(before).collect();
        let registers = run(word, arch, &before).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(
            registers[4], expected,
            "{text} on {arch}: {:#x}",
            registers[4]
        );
    }
    let (four, eight) = (0x4080_0000, 0x4100_0000);
    check("FSQRT.f32 r4, r2", Arch::V14, [four, 0, 0], 0x4000_0000);
    check("FLOG.f32 r4, r2", Arch::V14, [eight, 0, 0], 0x4040_0000);
    check("FEXPF.f32 r4, r2", Arch::V14, [0x4040_0000, 0, 0], eight);
    // sin and cos of quadrants 1 and 2 with no rest.
    check(
        "FSINCOS.f32.sin r4, r2, r3",
        Arch::V14,
        [0, 1, 0],
        0x3f80_0000,
    );
    check(
        "FSINCOS.f32.cos r4, r2, r3",
        Arch::V14,
        [0, 2, 0],
        0xbf80_0000,
    );
    // 2^3 in the high half; the low one is kept.
    check(
        "FPOW.f16 r4.h1, r2.h1, r3.h0",
        Arch::V12,
        [0x4000_0000, 0x4200, 0x1234],
        0x4800_1234,
    );
    // Signed times unsigned bytes: -1 * 255 four times.
    check(
        "IDP.v4s8.unsigned1 r4, r2, r3, 0x0",
        Arch::V14,
        [u32::MAX, u32::MAX, 0],
        (-1020i32) as u32,
    );
    check(
        "IDP.v4s8 r4, r2, r3, 0x0",
        Arch::V13,
        [u32::MAX, u32::MAX, 0],
        4,
    );
    // From v11 on a half of the source converts.
    check(
        "S32_TO_F32 r4, r2.h1",
        Arch::V11,
        [0xfffe_0000, 0, 0],
        0xc000_0000,
    );
    check(
        "IMULD.s64 r4, r2.w0, r3.w0",
        Arch::V10,
        [u32::MAX, 7, 0],
        (-7i32) as u32,
    );
}

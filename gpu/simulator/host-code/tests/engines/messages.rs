//! Loads, stores and atomics by each engine against lanes that access memory one by one: registers, memory, counters and diagnoses.

use super::{PLAIN, Random, assemble, differences, jit};
use eitri_isa::Arch;
use eitri_model::Engine;
use eitri_model::host_code::{Lanes, Left, Trial, WARP};

/// Address of the data's last byte of its first page, and one.
const BORDER: u32 = Trial::DATA as u32 + 0x1000;

/// Runs a program by each engine; what it leaves behind if lanes access memory one by one, which each must leave behind.
#[track_caller]
pub(super) fn run(
    words: &[u64],
    arch: Arch,
    registers: &[Lanes],
    lanes: u16,
    engines: &[Engine],
) -> Left {
    let trial = Trial {
        arch,
        words,
        registers,
        lanes,
        policy: PLAIN,
        turn: (128, 500),
        lends: false,
    };
    let alone = trial.run(&Engine::Interpret);
    let together = Trial {
        lends: true,
        ..trial
    };
    for engine in engines {
        let left = together.run(engine);
        let differences = differences(&left, &alone);
        assert!(
            differences.is_empty(),
            "{words:016x?} on {arch} in lanes {lanes:#x} differs by {}, and should be as lane by lane: {differences:#?}\nr60: {:x?}",
            engine.name(),
            registers[60]
        );
    }
    alone
}

pub(super) fn engines() -> [Engine; 3] {
    [Engine::Interpret, Engine::Simd, jit()]
}

/// Registers with numbers, and addresses in r60 and r61 and again in r40 and r41; rounds of a loop in r42.
fn registers(addresses: impl Fn(u32) -> u64) -> Vec<Lanes> {
    let number = |register: u32, lane: u32| (register << 8 | lane).wrapping_mul(0x0101_4567);
    let mut registers: Vec<Lanes> = (0..64)
        .map(|register| std::array::from_fn(|lane| number(register, lane as u32)))
        .collect();
    registers[60] = std::array::from_fn(|lane| addresses(lane as u32) as u32);
    registers[61] = std::array::from_fn(|lane| (addresses(lane as u32) >> 32) as u32);
    (registers[40], registers[41]) = (registers[60], registers[61]);
    registers[42] = [2; WARP];
    registers
}

/// Sends a message twice, from the same registers, behind one to the same place: the first access to a page walks its tables, the first
/// one to a buffer looks it up, and an instruction's first execution is a single step.
fn program(line: &str, arch: Arch) -> Vec<u64> {
    let first = match line.contains("r58") {
        true => line,
        false => "LOAD.i8.unsigned.slot0.wait0.w0 @r4, r60, offset:0",
    };
    let lines = [
        "IADD_IMM.i32 r2, 0x0, #0",
        "IADD_IMM.i32 r60, r40, #0",
        "IADD_IMM.i32 r61, r41, #0",
        first,
        "IADD_IMM.i32 r2, r2, #1",
        line,
        "ICMP_OR.u32.lt.m1 r3, r2, r42, 0x0",
        "BRANCHZ.reconverge r3, offset:-7",
        "NOP.end",
    ];
    lines.map(|line| assemble(line, arch)).to_vec()
}

const LOADS: [&str; 16] = [
    "LOAD.i8.unsigned.slot0.wait0.w0 @r12, r60, offset:0",
    "LOAD.i8.slot0.wait0.w0 @r12, r60, offset:1",
    "LOAD.i8.unsigned.slot0.wait0.b2 @r12, r60, offset:0",
    "LOAD.i8.slot0.wait0.h1 @r12, r60, offset:0",
    "LOAD.i8.slot0.wait0.d0 @r12:r13, r60, offset:0",
    "LOAD.i16.unsigned.slot0.wait0.w0 @r12, r60, offset:2",
    "LOAD.i16.slot0.wait0.w0 @r12, r60, offset:0",
    "LOAD.i16.unsigned.slot0.wait0.h1 @r12, r60, offset:0",
    "LOAD.i24.unsigned.slot0.wait0 @r12, r60, offset:0",
    "LOAD.i32.unsigned.slot0.wait0 @r12, r60, offset:0",
    "LOAD.i32.unsigned.slot0.wait0 @r60, r60, offset:-4",
    "LOAD.i48.unsigned.slot0.wait0 @r12:r13, r60, offset:0",
    "LOAD.i64.unsigned.slot0.wait0 @r60:r61, r60, offset:0",
    "LOAD.i96.unsigned.slot0.wait0 @r12:r13:r14, r60, offset:0",
    "LOAD.i128.unsigned.slot0.wait0 @r12:r13:r14:r15, r60, offset:0",
    "LOAD.i128.unsigned.slot0.wait0 @r60:r61:r62:r63, r60, offset:8",
];

const STORES: [&str; 8] = [
    "STORE.i8.slot0.wait0 @r12, r60, offset:0",
    "STORE.i16.slot0.wait0 @r12, r60, offset:0",
    "STORE.i24.slot0.wait0 @r12, r60, offset:0",
    "STORE.i32.slot0.wait0 @r12, r60, offset:0",
    "STORE.i48.slot0.wait0 @r12:r13, r60, offset:0",
    "STORE.i64.slot0.wait0 @r60:r61, r60, offset:0",
    "STORE.i96.slot0.wait0 @r12:r13:r14, r60, offset:0",
    "STORE.i128.slot0.wait0 @r12:r13:r14:r15, r60, offset:0",
];

/// Operations that some lanes change nothing by; results that go where operands are, or nowhere: those of a round are compared with in the
/// next one.
const ATOMICS: [&str; 16] = [
    "ATOM.i32.slot0.wait0.aadd @r12, r60, offset:0",
    "ATOM.i32.slot0.wait0.aumax @r12, r60, offset:4",
    "ATOM.i32.slot0.wait0.asmin @r12, r60, offset:0",
    "ATOM.i32.slot0.wait0.axor @r12, r60, offset:0",
    "ATOM_RETURN.i32.slot0.wait0.aor @r12, @r12, r60, offset:0",
    "ATOM_RETURN.i32.slot0.wait0.aand @r60, @r14, r60, offset:0",
    "ATOM_RETURN.i32.slot0.wait0.axchg @r14, @r12, r60, offset:0",
    "ATOM_RETURN.i32.slot0.wait0.axchg.compare @r13, @r12:r13, r60, offset:0",
    "ATOM1_RETURN.i32.slot0.wait0.ainc @r12, r60, offset:0",
    "ATOM1_RETURN.i32.slot0.wait0.aor1 @r60, r60, offset:0",
    "ATOM.i64.slot0.wait0.aadd @r12:r13, r60, offset:0",
    "ATOM.i64.slot0.wait0.aumin @r12:r13, r60, offset:0",
    "ATOM_RETURN.i64.slot0.wait0.asmax @r14:r15, @r12:r13, r60, offset:0",
    "ATOM_RETURN.i64.slot0.wait0.axchg @r60:r61, @r60:r61, r60, offset:0",
    "ATOM_RETURN.i64.slot0.wait0.axchg.compare @r14:r15, @r12:r13:r14:r15, r60, offset:0",
    "ATOM1_RETURN.i64.slot0.wait0.adec @r12:r13, r60, offset:0",
];

/// The address of a lane's element of so many bytes.
type AddressOf = fn(u32, u32) -> u64;

/// Where lanes access memory.
const PLACES: [(&str, AddressOf); 15] = [
    ("in a row", |lane, bytes| at(0x40 + bytes * lane)),
    ("in a row that ends with the page", |lane, bytes| {
        u64::from(BORDER - bytes * (16 - lane))
    }),
    ("in a row over the page's end", |lane, bytes| {
        u64::from(BORDER - bytes * 8 + bytes * lane)
    }),
    ("with one over the page's end", |lane, _| {
        u64::from(BORDER - 2 - 4 * (lane & 8))
    }),
    ("at one place", |_, _| at(0x88)),
    ("at the page's last bytes", |_, _| u64::from(BORDER - 4)),
    ("with gaps", |lane, bytes| at(0x20 + 3 * bytes * lane)),
    ("in lines of their own", |lane, _| at(64 * lane)),
    ("backwards", |lane, bytes| at(0x400 - bytes * lane)),
    ("two and two at one place", |lane, bytes| {
        at((lane / 2) * bytes)
    }),
    ("anywhere in a page", |lane, _| at(lane * 0x6f4 % 0xff0)),
    ("at odd addresses", |lane, bytes| at(0x41 + bytes * lane)),
    ("in two pages", |lane, _| {
        u64::from(BORDER - 0x800 + 0x1000 * (lane & 1))
    }),
    ("in one page and then the next, with gaps", |lane, _| {
        u64::from(BORDER - 0x200 + 0x50 * lane)
    }),
    ("with one outside of memory", |lane, bytes| match lane {
        9 => Trial::LIMIT + 0x5000,
        _ => at(bytes * lane),
    }),
];

fn at(offset: u32) -> u64 {
    Trial::DATA + u64::from(offset)
}

/// The bytes of a message.
fn bytes_of(line: &str) -> u32 {
    let bits = line
        .split(['i', '.'])
        .nth(2)
        .and_then(|bits| bits.parse::<u32>().ok());
    bits.unwrap_or_else(|| panic!("the bits of {line}")) / 8
}

#[test]
fn a_message_does_what_its_lanes_do_one_by_one() {
    let arch = Arch::V10;
    // Code is made once for each line, not for each place.
    let engines = engines();
    for line in LOADS.iter().chain(&STORES).chain(&ATOMICS) {
        let words = program(line, arch);
        for (number, (name, place)) in PLACES.iter().enumerate() {
            let registers = registers(|lane| place(lane, bytes_of(line)));
            for lanes in [u16::MAX, [0x00ff, 0xff00, 0x8421, 0x0200][number % 4]] {
                let left = run(&words, arch, &registers, lanes, &engines);
                let outside = *name == "with one outside of memory" && lanes >> 9 & 1 != 0;
                let ended = left.turns.1.contains("Ended");
                assert_eq!(ended, !outside, "{line} {name}: {}", left.turns.1);
            }
        }
    }
}

/// Number of the first word of the data that is a NaN which is not quiet.
fn loud_nan() -> u32 {
    let word = |number: u32| number.wrapping_mul(0x9e37_79b9);
    let is_loud = |bits: u32| bits & 0x7fff_ffff > 0x7f80_0000 && bits >> 22 & 1 == 0;
    (0..1000)
        .find(|number| is_loud(word(*number)))
        .expect("the data has one")
}

#[test]
fn converting_loads_do_what_lanes_do_one_by_one() {
    let arch = Arch::V10;
    let engines = engines();
    let lines = [
        "LD_CVT.auto.slot0.wait0 @r12, r60, r59, offset:0x0",
        "LD_CVT.auto.v2.slot0.wait0 @r12:r13, r60, r59, offset:0x4",
        "LD_CVT.auto.v3.slot0.wait0 @r12:r13:r14, r60, r59, offset:0x0",
        "LD_CVT.auto.v4.slot0.wait0 @r12:r13:r14:r15, r60, r59, offset:0x0",
        "LD_CVT.f32.v4.slot0.wait0 @r60:r61:r62:r63, r60, r59, offset:0x0",
        "LD_CVT.u32.v4.slot0.wait0 @r12:r13:r14:r15, r60, r59, offset:0x0",
        "LD_CVT.s32.v2.slot0.wait0 @r12:r13, r60, r59, offset:0x0",
        "LD_CVT.f16.v4.slot0.wait0 @r12:r13, r60, r59, offset:0x0",
    ];
    let words = lines.map(|line| program(line, arch));
    let nan = 4 * loud_nan();
    let places: [&dyn Fn(u32) -> u64; 4] = [
        &|lane| at(nan + 16 * lane - 16 * 5),
        &|_| at(nan),
        &|lane| u64::from(BORDER - 0x80 + 16 * lane),
        &|lane| at(0x400 - 4 * lane),
    ];
    // RGBA, RGB1, BGRA, and raw bits, by all codes (hardware/descriptors.md 10.1).
    for (number, order) in [0, 16, 4, 1 << 22].into_iter().enumerate() {
        for code in 0..256 {
            let place = places[(code + number) % places.len()];
            let mut registers = registers(place);
            registers[59] = [(code as u32) << 12 | order; WARP];
            let lanes = if code % 3 == 0 { 0x8ff1 } else { u16::MAX };
            let words = &words[(code / 2 + number) % words.len()];
            run(words, arch, &registers, lanes, &engines);
        }
    }
    // Each lane has a conversion of its own.
    for words in &words {
        let mut registers = registers(places[0]);
        registers[59] = std::array::from_fn(|lane| (76 + lane as u32) << 12);
        run(words, arch, &registers, u16::MAX, &engines);
    }
}

#[test]
fn offsets_that_leave_32_bits_are_not_neighbours() {
    let arch = Arch::V10;
    let load = "LOAD.i32.unsigned.slot0.wait0 @r12, r60, offset:30720";
    // These are 4 GiB from each other, and in one page by their lower words.
    let low = |lane: u32| 4 * u64::from(lane);
    let high = |lane: u32| u64::from(u32::MAX) - 0x7ff + 4 * u64::from(lane);
    let apart = |lane: u32| if lane < 8 { high(lane) } else { low(lane) };
    let turned = |lane: u32| if lane < 8 { low(lane) } else { high(lane) };
    // These lie before and behind the end of all addresses, in one page with the offset.
    let wraps = |lane: u32| (u64::MAX - 31).wrapping_add(4 * u64::from(lane));
    for places in [&apart as &dyn Fn(u32) -> u64, &turned, &wraps] {
        let registers = registers(places);
        run(&program(load, arch), arch, &registers, u16::MAX, &engines());
    }
}

#[test]
fn the_last_of_several_lanes_stores() {
    let arch = Arch::V10;
    let words = program("STORE.i32.slot0.wait0 @r12, r60, offset:0", arch);
    let registers = registers(|lane| at(4 * (lane % 4)));
    for lanes in [u16::MAX, 0x0f3f] {
        let left = run(&words, arch, &registers, lanes, &engines());
        let last = |word: usize| {
            (0..16)
                .rev()
                .find(|lane| lanes >> lane & 1 != 0 && lane % 4 == word)
        };
        for word in 0..4 {
            let stored = left.data.as_chunks().0.get(word).copied();
            let lane = last(word).expect("a lane");
            assert_eq!(
                stored.map(u32::from_le_bytes),
                Some(registers[12][lane]),
                "word {word} of lanes {lanes:#x}"
            );
        }
    }
}

#[test]
fn buffers_are_bounded_by_every_engine() {
    let arch = Arch::V10;
    let engines = engines();
    let lines = [
        "LD_BUFFER.i8.unsigned.slot0.wait0.w0 @r12, r58, r59",
        "LD_BUFFER.i16.unsigned.slot0.wait0.w0 @r12, r58, r59",
        "LD_BUFFER.i32.unsigned.slot0.wait0 @r12, r58, r59",
        "LD_BUFFER.i128.unsigned.slot0.wait0 @r12:r13:r14:r15, r58, r59",
        "LEA_BUF.slot0.wait0 @r12:r13, r58, r59",
        "LEA_PKA.slot0.wait0 @r12:r13, r58, r59",
    ];
    let offsets: [fn(u32) -> u32; 7] = [
        |lane| 16 * lane,
        |lane| 0xf00 + 32 * lane,
        |lane| 960 + 4 * lane,
        |lane| 984 + lane / 8 * 4,
        |_| 1000,
        |lane| 0x1fc0 + 4 * lane,
        |lane| if lane == 3 { u32::MAX - 3 } else { 8 * lane },
    ];
    for line in lines {
        let words = program(line, arch);
        for handle in Trial::HANDLES {
            for offset in offsets {
                let mut registers = registers(|_| 0);
                registers[58] = std::array::from_fn(|lane| offset(lane as u32));
                registers[59] = [handle; WARP];
                run(&words, arch, &registers, u16::MAX, &engines);
            }
        }
        let mut registers = registers(|_| 0);
        registers[58] = std::array::from_fn(|lane| 4 * lane as u32);
        registers[59] = std::array::from_fn(|lane| Trial::HANDLES[lane % 3]);
        run(&words, arch, &registers, 0x7fff, &engines);
    }
}

/// Messages, arithmetic on addresses and branches in any order.
#[test]
fn programs_of_messages_do_what_lanes_do_one_by_one() {
    let mut executed = 0;
    for (number, arch) in [Arch::V10, Arch::V11, Arch::V12].into_iter().enumerate() {
        for seed in 0..if eitri_testdata::long() { 200 } else { 12 } {
            let mut random = Random::new(1000 * number as u64 + seed);
            let length = 10 + random.below(30) as i64;
            let mut lines = Vec::new();
            for at in 0..length {
                lines.push(match random.below(8) {
                    0 => {
                        let to = random.below(length as u64) as i64 - at - 1;
                        let flow = random.one(&[".reconverge", ""]);
                        format!("BRANCHZ{flow} r{}, offset:{to}", random.below(8))
                    }
                    1 => "IADD_IMM.i32 r60, r60, #4".to_owned(),
                    2 => format!("IADD_IMM.i32 r{}, r{0}, #1", random.below(8)),
                    3 => "NOP.reconverge".to_owned(),
                    4 => random.one(&STORES).to_owned(),
                    _ => random.one(&LOADS[..10]).to_owned(),
                });
                let flow = random.one(&[".wait0", ".wait0", "", ".reconverge", ".wait012"]);
                if let Some(line) = lines.last_mut() {
                    *line = line.replace(".wait0", flow);
                }
            }
            lines.push("NOP.end".to_owned());
            let words: Vec<u64> = lines.iter().map(|line| assemble(line, arch)).collect();
            let (_, place) = random.one(&PLACES[..11]);
            let mut registers = registers(|lane| place(lane, 4));
            for register in &mut registers[..8] {
                *register = std::array::from_fn(|_| random.below(2) as u32);
            }
            let lanes = random.one(&[u16::MAX, u16::MAX, 0x0fff, 0x0001]);
            executed += run(&words, arch, &registers, lanes, &engines()).used;
        }
    }
    assert!(executed > 1_000, "{executed}");
}

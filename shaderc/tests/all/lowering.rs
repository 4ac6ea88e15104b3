//! Each operation that is lowered, against what it means, for special and random operands.
use eitri_shaderc::interp::eval::eval;
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::verify::lowered;
use eitri_shaderc::ir::{Alu, Kind, Level, Type, Widths};
use eitri_shaderc::pass::Runner;
use eitri_shaderc::{Robust, Target, pipeline};

/// Operands that are likely to find mistakes, and pseudo-random ones.
fn words(seed: u32, count: usize) -> Vec<u32> {
    let mut list = vec![
        0,
        1,
        2,
        3,
        5,
        7,
        10,
        31,
        32,
        33,
        255,
        641,
        65535,
        65536,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xffff_ffff,
        0xffff_fffe,
        0x00ff_ff00,
    ];
    let mut state = seed | 1;
    while list.len() < count {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = (state >> ((state >> 28) + 4) ^ state).wrapping_mul(277_803_737);
        // Of all sizes.
        list.push((word ^ word >> 22) >> (state % 32));
    }
    list
}

/// Lowers and runs `op` at a width on operands from buffers, the second one a constant if given; bits of the results.
/// Each buffer has 8 bytes a row.
fn lowered_results(op: Alu, width: Type, operands: &[Vec<u64>], constant: Option<u64>) -> Vec<u64> {
    let count = operands[0].len();
    let mut text = format!("function main\nworkgroup {count} 1 1\n");
    for index in 0..=operands.len() {
        text += &format!("binding 0 {index} storage written\n");
    }
    text += "b0:\n%id = local_id.x\n%at = ishl %id, 3\n";
    let ty = |kind: Kind| kind.ty().unwrap_or(width);
    let mut args = vec![];
    for (index, kind) in op.operands().iter().enumerate() {
        let ty = ty(*kind);
        match constant {
            Some(constant) if index == 1 => args.push(format!("{:#x}:{ty}", constant & ty.mask())),
            _ => {
                let binding = index + 1;
                text += &format!("%a{index} = load.buffer.{ty}.align8 @0.{binding}, %at\n");
                args.push(format!("%a{index}"));
            }
        }
    }
    text += &format!("%r = {op} {}\n", args.join(", "));
    let result = match ty(op.result()) {
        Type::Bool => {
            text += "%s = b2i %r\nstore.buffer.align8 @0.0, %at, %s\nreturn\n";
            Type::W32
        }
        ty => {
            text += &format!("store.buffer.{ty}.align8 @0.0, %at, %r\nreturn\n");
            ty
        }
    };
    let mut function = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    pipeline::lower(
        &mut function,
        Robust::Off,
        &mut Runner::new(Target::default(), &[]),
    );
    lowered(&function, &Target::default()).unwrap_or_else(|violations| panic!("{}", violations[0]));

    let buffer = |words: &[u64]| Buffer {
        bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
    };
    let mut buffers = Buffers::from([((0, 0, 0), buffer(&vec![0; count]))]);
    for (index, operand) in operands.iter().enumerate() {
        buffers.insert((0, index as u32 + 1, 0), buffer(operand));
    }
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 24,
    };
    interpret(&function, &dispatch, &mut buffers).unwrap();
    let bytes = buffers[&(0, 0, 0)].bytes.chunks(8);
    bytes
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()) & result.mask())
        .collect()
}

/// All pairs of the list as two operands.
fn pairs(list: &[u32]) -> [Vec<u32>; 2] {
    let all = list.iter().flat_map(|a| list.iter().map(move |b| (*a, *b)));
    let (a, b) = all.unzip();
    [a, b]
}

#[track_caller]
fn check(op: Alu, operands: &[Vec<u32>], constant: Option<u32>, close: impl Fn(u32, u32) -> bool) {
    let wide = |list: &Vec<u32>| list.iter().map(|word| u64::from(*word)).collect();
    let operands: Vec<Vec<u64>> = operands.iter().map(wide).collect();
    let close = |got: u64, expected: u64| close(got as u32, expected as u32);
    check_at(op, Type::W32, &operands, constant.map(u64::from), close);
}

/// The same at any width.
#[track_caller]
fn check_at(
    op: Alu,
    width: Type,
    operands: &[Vec<u64>],
    constant: Option<u64>,
    close: impl Fn(u64, u64) -> bool,
) {
    let results = lowered_results(op, width, operands, constant);
    for (number, got) in results.into_iter().enumerate() {
        let mut args = [0; 4];
        for (index, (arg, operand)) in args.iter_mut().zip(operands).enumerate() {
            let bits = match constant {
                Some(constant) if index == 1 => constant,
                _ => operand[number],
            };
            let ty = op.operands()[index].ty().unwrap_or(width);
            *arg = bits & ty.mask();
        }
        let expected = eval(op, width, args);
        assert!(
            close(got, expected),
            "{op} {args:x?} at {width}: lowered gives {got:#x}, expected {expected:#x}"
        );
    }
}

/// Numbers of up to 64 bits, of all sizes, with awkward ones.
fn wide_words(seed: u32, count: usize) -> Vec<u64> {
    let halves = words(seed, 2 * count);
    let mut list = vec![0, 1 << 63, (1 << 63) - 1, 1 << 32, (1 << 32) - 1, u64::MAX];
    for (number, pair) in halves.chunks(2).enumerate() {
        let word = u64::from(pair[0]) << 32 | u64::from(pair[1]);
        list.push(word >> (number % 3 * 16));
    }
    list.truncate(count);
    list
}

fn wide_pairs(list: &[u64]) -> [Vec<u64>; 2] {
    let all = list.iter().flat_map(|a| list.iter().map(move |b| (*a, *b)));
    let (a, b) = all.unzip();
    [a, b]
}

const OTHER_WIDTHS: [Type; 3] = [Type::W8, Type::W16, Type::W64];

#[test]
fn operations_on_words_of_other_widths() {
    let free = [
        Alu::UDiv,
        Alu::UMod,
        Alu::SDiv,
        Alu::SRem,
        Alu::SMod,
        Alu::BitInsert,
        Alu::UBitExtract,
        Alu::SBitExtract,
    ];
    for width in OTHER_WIDTHS {
        let operands = wide_pairs(&wide_words(5, 40));
        let operands = [operands.clone(), operands].concat();
        for op in Alu::ALL {
            let other = op.widths() == Widths::All || op.operands().contains(&Kind::N);
            if !other || free.contains(op) || op.operands() == [Kind::N] && width == Type::W8 {
                continue;
            }
            let operands = &operands[..op.operands().len()];
            check_at(*op, width, operands, None, |got, expected| got == expected);
            if op.operands().len() == 2 {
                for constant in [0, 1, 7, 31, 32, 40, 0x8000, 0xffff_ffff, 1 << 40, u64::MAX] {
                    check_at(*op, width, operands, Some(constant), |got, expected| {
                        got == expected
                    });
                }
            }
        }
    }
}

#[test]
fn division_at_other_widths() {
    for width in OTHER_WIDTHS {
        let mut operands = wide_pairs(&wide_words(23, 40));
        for d in &mut operands[1] {
            if *d & width.mask() == 0 {
                *d = 3;
            }
        }
        for op in DIVISIONS {
            check_at(op, width, &operands, None, |got, expected| got == expected);
            for constant in [1, 2, 3, 7, 10, 64, 127, 1 << 40, 1_000_000_007, u64::MAX] {
                if constant & width.mask() != 0 {
                    check_at(op, width, &operands, Some(constant), |got, expected| {
                        got == expected
                    });
                }
            }
        }
    }
}

#[test]
fn bit_fields_at_other_widths() {
    for width in OTHER_WIDTHS {
        let words = wide_words(31, 64);
        let (mut offsets, mut counts) = (vec![], vec![]);
        for number in 0..words.len() as u64 {
            let offset = number % u64::from(width.bits());
            offsets.push(offset);
            counts.push(number * 7 % (u64::from(width.bits()) - offset + 1));
        }
        let extract = [words.clone(), offsets.clone(), counts.clone()];
        for op in [Alu::UBitExtract, Alu::SBitExtract] {
            check_at(op, width, &extract, None, |got, expected| got == expected);
        }
        let inserted = words.iter().rev().copied().collect();
        let insert = [words, inserted, offsets, counts];
        check_at(Alu::BitInsert, width, &insert, None, |got, expected| {
            got == expected
        });
    }
}

#[test]
fn conversions_between_wide_words_and_floats() {
    let words = wide_words(77, 300);
    for op in [Alu::S64ToF, Alu::U64ToF] {
        check_at(
            op,
            Type::W64,
            std::slice::from_ref(&words),
            None,
            |got, expected| got == expected,
        );
    }
    // Of all sizes that fit.
    let signed = words
        .iter()
        .map(|word| u64::from(((*word).cast_signed() as f32 * 0.99).to_bits()));
    let unsigned = words
        .iter()
        .map(|word| u64::from((*word as f32 * 0.99).to_bits()));
    for (op, floats) in [
        (Alu::F2S64, signed.collect::<Vec<_>>()),
        (Alu::F2U64, unsigned.collect()),
    ] {
        check_at(op, Type::W32, &[floats], None, |got, expected| {
            got == expected
        });
    }
}

#[test]
fn floats_of_16_bits() {
    let halves: Vec<u64> = (0..=0xffff).step_by(97).collect();
    let single = [
        Alu::FNeg,
        Alu::FAbs,
        Alu::FSat,
        Alu::FFloor,
        Alu::FCeil,
        Alu::FTrunc,
        Alu::FRoundEven,
        Alu::F2F32,
    ];
    let nan = |bits: u64| bits & 0x7c00 == 0x7c00 && bits & 0x3ff != 0;
    let nan32 = |bits: u64| f32::from_bits(bits as u32).is_nan();
    for op in single {
        check_at(
            op,
            Type::W16,
            std::slice::from_ref(&halves),
            None,
            |got, expected| match op {
                Alu::F2F32 => got == expected || nan32(got) && nan32(expected),
                _ => got == expected || nan(got) && nan(expected),
            },
        );
    }
    let some: Vec<u64> = halves.into_iter().step_by(13).collect();
    let operands = wide_pairs(&some);
    for op in [
        Alu::FAdd,
        Alu::FSub,
        Alu::FMul,
        Alu::FMin,
        Alu::FMax,
        Alu::FLt,
        Alu::FEq,
    ] {
        check_at(op, Type::W16, &operands, None, |got, expected| {
            got == expected || nan(got) && nan(expected)
        });
    }
}

const DIVISIONS: [Alu; 5] = [Alu::UDiv, Alu::UMod, Alu::SDiv, Alu::SRem, Alu::SMod];

#[test]
fn division_by_variables() {
    let mut operands = pairs(&words(17, 64));
    // The result of a division by zero is free.
    operands[1].iter_mut().for_each(|d| *d = (*d).max(1));
    for op in DIVISIONS {
        check(op, &operands, None, |got, expected| got == expected);
    }
}

#[test]
fn division_by_constants() {
    let dividends = words(3, 400);
    for divisor in words(99, 120).into_iter().filter(|d| *d != 0) {
        for op in DIVISIONS {
            let operands = [dividends.clone(), vec![]];
            check(op, &operands, Some(divisor), |got, expected| {
                got == expected
            });
        }
    }
}

#[test]
fn bit_fields() {
    let all = words(5, 200);
    for op in [Alu::FindLsb, Alu::UFindMsb, Alu::SFindMsb, Alu::SSign] {
        check(op, std::slice::from_ref(&all), None, |got, expected| {
            got == expected
        });
    }
    for offset in [0, 1, 7, 16, 31] {
        for count in [0, 1, 5, 16, 31, 32] {
            if offset + count > 32 {
                continue;
            }
            let same = |word| vec![word; all.len()];
            for op in [Alu::UBitExtract, Alu::SBitExtract] {
                check(
                    op,
                    &[all.clone(), same(offset), same(count)],
                    None,
                    |a, b| a == b,
                );
            }
            let other = words(8, all.len());
            let operands = [all.clone(), other, same(offset), same(count)];
            check(Alu::BitInsert, &operands, None, |a, b| a == b);
        }
    }
}

fn ulps(a: u32, b: u32) -> u64 {
    let ordered = |bits: u32| {
        let magnitude = i64::from(bits & 0x7fff_ffff);
        if bits >> 31 == 1 {
            -magnitude
        } else {
            magnitude
        }
    };
    ordered(a).abs_diff(ordered(b))
}

#[test]
fn floats() {
    let values: Vec<f32> = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        3.0,
        1e-3,
        7.7,
        -123.456,
        65504.0,
        70000.0,
        1e-6,
        6e-8,
        1e10,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let bits: Vec<u32> = values.iter().map(|x| x.to_bits()).collect();
    let nan = |a: u32, b: u32| f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan();
    check(Alu::FFract, std::slice::from_ref(&bits), None, |a, b| {
        a == b || nan(a, b)
    });
    check(
        Alu::FQuantize16,
        std::slice::from_ref(&bits),
        None,
        |a, b| a == b || nan(a, b),
    );
    check(Alu::FSqrt, std::slice::from_ref(&bits), None, |a, b| {
        ulps(a, b) <= 3 || nan(a, b)
    });
    let numbers: Vec<u32> = bits
        .iter()
        .copied()
        .filter(|x| !f32::from_bits(*x).is_nan())
        .collect();
    check(Alu::FSign, &[numbers], None, |a, b| {
        a == b || a << 1 == 0 && b << 1 == 0
    });
    // Where Vulkan bounds the error of a quotient: divisors of ordinary size.
    let [n, mut d] = pairs(&bits);
    for d in &mut d {
        if !f32::from_bits(*d).is_normal() {
            *d = 3.0f32.to_bits();
        }
    }
    check(Alu::FDiv, &[n, d], None, |a, b| {
        ulps(a, b) <= 2 || nan(a, b)
    });
}

#[test]
fn every_high_operation_is_lowered_somewhere_here_or_in_the_shaders() {
    // Each of them alone: the pipeline must know it.
    for op in Alu::ALL.iter().filter(|op| op.level() == Level::High) {
        let operands: Vec<Vec<u64>> = op.operands().iter().map(|_| vec![1, 2, 3]).collect();
        assert!(op.operands().iter().all(|kind| *kind != Kind::B), "{op}");
        let widths = Type::ALL.into_iter().filter(|ty| op.widths().has(*ty));
        for width in widths.chain([Type::W32]) {
            lowered_results(*op, width, &operands, None);
        }
    }
}

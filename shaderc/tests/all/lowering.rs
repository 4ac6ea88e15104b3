//! Each operation that is lowered, against what it means, for special and random operands.
use eitri_shaderc::interp::eval::eval;
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::verify::lowered;
use eitri_shaderc::ir::{Alu, Kind, Level};
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

/// Lowers and runs `op` on operands from buffers, the second one a constant if given; bits of the results.
fn lowered_results(op: Alu, operands: &[Vec<u32>], constant: Option<u32>) -> Vec<u32> {
    let count = operands[0].len();
    let mut text = format!("function main\nworkgroup {count} 1 1\n");
    for index in 0..=operands.len() {
        text += &format!(
            "binding 0 {index} storage handle {:#x} written\n",
            0x0100_0000 + index
        );
    }
    text += "b0:\n%id = local_id.x\n%at = ishl %id, 2\n";
    let mut args = vec![];
    for index in 0..operands.len() {
        match constant {
            Some(constant) if index == 1 => args.push(format!("{constant:#x}")),
            _ => {
                text += &format!("%a{index} = load.buffer {:#x}, %at\n", 0x0100_0001 + index);
                args.push(format!("%a{index}"));
            }
        }
    }
    text += &format!(
        "%r = {op} {}\nstore.buffer 0x1000000, %at, %r\nreturn\n",
        args.join(", ")
    );
    let mut function = parse(&text).unwrap();
    pipeline::lower(
        &mut function,
        Robust::Off,
        &mut Runner::new(Target::default(), &[]),
    );
    lowered(&function).unwrap_or_else(|violations| panic!("{}", violations[0]));

    let buffer = |words: &[u32]| Buffer {
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
    let bytes = buffers[&(0, 0, 0)].bytes.chunks(4);
    bytes
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
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
    let results = lowered_results(op, operands, constant);
    for (number, got) in results.into_iter().enumerate() {
        let mut args = [0; 4];
        for (index, (arg, operand)) in args.iter_mut().zip(operands).enumerate() {
            *arg = match constant {
                Some(constant) if index == 1 => constant,
                _ => operand[number],
            };
        }
        let expected = eval(op, args);
        assert!(
            close(got, expected),
            "{op} {args:x?}: lowered gives {got:#x}, expected {expected:#x}"
        );
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
        let operands: Vec<Vec<u32>> = op.operands().iter().map(|_| vec![1, 2, 3]).collect();
        assert!(op.operands().iter().all(|kind| *kind != Kind::B), "{op}");
        lowered_results(*op, &operands, None);
    }
}

//! Checked instructions and placeholders are the words that the builder writes.

use crate::builder::{ADDRESS, try_build};
use eitri_cs::builder::{
    AddNumber, AnyLoad, BuildFault, Builder, Chunk, Config, Link, Load32, Load64, Run, WithNumber,
};
use eitri_cs::enums::{Condition, TaskAxis};
use eitri_cs::instr::{AddImm32, AddImm64, Branch, Instr, Nop, RunCompute, StoreMultiple, Wait};
use eitri_cs::{Arch, Pair, Reg, RegMask, SUPPORTED, SlotMask, d, r, random_word};

/// One piece of code encodes by the row what each instruction's own code encodes.
#[test]
fn encoding_by_the_row_gives_the_same_words() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        state ^ state >> 29
    };
    for arch in SUPPORTED.iter() {
        let config = Config::new(arch);
        let mut legal = 0;
        for _ in 0..5_000 {
            let word = random_word(arch, &mut random);
            let instr = Instr::decode(word, arch).expect("legal");
            // Registers and slots that a stream has not are refused.
            if let Ok(checked) = config.checked(instr) {
                assert_eq!(checked.word(), word, "{arch}: {instr:?}");
                legal += 1;
            }
        }
        assert!(legal > 500, "{arch}: {legal}");
    }
}

#[test]
fn first_loads_are_those_of_their_registers() {
    for arch in SUPPORTED.iter() {
        let config = Config::new(arch);
        let any = AnyLoad::new(&config).expect("writable");
        let first = any.first(66).expect("writable");
        for register in [0, 1, 33, 65] {
            let load = any.load32(Reg::new(register)).expect("writable");
            for value in [0, 0xDEAD_BEEF, u32::MAX] {
                assert_eq!(first.with(register, value), Some(load.with(value)));
            }
        }
        assert_eq!(first.with(66, 0), None);
        // The last registers are the kernel's.
        let refused = any.first(u8::MAX).expect_err("not writable");
        assert!(
            matches!(refused, BuildFault::NotWritable { .. }),
            "{refused}"
        );
    }
}

#[test]
fn a_sum_is_that_of_its_instruction() {
    for arch in SUPPORTED.iter() {
        let config = Config::new(arch);
        let add = AddNumber::new(&config, d!(68), d!(84)).expect("writable");
        for number in [0, 1, 0x1234_5678, i32::MAX as u32] {
            let instr = AddImm64 {
                destination: d!(68),
                source: d!(84),
                immediate: number as i32,
            };
            assert_eq!(config.checked(instr), Ok(add.with(number)), "{number:#x}");
        }
    }
}

/// Sums, distances and offsets of any sign are those of the instructions that say them at once.
#[test]
fn a_number_that_is_said_later_is_that_of_its_instruction() {
    for arch in SUPPORTED.iter() {
        let config = Config::new(arch);
        let add = |immediate: i32| AddImm32 {
            destination: r!(73),
            source: r!(81),
            immediate,
        };
        let add64 = |immediate: i32| AddImm64 {
            destination: d!(66),
            source: d!(66),
            immediate,
        };
        let branch = |offset| Branch {
            condition: Condition::NotEqual,
            value: r!(68),
            offset,
        };
        let store = |offset| StoreMultiple {
            base_register: r!(70),
            mask: RegMask::first(1),
            address: d!(78),
            offset,
        };
        let later = |instr: Result<WithNumber, BuildFault>| instr.expect("legal");
        let later_add = later(WithNumber::new(&config, |it| add(it.into())));
        let later_add64 = later(WithNumber::new(&config, |it| add64(it.into())));
        for number in [0, 1, -1, 0x1234_5678, i32::MAX, i32::MIN] {
            assert_eq!(
                config.checked(add(number)),
                Ok(later_add.with(number)),
                "{number:#x}"
            );
            assert_eq!(
                config.checked(add64(number)),
                Ok(later_add64.with(number)),
                "{number:#x}"
            );
        }
        let later_branch = later(WithNumber::new(&config, branch));
        let later_store = later(WithNumber::new(&config, store));
        for number in [0, 1, -1, 32, -300, i16::MAX, i16::MIN] {
            let (jump, to) = (
                config.checked(branch(number)),
                config.checked(store(number)),
            );
            assert_eq!(jump, Ok(later_branch.with(number.into())), "{number}");
            assert_eq!(to, Ok(later_store.with(number.into())), "{number}");
        }
        let kernel = |immediate: i16| AddImm32 {
            destination: config.layout.link_length(),
            source: r!(66),
            immediate: immediate.into(),
        };
        let refused = WithNumber::new(&config, kernel);
        assert!(refused.is_err(), "{arch}: it may not be written");
    }
}

#[test]
fn a_placeholder_is_the_move_that_the_builder_writes() {
    for arch in SUPPORTED.iter() {
        let config = Config::new(arch);
        let load = Load32::new(&config, r!(66)).expect("writable");
        for value in [0, 1, 0xDEAD_BEEF, u32::MAX] {
            let built = try_build(config, |b| {
                b.move32(r!(66), value);
            })
            .expect("legal");
            assert_eq!(built, [load.with(value).word()], "{value:#x}");
        }
        let load = Load64::new(&config, d!(68)).expect("writable");
        for value in [0, 0x41_0000_1000, (1 << 48) - 1, 1 << 48, u64::MAX] {
            let built = try_build(config, |b| {
                b.move64(d!(68), value);
            })
            .expect("legal");
            let (first, second) = load.with(value);
            let words: Vec<u64> = [Some(first), second]
                .into_iter()
                .flatten()
                .map(|it| it.word())
                .collect();
            assert_eq!(built, words, "{value:#x}");
        }
    }
}

#[test]
fn a_job_with_any_task_size_is_the_builders() {
    for arch in SUPPORTED.iter() {
        let config = Config::new(arch);
        let run = Run::new(&config, RunCompute::default()).expect("legal");
        for task_axis in [TaskAxis::X, TaskAxis::Y, TaskAxis::Z] {
            for (given, task_increment) in [(0, 1), (1, 1), (2, 2), (16383, 16383), (65535, 16383)]
            {
                let job = RunCompute {
                    task_axis,
                    task_increment,
                    ..RunCompute::default()
                };
                let built = try_build(config, |b| {
                    b.run_compute(job);
                });
                let word = run.with(task_axis, given).word();
                assert_eq!(built.expect("legal"), [word], "{task_axis:?} {given}");
            }
        }
    }
}

#[test]
fn what_the_builder_refuses_is_refused() {
    for arch in SUPPORTED.iter() {
        let config = Config::new(arch);
        let kernel = config.layout.ring_value();
        let refused = |fault| matches!(fault, BuildFault::NotWritable { .. });
        assert!(Load32::new(&config, kernel.low()).is_err_and(refused));
        assert!(Load64::new(&config, kernel).is_err_and(refused));
        let narrow = Config { slots: 4, ..config };
        let wait = Wait {
            wait_mask: SlotMask::new(0x10),
            ..Wait::default()
        };
        let refused = narrow.checked(wait).expect_err("no slot 4");
        assert!(matches!(refused, BuildFault::NoSuchSlot { .. }));
        let odd = Link::to(ADDRESS + 8, &config).map(drop);
        let address = ADDRESS + 8;
        assert_eq!(odd, Err(BuildFault::ChunkMisaligned { address }));
    }
}

/// The same link as the builder's own, whatever the address is.
#[test]
fn a_link_is_the_builders() {
    for (arch, next) in SUPPORTED
        .iter()
        .flat_map(|arch| [(arch, 0x41_0004_2000), (arch, 1 << 52)])
    {
        let config = Config::new(arch);
        let (mut first, mut second) = ([0; 8], [0; 8]);
        let mut more = Some(Chunk {
            address: next,
            words: &mut second,
        });
        let root = Chunk {
            address: ADDRESS,
            words: &mut first,
        };
        let mut builder = Builder::new(config, root, || more.take());
        for _ in 0..6 {
            builder.push(Nop::default());
        }
        let stream = builder.finish().expect("fits");
        let link = Link::to(next, &config).expect("aligned");
        let mut words: Vec<u64> = link.words().map(|it| it.word()).collect();
        words[link.length_word()] = link.length(2 * 8).word();
        assert_eq!(first[4..stream.length as usize / 8], words);
    }
}

/// The pair of the facts' worked link.
#[test]
fn the_link_registers_are_those_of_the_facts() {
    let config = Config::new(eitri_cs::Arch::V10);
    let link = Link::to(0x41_0004_2000, &config).expect("aligned");
    assert_eq!(Pair::new(94), Some(config.layout.link_address()));
    let words: Vec<u64> = link.words().map(|it| it.word()).collect();
    let worked = [
        0x015e_0041_0004_2000,
        0x025d_0000_0000_0000,
        0x2100_5e5d_0000_0000,
    ];
    assert_eq!(words, worked);
    assert_eq!(link.length(0x10).word(), 0x025d_0000_0000_0010);
}

#[test]
fn loads_of_any_register_are_those_of_the_register() {
    for arch in [Arch::V10, Arch::V11, Arch::V12, Arch::V13] {
        let config = Config::new(arch);
        let any = AnyLoad::new(&config).expect("the first registers are writable");
        for number in 0..=u8::MAX {
            let register = Reg::new(number);
            let (found, expected) = (any.load32(register), Load32::new(&config, register));
            assert_eq!(found.ok(), expected.ok(), "{arch}: {register}");
            let Some(pair) = Pair::new(number) else {
                continue;
            };
            let (found, expected) = (any.load64(pair), Load64::new(&config, pair));
            assert_eq!(found.ok(), expected.ok(), "{arch}: {register}");
        }
    }
}

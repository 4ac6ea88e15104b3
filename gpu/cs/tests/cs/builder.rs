//! The builder writes the words that the facts give for the same thing.

use crate::facts;

use eitri_cs::builder::{BuildError, Builder, Chunk, Config, Defer, Flush, OneChunk};
use eitri_cs::enums::{Condition, FlushMode, OtherFlushMode, SyncScope, TaskAxis};
use eitri_cs::instr::{AddImm32, Branch, Instr, Move32, RunCompute};
use eitri_cs::table::Resources;
use eitri_cs::{Arch, Layout, Reg, RegMask, SlotMask, SubQueue, d, r, slot};

const ADDRESS: u64 = 0x41_0004_0000;

/// The words of the listing that the facts call `name`.
fn listing(name: &str) -> Vec<u64> {
    let data = facts::data();
    let examples = data["examples"].as_array().unwrap();
    let example = examples.iter().find(|example| example["name"] == name);
    let listing = example.unwrap()["listing"].as_array().unwrap();
    listing
        .iter()
        .map(|line| facts::hex(&line["word"]))
        .collect()
}

/// What `build` writes into one chunk.
fn try_build(config: Config, build: impl FnOnce(&mut Builder<'_>)) -> Result<Vec<u64>, BuildError> {
    let mut memory = vec![0; 512];
    let chunk = Chunk {
        address: ADDRESS,
        words: &mut memory,
    };
    let mut builder = Builder::new(config, chunk, OneChunk);
    build(&mut builder);
    let stream = builder.finish()?;
    assert_eq!(stream.address, ADDRESS);
    memory.truncate(stream.length as usize / 8);
    Ok(memory)
}

#[track_caller]
fn check(arch: Arch, build: impl FnOnce(&mut Builder<'_>), expected: &[u64]) {
    let words = try_build(Config::new(arch), build).unwrap();
    let text = |words: &[u64]| {
        let line = |word| format!("{word:016x} {:?}\n", Instr::decode(word, arch));
        words.iter().copied().map(line).collect::<String>()
    };
    assert_eq!(text(&words), text(expected));
}

#[test]
fn if_and_while() {
    for arch in Arch::ALL {
        check(
            arch,
            |b| {
                let (n, acc, t) = (r!(66), r!(67), r!(68));
                b.move32(n, 5).move32(acc, 0);
                b.while_do(Condition::Greater, n, |b, _| {
                    b.add32(t, n, -3);
                    b.if_else(
                        Condition::Equal,
                        t,
                        |b| {
                            b.add32(acc, acc, 100);
                        },
                        |b| {
                            b.add32(acc, acc, 1);
                        },
                    );
                    b.add32(n, n, -1);
                });
                b.move64(d!(70), 0x41_0003_0000);
                b.store(acc, RegMask::first(1), d!(70), 0);
                b.wait(slot!(0));
            },
            &listing("if_while"),
        );
    }
}

#[test]
fn compute_dispatch() {
    for (arch, name) in [(Arch::V10, "compute_v10"), (Arch::V12, "compute_v12")] {
        let layout = Layout::of(arch);
        let progress = layout.progress(SubQueue::Compute);
        check(
            arch,
            |b| {
                b.move64(d!(0), 0x41_0000_1002);
                b.move64(d!(8), 0x2000_0041_0000_2000);
                b.move64(d!(16), 0x41_0000_3000)
                    .move64(d!(24), 0x41_0000_4000);
                for (register, value) in [
                    (32, 0),
                    (33, 63),
                    (34, 0),
                    (35, 0),
                    (36, 0),
                    (37, 16),
                    (38, 4),
                    (39, 1),
                ] {
                    b.move32(Reg::new(register), value);
                }
                b.wait(slot!(3));
                let defer = if arch == Arch::V10 {
                    b.select_slots(slot!(3), slot!(0));
                    Defer::Until {
                        wait: slot!(3).mask(),
                        count: slot!(1),
                    }
                } else {
                    b.set_state(eitri_cs::enums::StreamState::SelectEndpoint, 3);
                    b.set_state(eitri_cs::enums::StreamState::MaskWait, 8);
                    Defer::Indirect
                };
                b.request(Resources::COMPUTE);
                let ep_limit = if arch == Arch::V10 { 0 } else { 8 };
                b.run_compute(RunCompute {
                    task_increment: 2,
                    task_axis: TaskAxis::Y,
                    ep_limit,
                    ..Default::default()
                });
                b.request(Resources::NONE);
                b.load64(d!(66), layout.context(), 0).wait(slot!(0));
                b.add64(d!(66), d!(66), 32).move64(d!(68), 1);
                b.sync_add64(d!(66), d!(68), SyncScope::Csg, defer);
                b.add64(progress, progress, 1);
                b.wait(b.config().all_slots());
                b.move32(r!(66), 0);
                let flush = Flush {
                    l2: FlushMode::Clean,
                    lsc: FlushMode::Clean,
                    ..Flush::default()
                };
                b.flush_caches(flush, r!(66), SlotMask::NONE, slot!(0))
                    .wait(slot!(0));
            },
            &listing(name),
        );
    }
}

#[test]
fn ring_entry() {
    let layout = Layout::of(Arch::V10);
    let (address, value) = (layout.ring_address(), layout.ring_value());
    let build = |b: &mut Builder<'_>| {
        let flush = Flush {
            l2: FlushMode::CleanAndInvalidate,
            lsc: FlushMode::CleanAndInvalidate,
            other: OtherFlushMode::Invalidate,
        };
        b.move32(value.low(), 0x1234);
        b.flush_caches(flush, value.low(), SlotMask::NONE, slot!(0));
        b.move64(address, 0x41_0004_0000).move32(value.low(), 0x108);
        b.wait(slot!(0)).call(address, value.low());
        b.move64(address, 0x8000_0000_1000).move64(value, 1);
        b.wait(b.config().all_slots());
        b.sync_add64(address, value, SyncScope::System, Defer::Now)
            .error_barrier();
    };
    check(
        Arch::V10,
        |b| {
            b.with_writable(layout.kernel(), build);
        },
        &listing("ring_job_v10"),
    );
}

/// A match as the facts lower it: `t = v - k`, next case when not 0, over the rest at the end of each case.
#[test]
fn match_with_default() {
    let add = |destination, source, immediate| {
        Instr::AddImm32(AddImm32 {
            destination,
            source,
            immediate,
        })
    };
    let set = |immediate| {
        Instr::Move32(Move32 {
            destination: r!(70),
            immediate,
        })
    };
    let branch = |condition, value, offset| {
        Instr::Branch(Branch {
            condition,
            value,
            offset,
        })
    };
    let (v, t) = (r!(66), r!(68));
    let expected = [
        branch(Condition::NotEqual, v, 2),
        set(10),
        branch(Condition::Always, r!(0), 6),
        add(t, v, -7),
        branch(Condition::NotEqual, t, 3),
        set(17),
        set(18),
        branch(Condition::Always, r!(0), 1),
        set(99),
        set(1),
    ];
    let words: Vec<u64> = expected
        .iter()
        .map(|i| i.encode(Arch::V10).unwrap())
        .collect();
    check(
        Arch::V10,
        |b| {
            b.match_on(v, t, |m| {
                m.case(0, |b| {
                    b.move32(r!(70), 10);
                });
                m.case(7, |b| {
                    b.move32(r!(70), 17).move32(r!(70), 18);
                });
                m.default(|b| {
                    b.move32(r!(70), 99);
                });
            });
            b.move32(r!(70), 1);
        },
        &words,
    );
}

#[test]
fn match_without_default_ends_behind_the_last_case() {
    let words = try_build(Config::new(Arch::V10), |b| {
        b.match_on(r!(66), r!(68), |m| {
            m.case(1, |b| {
                b.nop();
            });
            m.case(2, |b| {
                b.nop();
            });
        });
        b.error_barrier();
    });
    // Cases: add, branch, body; the first has a branch over the second.
    assert_eq!(offsets(&words.unwrap()), [(1, 2), (3, 3), (5, 1)]);
}

/// Position and offset of every branch.
fn offsets(words: &[u64]) -> Vec<(usize, i16)> {
    let decode = |(i, word)| match Instr::decode(word, Arch::V10) {
        Ok(Instr::Branch(branch)) => Some((i, branch.offset)),
        _ => None,
    };
    words
        .iter()
        .copied()
        .enumerate()
        .filter_map(decode)
        .collect()
}

#[test]
fn break_and_continue() {
    let words = try_build(Config::new(Arch::V10), |b| {
        b.while_do(Condition::Always, r!(66), |b, outer| {
            b.break_if(outer, Condition::Equal, r!(66));
            b.while_do(Condition::NotEqual, r!(67), |b, inner| {
                b.continue_if(inner, Condition::Less, r!(68));
                b.break_if(outer, Condition::Greater, r!(68));
                b.break_if(inner, Condition::LessEqual, r!(68));
            });
        });
        b.nop();
    });
    // 0 break outer -> 7; 1 test -> 6; 2 continue -> 2; 3 break outer -> 7; 4 break -> 6; 5 again -> 2; 6 again -> 0.
    let expected = [(0, 6), (1, 4), (2, -1), (3, 3), (4, 1), (5, -4), (6, -7)];
    assert_eq!(offsets(&words.unwrap()), expected);
}

#[test]
fn chunk_link() {
    let (mut a, mut b) = ([0; 8], [0; 8]);
    let mut more = Some(Chunk {
        address: 0x41_0004_2000,
        words: &mut b,
    });
    let root = Chunk {
        address: ADDRESS,
        words: &mut a,
    };
    let mut builder = Builder::new(Config::new(Arch::V10), root, || more.take());
    builder.move32(r!(66), 1).nop().nop().nop();
    builder.add32(r!(66), r!(66), 1).wait(SlotMask::new(0xff));
    let stream = builder.finish().unwrap();
    assert_eq!((stream.address, stream.length), (ADDRESS, 56));
    assert_eq!(a[..7], listing("chunk_link_a_v10")[..]);
    assert_eq!(b[..2], listing("chunk_link_b_v10")[..]);
}

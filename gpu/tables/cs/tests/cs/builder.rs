//! The builder writes the words that the facts give for the same thing.

use crate::facts;

use eitri_cs::builder::{
    BuildError, Builder, Chunk, ChunkSource, Config, Defer, Flush, Label, OneChunk,
};
use eitri_cs::enums::{Condition, FlushMode, OtherFlushMode, StreamState, SyncScope, TaskAxis};
use eitri_cs::instr::{AddImm32, Branch, Instr, Move32, Move48, Nop, RunCompute};
use eitri_cs::table::Resources;
use eitri_cs::text::{Syntax, disassemble};
use eitri_cs::{Arch, Layout, Reg, RegMask, SUPPORTED, SlotMask, SubQueue, d, r, slot};

pub const ADDRESS: u64 = 0x41_0004_0000;

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
pub fn try_build(
    config: Config,
    build: impl FnOnce(&mut Builder<'_>),
) -> Result<Vec<u64>, BuildError> {
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
    for arch in SUPPORTED.iter() {
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
                    b.set_state(StreamState::SelectEndpoint, 3);
                    b.set_state(StreamState::MaskWait, 8);
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
        b.pad_to_64_bytes();
    };
    check(
        Arch::V10,
        |b| {
            b.with_writable(layout.kernel(), build);
        },
        &[listing("ring_job_v10"), vec![0; 5]].concat(),
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

/// An address from 2^48 on takes two words to load, the whole reserve.
#[test]
fn chunk_link_to_a_high_address() {
    let (mut a, mut b) = ([0; 8], [0; 8]);
    let mut more = Some(Chunk {
        address: 0x1_0041_0004_2000,
        words: &mut b,
    });
    let root = Chunk {
        address: ADDRESS,
        words: &mut a,
    };
    let mut builder = Builder::new(Config::new(Arch::V12), root, || more.take());
    builder.nop().nop().nop().nop().error_barrier();
    assert_eq!(builder.finish().unwrap().length, 64);
    let text: Vec<_> = a[4..]
        .iter()
        .map(|&word| {
            disassemble(word, Arch::V12, Syntax::Eitri)
                .unwrap()
                .to_string()
        })
        .collect();
    let expected = [
        "MOVE32 r126, #0x42000",
        "MOVE32 r127, #0x10041",
        "MOVE32 r125, #0x8",
        "JUMP d126, r125",
    ];
    assert_eq!(text, expected);
}

/// Three more chunks of 16 words.
pub struct Chunks(u64);

impl ChunkSource<'static> for Chunks {
    fn next_chunk(&mut self) -> Option<Chunk<'static>> {
        self.0 += 1;
        let words = vec![0; 16].leak();
        let address = ADDRESS + self.0 * 0x1000;
        (self.0 < 4).then_some(Chunk { address, words })
    }
}

/// How many words `build` leaves in the first of several chunks of 16 words.
pub fn words_of_root(build: impl FnOnce(&mut Builder<'static, Chunks>)) -> Result<u32, BuildError> {
    let words = vec![0; 16].leak();
    let root = Chunk {
        address: ADDRESS,
        words,
    };
    let mut builder = Builder::new(Config::new(Arch::V10), root, Chunks(0));
    build(&mut builder);
    builder.finish().map(|stream| stream.length / 8)
}

#[test]
fn a_block_that_does_not_fit_moves_as_one_piece() {
    // 10 and 3 are 13, one more than 16 less a link's 4: the root is left with the 10 and a link of 3.
    let length = words_of_root(|b| {
        (0..10).for_each(|_| {
            b.nop();
        });
        b.block(|b| {
            b.nop().nop().nop();
        });
    });
    assert_eq!(length, Ok(13));
    // A block of 2 fits.
    let length = words_of_root(|b| {
        (0..10).for_each(|_| {
            b.nop();
        });
        b.block(|b| {
            b.nop().nop();
        });
        b.nop();
    });
    assert_eq!(length, Ok(15));
}

/// Where the builder puts waits for loads by itself.
#[track_caller]
fn check_waits(build: impl FnOnce(&mut Builder<'_>), expected: &[usize]) {
    let config = Config {
        load_store_slot: Some(slot!(0)),
        ..Config::new(Arch::V10)
    };
    let words = try_build(config, build).unwrap();
    let is_wait = |word: &u64| matches!(Instr::decode(*word, Arch::V10), Ok(Instr::Wait(_)));
    let waits = words.iter().enumerate().filter(|(_, word)| is_wait(word));
    let positions: Vec<_> = waits.map(|(position, _)| position).collect();
    assert_eq!(positions, expected);
}

#[test]
#[rustfmt::skip]
fn waits_stand_before_registers_in_flight() {
    // Reading what is loaded, and writing it.
    check_waits(|b| { b.load64(d!(66), d!(90), 0).add64(d!(68), d!(66), 1); }, &[1]);
    check_waits(|b| { b.load64(d!(66), d!(90), 0).move32(r!(67), 1); }, &[1]);
    check_waits(|b| { b.load64(d!(66), d!(90), 0).move32(r!(68), 1); }, &[]);
    // Once is enough, and the caller's own wait counts.
    check_waits(|b| { b.load64(d!(66), d!(90), 0).wait(slot!(0)).copy32(r!(66), r!(67)); }, &[1]);
    // What is stored was read at issue: it may be read and written, and its address too.
    check_waits(|b| { b.store64(d!(66), d!(68), 0).copy32(r!(70), r!(66)).move64(d!(68), 0); }, &[]);
    check_waits(|b| { b.store64(d!(66), d!(68), 0).move32(r!(67), 0); }, &[]);
    // Jobs read staging registers.
    check_waits(|b| { b.load(r!(37), RegMask::first(3), d!(66), 0).run_compute(RunCompute::default()); }, &[1]);
    check_waits(|b| { b.load(r!(2), RegMask::first(2), d!(66), 0).run_compute(RunCompute::default()); }, &[]);
    // Branches on what is loaded; either path of an if may have loaded.
    check_waits(|b| { b.load64(d!(66), d!(90), 0).if_then(Condition::Equal, r!(66), |b| { b.nop(); }); }, &[1]);
    check_waits(
        |b| {
            b.if_else(Condition::Equal, r!(70), |b| { b.load64(d!(66), d!(90), 0); }, |b| { b.nop(); });
            b.copy32(r!(68), r!(66));
        },
        &[4],
    );
    // A load in a loop's body is waited for before the body begins again.
    check_waits(
        |b| {
            b.while_do(Condition::Greater, r!(70), |b, _| {
                b.copy32(r!(68), r!(66)).add32(r!(70), r!(70), -1).load64(d!(66), d!(90), 0);
            });
        },
        &[4],
    );
}

#[test]
fn next_address() {
    let words = try_build(Config::new(Arch::V10), |b| {
        b.nop().load_next_address(d!(66)).nop();
    });
    let load = Instr::decode(words.unwrap()[1], Arch::V10);
    let expected = Move48 {
        destination: d!(66),
        immediate: ADDRESS + 16,
    };
    assert_eq!(load, Ok(Instr::Move48(expected)));
}

/// command-stream.md 6.2, the table of 64-bit comparisons: condition and half of each branch, and where it leads.
#[test]
fn branches_on_pairs() {
    use Condition::{Always, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    const LOW: Reg = r!(66);
    const HIGH: Reg = r!(67);
    const NONE: Reg = r!(0);
    type Branches = &'static [(Condition, Reg, bool)];
    let rows: [(Condition, Branches); 6] = [
        (Equal, &[(NotEqual, LOW, false), (Equal, HIGH, true)]),
        (NotEqual, &[(NotEqual, LOW, true), (NotEqual, HIGH, true)]),
        (Less, &[(Less, HIGH, true)]),
        (GreaterEqual, &[(Less, HIGH, false), (Always, NONE, true)]),
        (
            LessEqual,
            &[
                (Less, HIGH, true),
                (NotEqual, HIGH, false),
                (Equal, LOW, true),
            ],
        ),
        (
            Greater,
            &[
                (Less, HIGH, false),
                (NotEqual, HIGH, true),
                (NotEqual, LOW, true),
            ],
        ),
    ];
    for (condition, expected) in rows {
        let words = try_build(Config::new(Arch::V10), |b| {
            b.block(|b| {
                let mut target = Label::new();
                b.branch64(condition, d!(66), &mut target)
                    .nop()
                    .bind(&mut target);
            });
        });
        let count = expected.len();
        let branch = |(at, &(condition, value, taken)): (usize, &(_, _, bool))| {
            let to = count + usize::from(taken);
            Instr::from(Branch {
                condition,
                value,
                offset: (to - at - 1) as i16,
            })
        };
        let mut expected: Vec<_> = expected.iter().enumerate().map(branch).collect();
        expected.push(Instr::Nop(Nop::default()));
        let got: Vec<_> = words
            .unwrap()
            .iter()
            .map(|&w| Instr::decode(w, Arch::V10).unwrap())
            .collect();
        assert_eq!(got, expected, "{condition:?}");
    }
}

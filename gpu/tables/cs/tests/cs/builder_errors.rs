//! Every fault of the builder, provoked, with its message.

use crate::builder::{ADDRESS, try_build, words_of_root};
use eitri_cs::builder::{Builder, Chunk, Config, Defer, Label, OneChunk};
use eitri_cs::enums::{Condition, StreamState, SyncScope};
use eitri_cs::{Arch, RegMask, RegSet, SlotMask, d, r, slot};

/// The message of what `build` does wrong.
#[track_caller]
fn check_error(config: Config, build: impl FnOnce(&mut Builder<'_>), expected: &str) {
    let error = try_build(config, build).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
#[rustfmt::skip]
fn errors_say_what_is_wrong() {
    let v10 = Config::new(Arch::V10);
    check_error(v10, |b| { b.nop().move32(r!(92), 0); },
        "instruction 1 (MOVE32): writes r92, which may not be written here");
    check_error(Config { writable: RegSet::range(0, 39), ..v10 }, |b| { b.load(r!(36), RegMask::first(5), d!(90), 0); },
        "instruction 0 (LOAD_MULTIPLE): writes r40, which may not be written here");
    check_error(v10, |b| { b.copy32(r!(66), r!(96)); },
        "instruction 0 (ADD_IMM32): uses r96, but there are 96 registers");
    check_error(v10, |b| { b.store(r!(255), RegMask::new(2), d!(66), 0); },
        "instruction 0 (STORE_MULTIPLE): uses a register beyond r255, but there are 96 registers");
    check_error(v10, |b| { b.select_slots(slot!(8), slot!(0)); },
        "instruction 0 (SET_SB_ENTRY): names slot 8, but there are 8 slots");
    check_error(v10, |b| { b.wait(SlotMask::new(0x1ff)); },
        "instruction 0 (WAIT): 511 does not fit wait_mask of WAIT: it takes 0 to 255");
    check_error(v10, |b| { b.sync_add64(d!(66), d!(68), SyncScope::Csg, Defer::Until { wait: slot!(1).mask(), count: slot!(1) }); },
        "instruction 0 (SYNC_ADD64): waits for slot 1, which counts it: it would wait for ever");
    check_error(v10, |b| { b.sync_add64(d!(66), d!(68), SyncScope::Csg, Defer::Indirect); },
        "instruction 0 (SYNC_ADD64): SYNC_ADD64 has no field defer_mode on v10");
    check_error(v10, |b| { b.set_state(StreamState::MaskWait, 8); },
        "instruction 0 (SET_STATE_IMM32): v10 has no SET_STATE_IMM32: it exists on v11-v13");
    check_error(v10, |b| (0..513).for_each(|_| { b.nop(); }),
        "instruction 512 (NOP): does not fit: the chunk of 512 words is full and there is no other");
    check_error(v10, |b| { b.goto(&mut Label::new()); },
        "instruction 0 (BRANCH): the label belongs to a block that is not open");
    check_error(v10, |b| { let mut l = Label::new(); b.block(|b| { b.bind(&mut l); }).block(|b| { b.goto(&mut l); }); },
        "instruction 0 (BRANCH): the label belongs to a block that is not open");
    check_error(v10, |b| { b.block(|b| { b.goto(&mut Label::new()).goto(&mut Label::new()); }); },
        "instruction 2 (block): 2 labels with branches to them were never bound");
    check_error(v10, |b| { b.block(|b| { let mut l = Label::new(); b.bind(&mut l).bind(&mut l); }); },
        "instruction 0 (label): the label is bound already");
    check_error(v10, |b| { b.match_on(r!(66), r!(67), |m| { m.default(|_| {}).case(1, |_| {}); }); },
        "instruction 0 (case): stands behind the match's default");
    check_error(v10, |b| { b.block(|b| { b.load_next_address(d!(66)); }); },
        "instruction 0 (MOVE48): can't stand in a block, which may still move");
    check_error(Config { load_store_slot: Some(slot!(0)), ..v10 }, |b| { b.select_slots(slot!(3), slot!(1)); },
        "instruction 0 (SET_SB_ENTRY): selects another slot for loads and stores than 0, which the builder waits for");
    let error = words_of_root(|b| { b.block(|b| (0..13).for_each(|_| { b.nop(); })); });
    assert_eq!(error.unwrap_err().to_string(), "instruction 12 (NOP): the block has 12 words so far, but a chunk has room for 12");
}

#[test]
fn a_branch_reaches_32767_instructions() {
    let build = |distance: usize| {
        let chunk = Chunk {
            address: ADDRESS,
            words: vec![0; 40_000].leak(),
        };
        let mut builder = Builder::new(Config::new(Arch::V10), chunk, OneChunk);
        builder.if_then(Condition::Equal, r!(66), |b| {
            (0..distance).for_each(|_| {
                b.nop();
            })
        });
        builder.finish().map_err(|error| error.to_string())
    };
    assert!(build(32767).is_ok());
    let error = "instruction 32769 (label): leads 32768 instructions on, but a branch reaches -32768 to 32767";
    assert_eq!(build(32768), Err(error.to_owned()));
}

#[test]
fn chunks_are_checked() {
    let build = |address, words: &'static mut [u64]| {
        let builder = Builder::new(Config::new(Arch::V10), Chunk { address, words }, || None);
        builder.finish().unwrap_err().to_string()
    };
    let too_small = build(ADDRESS, &mut []);
    assert_eq!(
        too_small,
        "instruction 0 (root): a chunk of 0 words has no room for a link and an instruction"
    );
    let misaligned = build(ADDRESS + 8, vec![0; 16].leak());
    assert_eq!(
        misaligned,
        "instruction 0 (root): a chunk's address is a multiple of 64, not 0x4100040008"
    );
}

#[test]
fn nothing_is_written_after_an_error() {
    let mut memory = [7; 4];
    let chunk = Chunk {
        address: ADDRESS,
        words: &mut memory,
    };
    let mut builder = Builder::new(Config::new(Arch::V10), chunk, OneChunk);
    builder
        .nop()
        .move32(r!(95), 0)
        .nop()
        .load_next_address(d!(66));
    builder.if_then(Condition::Equal, r!(66), |b| {
        b.nop();
    });
    assert!(builder.has_failed());
    assert!(builder.finish().is_err());
    assert_eq!(memory, [0, 7, 7, 7]);
}

//! Explanations: everything has one, and they read well.

use eitri_cs::explain::{find, find_word, names};
use eitri_cs::{Arch, random_word};

#[track_caller]
fn check(name: &str, expected: &str) {
    let text = find(name).map(|topic| topic.to_string());
    assert_eq!(text.as_deref(), Some(expected));
}

#[test]
fn every_name_is_found() {
    for name in names() {
        let text = find(name).unwrap_or_else(|| panic!("{name}")).to_string();
        assert!(text.lines().count() > 1, "{name}: {text}");
    }
}

#[test]
fn an_instruction() {
    check("sync_wait32", "\
SYNC_WAIT32: Blocks until the number of a sync32, unsigned, is LEQUAL or GREATER than the operand.
  v10-v13; blocks the stream
  63:56   opcode 39 (0x27)
  47:40   address: the address; a register pair, read
  39:32   data: the operand; a register, read
  31:28   condition: LEQUAL or GREATER; the others are not known to work; 0 le, 1 gt, 2 eq, 3 ne, 4 lt, 5 ge, 6 always
   0      error_reject: what happens when the error word is set; 0 inherit, 1 reject
");
}

#[test]
fn an_instruction_that_differs() {
    check("wait", "\
WAIT: Blocks until every slot of the mask has drained.
  v10-v13; blocks the stream
  63:56   opcode 3 (0x03)
  33      wait_mode (v11-v13): whether the mask comes from here or from the stream's state; 0 immediate, 1 indirect
  32      progress_increment: adds 1 to the stream's progress value when it is done
  31:16   wait_mask (v11-v13): the slots to wait for; a mask of slots
  23:16   wait_mask (v10): the slots to wait for; a mask of slots
");
}

#[test]
fn a_name_of_the_text_an_opcode_an_alias_and_values() {
    assert!(
        find("ADD_IMMEDIATE32")
            .unwrap()
            .to_string()
            .starts_with("ADD_IMM32: ")
    );
    assert!(
        find("arith_reg64")
            .unwrap()
            .to_string()
            .contains("\n  SUB64: `a - b`. (v13)\n")
    );
    check(
        "not32",
        "NOT32: ~a\n  LOGIC_OP32 with mode NotA and index Direct; v11-v13\n",
    );
    check(
        "cs_flush_mode",
        "\
cs_flush_mode: What FLUSH_CACHE2 does with the L2 or the load/store cache.
   0  NONE: nothing
   1  CLEAN: writes changed lines back
   3  CLEAN_AND_INVALIDATE: writes changed lines back and drops all
",
    );
    assert!(
        find("clean_and_invalidate")
            .unwrap()
            .to_string()
            .starts_with("cs_flush_mode")
    );
}

#[test]
fn a_staging_register() {
    check(
        "bbox_max",
        "\
r43 BBOX_MAX: last pixel, inclusive
  read by RUN_FRAGMENT; v10-v13
  15:0    x: X
  31:16   y: Y
",
    );
}

#[test]
fn a_word() {
    let topic = find_word(0x0700_0000_0000_0010, Arch::V10).unwrap();
    assert_eq!(
        topic.to_string(),
        "\
0700000000000010: RUN_FRAGMENT.tile_order=horizontal
RUN_FRAGMENT: Runs the fragment job of one layer.
  v10-v13; asynchronous, counted on the endpoint slot; needs the resource fragment
  63:56   opcode 7
  55:33   reserved, 0
  32      progress_increment = 0: adds 1 to the stream's progress value when it is done
  31:8    reserved, 0
   7:4    tile_order = 1 HORIZONTAL: the order of tiles
   3:1    reserved, 0
   0      enable_tem = 0: takes tiles from a tile enable map (d44, r46)
  registers that the job reads:
    d40 FBD_POINTER: tagged framebuffer descriptor pointer
    r42 BBOX_MIN: first pixel
    r43 BBOX_MAX: last pixel, inclusive
"
    );
}

#[test]
fn every_word_has_an_explanation() {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        state.rotate_left(29)
    };
    for arch in Arch::ALL {
        for _ in 0..200 {
            let word = random_word(arch, &mut random);
            assert!(find_word(word, arch).unwrap().to_string().lines().count() > 3);
        }
    }
}

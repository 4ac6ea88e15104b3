//! Text: as the facts print it, back again, and errors that point at their cause.

use crate::facts;
use eitri_cs::text::{LabelSlot, Listing, Syntax, TextError, assemble, assemble_line, disassemble};
use eitri_cs::{Arch, Instr, SUPPORTED};

#[track_caller]
fn check_text(word: u64, arch: Arch, text: &str) {
    let printed = disassemble(word, arch, Syntax::Eitri).map(|text| text.to_string());
    assert_eq!(printed.as_deref(), Ok(text), "{word:#018x} on {arch}");
    let back = assemble_line(text, arch);
    assert_eq!(back, Ok(word), "`{text}` on {arch}");
}

#[test]
fn examples_print_as_the_facts_say() {
    for example in facts::data()["examples"].as_array().unwrap() {
        let arch = facts::arch(&example["arch"]);
        for line in example["listing"].as_array().unwrap() {
            let word = facts::hex(&line["word"]);
            check_text(word, arch, line["text"].as_str().unwrap());
        }
    }
}

/// command-stream.md 7.7: words of other tools, with their text.
#[test]
#[rustfmt::skip]
fn words_from_elsewhere() {
    let rows = [
        (0x022a_0000_dead_beef, Arch::V10, "MOVE32 r42, #0xDEADBEEF"),
        (0x1600_2a00_0000_0002, Arch::V10, "BRANCH.le r42, #2"),
        (0x1400_0a00_0001_0000, Arch::V10, "LOAD_MULTIPLE r0, [d10]"),
        (0x1001_0100_0000_0000, Arch::V10, "ADD_IMMEDIATE32 r1, r1, #0"),
        (0x1001_0100_0000_0000, Arch::V13, "ADD_IMM32 r1, r1, #0"),
        (0x1600_0000_6000_fffd, Arch::V10, "BRANCH.always r0, #-3"),
        (0x2400_7e00_0000_0233, Arch::V10, "FLUSH_CACHE2.clean_invalidate_l2.clean_invalidate_lsc.invalidate_other r126, #0, #0"),
        (0x2000_7c7e_0000_0000, Arch::V12, "CALL d124, r126"),
        (0x3300_7c7e_0000_0001, Arch::V10, "SYNC_ADD64.error_propagate.system [d124], d126, #0, #0"),
        (0x3300_7c7e_0000_0001, Arch::V12, "SYNC_ADD64.error_propagate.system.defer_immediate [d124], d126, #0, #0"),
        (0x1c00_0008_0000_fff0, Arch::V11, "SET_STATE_IMM32.sb_mask_stream #65520"),
        (0x2200_0000_0000_000c, Arch::V10, "REQ_RESOURCE.tiler.idvs"),
    ];
    for (word, arch, text) in rows {
        check_text(word, arch, text);
    }
}

/// command-stream.md 5.3, and what Mesa leaves out.
#[test]
#[rustfmt::skip]
fn oddities() {
    let rows = [
        (0x3400_4244_0000_0004, Arch::V10, "SYNC_SET64..csg [d66], d68, #0, #0"),
        (0x3400_4244_0000_0005, Arch::V10, "SYNC_SET64..error_propagate.csg [d66], d68, #0, #0"),
        (0x3500_4244_1000_0000, Arch::V10, "SYNC_WAIT64gt.inherit d66, d68"),
        (0x2700_4244_0000_0001, Arch::V12, "SYNC_WAIT32le.reject d66, r68"),
        (0x0800_4200_0000_00ff, Arch::V10, "RUN_FULLSCREEN r66, #ff"),
        (0x0880_4200_0000_00ff, Arch::V11, "RUN_FULLSCREEN r66, #ff"),
        (0x0800_4200_0000_00ff, Arch::V11, "RUN_FULLSCREEN r66, #ff {tiler_flags2_enable=0}"),
        (0x2200_0000_0000_0011, Arch::V11, "REQ_RESOURCE.compute {rt}"),
        (0x0000_0000_0000_0000, Arch::V10, "NOP"),
        (0x0012_3456_789a_bcde, Arch::V10, "NOP // 0x123456789ABCDE"),
        (0x0300_0001_0001_0000, Arch::V10, "WAIT #1 {progress_increment}"),
        (0x0300_0002_0000_0000, Arch::V11, "WAIT #0 {wait_mode=indirect}"),
        (0x0402_0000_0000_0001, Arch::V12, "RUN_COMPUTE.x_axis.srt0.spd0.tsd0.fau0 #1, #0 {stage=vertex}"),
        (0x0601_0000_0000_0000 & !(1 << 48), Arch::V10, "RUN_IDVS.no_malloc.varying_srt0.varying_fau0.varying_tsd0.frag_srt0.frag_tsd0 r0, #0"),
        (0x1421_4200_001b_0000, Arch::V10, "LOAD_MULTIPLE r33:r34:r36:r37, [d66]"),
        (0x1420_4200_0036_0000, Arch::V10, "LOAD_MULTIPLE r33:r34:r36:r37, [d66] {base_register=r32}"),
        (0x14fe_0000_000c_0000, Arch::V10, "LOAD_MULTIPLE r256:r257, [d0] {base_register=r254}"),
        (0x1420_4200_0000_fff8, Arch::V10, "LOAD_MULTIPLE _, [d66 + -8] {base_register=r32}"),
        (0x1543_4600_0001_8000, Arch::V10, "STORE_MULTIPLE [d70 + -32768], r67"),
        (0x3200_0405_0000_0000, Arch::V10, "TRACE_POINT r5:r8, #0, #0"),
        (0x3200_0000_0000_0000, Arch::V10, "TRACE_POINT r0:r-1, #0, #0"),
        (0x1044_4206_ffff_0804, Arch::V13, "BFINS_IMM32 r68, r66, #-63484"),
        (0x1044_4207_ffff_ffff, Arch::V13, "UMIN_IMM32 r68, r66, #-1"),
        (0x1244_4243_0600_0804, Arch::V13, "BFINS32 r68, r67, r66 {position=4, width=8}"),
        (0x1344_4243_0000_0017, Arch::V11, "LOGIC_OP32.OR r68, r66, r67.index"),
        (0x2900_0000_0000_0003, Arch::V10, "PROT_REGION #24"),
        (0x1800_4200_0000_0003, Arch::V10, "PROGRESS_WAIT d66, #3"),
        (0x1900_4244_0000_0002, Arch::V10, "SET_EXCEPTION_HANDLER d66, r68"),
    ];
    for (word, arch, text) in rows {
        check_text(word, arch, text);
    }
}

/// The templates of the data file, both dialects: what we print to the letter is what they say.
#[test]
fn prints_every_template_of_the_facts() {
    let data = facts::data();
    for arch in SUPPORTED.iter() {
        let facts = &data["arches"][arch.major().to_string()];
        for fact in facts["instructions"].as_array().unwrap() {
            for (key, syntax) in [("text", Syntax::Mesa26), ("text_24_1", Syntax::Mesa24)] {
                let Some(template) = fact[key].as_str() else {
                    continue;
                };
                if fact.get("text_note").is_some() && syntax == Syntax::Mesa26 {
                    continue;
                }
                for word in facts::words_of(fact) {
                    let Ok(text) = disassemble(word, arch, syntax) else {
                        continue;
                    };
                    let expected = facts::print(&data, fact, template, word);
                    assert_eq!(text.to_string(), expected, "{word:#018x} on {arch}");
                }
            }
        }
    }
}

#[test]
fn unknown_to_mesa26() {
    let text = disassemble(0x2a00_4200_0000_0000, Arch::V10, Syntax::Mesa26).unwrap();
    assert_eq!(text.to_string(), "UNKNOWN_42 0x420000000000");
}

#[test]
fn people_write_in_many_ways() {
    #[rustfmt::skip]
    let rows = [
        ("move48 d0,#0x10",                      "MOVE48 d0, #0x10"),
        ("MOVE d0, #0x10",                       "MOVE48 d0, #0x10"),
        ("MOVE32 r66, #16",                      "MOVE32 r66, #0x10"),
        ("  MOVE32   r66 ,  #0x10 ; a comment",  "MOVE32 r66, #0x10"),
        ("NOP // a comment",                     "NOP"),
        ("WAIT 0,3",                             "WAIT #9"),
        ("WAIT #0x9",                            "WAIT #9"),
        ("ADD_IMM32 r1, r2, #-0x10",             "ADD_IMMEDIATE32 r1, r2, #-16"),
        ("LOAD_MULTIPLE r66, [ d90 - 8 ]",       "LOAD_MULTIPLE r66, [d90 + -8]"),
        ("LOAD_MULTIPLE r66, [d90 +-8]",         "LOAD_MULTIPLE r66, [d90 + -8]"),
        ("RUN_COMPUTE.y_axis #2",                "RUN_COMPUTE.y_axis.srt0.spd0.tsd0.fau0 #2"),
        ("STORE_STATE.TIMESTAMP d66, #0, #0, #0", "STORE_STATE.SYSTEM_TIMESTAMP d66, #0, #0, #0"),
    ];
    for (written, meant) in rows {
        let word = assemble_line(written, Arch::V10).unwrap_or_else(|e| panic!("`{written}`: {e}"));
        let text = disassemble(word, Arch::V10, Syntax::Eitri).unwrap();
        assert_eq!(text.to_string(), meant, "`{written}`");
    }
    let alias = assemble_line("BIT_SET32 r1, r2, r3", Arch::V11);
    assert_eq!(
        alias,
        assemble_line("LOGIC_OP32.OR r1, r2, r3.index", Arch::V11)
    );
}

fn assembled(source: &str, arch: Arch) -> Result<Vec<u64>, TextError> {
    let mut labels = [LabelSlot::default(); 8];
    assemble(source, arch, &mut labels)?.collect()
}

const LOOP: &str = "\
start: again:
    MOVE32 r66, #0x5        ; the number of rounds
body:   # so many times
    ADD_IMMEDIATE32 r66, r66, #-1
    BRANCH.eq r66, end      // forwards
    BRANCH.always r0, body

end:";

#[test]
fn labels() {
    let words = assembled(LOOP, Arch::V10).unwrap();
    let mut targets = vec![false; words.len() + 1];
    let listing = Listing::new(&words, Arch::V10, &mut targets);
    let text: Vec<_> = listing.map(|line| line.to_string()).collect();
    let expected = [
        "MOVE32 r66, #0x5",
        "label_8:",
        "ADD_IMMEDIATE32 r66, r66, #-1",
        "BRANCH.eq r66, label_20",
        "BRANCH.always r0, label_8",
        "label_20:",
    ];
    assert_eq!(text, expected);
    assert_eq!(assembled(&text.join("\n"), Arch::V10), Ok(words));
}

/// The error of a text, drawn under the line that it points at.
#[track_caller]
fn check_error(source: &str, arch: Arch, expected: &str) {
    let error = assembled(source, arch).unwrap_err();
    let line = source.lines().nth(error.line - 1).unwrap();
    let marks = "^".repeat(error.length.max(1));
    let drawn = format!(
        "{error}\n{line}\n{marks:>width$}",
        width = error.column - 1 + marks.len()
    );
    assert_eq!(drawn, expected);
}

#[test]
fn errors_point_at_their_cause() {
    check_error(
        "MOV48 d0, #0x1",
        Arch::V10,
        "\
1:1: no instruction has this name; is it MOVE48?
MOV48 d0, #0x1
^^^^^",
    );
    check_error(
        "\n  MOVE48 d1, #0x1",
        Arch::V10,
        "\
2:11: a register pair is even
  MOVE48 d1, #0x1
          ^",
    );
    check_error(
        "MOVE48 d0, #0x1000000000000",
        Arch::V10,
        "\
1:13: 281474976710656 does not fit immediate of MOVE48: it takes 0 to 281474976710655
MOVE48 d0, #0x1000000000000
            ^^^^^^^^^^^^^^^",
    );
    check_error(
        "SET_STATE.sb_mask_wait r1",
        Arch::V10,
        "\
1:1: v10 has no SET_STATE: it exists on v11-v13
SET_STATE.sb_mask_wait r1
^^^^^^^^^",
    );
    check_error(
        "BRANCH.up r1, #2",
        Arch::V10,
        "\
1:8: expected the condition: le, gt, eq, ne, lt, ge, always
BRANCH.up r1, #2
       ^^",
    );
    check_error(
        "BRANCH.le r1, #40000",
        Arch::V10,
        "\
1:16: 40000 does not fit offset of BRANCH: it takes -32768 to 32767
BRANCH.le r1, #40000
               ^^^^^",
    );
    check_error(
        "BRANCH.le r1, home",
        Arch::V10,
        "\
1:15: no line has this label
BRANCH.le r1, home
              ^^^^",
    );
    check_error(
        "a: NOP\nb: a: NOP",
        Arch::V10,
        "\
2:4: line 1 has this label already
b: a: NOP
   ^",
    );
    check_error(
        "MOVE32 r1 #0x1",
        Arch::V10,
        "\
1:11: expected `, #`
MOVE32 r1 #0x1
          ^",
    );
    check_error(
        "MOVE32 r1, #",
        Arch::V10,
        "\
1:13: expected a number, the immediate
MOVE32 r1, #
            ^",
    );
    check_error(
        "NOP r1",
        Arch::V10,
        "\
1:5: the instruction is complete before this
NOP r1
    ^^",
    );
    check_error(
        "LOAD_MULTIPLE r66:r65, [d2]",
        Arch::V10,
        "\
1:19: registers rise, and the last is 15 behind the first at most
LOAD_MULTIPLE r66:r65, [d2]
                  ^^^",
    );
    check_error(
        "LOAD_MULTIPLE d66, [d2]",
        Arch::V10,
        "\
1:15: expected registers, such as `r66:r67`, or `_` for none
LOAD_MULTIPLE d66, [d2]
              ^^^",
    );
    check_error(
        "LOAD_MULTIPLE r20, [d2] {base_register=r2}",
        Arch::V10,
        "\
1:41: the base is the first register or up to 15 in front of it, and 15 from the last at most
LOAD_MULTIPLE r20, [d2] {base_register=r2}
                                        ^",
    );
    check_error(
        "REQ_RESOURCE.compute {rt}",
        Arch::V10,
        "\
1:23: REQ_RESOURCE has no such field here
REQ_RESOURCE.compute {rt}
                      ^^",
    );
    check_error(
        "LSHIFT_IMM32 r1, r2, #32",
        Arch::V13,
        "\
1:23: 32 does not fit shift_amount of LSHIFT_IMM32: it takes 0 to 31
LSHIFT_IMM32 r1, r2, #32
                      ^^",
    );
    check_error(
        "BFEXT_U32 r1, r2, #65536",
        Arch::V13,
        "\
1:20: reserved bits of BFEXT_U32 are set: 0x10000
BFEXT_U32 r1, r2, #65536
                   ^^^^^",
    );
    check_error(
        "BFINS_IMM32 r1, r2, #-2147483649",
        Arch::V13,
        "\
1:22: -2147483649 does not fit immediate of BFINS_IMM32: it takes -2147483648 to 4294967295
BFINS_IMM32 r1, r2, #-2147483649
                     ^^^^^^^^^^^",
    );
    check_error(
        "PROT_REGION #12",
        Arch::V10,
        "\
1:14: 12 does not fit size of PROT_REGION: it takes 0 to 524280
PROT_REGION #12
             ^^",
    );
    check_error(
        "MOVE32 r256, #0x1",
        Arch::V10,
        "\
1:9: 256 does not fit destination of MOVE32: it takes 0 to 255
MOVE32 r256, #0x1
        ^^^",
    );
}

#[test]
fn a_branch_does_not_reach_everywhere() {
    let mut source = String::from("start:\n");
    source.push_str(&"NOP\n".repeat(32768));
    source.push_str("BRANCH.always r0, start");
    let mut labels = [LabelSlot::default(); 1];
    let last = assemble(&source, Arch::V10, &mut labels).unwrap().last();
    let error = last.unwrap().unwrap_err();
    let expected =
        "32770:19: the label is -32769 instructions away, but a branch reaches -32768 to 32767";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn labels_need_room() {
    let mut labels = [LabelSlot::default(); 1];
    let error = assemble("a:\nb:", Arch::V10, &mut labels).unwrap_err();
    assert_eq!(error.to_string(), "2:1: there is room for 1 labels");
}

#[test]
fn words_that_are_no_instruction() {
    #[rustfmt::skip]
    let rows = [
        (0xff00_0000_0000_0000, Arch::V10, "v10 has no opcode 255 (0xff)"),
        (0x1000_0009_0000_0000, Arch::V13, "v13 has no second opcode 9 of ARITH_IMM32"),
        (0x1000_0009_0000_0000, Arch::V12, "reserved bits of ADD_IMM32 are set: 0x900000000"),
        (0x0101_0000_0000_0000, Arch::V10, "destination of MOVE48 (bits 55:48) is 1, but a register pair is even"),
        (0x1600_0000_7000_0000, Arch::V10, "condition of BRANCH (bits 30:28) is 7, which means nothing"),
    ];
    for (word, arch, message) in rows {
        let error = Instr::decode(word, arch).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

//! `eitri asm` and `eitri disasm`, as a person calls them.

use crate::eitri::eitri;

#[track_caller]
fn check(arguments: &[&str], input: &[u8], status: i32, stdout: &str) -> String {
    let output = eitri(arguments, input);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let seen = String::from_utf8_lossy(&output.stdout);
    assert_eq!(seen, stdout, "{arguments:?}: {stderr}");
    assert_eq!(
        output.status.code(),
        Some(status),
        "{arguments:?}: {stderr}"
    );
    stderr
}

#[track_caller]
fn has(stderr: &str, parts: &[&str]) {
    for part in parts {
        assert!(stderr.contains(part), "no `{part}` in:\n{stderr}");
    }
}

const TEXT: &str = "MKVEC.v2i16 r2, ^r2.h00, 0x0.h00\nNOP.wait \nIADD.u64 r0, r2, ^r4.w0\n";
const MESA26: &str =
    "MKVEC.v2i16 r2, r2^.h0, 0x0.h0\nNOP.wait\nIADD.u64 [r0:r1], [r2:r3], [r4^:r5^].w0\n";
const HEX: &str = "00a1c2000005c042\n4800c00000000000\n01a3c00020004402\n";

#[test]
fn text_becomes_words_in_both_dialects() {
    check(&["asm"], TEXT.as_bytes(), 0, HEX);
    check(&["asm", "-", "--arch", "v10"], TEXT.as_bytes(), 0, HEX);
    check(&["asm", "--syntax", "mesa26"], MESA26.as_bytes(), 0, HEX);
}

#[test]
fn words_become_text_in_both_dialects() {
    check(&["disasm"], HEX.as_bytes(), 0, TEXT);
    check(
        &["disasm", "--syntax", "mesa26", "-"],
        HEX.as_bytes(),
        0,
        MESA26,
    );
}

#[test]
fn bytes_a_line_and_raw_bytes_are_words_too() {
    check(
        &["disasm"],
        b"42 c0 05 00 00 c2 a1 00\n",
        0,
        "MKVEC.v2i16 r2, ^r2.h00, 0x0.h00\n",
    );
    let mut program = 0x00a1_c200_0005_c042_u64.to_le_bytes().to_vec();
    program.extend(0x7800_c000_0000_0000_u64.to_le_bytes());
    program.extend([0; 16]);
    check(
        &["disasm", "--raw"],
        &program,
        0,
        "MKVEC.v2i16 r2, ^r2.h00, 0x0.h00\nNOP.end \n",
    );
    has(
        &check(&["disasm", "--raw"], &program[..9], 2, ""),
        &["9 bytes are no whole number of 64-bit words"],
    );
    program[15] = 0x80;
    let stderr = check(
        &["disasm", "--raw"],
        &program,
        2,
        "MKVEC.v2i16 r2, ^r2.h00, 0x0.h00\n",
    );
    has(&stderr, &["byte 0x8: bit 63 is set"]);
}

#[test]
fn blank_lines_and_comments_are_skipped() {
    check(
        &["asm"],
        b"# a program\n\n  NOP.end\n\n",
        0,
        "7800c00000000000\n",
    );
    check(
        &["disasm"],
        b"# a program\r\n\r\n7800c00000000000\r\n",
        0,
        "NOP.end \n",
    );
    check(&["asm"], b"", 0, "");
}

#[test]
fn a_wrong_line_ends_the_command_and_is_underlined() {
    let stderr = check(
        &["asm"],
        b"NOP.end\nFADD.f32 r0, u0, u4\nNOP\n",
        2,
        "7800c00000000000\n",
    );
    has(
        &stderr,
        &[
            "<stdin>:2:14: FADD.f32 reads uniforms or special values",
            "FADD.f32 r0, u0, u4",
            "here",
        ],
    );
    let stderr = check(
        &["disasm"],
        b"7800c00000000000\n  00ffc00000000000\n",
        2,
        "NOP.end \n",
    );
    has(
        &stderr,
        &["<stdin>:2:3: opcode 0xff with these secondary opcodes is no instruction"],
    );
    let stderr = check(&["disasm"], b"7800c0000000000\n", 2, "");
    has(
        &stderr,
        &["<stdin>:1:1: `7800c0000000000` is not a word of 16 hex digits"],
    );
    has(
        &check(&["asm"], b"NOP\n\xff\n", 2, ""),
        &["<stdin>:2:1: not UTF-8"],
    );
}

#[test]
fn keep_going_puts_errors_in_their_places() {
    let expected = "7800c00000000000\nerror: no instruction of this name\n0000c00000000000\n";
    check(
        &["asm", "--keep-going"],
        b"NOP.end\nNOPE\nNOP\n",
        2,
        expected,
    );
    let expected = "error: a zero word marks the end of a program\nNOP \n";
    check(
        &["disasm", "--keep-going"],
        b"0000000000000000\n0000c00000000000\n",
        2,
        expected,
    );
}

#[test]
fn the_generation_decides_what_exists() {
    check(
        &["asm", "--arch", "v11"],
        b"AND_IMM.i32 r0, r1, #0x1\n",
        0,
        "0118c00000000101\n",
    );
    has(
        &check(&["asm"], b"AND_IMM.i32 r0, r1, #0x1\n", 2, ""),
        &["AND_IMM.i32 exists on v11-v14, not on v10"],
    );
    has(
        &check(&["asm", "--arch", "v8"], b"", 2, ""),
        &["it can be v9 to v14 (Mali), a5xx, a6xx or a7xx (Adreno)"],
    );
    has(
        &check(&["asm", "--syntax", "arm"], b"", 2, ""),
        &["not a dialect: mesa24 or mesa26"],
    );
    has(
        &check(&["asm", "no/such/file"], b"", 2, ""),
        &["can't read no/such/file"],
    );
}

#[test]
fn random_words_find_no_fault_in_the_decoders() {
    let output = eitri(&["fuzz", "--count", "15000", "--seed", "7"], b"");
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{seen}");
    has(&seen, &["isa      15000 words: ", "ir3      75 words: "]);
    for decoder in ["isa", "ir3", "cs", "dump", "program", "firmware"] {
        let line = seen.lines().find(|line| line.starts_with(decoder));
        has(line.unwrap_or_default(), &[" refused, 0 faults"]);
    }
}

/// A word of the text vectors that no hardware of v10 takes: S32_TO_F32 selects a half.
const TEXT_ONLY: (&str, &str) = ("0090f620c009003d\n", "S32_TO_F32.rtz r54, r61.h0\n");

#[test]
fn what_no_hardware_takes_is_translated_with_a_note() {
    let (hex, text) = TEXT_ONLY;
    let note = "source 0 of S32_TO_F32: the lane selection has no value 2\n";
    let stderr = check(&["disasm"], hex.as_bytes(), 0, text);
    assert_eq!(stderr, format!("note: <stdin>:1:1: {note}"));
    let stderr = check(&["asm"], text.as_bytes(), 0, hex);
    assert_eq!(stderr, format!("note: <stdin>:1:21: {note}"));
    // From v11 on it is legal.
    assert_eq!(
        check(&["asm", "--arch", "v11"], text.as_bytes(), 0, hex),
        ""
    );
}

#[test]
fn strict_refuses_what_no_hardware_takes() {
    let (hex, text) = TEXT_ONLY;
    let stderr = check(&["disasm", "--strict"], hex.as_bytes(), 2, "");
    has(&stderr, &["<stdin>:1:1: source 0 of S32_TO_F32"]);
    let stderr = check(&["asm", "--strict"], text.as_bytes(), 2, "");
    has(&stderr, &["<stdin>:1:21: source 0 of S32_TO_F32"]);
    check(
        &["asm", "--strict", "--keep-going"],
        text.as_bytes(),
        2,
        "error: source 0 of S32_TO_F32: the lane selection has no value 2\n",
    );
}

/// The text vectors hold words that no hardware takes: all print, those with a note.
#[test]
fn every_text_vector_prints() {
    let path = eitri_testdata::kept("isa-random.txt");
    let vectors = std::fs::read_to_string(path).unwrap();
    let pairs = || vectors.lines().map(|line| line.split_once('\t').unwrap());
    let words: String = pairs().map(|(word, _)| format!("{word}\n")).collect();
    let texts: String = pairs().map(|(_, text)| format!("{text}\n")).collect();
    let stderr = check(&["disasm"], words.as_bytes(), 0, &texts);
    let notes = stderr.lines().count();
    assert!(
        (30..60).contains(&notes),
        "about one in eleven is noted:\n{stderr}"
    );
    let again = check(&["asm"], texts.as_bytes(), 0, &words);
    assert_eq!(
        again.lines().count(),
        notes,
        "both directions note the same words"
    );
}

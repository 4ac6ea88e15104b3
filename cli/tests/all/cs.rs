//! `eitri cs asm` and `eitri cs disasm`, run as a person runs them.

use crate::eitri::eitri;

#[track_caller]
fn check(args: &[&str], input: &[u8], stdout: &str) {
    let output = eitri(&[&["cs"], args].concat(), input);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(talk, "", "stderr of {args:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{args:?}");
    assert_eq!(output.status.code(), Some(0), "{args:?}");
}

const TEXT: &str = "\
MOVE32 r66, #0x5
label_8:
ADD_IMMEDIATE32 r66, r66, #-1
BRANCH.gt r66, label_8
";
const WORDS: &str = "\
0242000000000005
10424200ffffffff
160042001000fffe
";

#[test]
fn from_text_to_words_and_back() {
    check(&["asm"], TEXT.as_bytes(), WORDS);
    check(&["disasm"], WORDS.as_bytes(), TEXT);
}

#[test]
fn words_are_read_in_three_forms() {
    let pairs = b"05 00 00 00 00 00 42 02\n";
    check(&["disasm", "-"], pairs, "MOVE32 r66, #0x5\n");
    check(
        &["disasm"],
        b"# a comment\n\n0x0242000000000005\n",
        "MOVE32 r66, #0x5\n",
    );
    let raw = [0x0242_0000_0000_0005_u64, 0]
        .map(u64::to_le_bytes)
        .concat();
    check(&["disasm", "--raw"], &raw, "MOVE32 r66, #0x5\nNOP\n");
}

#[test]
fn architectures_and_syntaxes() {
    let word = b"1001010000000000\n";
    check(&["disasm", "--arch", "v13"], word, "ADD_IMM32 r1, r1, #0\n");
    check(
        &["disasm", "--arch", "10.8"],
        word,
        "ADD_IMMEDIATE32 r1, r1, #0\n",
    );
    check(
        &["disasm", "--syntax", "mesa24"],
        b"0300000000090000",
        "WAIT 0,3\n",
    );
    check(
        &["disasm", "--syntax", "mesa26"],
        b"160042001000fffe",
        "BRANCH.gt r66, #-2\n",
    );
    check(
        &["asm", "--arch", "v11"],
        b"SET_STATE_IMM32.sb_mask_wait #8",
        "1c00000900000008\n",
    );
}

/// The exit status, and what stdout and stderr hold.
#[track_caller]
fn check_error(args: &[&str], input: &[u8], stdout: &str, stderr: &[&str]) {
    let output = eitri(&[&["cs"], args].concat(), input);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{args:?}");
    let talk = String::from_utf8_lossy(&output.stderr);
    for part in stderr {
        assert!(talk.contains(part), "`{part}` is not in\n{talk}");
    }
}

#[test]
fn errors_name_line_and_column_and_underline_the_cause() {
    check_error(
        &["asm"],
        b"NOP\n  BRANCH.up r1, #2\n",
        "0000000000000000\n",
        &[
            "<stdin>:2:10: expected the condition: le, gt",
            "BRANCH.up r1, #2",
            "here",
        ],
    );
    check_error(
        &["disasm"],
        b"0000000000000000\n0300000000000001\n",
        "NOP\n",
        &[
            "<stdin>:2:1: reserved bits of WAIT are set: 0x1",
            "0300000000000001",
        ],
    );
    check_error(
        &["disasm"],
        b"0300\n",
        "",
        &["<stdin>:1:1: `0300` is not a word of 16 hex digits"],
    );
    check_error(
        &["disasm", "--raw"],
        b"1234567",
        "",
        &["7 bytes are no whole number of 64-bit words"],
    );
    check_error(
        &["asm"],
        b"a: NOP\na: NOP\n",
        "",
        &["<stdin>:2:1: line 1 has this label already"],
    );
    check_error(
        &["asm", "no/such/file"],
        b"",
        "",
        &["can't read no/such/file"],
    );
    check_error(
        &["asm", "--arch", "v9"],
        b"",
        "",
        &["not one of the generations v10-v13"],
    );
    check_error(
        &["disasm", "--arch", "v11", "--syntax", "mesa24"],
        b"",
        "",
        &["mesa24 knows command streams of v10 only, not of v11"],
    );
}

#[test]
fn keep_going_tries_every_line() {
    check_error(
        &["asm", "--keep-going"],
        b"NOP\nMOVE48 d1, #0x1\nWAIT #1\n",
        "0000000000000000\nerror: a register pair is even\n0300000000010000\n",
        &[],
    );
    check_error(
        &["disasm", "--keep-going"],
        b"ff00000000000000\nhello\n0000000000000000\n160000006000fffd\n",
        "\
error: v10 has no opcode 255 (0xff)
label_8:
error: `hello` is not a word of 16 hex digits
NOP
BRANCH.always r0, label_8
",
        &[],
    );
}
